package sottovoce;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a campaign asks: a reporter, and the rules for values that are missing or outside. A client that stayed silent
 * because of a value would tell something about it, so every value is reported.
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

    /** One exact draw; of what is missing by its stand-in. Only what is no value at all is refused. */
    long[] draw(Object value, Words words) {
        if (!(reporter instanceof Survey)) return reporter.draw(prepared(reporter, value, standIns.get(0), words), words);
        List<?> judged = value == null ? null : (List<?>) reporter.judged(value, clip);
        List<Object> ready = new ArrayList<>();
        int i = 0;
        for (Input input : reporter.inputs().values()) {
            Object one = judged == null ? null : judged.get(i);
            ready.add(one != null ? one : filled(input, standIns.get(i), words));
            i++;
        }
        return reporter.draw(ready, words);
    }

    private Object prepared(Input input, Object value, Object standIn, Words words) {
        Object judged = value == null ? null : input.judged(value, clip);
        return judged != null ? judged : filled(input, standIn, words);
    }

    private static Object filled(Input input, Object standIn, Words words) {
        return standIn.equals("uniform") ? input.spread(words) : standIn;
    }
}
