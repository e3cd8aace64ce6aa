package sottovoce;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A person's side of a campaign. It fetches the mechanism, audits it, draws once, remembers what it drew, and sends
 * exactly that until the collector says it has it.
 *
 * <pre>
 * Client client = Client.at("https://collector.example", "commute").open(1.0, Store.files(folder));
 * client.report(32.0);
 * </pre>
 */
public final class Client {
    private static final long KEY_LIFE = (long) (6.5 * 86_400_000); // the collector remembers keys for 7 days; later a repeat could count twice
    private static final long BEAT = 250; // milliseconds

    /** What the collector says about the campaign. */
    public final Map<String, Object> campaign;
    /** What the campaign randomises with, counted. */
    public final Reporter reporter;
    private final Inquiry inquiry;
    private final String token;
    private final Store store;
    private final Wire wire;
    private final String address;
    private final String person;
    private final String digest;

    private Client(Options options, double agreed, Store store) {
        this.store = store;
        token = options.token;
        wire = new Wire(options.timeout.toMillis(), options.attempts);
        Origin origin = Origin.parse(options.url);
        String path = Origin.path(options.campaign);
        address = origin.address + path;
        // One person's report is never sent under another's token.
        person = origin.name + path + " " + Formats.sha256(token == null ? "" : token);
        campaign = wire.request(address, null, Map.of());
        Object spec = campaign.get("spec");
        boolean named = spec instanceof String && Formats.digest((String) spec).equals(campaign.get("digest"));
        Refusal.rule(named, "the mechanism is not the one that the campaign's digest names", "digest");
        digest = (String) campaign.get("digest");
        reporter = Reporter.fromJson((String) spec);
        if (!reporter.keeps(agreed)) {
            throw new Refusal(Refusal.Kind.PRIVACY, "the campaign's mechanism has epsilon=" + reporter.audit.epsilon
                    + ", more than the agreed epsilon=" + agreed, "epsilon");
        }
        inquiry = new Inquiry(reporter, campaign.get("missing"), campaign.get("outside"));
    }

    /** A campaign of a collector. */
    public static Options at(String url, String campaign) {
        return new Options(url, campaign);
    }

    /** How to open a campaign. */
    public static final class Options {
        private final String url;
        private final String campaign;
        private String token;
        private Duration timeout = Duration.ofSeconds(15);
        private int attempts = 4;

        private Options(String url, String campaign) {
            this.url = url;
            this.campaign = campaign;
        }

        /** An enrolment or write token. */
        public Options token(String value) {
            token = value;
            return this;
        }

        /** How long a request and its whole answer may take, and how often it is made before giving up for now. */
        public Options patience(Duration longest, int most) {
            timeout = longest;
            attempts = most;
            return this;
        }

        /**
         * Fetch the campaign and audit its mechanism.
         *
         * @param epsilon what the person agreed to: a mechanism with a larger exact ε is refused
         * @param store where draws are recorded before they are sent
         */
        public Client open(double epsilon, Store store) {
            if (!(epsilon > 0)) throw new Refusal(Refusal.Kind.ARGUMENT, "epsilon must be the number that the person agreed to", "epsilon");
            if (store == null) throw new Refusal(Refusal.Kind.ARGUMENT, "store must say where draws are recorded", "store");
            return new Client(this, epsilon, store);
        }
    }

    /** What left the device for one person. */
    public static final class Receipt {
        /** "pending": not yet acknowledged; "sent"; "refused": the collector said no, for good. */
        public final String state;
        private final long[] cells;
        /** What the report stands for. */
        public final Object value;

        private Receipt(String state, long[] cells, Object value) {
            this.state = state;
            this.cells = cells;
            this.value = value;
        }

        /** The report: one integer, or as many as a survey asks for. */
        public long[] cells() {
            return cells.clone();
        }
    }

    /**
     * Report to the campaign, once: the value (null if it is missing) is randomised, the cells stored with their key, then
     * sent. Called again, whatever the value, it only repeats what was drawn the first time. What cannot be an answer is
     * refused, and spends nothing.
     */
    public Receipt report(Object value) {
        long start = System.nanoTime();
        List<?> judged = inquiry.judged(value);
        Letter letter = Letter.read(store.get(person));
        if (letter == null) {
            Letter fresh = new Letter(Words.Secure.key(), digest, inquiry.draw(judged, Words.secure()), "pending", System.currentTimeMillis());
            letter = store.add(person, fresh.text()) ? fresh : Letter.read(store.get(person));
        }
        if (letter.state.equals("sent")) return receipt(letter);
        // What was drawn leaves at a moment that was fixed before: how long randomising took does not tell.
        Wire.sleep(BEAT - (System.nanoTime() - start) / 1_000_000 % BEAT);
        return receipt(deliver(letter));
    }

    /** What this store has drawn for the campaign before, or null. */
    public Receipt previous() {
        Letter letter = Letter.read(store.get(person));
        return letter == null ? null : receipt(letter);
    }

    private Receipt receipt(Letter letter) {
        return new Receipt(letter.state, letter.cells, letter.digest.equals(digest) ? reporter.decode(letter.cells) : null);
    }

    private Letter deliver(Letter letter) {
        if (!letter.digest.equals(digest)) {
            throw new Refusal(Refusal.Kind.PRIVACY, "repeated", "this person has answered the campaign before, when it had another"
                    + " mechanism: a second draw would spend epsilon again", null);
        }
        if (Math.abs(System.currentTimeMillis() - letter.created) > KEY_LIFE) { // drawn in the future: the clock cannot tell
            throw new Refusal(Refusal.Kind.COLLECTOR, "too_late", "too late to send this report again: it might be counted twice", null);
        }
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", "application/vnd.sottovoce.cells");
        headers.put("Idempotency-Key", letter.key);
        if (token != null) headers.put("Authorization", "Bearer " + token);
        try {
            wire.request(address + "/reports", body(letter.cells), headers);
        } catch (Refusal refusal) {
            if (!refusal.retryable) store.set(person, letter.as("refused").text());
            throw refusal;
        }
        Letter sent = letter.as("sent");
        store.set(person, sent.text());
        return sent;
    }

    /** The digest, then cells in little-endian order: the length tells nothing about them. */
    private byte[] body(long[] cells) {
        int bytes = reporter.cells <= 1 << 8 ? 1 : reporter.cells <= 1 << 16 ? 2 : reporter.cells <= 1L << 32 ? 4 : 8;
        ByteBuffer out = ByteBuffer.allocate(32 + cells.length * bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 32; i++) out.put((byte) Integer.parseInt(digest.substring(2 * i, 2 * i + 2), 16));
        for (long cell : reporter.checkCells(cells)) {
            for (int k = 0; k < bytes; k++) out.put((byte) (cell >>> 8 * k));
        }
        return out.array();
    }

    /** A report and the key it is sent with. */
    private static final class Letter {
        final String key;
        final String digest;
        final long[] cells;
        final String state;
        final long created;

        Letter(String key, String digest, long[] cells, String state, long created) {
            this.key = key;
            this.digest = digest;
            this.cells = cells;
            this.state = state;
            this.created = created;
        }

        Letter as(String other) {
            return new Letter(key, digest, cells, other, created);
        }

        String text() {
            String list = LongStream.of(cells).mapToObj(Long::toString).collect(Collectors.joining(",", "[", "]"));
            return "{\"key\":" + Json.quoted(key) + ",\"digest\":" + Json.quoted(digest) + ",\"cells\":" + list + ",\"state\":" + Json.quoted(state)
                    + ",\"created\":" + created + "}";
        }

        static Letter read(String text) {
            if (text == null) return null;
            Map<?, ?> content = (Map<?, ?>) Json.parse(text);
            long[] cells = ((List<?>) content.get("cells")).stream().mapToLong(cell -> ((BigInteger) cell).longValue()).toArray();
            return new Letter((String) content.get("key"), (String) content.get("digest"), cells, (String) content.get("state"),
                    ((BigInteger) content.get("created")).longValue());
        }
    }
}
