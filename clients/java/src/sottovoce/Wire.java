package sottovoce;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Requests that are repeated until they are answered, always the same bytes. */
final class Wire {
    private static final int LARGEST_ANSWER = 1 << 24;
    private static final long LONGEST_PAUSE = 30_000;

    private final long timeout; // milliseconds for a request and its whole answer
    private final int attempts;

    Wire(long timeout, int attempts) {
        this.timeout = timeout;
        this.attempts = attempts;
    }

    /** The JSON answer. Without one, or told to come back later, the request is repeated; any other refusal is final. */
    Map<String, Object> request(String url, byte[] body, Map<String, String> headers) {
        Refusal last = null;
        for (int attempt = 1; attempt <= attempts; attempt++) {
            long pause = (long) (250 * Math.pow(2, attempt) * (0.5 + Math.random())); // so that those who wait do not come back together
            try {
                Answer answer = whole(url, body, headers);
                Map<String, Object> content = answer.content();
                if (answer.status == 200 && content != null) return content;
                last = refusal(answer.status, content);
                pause = Math.max(pause, answer.after * 1000);
            } catch (IOException error) {
                last = new Refusal(Refusal.Kind.COLLECTOR, "unreachable", "the collector could not be reached", null, 0, true);
            }
            if (!last.retryable) throw last;
            if (attempt < attempts) sleep(Math.min(pause, LONGEST_PAUSE));
        }
        throw last;
    }

    static void sleep(long milliseconds) {
        try {
            Thread.sleep(milliseconds);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new Refusal(Refusal.Kind.COLLECTOR, "unreachable", "interrupted", null, 0, true);
        }
    }

    private static Refusal refusal(int status, Map<String, Object> content) {
        boolean known = content != null && content.get("code") instanceof String && content.get("message") instanceof String;
        boolean retryable = status == 429 || status >= 500 || status == 200;
        String code = known ? (String) content.get("code") : "unknown";
        String message = known ? (String) content.get("message") : "the collector's answer cannot be read (status " + status + ")";
        Object field = known ? content.get("field") : null;
        return new Refusal(Refusal.Kind.COLLECTOR, code, message, field instanceof String ? (String) field : null, status, retryable);
    }

    /** One try in a thread of its own: a socket's timeout is for each read, and a byte now and then could hold it for ever. */
    private Answer whole(String url, byte[] body, Map<String, String> headers) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
        FutureTask<Answer> talk = new FutureTask<>(() -> talk(connection, body, headers));
        Thread thread = new Thread(talk, "sottovoce");
        thread.setDaemon(true);
        thread.start();
        try {
            return talk.get(timeout, TimeUnit.MILLISECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IOException(error);
        } catch (TimeoutException | ExecutionException error) {
            connection.disconnect();
            throw new IOException(error);
        }
    }

    private Answer talk(HttpURLConnection connection, byte[] body, Map<String, String> headers) throws IOException {
        connection.setConnectTimeout((int) timeout);
        connection.setReadTimeout((int) timeout);
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setRequestProperty("User-Agent", "sottovoce");
        headers.forEach(connection::setRequestProperty);
        if (body != null) {
            connection.setDoOutput(true);
            connection.setFixedLengthStreamingMode(body.length);
            connection.getOutputStream().write(body);
        }
        int status = connection.getResponseCode();
        String after = connection.getHeaderField("Retry-After");
        try (InputStream stream = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            return new Answer(status, after != null && after.matches("[0-9]{1,9}") ? Long.parseLong(after) : 0, read(stream));
        }
    }

    private static String read(InputStream stream) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        byte[] block = new byte[8192];
        for (int n = stream == null ? -1 : stream.read(block); n >= 0 && content.size() < LARGEST_ANSWER; n = stream.read(block)) {
            content.write(block, 0, n);
        }
        return new String(content.toByteArray(), StandardCharsets.UTF_8);
    }

    private static final class Answer {
        final int status;
        final long after;
        final String text;

        Answer(int status, long after, String text) {
            this.status = status;
            this.after = after;
            this.text = text;
        }

        /** The object that every answer of a collector is; null if it is none. */
        @SuppressWarnings("unchecked")
        Map<String, Object> content() {
            try {
                Object content = Json.parse(text);
                return content instanceof Map ? (Map<String, Object>) content : null;
            } catch (Refusal malformed) {
                return null;
            }
        }
    }
}
