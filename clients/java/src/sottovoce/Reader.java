package sottovoce;

import static sottovoce.Refusal.rule;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Reading parts of a parsed spec with suspicion: types and keys. Mirrors sottovoce/wire/checked_json.py. */
final class Reader {
    private static final BigInteger LARGEST = BigInteger.ONE.shiftLeft(53);

    private Reader() {}

    /** An object with exactly these keys; those after a question mark may be missing. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object content, String where, String... keys) {
        rule(content instanceof Map, where + " must be an object", where);
        Map<String, Object> map = (Map<String, Object>) content;
        List<String> names = Arrays.asList(keys);
        for (String key : map.keySet()) rule(names.contains(key) || names.contains("?" + key), where + " has an unknown key", where);
        for (String key : keys) rule(key.startsWith("?") || map.containsKey(key), where + " lacks the key " + key, where);
        return map;
    }

    static long integer(Object content, String where) {
        boolean fits = content instanceof BigInteger && ((BigInteger) content).abs().compareTo(LARGEST) <= 0;
        rule(fits, where + " must hold integers up to 2^53", where);
        return ((BigInteger) content).longValue();
    }

    static double real(Object content, String where) {
        double number = content instanceof BigInteger || content instanceof Double ? ((Number) content).doubleValue() : Double.NaN;
        rule(!Double.isNaN(number) && !Double.isInfinite(number), where + " must hold finite numbers", where);
        return number;
    }

    static boolean flag(Object content, String where) {
        rule(content instanceof Boolean, where + " must be true or false", where);
        return (Boolean) content;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object content, String where) {
        rule(content instanceof List, where + " must be a list", where);
        return (List<Object>) content;
    }

    static long[] integers(Object content, String where) {
        return list(content, where).stream().mapToLong(item -> integer(item, where)).toArray();
    }

    static double[] reals(Object content, String where) {
        return list(content, where).stream().mapToDouble(item -> real(item, where)).toArray();
    }

    static Domain domain(Map<String, Object> spec) {
        boolean circle = flag(spec.get("circle"), "circle");
        double[] bounds = reals(spec.get("domain"), "domain");
        rule(bounds.length == 2, "domain must be a list of 2", "domain");
        double low = bounds[0];
        double high = circle ? low + bounds[1] : bounds[1];
        rule(!circle || bounds[1] > 0, "domain: circumference must be positive", "domain");
        rule(low < high && !Double.isInfinite(high), "domain must have low < high, both finite", "domain");
        boolean log = spec.containsKey("scale");
        rule(!log || ("log".equals(spec.get("scale")) && !circle), "scale must be log, of an interval", "scale");
        rule(!log || low >= 1e-300, "domain: a log scale needs low of at least 1e-300", "domain");
        rule(!log || Domain.naturalLog(low) < Domain.naturalLog(high), "domain: a log scale needs ends whose logarithms differ", "domain");
        return new Domain(low, high, circle ? bounds[1] : 0, log);
    }

    /** A `window/1`: its ε, domain and window. */
    static Part window(Object content) {
        Map<String, Object> spec = object(content, "spec", "format", "epsilon", "domain", "circle", "bits", "cells", "start", "?scale");
        rule("window/1".equals(spec.get("format")), "format must be window/1", "format");
        double epsilon = real(spec.get("epsilon"), "epsilon");
        Domain domain = domain(spec);
        long bits = integer(spec.get("bits"), "bits");
        Map<String, Object> cells = object(spec.get("cells"), "cells", "count", "background", "extra", "value", "step");
        Map<String, Object> start = object(spec.get("start"), "start", "t", "s", "step");
        Window window = new Window(domain.circle, (int) Math.max(-1, Math.min(bits, 99)),
                integers(cells.get("count"), "cells.count"), integers(cells.get("background"), "cells.background"),
                integers(cells.get("extra"), "cells.extra"), reals(cells.get("value"), "cells.value"),
                reals(cells.get("step"), "cells.step"), reals(start.get("t"), "start.t"), integers(start.get("s"), "start.s"),
                flag(start.get("step"), "start.step"));
        return new Part(epsilon, domain, window);
    }

    /** A window with what it claims and where its values lie. */
    static final class Part {
        final double epsilon;
        final Domain domain;
        final Window window;

        Part(double epsilon, Domain domain, Window window) {
            this.epsilon = epsilon;
            this.domain = domain;
            this.window = window;
        }
    }
}
