package sottovoce;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * What a campaign asks: a reporter, and the rules for values that are missing or outside. A client that stayed silent
 * because of a value would tell something about it, so every value is reported; what cannot be an answer at all is an error
 * of the program, found before anything is drawn.
 */
final class Inquiry {
    final Reporter reporter;
    private final List<Object> standIns = new ArrayList<>(); // in the order of inputs: "uniform", or a Double
    private final boolean clip;

    Inquiry(Reporter reporter, Object missing, Object outside) {
        this.reporter = reporter;
        boolean byName = missing instanceof Map;
        boolean all = !byName || ((Map<?, ?>) missing).keySet().equals(reporter.inputs().keySet());
        Refusal.rule(all, "the campaign must have a rule for missing values of each question", "missing");
        reporter.inputs().forEach((name, input) -> standIns.add(standIn(input, byName ? ((Map<?, ?>) missing).get(name) : missing)));
        Refusal.rule("clip".equals(outside) || "missing".equals(outside), "the campaign's rule for values outside must be clip or missing", "outside");
        clip = "clip".equals(outside);
    }

    private static Object standIn(Input input, Object rule) {
        if ("uniform".equals(rule)) return rule;
        boolean inside = rule instanceof Number && input.line() != null && input.line().contains(((Number) rule).doubleValue());
        Refusal.rule(inside, "the campaign must name a number inside the domain for missing values, or uniform", "missing");
        return ((Number) rule).doubleValue();
    }

    /** The value of each question in order, after the rule for values outside; null where it is missing. */
    List<?> judged(Object value) {
        if (value == null) return Collections.nCopies(standIns.size(), null);
        Object judged = reporter.judged(value, clip);
        return reporter instanceof Survey ? (List<?>) judged : Collections.singletonList(judged);
    }

    /** One exact draw of judged values; of what is missing by its stand-in. */
    long[] draw(List<?> judged, Words words) {
        List<Object> ready = new ArrayList<>();
        for (Input input : reporter.inputs().values()) {
            Object standIn = standIns.get(ready.size());
            Object one = judged.get(ready.size());
            ready.add(one != null ? one : standIn.equals("uniform") ? input.spread(words) : standIn);
        }
        return reporter.checkCells(reporter.draw(reporter instanceof Survey ? ready : ready.get(0), words));
    }
}
