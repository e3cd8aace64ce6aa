package sottovoce;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Answers the questions of `sottovoce vectors --check`: a JSON object per line in, one per line out. */
public final class Check {
    private Check() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.println(answer(line));
            out.flush();
        }
    }

    @SuppressWarnings("unchecked")
    private static String answer(String line) {
        Map<String, Object> question = (Map<String, Object>) Json.parse(line);
        String spec = (String) question.get("spec");
        try {
            if ("audit".equals(question.get("do"))) return audit(spec);
            return report(Reporter.fromJson(spec), Reporter.digest(spec), (List<Object>) question.get("values"), (List<String>) question.get("words"));
        } catch (Refusal refusal) {
            return "{\"error\":\"" + (refusal.kind == Refusal.Kind.PRIVACY ? "privacy" : "spec") + "\"}";
        }
    }

    private static String audit(String spec) {
        Audit audit = Reporter.audit(spec);
        return String.format("{\"ratio\":[\"%s\",\"%s\"],\"epsilon\":%s,\"claimed\":%s,\"holds\":%s}",
                audit.ratio.numerator, audit.ratio.denominator, audit.epsilon, audit.claimed, audit.holds);
    }

    private static String report(Reporter reporter, String digest, List<Object> values, List<String> words) {
        List<String> reports = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            try {
                long[] report = reporter.reportFrom(given(words.get(i)), value(values.get(i), reporter instanceof Survey));
                reports.add(LongStream.of(report).mapToObj(Long::toString).collect(Collectors.joining(",", "[", "]")));
            } catch (Refusal refusal) {
                reports.add("null");
            }
        }
        return "{\"digest\":\"" + digest + "\",\"cells\":" + reporter.cells + ",\"width\":" + reporter.width + ",\"reports\":[" + String.join(",", reports) + "]}";
    }

    /** The words of one draw, and an error if it takes another number of them. */
    private static Words given(String digits) {
        int[] at = {0};
        return () -> new BigInteger(digits.substring(at[0], at[0] += 16), 16).longValue();
    }

    /** A value as a reporter takes it: a Double, a position, an option, or a list of these. */
    private static Object value(Object content, boolean survey) {
        if (!(content instanceof List)) return content instanceof Number ? ((Number) content).doubleValue() : content;
        List<?> items = (List<?>) content;
        if (!survey) return items.stream().mapToDouble(item -> ((Number) item).doubleValue()).toArray();
        return items.stream().map(item -> value(item, false)).collect(Collectors.toList());
    }
}
