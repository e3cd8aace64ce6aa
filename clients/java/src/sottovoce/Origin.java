package sottovoce;

import java.net.IDN;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a collector in one spelling, so that one collector is not taken for several. What could be read in more
 * than one way is refused. Mirrors sottovoce/device/address.py, on the same vectors.
 */
final class Origin {
    private static final Pattern URL = Pattern.compile(
            "(https?)://([^\\x00-\\x20\\x7f/?#@:%\\\\\\[\\]]+|\\[[0-9a-f:.]+\\])(?::([0-9]{1,9}))?((?:/[a-z0-9_~-][a-z0-9._~-]*)*)/*",
            Pattern.CASE_INSENSITIVE);
    private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,63}(\\.[a-z0-9_-]{1,63})*");
    private static final Pattern LAST_IS_NUMBER = Pattern.compile("(.*\\.)?([0-9]+|0x[0-9a-f]*)");
    private static final Pattern AMBIGUOUS = Pattern.compile("[ßẞς\u200c\u200d]"); // standards for international names read these differently

    /** What requests are sent to. */
    final String address;
    /** The one spelling, with every way to say this machine as localhost. */
    final String name;

    private Origin(String address, String name) {
        this.address = address;
        this.name = name;
    }

    static Origin parse(String url) {
        Matcher match = URL.matcher(String.valueOf(url));
        if (match.matches()) {
            String scheme = match.group(1).toLowerCase(Locale.ROOT);
            int usual = scheme.equals("https") ? 443 : 80;
            int port = match.group(3) == null ? usual : Integer.parseInt(match.group(3));
            String host = host(match.group(2));
            if (host != null && port > 0 && port < 1 << 16) {
                String end = (port == usual ? "" : ":" + port) + match.group(4);
                boolean local = host.equals("[::1]") || host.startsWith("127.") || host.endsWith(".localhost");
                return new Origin(scheme + "://" + host + end, scheme + "://" + (local ? "localhost" : host) + end);
            }
        }
        // What was given may hold a user name and a password, so it is not repeated here.
        throw new Refusal(Refusal.Kind.ARGUMENT, "form",
                "url must be like https://collector.example:8443/folder, without user name, query or fragment", "url");
    }

    /** The path of a campaign. */
    static String path(String campaign) {
        StringBuilder out = new StringBuilder("/v1/campaigns/");
        for (byte one : campaign.getBytes(java.nio.charset.StandardCharsets.UTF_8)) {
            char sign = (char) (one & 255);
            boolean plain = sign < 128 && (Character.isLetterOrDigit(sign) || "_.-~".indexOf(sign) >= 0);
            out.append(plain ? String.valueOf(sign) : String.format("%%%02X", (int) sign));
        }
        return out.toString();
    }

    /** A host in one spelling; null if it is none. */
    private static String host(String text) {
        try {
            if (text.startsWith("[")) { // with a colon it is an address: no name is looked up
                return text.contains(":") ? literal(InetAddress.getByName(text.substring(1, text.length() - 1))) : null;
            }
            if (AMBIGUOUS.matcher(text).find()) return null;
            String name = IDN.toASCII(text, IDN.ALLOW_UNASSIGNED).toLowerCase(Locale.ROOT).replaceFirst("\\.$", "");
            if (LAST_IS_NUMBER.matcher(name).matches()) return numbers(name);
            return NAME.matcher(name).matches() ? name : null;
        } catch (IllegalArgumentException | UnknownHostException error) {
            return null;
        }
    }

    private static String literal(InetAddress address) {
        if (address.isAnyLocalAddress()) return null;
        if (address instanceof Inet4Address) return address.getHostAddress(); // also ::ffff:1.2.3.4
        byte[] bytes = address.getAddress();
        int[] groups = new int[8];
        for (int i = 0; i < 8; i++) groups[i] = (bytes[2 * i] & 255) << 8 | (bytes[2 * i + 1] & 255);
        int from = 0;
        int most = 1; // the longest run of zeros, of at least two, is left out
        for (int i = 0; i < 8; i++) {
            int run = 0;
            while (i + run < 8 && groups[i + run] == 0) run++;
            if (run > most) {
                most = run;
                from = i;
            }
        }
        StringBuilder out = new StringBuilder("[");
        for (int i = 0; i < 8; i++) {
            if (most > 1 && i == from) {
                out.append("::");
                i += most - 1;
            } else {
                out.append(out.length() > 1 && out.charAt(out.length() - 1) != ':' ? ":" : "").append(Integer.toHexString(groups[i]));
            }
        }
        return out.append("]").toString();
    }

    /** 127.1, 0x7f.1 and 2130706433 are addresses: up to four parts, octal and hexadecimal ones too, the last fills up. */
    private static String numbers(String name) {
        String[] parts = name.split("\\.", -1);
        if (parts.length > 4) return null;
        long address = 0;
        for (int i = 0; i < parts.length; i++) {
            String part = parts[i];
            int base = part.startsWith("0x") ? 16 : part.length() > 1 && part.startsWith("0") ? 8 : 10;
            String digits = base == 16 ? part.substring(2) : part;
            if (digits.isEmpty() || digits.length() > 12) return null;
            long number = Long.parseLong(digits, base);
            int bytes = i == parts.length - 1 ? 5 - parts.length : 1;
            if (number >= 1L << 8 * bytes) return null;
            address = address << 8 * bytes | number;
        }
        if (address == 0) return null;
        return (address >> 24) + "." + (address >> 16 & 255) + "." + (address >> 8 & 255) + "." + (address & 255);
    }
}
