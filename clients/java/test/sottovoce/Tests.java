package sottovoce;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/** What the Java client promises, without a test framework: java -cp … sottovoce.Tests tests/vectors */
public final class Tests {
    private static int passed;

    private Tests() {}

    private interface Body {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Path vectors = Paths.get(arguments[0]);
        Map<?, ?> ledger = (Map<?, ?>) Json.parse(read(vectors.resolve("ledger.json")));
        String spec = (String) ((Map<?, ?>) ledger.get("specs")).get("one");
        test("collectors have one spelling", () -> origins(ledger));
        test("one draw, stored before it is sent, the same bytes on every attempt", () -> once(spec));
        test("a draw is never sent under another token", () -> tokens(spec));
        test("what was not agreed to, or is not what it says, is refused", () -> refused(spec));
        test("every value is reported, by the declared rule", () -> everyValue(spec));
        test("what cannot be an answer spends and records nothing", () -> answers((Map<?, ?>) Json.parse(read(vectors.resolve("answers.json")))));
        test("a report that is too late is kept", () -> late(spec));
        test("an answer that drips is abandoned", () -> drip(spec));
        test("a store never overwrites what is there", Tests::stores);
        test("what is no report is neither written down nor sent", () -> impossible(spec));
        test("fresh draws follow the counts", () -> law(spec));
        System.out.println(passed + " passed, 0 failed");
    }

    private static void test(String name, Body body) throws Exception {
        try {
            body.run();
        } catch (Throwable error) {
            throw new AssertionError(name, error);
        }
        passed++;
    }

    private static String read(Path path) throws IOException {
        return new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
    }

    private static void same(Object given, Object expected) {
        if (!String.valueOf(given).equals(String.valueOf(expected))) throw new AssertionError(given + ", not " + expected);
    }

    private static Refusal refusal(Body body) throws Exception {
        try {
            body.run();
        } catch (Refusal refusal) {
            return refusal;
        }
        throw new AssertionError("not refused");
    }

    private static void origins(Map<?, ?> ledger) throws Exception {
        for (Object entry : (List<?>) ledger.get("origins")) {
            String url = (String) ((Map<?, ?>) entry).get("url");
            Object origin = ((Map<?, ?>) entry).get("origin");
            if (origin == null) same(refusal(() -> Origin.parse(url)).code + url, "form" + url);
            else same(Origin.parse(url).name, origin);
        }
        for (Object entry : (List<?>) ledger.get("accounts")) {
            Map<?, ?> account = (Map<?, ?>) entry;
            same(Origin.parse((String) account.get("url")).name + Origin.path((String) account.get("campaign")), account.get("account"));
        }
    }

    /** A collector that answers from a list of statuses (0: not at all), then accepts; it keeps every request. */
    private static final class Collector implements AutoCloseable {
        final List<String> posts = new ArrayList<>();
        final List<Integer> outcomes = new ArrayList<>();
        final Map<String, String> campaign = new HashMap<>();
        final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        Runnable before = () -> {};

        Collector(String spec) throws IOException {
            campaign.put("spec", Json.quoted(spec));
            campaign.put("digest", Json.quoted(Reporter.digest(spec)));
            campaign.put("missing", "12");
            campaign.put("outside", "\"clip\"");
            server.createContext("/", this::answer);
            server.setExecutor(Executors.newCachedThreadPool(task -> {
                Thread thread = new Thread(task);
                thread.setDaemon(true);
                return thread;
            }));
            server.start();
        }

        Client.Options at() {
            return Client.at("http://127.0.0.1:" + server.getAddress().getPort(), "hours").patience(Duration.ofSeconds(5), 3);
        }

        private void answer(HttpExchange exchange) throws IOException {
            int status = 200;
            StringBuilder text = new StringBuilder("{");
            campaign.forEach((key, value) -> text.append(text.length() > 1 ? "," : "").append(Json.quoted(key)).append(":").append(value));
            if (exchange.getRequestMethod().equals("POST")) {
                before.run();
                byte[] body = exchange.getRequestBody().readAllBytes();
                posts.add(exchange.getRequestHeaders().getFirst("Idempotency-Key") + " " + exchange.getRequestHeaders().getFirst("Authorization")
                        + " " + Arrays.toString(body));
                status = outcomes.isEmpty() ? 200 : outcomes.remove(0);
                text.setLength(0);
                text.append("{\"accepted\":1,\"code\":\"no\",\"message\":\"no\",\"field\":null");
            }
            byte[] bytes = text.append("}").toString().getBytes(StandardCharsets.UTF_8);
            if (status == 0) {
                exchange.close();
                return;
            }
            if (status == 1) { // a byte now and then
                exchange.sendResponseHeaders(200, 0);
                try {
                    for (int i = 0; i < 100; i++) {
                        exchange.getResponseBody().write(' ');
                        exchange.getResponseBody().flush();
                        Thread.sleep(50);
                    }
                } catch (InterruptedException | IOException gone) {
                    exchange.close();
                }
                return;
            }
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }

    private static void once(String spec) throws Exception {
        Path folder = Files.createTempDirectory("sottovoce");
        try (Collector collector = new Collector(spec)) {
            collector.outcomes.addAll(Arrays.asList(503, 0));
            int[] recorded = {0};
            collector.before = () -> recorded[0] += folder.toFile().list().length;
            Client.Receipt first = collector.at().open(1, Store.files(folder)).report(3.0);
            same(first.state, "sent");
            same(recorded[0], 3);
            same(collector.posts.stream().distinct().count(), 1);
            Client later = collector.at().open(1, Store.files(folder));
            same(Arrays.toString(later.report(20.0).cells()), Arrays.toString(first.cells()));
            same(Arrays.toString(later.previous().cells()), Arrays.toString(first.cells()));
            same(collector.posts.size(), 3);
        }
    }

    private static void tokens(String spec) throws Exception {
        Store store = Store.memory();
        try (Collector collector = new Collector(spec)) {
            collector.outcomes.addAll(Arrays.asList(503, 503, 503));
            Client one = collector.at().token("one").open(1, store);
            same(refusal(() -> one.report(3.0)).retryable, true);
            collector.at().token("two").open(1, store).report(4.0);
            one.report(5.0);
            String drawn = collector.posts.get(0);
            same(collector.posts.stream().filter(drawn::equals).count(), 4);
            same(collector.posts.stream().filter(post -> post.contains("Bearer two")).count(), 1);
            same(collector.posts.get(3).split(" ")[0].equals(drawn.split(" ")[0]), false);
            collector.outcomes.add(401);
            Client three = collector.at().token("three").open(1, store);
            same(refusal(() -> three.report(3.0)).status, 401);
            same(three.previous().state, "refused");
        }
    }

    private static void refused(String spec) throws Exception {
        try (Collector collector = new Collector(spec)) {
            same(refusal(() -> collector.at().open(0.9, Store.memory())).kind, Refusal.Kind.PRIVACY);
            same(refusal(() -> collector.at().open(1, null)).argument, "store");
            same(refusal(() -> Client.at("https://x", "y").open(Double.NaN, Store.memory())).argument, "epsilon");
            collector.campaign.put("digest", "\"" + "0".repeat(64) + "\"");
            same(refusal(() -> collector.at().open(1, Store.memory())).argument, "digest");
            String lie = spec.replace("\"epsilon\":1.0", "\"epsilon\":0.5");
            collector.campaign.put("spec", Json.quoted(lie));
            collector.campaign.put("digest", Json.quoted(Reporter.digest(lie)));
            same(refusal(() -> collector.at().open(1, Store.memory())).kind, Refusal.Kind.PRIVACY);
            same(collector.posts.size(), 0);
        }
        same(refusal(() -> ((Scalar) Reporter.fromJson(spec)).report(25.0)).code, "outside");
        same(refusal(() -> Reporter.fromJson(spec).report("3")).code, "type");
    }

    private static void everyValue(String spec) throws Exception {
        Reporter reporter = Reporter.fromJson(spec);
        Inquiry clip = new Inquiry(reporter, 12.0, "clip");
        Words zero = () -> -1L; // the last draw of the window tells where it begins
        for (Object[] pair : new Object[][] {{null, 12.0}, {Double.NaN, 12.0}, {Double.POSITIVE_INFINITY, 12.0}, {-5.0, 0.0}, {99.0, 24.0}, {3, 3.0}}) {
            same(clip.draw(clip.judged(pair[0]), zero)[0], reporter.draw(pair[1], zero)[0]);
        }
        Inquiry missing = new Inquiry(reporter, 12.0, "missing");
        same(missing.draw(missing.judged(99.0), zero)[0], reporter.draw(12.0, zero)[0]);
        for (Object wrong : new Object[] {99.0, null, "drop"}) same(refusal(() -> new Inquiry(reporter, wrong, "clip")).argument, "missing");
        same(refusal(() -> new Inquiry(reporter, 12.0, "refuse")).argument, "outside");
    }

    /** What a vector's value is in Java; what JavaScript alone has is no case here. */
    private static Object value(Object content) {
        if (content instanceof List) return ((List<?>) content).stream().map(Tests::value).collect(Collectors.toList());
        if (!(content instanceof Map)) return content;
        Map<?, ?> map = (Map<?, ?>) content;
        if (map.containsKey("special")) return Double.valueOf((String) map.get("special"));
        Map<Object, Object> read = new LinkedHashMap<>();
        map.forEach((name, one) -> read.put(name, value(one)));
        return read;
    }

    /** What a question is asked about: the place of an option, numbers, or null. */
    private static Object plain(Input input, Object judged) {
        Options options = input instanceof Translates ? ((Translates) input).options() : null;
        if (judged == null) return null;
        if (options != null) return Arrays.asList((double) options.place(judged));
        return judged instanceof double[] ? Arrays.stream((double[]) judged).boxed().collect(Collectors.toList()) : Arrays.asList(judged);
    }

    private static Object doubles(Object expected) {
        if (expected == null) return null;
        List<?> numbers = expected instanceof List ? (List<?>) expected : Arrays.asList(expected);
        return numbers.stream().map(one -> ((Number) one).doubleValue()).collect(Collectors.toList());
    }

    private static void answers(Map<?, ?> vectors) throws Exception {
        int refused = 0;
        for (Object entry : (List<?>) vectors.get("asked")) {
            Map<?, ?> asked = (Map<?, ?>) entry;
            String spec = (String) asked.get("spec");
            Reporter reporter = Reporter.fromJson(spec);
            Inquiry inquiry = new Inquiry(reporter, asked.get("missing"), asked.get("outside"));
            try (Collector collector = new Collector(spec)) {
                collector.campaign.put("missing", Json.quoted((String) asked.get("missing")));
                collector.campaign.put("outside", Json.quoted((String) asked.get("outside")));
                Store store = Store.memory();
                Client client = collector.at().open(4, store);
                for (int time = 0; time < 2; time++) { // also when the report is known
                    for (Object one : (List<?>) asked.get("cases")) {
                        Map<?, ?> vector = (Map<?, ?>) one;
                        if (String.valueOf(vector.get("value")).contains("special=undefined")) continue;
                        Object value = value(vector.get("value"));
                        if (vector.containsKey("refused")) {
                            Refusal refusal = refusal(() -> client.report(value));
                            same(Arrays.asList(refusal.code, refusal.argument) + " of " + value, vector.get("refused") + " of " + value);
                            same(value instanceof String && ((String) value).length() > 1 && refusal.getMessage().contains((String) value), false);
                            refused++;
                            continue;
                        }
                        List<?> judged = inquiry.judged(value);
                        List<Object> found = new ArrayList<>();
                        for (Input input : reporter.inputs().values()) found.add(plain(input, judged.get(found.size())));
                        List<Object> expected = ((List<?>) vector.get("becomes")).stream().map(Tests::doubles).collect(Collectors.toList());
                        same(found + " of " + value, expected + " of " + value);
                    }
                    same(collector.posts.size() + " " + (client.previous() == null), time + " " + (time == 0));
                    client.report(null);
                }
                same(collector.posts.size(), 1);
            }
        }
        same(refused > 200, true);
    }

    private static void late(String spec) throws Exception {
        Store store = Store.memory();
        try (Collector collector = new Collector(spec)) {
            collector.outcomes.addAll(Arrays.asList(503, 503, 503));
            Client client = collector.at().open(1, store);
            refusal(() -> client.report(3.0));
            String person = Origin.parse("http://127.0.0.1:" + collector.server.getAddress().getPort()).name + Origin.path("hours") + " " + Formats.sha256("");
            String now = store.get(person);
            for (long days : new long[] {-7, 7}) { // the device's clock may be wrong, and be set right later
                store.set(person, now.replaceFirst("\"created\":[0-9]+", "\"created\":" + (System.currentTimeMillis() + days * 86_400_000)));
                same(refusal(() -> client.report(3.0)).code + " " + client.previous().state, "too_late pending");
            }
            same(collector.posts.size(), 3);
            store.set(person, now);
            same(client.report(3.0).state, "sent");
        }
    }

    private static void drip(String spec) throws Exception {
        try (Collector collector = new Collector(spec)) {
            collector.outcomes.addAll(Arrays.asList(1, 1));
            Client client = collector.at().patience(Duration.ofMillis(400), 1).open(1, Store.memory());
            long start = System.nanoTime();
            same(refusal(() -> client.report(3.0)).retryable, true);
            if (System.nanoTime() - start > 3_000_000_000L) throw new AssertionError("the deadline is not kept");
        }
    }

    private static void stores() throws Exception {
        Path folder = Files.createTempDirectory("sottovoce");
        for (Store store : new Store[] {Store.memory(), Store.files(folder)}) {
            same(store.get("a/b?"), null);
            same(store.add("a/b?", "first") + " " + store.add("a/b?", "second") + " " + store.get("a/b?"), "true false first");
            store.set("a/b?", "later");
            same(store.get("a/b?"), "later");
        }
        same(folder.toFile().list().length, 1);
    }

    private static void impossible(String spec) throws Exception {
        Reporter reporter = Reporter.fromJson(spec);
        same(refusal(() -> reporter.checkCells(new long[] {reporter.cells})).argument, "cell");
        Reporter wrong = new Reporter(1, reporter.audit.ratio, reporter.cells, 1) { // whose sampler is wrong
            @Override
            public Object decode(long... report) {
                return null;
            }

            @Override
            Object checked(Object value) {
                return value;
            }

            @Override
            Object judged(Object value, boolean clip) {
                return value;
            }

            @Override
            Object spread(Words words) {
                return 0.0;
            }

            @Override
            long[] draw(Object value, Words words) {
                return new long[] {cells};
            }
        };
        same(refusal(() -> new Inquiry(wrong, "uniform", "clip").draw(Arrays.asList(3.0), Words.secure())).argument, "cell");
        Store store = Store.memory();
        try (Collector collector = new Collector(spec)) {
            collector.outcomes.addAll(Arrays.asList(503, 503, 503));
            Client client = collector.at().open(1, store);
            refusal(() -> client.report(3.0));
            Origin origin = Origin.parse("http://127.0.0.1:" + collector.server.getAddress().getPort());
            String person = origin.name + Origin.path("hours") + " " + Formats.sha256("");
            store.set(person, store.get(person).replaceFirst("\"cells\":\\[[0-9]+\\]", "\"cells\":[" + reporter.cells + "]")); // by a version that drew wrongly
            same(refusal(() -> client.report(3.0)).argument, "cell");
            same(collector.posts.size(), 3);
        }
    }

    /** |z| > 5.7 has probability below 1e-6 for eight cells together. */
    private static void law(String spec) {
        Scalar reporter = (Scalar) Reporter.fromJson(spec);
        int n = 200_000;
        int[] counts = new int[(int) reporter.cells];
        int[] exact = new int[counts.length]; // by 2^16 evenly spread draws
        for (int i = 0; i < n; i++) counts[reporter.report(7.0)]++;
        for (long i = 0; i < 1 << 16; i++) {
            long word = i << 48;
            exact[reporter.cell(7.0, () -> word)]++;
        }
        double[] honest = Arrays.stream(exact).mapToDouble(count -> count / 65536.0).toArray();
        double[] mutant = honest.clone();
        mutant[0] += 0.01;
        mutant[1] -= 0.01;
        same(largestZ(counts, honest, n) < 5.7, true);
        same(largestZ(counts, mutant, n) < 5.7, false);
    }

    private static double largestZ(int[] counts, double[] share, int n) {
        double most = 0;
        for (int i = 0; i < counts.length; i++) {
            most = Math.max(most, Math.abs(counts[i] - n * share[i]) / Math.sqrt(n * share[i] * (1 - share[i])));
        }
        return most;
    }
}
