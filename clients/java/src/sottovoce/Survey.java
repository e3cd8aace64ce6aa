package sottovoce;

import static sottovoce.Refusal.rule;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Several questions, of which `sampled` drawn by lot are answered: `survey/1`. Mirrors sottovoce/reporters/composites/survey.py. */
public final class Survey extends Reporter {
    private static final int MAX_QUESTIONS = 256;
    private static final int MAX_NAME = 64;
    private static final int MAX_CELLS = 1 << 24;

    private final Map<String, Reporter> questions;
    private final Functions functions; // null: each question is about a value of its own

    Survey(double epsilon, Map<String, Reporter> questions, int sampled, Functions functions) {
        super(epsilon, ratio(questions, sampled), total(questions), sampled);
        this.questions = Collections.unmodifiableMap(questions);
        this.functions = functions;
    }

    private static Ratio ratio(Map<String, Reporter> questions, int sampled) {
        return Ratio.productOfLargest(questions.values().stream().map(one -> one.audit.ratio).collect(Collectors.toList()), sampled);
    }

    private static long total(Map<String, Reporter> questions) {
        return questions.values().stream().mapToLong(one -> one.cells).sum();
    }

    static void checkCells(Map<String, Reporter> questions) {
        rule(total(questions) <= MAX_CELLS, "the questions must have at most " + MAX_CELLS + " cells in all", "questions");
    }

    /** The rules of a survey that are not those of its questions. */
    static void check(List<Object> names, long sampled, String what) {
        rule(!names.isEmpty() && names.size() <= MAX_QUESTIONS, "a survey has 1 to " + MAX_QUESTIONS + " " + what, what);
        for (Object name : names) rule(isName(name), "names of " + what + " must be 1 to " + MAX_NAME + " printable characters", what);
        rule(new HashSet<>(names).size() == names.size(), "two " + what + " have the same name", what);
        rule(sampled >= 1 && sampled <= names.size(), "sampled must be between 1 and " + names.size(), "sampled");
    }

    private static boolean isName(Object name) {
        if (!(name instanceof String)) return false;
        String text = (String) name;
        int length = text.codePointCount(0, text.length());
        return length >= 1 && length <= MAX_NAME && text.codePoints().allMatch(Survey::isPrintable);
    }

    /** Letters, digits, signs and plain spaces; nothing that is invisible or turns lines around. */
    static boolean isPrintable(int point) {
        switch (Character.getType(point)) {
            case Character.CONTROL:
            case Character.FORMAT:
            case Character.SURROGATE:
            case Character.PRIVATE_USE:
            case Character.UNASSIGNED:
            case Character.LINE_SEPARATOR:
            case Character.PARAGRAPH_SEPARATOR:
            case Character.SPACE_SEPARATOR:
                return point == ' ';
            default:
                return true;
        }
    }

    @Override
    public Map<String, Reporter> questions() {
        return questions;
    }

    @Override
    Map<String, ? extends Input> inputs() {
        return functions == null ? questions : functions.inputs;
    }

    @Override
    public Map<String, Object> decode(long... report) {
        if (report.length != width) throw new Refusal(Refusal.Kind.DATA, "width", "a report must be " + width + " cells", "cells");
        Map<String, Object> decoded = new LinkedHashMap<>();
        int next = 0;
        long offset = 0;
        for (Map.Entry<String, Reporter> question : questions.entrySet()) {
            long end = offset + question.getValue().cells;
            if (next < width && report[next] >= offset && report[next] < end) {
                decoded.put(question.getKey(), question.getValue().decode(report[next++] - offset));
            }
            offset = end;
        }
        if (next < width) throw new Refusal(Refusal.Kind.DATA, "questions", "a report must answer different questions in order", "cells");
        return decoded;
    }

    /** The answers in order, null where one is missing. */
    private List<Object> inOrder(Object value) {
        if (value instanceof List && ((List<?>) value).size() == inputs().size()) return new ArrayList<>((List<?>) value);
        if (value instanceof Map && ((Map<?, ?>) value).keySet().equals(inputs().keySet())) {
            return inputs().keySet().stream().map(((Map<?, ?>) value)::get).collect(Collectors.toCollection(ArrayList::new));
        }
        throw wrongType("value must be " + inputs().size() + " values (null: missing), by name or in order");
    }

    @Override
    Object checked(Object value) {
        List<Object> values = inOrder(value);
        int i = 0; // every one is looked at: a refusal must not depend on the lot
        for (Input input : inputs().values()) {
            Object one = input instanceof Reporter ? ((Reporter) input).checked(values.get(i)) : input.judged(values.get(i), false);
            if (one == null) throw Refusal.outside();
            values.set(i++, one);
        }
        return values;
    }

    @Override
    Object judged(Object value, boolean clip) {
        List<Object> values = inOrder(value);
        int i = 0;
        for (Map.Entry<String, ? extends Input> input : inputs().entrySet()) {
            Object one = values.get(i);
            try {
                values.set(i++, one == null ? null : input.getValue().judged(one, clip));
            } catch (Refusal refusal) {
                throw new Refusal(refusal.kind, refusal.code, "question " + input.getKey() + ": " + refusal.getMessage(), input.getKey());
            }
        }
        return values;
    }

    @Override
    Object spread(Words words) {
        throw new UnsupportedOperationException("questions have stand-ins, a survey has none");
    }

    @Override
    long[] draw(Object value, Words words) {
        List<?> values = (List<?>) value;
        if (functions != null) return one(values, words);
        boolean[] lot = lot(words);
        long[] report = new long[width];
        int i = 0;
        int sent = 0;
        long offset = 0;
        for (Reporter question : questions.values()) { // also those that are not sent are randomised
            long cell = offset + question.draw(values.get(i), words)[0];
            if (lot[i++]) report[sent++] = cell;
            offset += question.cells;
        }
        return report;
    }

    /** The function that the lot names. */
    private long[] one(List<?> values, Words words) {
        int i = functions.lot(words);
        List<Reporter> every = new ArrayList<>(questions.values());
        long offset = every.subList(0, i).stream().mapToLong(question -> question.cells).sum();
        return new long[] {offset + every.get(i).draw(functions.answer(i, values, words), words)[0]};
    }

    /** Which questions are answered: those of the least keys, one random word for each. */
    private boolean[] lot(Words words) {
        int count = questions.size();
        boolean[] chosen = new boolean[count];
        long[] keys = new long[count];
        for (int i = 0; i < count; i++) keys[i] = width == count ? i : words.next();
        for (int i = 0; i < count; i++) {
            int before = 0;
            for (int j = 0; j < count; j++) {
                int order = Long.compareUnsigned(keys[j], keys[i]);
                before += order < 0 || (order == 0 && j < i) ? 1 : 0;
            }
            chosen[i] = before < width;
        }
        return chosen;
    }
}
