package sottovoce;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * JSON without its loopholes: no duplicate keys, nothing deep, and integers kept apart from fractions. Integers come back
 * as BigInteger, numbers written with a point or an exponent as Double.
 */
final class Json {
    private static final int MAX_DEPTH = 16;
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?");

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value(0);
        reader.space();
        if (reader.at < text.length()) throw reader.wrong("text after the end");
        return value;
    }

    /** A text in quotes. */
    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char sign : text.toCharArray()) {
            if (sign == '"' || sign == '\\') out.append('\\').append(sign);
            else if (sign < 0x20 || Character.isSurrogate(sign)) out.append(String.format("\\u%04x", (int) sign));
            else out.append(sign);
        }
        return out.append('"').toString();
    }

    private Refusal wrong(String what) {
        return new Refusal(Refusal.Kind.SPEC, "malformed", "not valid JSON: " + what + " at position " + at, null);
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private void space() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') at++;
    }

    private boolean take(char sign) {
        space();
        if (at >= text.length() || text.charAt(at) != sign) return false;
        at++;
        return true;
    }

    private void expect(char sign) {
        if (!take(sign)) throw wrong("expected " + sign);
    }

    private Object value(int depth) {
        if (depth > MAX_DEPTH) throw new Refusal(Refusal.Kind.SPEC, "too_deep", "not valid JSON: nested too deeply", null);
        if (take('{')) return object(depth);
        if (take('[')) return list(depth);
        if (peek() == '"') return string();
        for (String word : new String[] {"true", "false", "null"}) {
            if (text.startsWith(word, at)) {
                at += word.length();
                return word.equals("null") ? null : Boolean.valueOf(word);
            }
        }
        return number();
    }

    private Object number() {
        Matcher match = NUMBER.matcher(text).region(at, Math.min(text.length(), at + 1100));
        if (!match.lookingAt()) throw wrong("expected a value");
        at = match.end();
        String digits = match.group();
        if (match.group(1) != null || match.group(2) != null) return Double.valueOf(digits);
        if (digits.length() > 20) throw wrong("an integer of more than 20 digits");
        return new BigInteger(digits);
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        at++;
        for (;;) {
            if (at >= text.length()) throw wrong("a string without an end");
            char sign = text.charAt(at++);
            if (sign == '"') return out.toString();
            if (sign < 0x20) throw wrong("a control character in a string");
            out.append(sign == '\\' ? escaped() : sign);
        }
    }

    private char escaped() {
        char sign = peek();
        at++;
        int known = "\"\\/bfnrt".indexOf(sign);
        if (known >= 0 && sign != '\0') return "\"\\/\b\f\n\r\t".charAt(known);
        if (sign == 'u' && at + 4 <= text.length() && text.substring(at, at + 4).matches("[0-9a-fA-F]{4}")) {
            at += 4;
            return (char) Integer.parseInt(text.substring(at - 4, at), 16);
        }
        throw wrong("an unknown escape");
    }

    private List<Object> list(int depth) {
        List<Object> items = new ArrayList<>();
        if (take(']')) return items;
        do items.add(value(depth + 1));
        while (take(','));
        expect(']');
        return items;
    }

    private Map<String, Object> object(int depth) {
        Map<String, Object> items = new LinkedHashMap<>();
        if (take('}')) return items;
        do {
            space();
            if (peek() != '"') throw wrong("expected a key");
            String key = string();
            if (items.containsKey(key)) throw new Refusal(Refusal.Kind.SPEC, "duplicate_key", "an object has the same key twice", null);
            expect(':');
            items.put(key, value(depth + 1));
        } while (take(','));
        expect('}');
        return items;
    }
}
