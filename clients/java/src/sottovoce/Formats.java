package sottovoce;

import static sottovoce.Refusal.rule;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Which format a spec has, and what reads it. */
final class Formats {
    private static final int MAX_LENGTH = 1 << 24;
    private static final int MAX_SINGLE = 1 << 22; // of a spec that is not a table or a survey
    private static final List<String> TASKED = Arrays.asList("window/1", "mixture/1", "rows/1"); // may say which question it was made for
    private static final List<String> SINGLE = Arrays.asList("translates/1", "polar/1");
    private static final String TASK = "[a-z][a-z ]{0,30}";
    private static final Pattern WRITTEN_TASK = Pattern.compile(",\"task\":\"" + TASK + "\"");

    private Formats() {}

    static Reporter read(String text) {
        return read(parsed(text), false);
    }

    static Audit audit(String text) {
        Map<String, Object> spec = parsed(text);
        Audit audit = new Audit(ratio(spec, false), claimed(spec));
        try {
            read(spec, false);
        } catch (Refusal refusal) { // as when it is read, but for the claim
            if (!"epsilon".equals(refusal.argument)) throw refusal;
        }
        return audit;
    }

    static String digest(String text) {
        return sha256(WRITTEN_TASK.matcher(text).replaceAll(""));
    }

    static String sha256(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            StringBuilder out = new StringBuilder();
            for (byte one : hash) out.append(String.format("%02x", one));
            return out.toString();
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Map<String, Object> parsed(String text) {
        checkLength(text, MAX_LENGTH);
        Map<String, Object> spec = asObject(Json.parse(text));
        boolean large = "rows/1".equals(spec.get("format")) || "survey/1".equals(spec.get("format"));
        if (!large) checkLength(text, MAX_SINGLE);
        return spec;
    }

    private static void checkLength(String text, int most) {
        if (text.length() > most) throw new Refusal(Refusal.Kind.SPEC, "too_large", "a spec must be at most " + most + " bytes", null);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> asObject(Object content) {
        rule(content instanceof Map, "spec must be an object", "spec");
        return (Map<String, Object>) content;
    }

    private static Map<String, Object> withoutTask(Map<String, Object> spec) {
        Map<String, Object> content = new LinkedHashMap<>(spec);
        if (TASKED.contains(spec.get("format"))) content.remove("task");
        return content;
    }

    private static Reporter read(Map<String, Object> given, boolean question) {
        Object task = given.get("task");
        String format = format(given, question);
        rule(!given.containsKey("task") || (task instanceof String && ((String) task).matches(TASK)), "task must be a few lowercase letters", "task");
        Map<String, Object> spec = withoutTask(given);
        switch (format) {
            case "window/1":
                return scalar(Windows.one(spec));
            case "mixture/1":
                return scalar(Windows.mixture(spec));
            case "rows/1":
                Rows rows = new Rows(spec);
                return new Scalar(rows.epsilon, rows.domain, rows);
            case "translates/1":
                return new Translates(new Translates.Counts(spec));
            case "polar/1":
                List<Object> parts = parts(spec);
                Scalar distance = scalar(Windows.one(parts.get(0)));
                Scalar angle = scalar(Windows.one(parts.get(1)));
                checkLoss(spec);
                return new Polar(claimed(spec), distance, angle);
            default:
                Map<String, Reporter> questions = new LinkedHashMap<>();
                List<Map<String, Object>> entries = questions(spec);
                for (Map<String, Object> one : entries) questions.put((String) one.get("name"), read(asObject(one.get("spec")), true));
                Survey.checkCells(questions);
                Functions functions = spec.containsKey("inputs") ? new Functions(spec, entries, new ArrayList<>(questions.values())) : null;
                return new Survey(claimed(spec), questions, (int) Reader.integer(spec.get("sampled"), "sampled"), functions);
        }
    }

    private static Scalar scalar(Windows windows) {
        return new Scalar(windows.epsilon, windows.domain, windows);
    }

    private static Ratio ratio(Map<String, Object> given, boolean question) {
        String format = format(given, question);
        Map<String, Object> spec = withoutTask(given);
        switch (format) {
            case "window/1":
                return Windows.one(spec).ratio();
            case "mixture/1":
                return Windows.mixture(spec).ratio();
            case "rows/1":
                return new Rows(spec).ratio();
            case "translates/1":
                return new Translates.Counts(spec).ratio();
            case "polar/1":
                List<Object> parts = parts(spec);
                return Windows.one(parts.get(0)).ratio().times(Windows.one(parts.get(1)).ratio());
            default:
                List<Ratio> ratios = questions(spec).stream().map(one -> ratio(asObject(one.get("spec")), true)).collect(Collectors.toList());
                return Ratio.productOfLargest(ratios, (int) Reader.integer(spec.get("sampled"), "sampled"));
        }
    }

    private static String format(Map<String, Object> spec, boolean question) {
        Object format = spec.get("format");
        boolean known = TASKED.contains(format) || SINGLE.contains(format) || (!question && "survey/1".equals(format));
        rule(known, "format must be window/1, mixture/1, rows/1, translates/1, polar/1 or survey/1", "format");
        return (String) format;
    }

    /** The ε that a spec claims; a mixture's is that of its parts. */
    private static double claimed(Map<String, Object> spec) {
        boolean mixture = "mixture/1".equals(spec.get("format"));
        return mixture ? Windows.mixture(withoutTask(spec)).epsilon : Reader.real(spec.get("epsilon"), "epsilon");
    }

    private static List<Object> parts(Map<String, Object> spec) {
        Reader.object(spec, "spec", "epsilon", "format", "loss", "parts", "weights");
        claimed(spec);
        rule(Reader.reals(spec.get("weights"), "weights").length == 2, "weights must be a list of 2", "weights");
        List<Object> parts = Reader.list(spec.get("parts"), "parts");
        rule(parts.size() == 2, "parts must be a list of 2", "parts");
        return parts;
    }

    /** What estimates need and a device does not; refused all the same where Python refuses it. */
    private static void checkLoss(Map<String, Object> spec) {
        for (double weight : Reader.reals(spec.get("weights"), "weights")) rule(weight > 0, "weights must be positive", "weights");
        Object loss = spec.get("loss");
        if (loss instanceof String) rule(((String) loss).matches("[lL][12]"), "loss must be l1, l2 or a number", "loss");
        else rule(Reader.real(loss, "loss") >= 1 && Reader.real(loss, "loss") <= 64, "loss must be between 1 and 64", "loss");
    }

    private static List<Map<String, Object>> questions(Map<String, Object> spec) {
        boolean functions = spec.containsKey("inputs");
        if (functions) Reader.object(spec, "spec", "epsilon", "format", "questions", "sampled", "inputs", "weights");
        else Reader.object(spec, "spec", "epsilon", "format", "questions", "sampled");
        claimed(spec);
        List<Map<String, Object>> questions = new ArrayList<>();
        for (Object one : Reader.list(spec.get("questions"), "questions")) {
            questions.add(functions ? Reader.object(one, "questions", "name", "spec", "function", "of") : Reader.object(one, "questions", "name", "spec"));
        }
        List<Object> names = questions.stream().map(one -> one.get("name")).collect(Collectors.toCollection(ArrayList::new));
        Survey.check(names, Reader.integer(spec.get("sampled"), "sampled"), "questions");
        return questions;
    }
}
