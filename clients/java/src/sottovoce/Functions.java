package sottovoce;

import static sottovoce.Refusal.rule;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Questions about functions of what a person gives: computed here, and one of them asked, by lot. The list is closed.
 * Mirrors sottovoce/reporters/composites/functions_by_lot.py.
 */
final class Functions {
    private static final int MAX_COIN = 1 << 10;
    private static final List<String> OF_ONE = Arrays.asList("value", "square");
    private static final List<String> OF_TWO = Arrays.asList("sum", "difference", "squares", "level");

    final Map<String, Input> inputs = new LinkedHashMap<>();
    private final List<String> names = new ArrayList<>();
    private final List<List<Object>> of = new ArrayList<>();
    private final List<Reporter> questions;
    private final int[] sides;

    /** What a survey's spec says. */
    Functions(Map<String, Object> spec, List<Map<String, Object>> entries, List<Reporter> questions) {
        this.questions = questions;
        List<Object> seen = new ArrayList<>();
        for (Object one : Reader.list(spec.get("inputs"), "inputs")) {
            boolean listed = one instanceof Map && ((Map<?, ?>) one).containsKey("options");
            Map<String, Object> entry = listed
                    ? Reader.object(one, "inputs", "name", "options") : Reader.object(one, "inputs", "circle", "domain", "name", "?scale");
            seen.add(entry.get("name"));
            Object space = listed ? new Options(Reader.list(entry.get("options"), "options")) : Reader.domain(entry);
            inputs.put(String.valueOf(entry.get("name")), listed ? (Options) space : new OneNumber((Domain) space));
        }
        Survey.check(seen, 1, "inputs");
        rule(Reader.integer(spec.get("sampled"), "sampled") == 1, "of functions a person answers one: sampled must be 1", "sampled");
        long[] weights = Reader.integers(spec.get("weights"), "weights");
        rule(weights.length == questions.size() && Arrays.stream(weights).allMatch(weight -> weight >= 1), "weights must be whole numbers, one for each question", "weights");
        long total = 0;
        for (long weight : weights) total = Math.min(total + weight, 2L * MAX_COIN);
        rule(total <= MAX_COIN && Long.bitCount(total) == 1, "weights must add up to a power of two up to " + MAX_COIN, "weights");
        sides = new int[(int) total];
        int side = 0;
        for (int i = 0; i < weights.length; i++) for (long k = 0; k < weights[i]; k++) sides[side++] = i;
        for (int i = 0; i < entries.size(); i++) {
            Object name = entries.get(i).get("function");
            List<Object> inputsOf = Reader.list(entries.get(i).get("of"), "of");
            rule(OF_ONE.contains(name) || OF_TWO.contains(name), "function must be one of the list", "function");
            rule(inputs.keySet().containsAll(inputsOf) && new HashSet<>(inputsOf).size() == inputsOf.size(), "a function must be of different inputs", "of");
            names.add((String) name);
            of.add(inputsOf);
            rule(fits(i), "the function " + name + " does not fit its inputs or its question", "function");
        }
    }

    /** A number on an interval or a circle. */
    private static final class OneNumber extends Input {
        private final Domain domain;

        OneNumber(Domain domain) {
            this.domain = domain;
        }

        @Override
        Object judged(Object value, boolean clip) {
            return domain.judged(value, clip);
        }

        @Override
        Object spread(Words words) {
            return domain.spread(words);
        }

        @Override
        Domain line() {
            return domain;
        }
    }

    private boolean fits(int i) {
        List<Object> own = of.get(i);
        if (own.size() != (OF_ONE.contains(names.get(i)) ? 1 : 2)) return false;
        Input first = inputs.get(own.get(0));
        Domain last = inputs.get(own.get(own.size() - 1)).line();
        Reporter question = questions.get(i);
        Options options = question instanceof Translates ? ((Translates) question).options() : null;
        if (names.get(i).equals("value")) {
            boolean listed = first instanceof Options && options != null && options.names.equals(((Options) first).names);
            return listed || (last != null && question.line() != null && last.same(question.line()));
        }
        if (last == null || last.circle) return false;
        if (names.get(i).equals("level")) {
            if (options == null || !(first instanceof Options)) return false;
            int k = ((Options) first).names.size();
            for (int j = 0; j < options.names.size(); j++) if (!options.names.get(j).equals((long) j)) return false;
            return options.names.size() % k == 0 && options.names.size() > k;
        }
        Domain unit = question.line();
        boolean lines = first.line() != null && !first.line().circle;
        return lines && unit != null && unit.low == 0 && unit.high == 1 && !unit.circle && !unit.log;
    }

    /** Which question is answered: the top bits of a word; no word where there is one only. */
    int lot(Words words) {
        return questions.size() == 1 ? 0 : sides[(int) (words.next() >>> (64 - Integer.numberOfTrailingZeros(sides.length)))];
    }

    /** The value of one question, of the inputs in order. */
    Object answer(int i, List<?> values, Words words) {
        List<String> order = new ArrayList<>(inputs.keySet());
        List<Object> own = of.get(i);
        Object first = values.get(order.indexOf(own.get(0)));
        Object last = values.get(order.indexOf(own.get(own.size() - 1)));
        if (names.get(i).equals("value")) return first;
        double v = inputs.get(own.get(own.size() - 1)).line().unit((Double) last);
        if (names.get(i).equals("level")) {
            Options options = (Options) inputs.get(own.get(0));
            double up = (words.next() >>> 11) * 0x1p-53;
            int k = options.names.size();
            double steps = ((Translates) questions.get(i)).options().names.size() / k - 1;
            double place = v * steps;
            double level = Math.min(Math.floor(place), steps - 1);
            return (long) (options.place(first) + k * (level + (up < place - level ? 1 : 0)));
        }
        double u = inputs.get(own.get(0)).line().unit((Double) first);
        switch (names.get(i)) {
            case "square":
                return (2 * u - 1) * (2 * u - 1);
            case "sum":
                return (u + v - 1) * (u + v - 1);
            case "difference":
                return (u - v) * (u - v);
            default:
                return Math.min(Math.max(0.5 + 2 * ((u - v) * (u + v - 1)), 0), 1);
        }
    }
}
