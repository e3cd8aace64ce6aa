package sottovoce;

import static sottovoce.Refusal.rule;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * A reporter of one of a few options: `translates/1`. A cell is a base set and a shift s, and holds the options x with s − x in the
 * set. Mirrors sottovoce/core/translates.py.
 */
public final class Translates extends Reporter {
    public final Options domain;
    private final Counts counts;

    /** What a spec says, checked for consistency but not yet for ε. */
    static final class Counts {
        final double epsilon;
        final Options domain;
        final int size;
        final long background;
        final long extra;
        final int bits;
        final long left; // this many cells have one draw more than the background
        final int cells;
        final int[] base; // the first cell of each entry's set
        final int[] element; // and its element

        Counts(Object content) {
            Map<String, Object> spec =
                    Reader.object(content, "spec", "format", "epsilon", "bits", "background", "extra", "blocks", "multipliers", "options");
            domain = new Options(Reader.list(spec.get("options"), "options"));
            size = domain.names.size();
            List<long[]> blocks = new ArrayList<>();
            for (Object block : Reader.list(spec.get("blocks"), "blocks")) blocks.add(Reader.integers(block, "blocks"));
            long[] multipliers = Reader.integers(spec.get("multipliers"), "multipliers");
            background = Reader.integer(spec.get("background"), "background");
            extra = Reader.integer(spec.get("extra"), "extra");
            long depth = Reader.integer(spec.get("bits"), "bits");
            rule(depth >= Window.MIN_BITS && depth <= Window.MAX_BITS, "bits must be between 33 and 52", "bits");
            bits = (int) depth;
            long total = (long) blocks.size() * multipliers.length * size;
            rule(total >= 1 && total <= Window.MAX_CELLS, "blocks must give 1 to " + Window.MAX_CELLS + " cells", "blocks");
            cells = (int) total;
            int elements = 0;
            for (long[] block : blocks) {
                elements += block.length * multipliers.length;
                rule(block.length >= 1 && block.length < size && different(block), "blocks must hold different options, not none and not all", "blocks");
                for (long one : block) rule(one >= 0 && one < size, "blocks must hold numbers from 0 to " + (size - 1), "blocks");
            }
            rule(different(multipliers), "multipliers must be different", "multipliers");
            for (long h : multipliers) {
                boolean coprime = h > 0 && h < Math.max(size, 2) && BigInteger.valueOf(h).gcd(BigInteger.valueOf(size)).equals(BigInteger.ONE);
                rule(coprime, "multipliers must be coprime to the number of options", "multipliers");
            }
            rule(background >= 1 && extra >= 0, "background must be at least 1 and extra at least 0", "background");
            BigInteger rest = BigInteger.ONE.shiftLeft(bits)
                    .subtract(BigInteger.valueOf(cells).multiply(BigInteger.valueOf(background)))
                    .subtract(BigInteger.valueOf(elements).multiply(BigInteger.valueOf(extra)));
            rule(rest.signum() >= 0 && rest.compareTo(BigInteger.valueOf(cells)) < 0, "background and extra must leave fewer draws than cells", "background");
            left = rest.longValue();
            base = new int[elements];
            element = new int[elements];
            int at = 0;
            int set = 0;
            for (long[] block : blocks) {
                for (long h : multipliers) {
                    for (long one : block) {
                        base[at] = set * size;
                        element[at++] = (int) (one * h % size);
                    }
                    set++;
                }
            }
            epsilon = Reader.real(spec.get("epsilon"), "epsilon");
        }

        private static boolean different(long[] items) {
            HashSet<Long> seen = new HashSet<>();
            for (long item : items) seen.add(item);
            return seen.size() == items.length;
        }

        /** A cell has more draws for an option that it holds than for one that it does not. */
        Ratio ratio() {
            return Ratio.of(background + extra, background);
        }
    }

    Translates(Counts counts) {
        super(counts.epsilon, counts.ratio(), counts.cells, 1);
        this.counts = counts;
        domain = counts.domain;
    }

    /** A 1 for each option that a cell holds, and a 0 for each other. */
    @Override
    public int[] decode(long... report) {
        checkCell(report[0], cells);
        int shift = (int) (report[0] % counts.size);
        int[] held = new int[counts.size];
        for (int i = 0; i < counts.base.length; i++) {
            if (counts.base[i] == report[0] - shift) held[Math.floorMod(shift - counts.element[i], counts.size)] = 1;
        }
        return held;
    }

    @Override
    Object checked(Object value) {
        Object option = judged(value, false);
        if (option == null) throw Refusal.outside();
        return option;
    }

    @Override
    Object judged(Object value, boolean clip) {
        boolean text = value instanceof String;
        if (!text && !(value instanceof Number)) throw wrongType("value must be an option, or null if it is missing");
        return domain.place(value) < 0 ? null : value;
    }

    @Override
    Object spread(Words words) {
        return domain.names.get((int) ((words.next() >>> 32) * counts.size >>> 32));
    }

    @Override
    long[] draw(Object value, Words words) {
        long draw = words.next() >>> (64 - counts.bits);
        long a = counts.background;
        long first = counts.left * (a + 1);
        long rest = cells * a + counts.left;
        // Three kinds of draws: cells of one more than the background, of the background, and those that hold the option.
        long begin = draw < first ? 0 : draw < rest ? counts.left : rest;
        long size = draw < first ? a + 1 : draw < rest ? a : Math.max(counts.extra, 1);
        long place = (draw - begin) / size;
        int entry = draw < rest ? 0 : (int) place;
        long held = counts.base[entry] + (domain.place(value) + counts.element[entry]) % counts.size;
        return new long[] {draw < rest ? place : held};
    }
}
