package sottovoce;

import java.math.BigInteger;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** What people choose from: a few options with names. Mirrors sottovoce/values/options.py. */
public final class Options extends Elements {
    private static final int MAX_OPTIONS = 1000;
    private static final int MAX_LENGTH = 200;
    private static final Pattern SPACES = Pattern.compile("\\s+", Pattern.UNICODE_CHARACTER_CLASS);

    /** Texts, or whole numbers (Long) for ratings. */
    public final List<Object> names;
    private final Map<String, Integer> places = new LinkedHashMap<>();

    Options(List<Object> items) {
        super(1, items.size());
        Refusal.rule(items.size() >= 2 && items.size() <= MAX_OPTIONS, "options must be 2 to " + MAX_OPTIONS, "options");
        List<Object> kept = new ArrayList<>();
        for (Object item : items) {
            Refusal.rule(item instanceof BigInteger || isText(item), "an option must be a printable text without spaces around it, or a whole number", "options");
            Object name = item instanceof BigInteger ? (Object) Reader.integer(item, "options") : item;
            Refusal.rule(places.putIfAbsent(key(name), kept.size()) == null, "options must differ, also but for case and spaces", "options");
            kept.add(name);
        }
        names = Collections.unmodifiableList(kept);
    }

    private static boolean isText(Object item) {
        if (!(item instanceof String)) return false;
        String text = (String) item;
        int length = text.codePointCount(0, text.length());
        boolean plain = Normalizer.normalize(text, Normalizer.Form.NFC).strip().equals(text);
        return length >= 1 && length <= MAX_LENGTH && plain && text.codePoints().allMatch(Survey::isPrintable);
    }

    /** What two options that a person would take for the same have in common. */
    private static String key(Object name) {
        String text = Normalizer.normalize(String.valueOf(name), Normalizer.Form.NFC);
        return SPACES.matcher(text.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT)).replaceAll(" ").strip();
    }

    /** The place of a choice in the list, whatever its case and the spaces around it; −1 if it is not on it. */
    int place(Object option) {
        double number = option instanceof Number ? ((Number) option).doubleValue() : Double.NaN;
        boolean whole = number == Math.rint(number) && Math.abs(number) <= 1L << 53;
        return places.getOrDefault(key(whole ? (Object) ((Number) option).longValue() : option), -1);
    }

    @Override
    int[] members(long[] block) {
        boolean different = Arrays.stream(block).distinct().count() == block.length;
        Refusal.rule(block.length >= 1 && block.length < columns && different, "blocks must hold different options, not none and not all", "blocks");
        for (long one : block) Refusal.rule(one >= 0 && one < columns, "blocks must hold numbers from 0 to " + (columns - 1), "blocks");
        return Arrays.stream(block).mapToInt(one -> (int) one).toArray();
    }

    @Override
    Object judged(Object value, boolean clip) {
        boolean text = value instanceof String;
        if (!text && !(value instanceof Number)) throw Reporter.wrongType("value must be an option, or null if it is missing");
        if (text ? key(value).isEmpty() : !Double.isFinite(((Number) value).doubleValue())) return null;
        // There is no nearest one.
        if (place(value) < 0) throw new Refusal(Refusal.Kind.DATA, "outside", "value must be one of the options, or null if it is missing", "value");
        return value;
    }

    @Override
    Object spread(Words words) {
        return names.get((int) ((words.next() >>> 32) * columns >>> 32));
    }

    @Override
    int[] point(Object value, long word) {
        return new int[] {0, place(value)};
    }

    /** A 1 for each option that a cell holds, and a 0 for each other. */
    @Override
    int[] decode(int shift, long[] block, int[] elements) {
        int[] held = new int[columns];
        for (int element : elements) held[Math.floorMod(shift - element, columns)] = 1;
        return held;
    }
}
