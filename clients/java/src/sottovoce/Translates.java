package sottovoce;

import static sottovoce.Refusal.rule;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A reporter of one of a few options, or of a place: `translates/1`. A cell is a base set and a shift s, and holds the elements x of a
 * finite group with s − x in the set. Mirrors sottovoce/reporters/translates.py.
 */
public final class Translates extends Reporter {
    private final Counts counts;

    /** What a spec says, checked for consistency but not yet for ε. */
    static final class Counts {
        final double epsilon;
        final Elements domain;
        final int size;
        final List<long[]> blocks = new ArrayList<>();
        final int multipliers;
        final List<int[]> sets = new ArrayList<>(); // the elements of each block times each multiplier
        final int[] entries; // those of all sets, one after the other
        final int[] base; // and the first cell of the set of each
        final long background;
        final long extra;
        final int bits;
        final long left; // this many cells have one draw more than the background
        final int cells;

        Counts(Object content) {
            boolean places = content instanceof Map && ((Map<?, ?>) content).containsKey("area");
            Map<String, Object> spec = places
                    ? Reader.object(content, "spec", "format", "epsilon", "bits", "background", "extra", "blocks", "area")
                    : Reader.object(content, "spec", "format", "epsilon", "bits", "background", "extra", "blocks", "multipliers", "options");
            domain = places ? Area.read(spec.get("area")) : new Options(Reader.list(spec.get("options"), "options"));
            size = domain.rows * domain.columns;
            for (Object block : Reader.list(spec.get("blocks"), "blocks")) blocks.add(Reader.integers(block, "blocks"));
            long[] factors = places ? new long[] {1} : Reader.integers(spec.get("multipliers"), "multipliers");
            multipliers = factors.length;
            background = Reader.integer(spec.get("background"), "background");
            extra = Reader.integer(spec.get("extra"), "extra");
            long depth = Reader.integer(spec.get("bits"), "bits");
            rule(depth >= Window.MIN_BITS && depth <= Window.MAX_BITS, "bits must be between 33 and 52", "bits");
            bits = (int) depth;
            long total = (long) blocks.size() * multipliers * size;
            rule(total >= 1 && total <= Window.MAX_CELLS, "blocks must give 1 to " + Window.MAX_CELLS + " cells", "blocks");
            cells = (int) total;
            rule(Arrays.stream(factors).distinct().count() == multipliers, "multipliers must be different", "multipliers");
            for (long h : factors) {
                boolean coprime = h > 0 && h < Math.max(size, 2) && BigInteger.valueOf(h).gcd(BigInteger.valueOf(size)).equals(BigInteger.ONE);
                rule(coprime, "multipliers must be coprime to the number of options", "multipliers");
            }
            for (long[] block : blocks) {
                int[] members = domain.members(block);
                for (long h : factors) sets.add(Arrays.stream(members).map(one -> (int) (one * h % size)).toArray());
            }
            entries = sets.stream().flatMapToInt(Arrays::stream).toArray();
            base = new int[entries.length];
            int at = 0;
            for (int set = 0; set < sets.size(); set++) {
                Arrays.fill(base, at, at + sets.get(set).length, set * size);
                at += sets.get(set).length;
            }
            rule(background >= 1 && extra >= 0, "background must be at least 1 and extra at least 0", "background");
            BigInteger rest = BigInteger.ONE.shiftLeft(bits)
                    .subtract(BigInteger.valueOf(cells).multiply(BigInteger.valueOf(background)))
                    .subtract(BigInteger.valueOf(entries.length).multiply(BigInteger.valueOf(extra)));
            rule(rest.signum() >= 0 && rest.compareTo(BigInteger.valueOf(cells)) < 0, "background and extra must leave fewer draws than cells", "background");
            left = rest.longValue();
            epsilon = Reader.real(spec.get("epsilon"), "epsilon");
        }

        /** A cell has more draws for an element that it holds than for one that it does not. */
        Ratio ratio() {
            return Ratio.of(background + extra, background);
        }
    }

    Translates(Counts counts) {
        super(counts.epsilon, counts.ratio(), counts.cells, 1);
        this.counts = counts;
    }

    /** What people choose from; null if places are asked for. */
    public Options options() {
        return counts.domain instanceof Options ? (Options) counts.domain : null;
    }

    /** A 1 for each option that a cell holds and a 0 for each other (int[]), or the position in its middle (double[]). */
    @Override
    public Object decode(long... report) {
        checkCell(report[0], cells);
        int set = (int) (report[0] / counts.size);
        return counts.domain.decode((int) (report[0] % counts.size), counts.blocks.get(set / counts.multipliers), counts.sets.get(set));
    }

    @Override
    Object checked(Object value) {
        Object inside = judged(value, false);
        if (inside == null) throw Refusal.outside();
        return inside;
    }

    @Override
    Object judged(Object value, boolean clip) {
        return counts.domain.judged(value, clip);
    }

    @Override
    Object spread(Words words) {
        return counts.domain.spread(words);
    }

    @Override
    long[] draw(Object value, Words words) {
        long word = words.next();
        long draw = word >>> (64 - counts.bits);
        long a = counts.background;
        long first = counts.left * (a + 1);
        long rest = cells * a + counts.left;
        // Three kinds of draws: cells of one more than the background, of the background, and those that hold the element.
        long begin = draw < first ? 0 : draw < rest ? counts.left : rest;
        long size = draw < first ? a + 1 : draw < rest ? a : Math.max(counts.extra, 1);
        long place = (draw - begin) / size;
        int entry = draw < rest ? 0 : (int) place;
        int rows = counts.domain.rows;
        int columns = counts.domain.columns;
        int[] at = counts.domain.point(value, word);
        long held = (at[0] + counts.entries[entry] / columns) % rows * columns + (at[1] + counts.entries[entry] % columns) % columns;
        return new long[] {draw < rest ? place : counts.base[entry] + held};
    }
}
