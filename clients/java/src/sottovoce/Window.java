package sottovoce;

import static sottovoce.Refusal.rule;

import java.math.BigInteger;

/**
 * The integer window: the rules its numbers obey, the largest ratio of two counts of one cell, and its sampler. Mirrors
 * sottovoce/reporters/window.py and reporters/sampling/numpy_loops.py. A draw takes as many steps for one value as for another.
 */
final class Window {
    static final int MAX_CELLS = 1 << 20;
    static final int MIN_BITS = 33;
    static final int MAX_BITS = 52;
    private static final int MAX_STEPS = 4;
    private static final int GUIDE_BITS = 14;
    private static final long LARGEST = 1L << 53;

    final boolean wraps;
    final int bits;
    final long[] count;
    final long[] background;
    final long[] extra;
    final double[] value;
    final double[] step;
    final double[] t;
    final long[] s;
    final boolean stepwise;
    int cells;
    private long mass; // A: draws below it fall into the background
    private long around; // H: the length of the extra coordinate
    private long length; // K: that of the window
    private long top; // the largest start
    private long[] first; // the first cell of each run
    private double[] rises;
    private Guide knots;
    private Guide back;
    private Guide more;

    Window(
            boolean wraps, int bits, long[] count, long[] background, long[] extra, double[] value, double[] step, double[] t,
            long[] s, boolean stepwise) {
        this.wraps = wraps;
        this.bits = bits;
        this.count = count;
        this.background = background;
        this.extra = extra;
        this.value = value;
        this.step = step;
        this.t = t;
        this.s = s;
        this.stepwise = stepwise;
        checkCells();
        addUp();
        checkStarts();
        tabulate();
    }

    private void checkCells() {
        int runs = count.length;
        rule(bits >= MIN_BITS && bits <= MAX_BITS, "bits must be between 33 and 52", "bits");
        rule(runs >= 1, "cells must not be empty", "cells");
        rule(background.length == runs && extra.length == runs && value.length == runs && step.length == runs,
                "every list of cells must have one entry per run", "cells");
        long total = 0;
        double before = wraps ? 0 : Double.NEGATIVE_INFINITY;
        for (int i = 0; i < runs; i++) {
            rule(count[i] >= 1, "cells.count must be at least 1", "cells.count");
            total += count[i];
            rule(total <= MAX_CELLS, "there can be at most " + MAX_CELLS + " cells", "cells.count");
            rule(background[i] >= 1, "cells.background must be at least 1", "cells.background");
            rule(extra[i] >= 0, "cells.extra must not be negative", "cells.extra");
            double last = value[i] + step[i] * (count[i] - 1);
            boolean ordered = step[i] >= 0 && value[i] >= before && !Double.isInfinite(last) && !Double.isNaN(last);
            rule(ordered, "cell values must not decrease", "cells.value");
            before = last;
        }
        rule(!wraps || before <= 1, "values on a circle must lie between 0 and 1", "cells.value");
        cells = (int) total;
    }

    private void addUp() {
        BigInteger a = BigInteger.ZERO;
        BigInteger h = BigInteger.ZERO;
        for (int i = 0; i < count.length; i++) {
            a = a.add(BigInteger.valueOf(count[i]).multiply(BigInteger.valueOf(background[i])));
            h = h.add(BigInteger.valueOf(count[i]).multiply(BigInteger.valueOf(extra[i])));
        }
        BigInteger all = a.add(wraps ? h.shiftLeft(1) : h);
        rule(all.compareTo(BigInteger.valueOf(LARGEST)) <= 0, "the weights must add up to at most 2^53", null);
        mass = a.longValue();
        around = h.longValue();
        length = (1L << bits) - mass;
        rule(length > 0, "the background must leave room for the window (A < 2^bits)", null);
        rule(around >= length, "the extra weights must hold the window (H >= 2^bits - A)", null);
        top = wraps ? 2 * around - 1 : around - length;
    }

    private void checkStarts() {
        rule(s.length == t.length, "start.t and start.s must have one entry per knot", "start.s");
        rule(t.length >= (stepwise ? 1 : 2), "start needs a knot (two if it is not a step table)", "start.t");
        for (int i = 0; i < t.length; i++) {
            rule(t[i] >= 0 && t[i] <= 1, "start.t must lie between 0 and 1", "start.t");
            rule(s[i] >= 0 && s[i] <= top, "start.s must lie in [0, " + top + "]", "start.s");
            if (i == 0) continue;
            rule(t[i] == t[i - 1] || t[i] - t[i - 1] >= 0x1p-64, "start.t must not decrease", "start.t");
            rule(s[i] >= s[i - 1], "start.s must not decrease", "start.s");
        }
    }

    private void tabulate() {
        int runs = count.length;
        int segments = stepwise ? t.length : t.length - 1;
        first = new long[runs];
        double[] backEdges = new double[runs];
        double[] moreEdges = new double[runs];
        for (int i = 1; i < runs; i++) {
            first[i] = first[i - 1] + count[i - 1];
            backEdges[i] = backEdges[i - 1] + count[i - 1] * background[i - 1];
            moreEdges[i] = moreEdges[i - 1] + count[i - 1] * extra[i - 1];
        }
        rises = new double[segments];
        for (int k = 0; k < segments && !stepwise; k++) {
            rises[k] = t[k + 1] > t[k] ? (double) (s[k + 1] - s[k]) / (t[k + 1] - t[k]) : 0;
            boolean exact = place(k, k + 1 < segments ? t[k + 1] : 1) <= LARGEST;
            rule(exact, "lines of starts must stay within 2^53", "start.t");
        }
        knots = new Guide(t, segments, 1, 1 << GUIDE_BITS);
        back = new Guide(backEdges, runs, mass, bucketFactor(mass));
        more = new Guide(moreEdges, runs, around, bucketFactor(around));
        if (Math.max(knots.steps, Math.max(back.steps, more.steps)) > MAX_STEPS) {
            throw new Refusal(Refusal.Kind.SPEC, "timing",
                    "at most " + MAX_STEPS + " runs or knots may begin in one of 2^14 equal buckets: a look-up must take as long"
                            + " for one value as for another", "cells");
        }
    }

    private static double bucketFactor(long total) {
        return Math.scalb(1.0, Math.min(0, GUIDE_BITS - (64 - Long.numberOfLeadingZeros(total))));
    }

    /** The cell that a 64-bit word draws at a unit coordinate. */
    int cell(double unit, long word) {
        long draw = word >>> (64 - bits);
        boolean inside = draw >= mass;
        long at = draw - mass + start(unit);
        if (wraps && at >= around) at -= around;
        Guide guide = inside ? more : back;
        long place = inside ? at : draw;
        int run = guide.find(place);
        long weight = inside ? Math.max(extra[run], 1) : background[run];
        return (int) (first[run] + (place - (long) guide.left[run]) / weight);
    }

    /** Where the window of a unit coordinate begins. */
    private long start(double unit) {
        int k = knots.find(unit);
        long begin = (long) Math.min(Math.max(place(k, unit), 0), top);
        return wraps && begin >= around ? begin - around : begin;
    }

    /** Where a line of starts is at a unit coordinate. */
    private double place(int k, double unit) {
        return s[k] + Math.floor((unit - t[k]) * rises[k]);
    }

    /** Where a cell's report lies, in the unit coordinate. */
    double position(int cell) {
        int run = first.length - 1;
        while (first[run] > cell) run--;
        return value[run] + step[run] * (cell - first[run]);
    }

    /**
     * The largest ratio of two counts of one cell over all allowed starts. A cell's overlap with the window is least at one of
     * the two extreme starts: at the first one for the last cell of a run, at the last one for the first. On a circle the
     * window misses as much of a cell as the gap can hold.
     */
    Ratio largestRatio() {
        Ratio best = Ratio.ONE;
        long gap = around - length;
        long end = 0;
        for (int i = 0; i < count.length; i++) {
            long a = background[i];
            long e = extra[i];
            end += count[i] * e;
            long least;
            if (wraps) {
                least = Math.max(e - gap, 0);
            } else {
                long last = length - (end - e);
                long begin = end - (count[i] - 1) * e - gap;
                least = Math.min(Math.max(Math.min(last, begin), 0), e);
            }
            Ratio ratio = Ratio.of(a + Math.min(e, length), a + least);
            if (ratio.compareTo(best) > 0) best = ratio;
        }
        return best;
    }

    /** Sorted left edges with the last that begins no later than each bucket; buckets are wide by a power of two. */
    private static final class Guide {
        final double[] left;
        final int steps; // the most edges that begin in one bucket
        private final int many;
        private final double scale;
        private final int[] from;

        Guide(double[] left, int many, double extent, double scale) {
            this.left = left;
            this.many = many;
            this.scale = scale;
            from = new int[(int) (extent * scale) + 1];
            int at = 0;
            int most = 0;
            for (int bucket = 0; bucket < from.length; bucket++) {
                int before = at;
                while (at + 1 < many && left[at + 1] <= bucket / scale) at++;
                if (bucket > 0) most = Math.max(most, at - before);
                from[bucket] = at;
            }
            steps = Math.max(most, many - 1 - at);
        }

        /** The entry that covers a number, in as many steps for every number. */
        int find(double at) {
            int entry = from[(int) (at * scale)];
            for (int i = 0; i < steps; i++) entry += entry + 1 < many && left[entry + 1] <= at ? 1 : 0;
            return entry;
        }
    }
}
