package sottovoce;

import static sottovoce.Refusal.rule;

import java.util.List;
import java.util.Map;

/** Explicit integer rows: `rows/1`. A value goes to the nearest input. Mirrors sottovoce/reporters/rows.py. */
final class Rows implements Scalar.Law {
    private static final int MAX_ENTRIES = 1 << 24;

    final double epsilon;
    final Domain domain;
    private final int bits;
    private final double[] values;
    private final double[] borders; // where the nearest input changes
    private final long[][] rows;
    private final long[][] prefix; // the counts of a row up to and with each cell

    Rows(Object content) {
        Map<String, Object> spec =
                Reader.object(content, "spec", "format", "epsilon", "domain", "circle", "bits", "inputs", "rows", "values", "?scale");
        epsilon = Reader.real(spec.get("epsilon"), "epsilon");
        domain = Reader.domain(spec);
        long depth = Reader.integer(spec.get("bits"), "bits");
        rule(depth >= Window.MIN_BITS && depth <= Window.MAX_BITS, "bits must be between 33 and 52", "bits");
        bits = (int) depth;
        double[] inputs = Reader.reals(spec.get("inputs"), "inputs");
        values = Reader.reals(spec.get("values"), "values");
        List<Object> table = Reader.list(spec.get("rows"), "rows");
        rule(table.size() == inputs.length && (long) table.size() * values.length >= 1, "rows must have one entry per input", "rows");
        rule((long) table.size() * values.length <= MAX_ENTRIES, "rows must have at most " + MAX_ENTRIES + " entries", "rows");
        rows = new long[inputs.length][];
        prefix = new long[inputs.length][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = Reader.integers(table.get(i), "rows");
            rule(rows[i].length == values.length, "rows must hold a count for every cell", "rows");
            prefix[i] = new long[values.length];
            long sum = 0;
            for (int j = 0; j < values.length; j++) {
                rule(rows[i][j] >= 1, "rows must hold positive counts", "rows");
                prefix[i][j] = sum += rows[i][j];
                rule(sum <= 1L << bits, "every row must add up to 2^" + bits, "rows");
            }
            rule(sum == 1L << bits, "every row must add up to 2^" + bits, "rows");
        }
        for (int i = 0; i < inputs.length; i++) {
            rule(inputs[i] >= 0 && inputs[i] <= 1 && (i == 0 || inputs[i] > inputs[i - 1]), "inputs must increase from 0 to at most 1", "inputs");
        }
        rule(!domain.circle || inputs[0] == 0, "inputs on a circle must begin at 0", "inputs");
        for (int i = 1; i < values.length; i++) rule(values[i] >= values[i - 1], "values must not decrease", "values");
        borders = new double[domain.circle ? inputs.length : inputs.length - 1];
        for (int i = 0; i < borders.length; i++) {
            borders[i] = ((i + 1 < inputs.length ? inputs[i + 1] : 1) + inputs[i]) / 2;
        }
    }

    @Override
    public Ratio ratio() {
        Ratio best = Ratio.ONE;
        for (int j = 0; j < values.length; j++) {
            long least = Long.MAX_VALUE;
            long most = 0;
            for (long[] row : rows) {
                least = Math.min(least, row[j]);
                most = Math.max(most, row[j]);
            }
            Ratio ratio = Ratio.of(most, least);
            if (ratio.compareTo(best) > 0) best = ratio;
        }
        return best;
    }

    @Override
    public int cells() {
        return values.length;
    }

    @Override
    public int cell(double unit, Words words) {
        int row = 0;
        for (double border : borders) row += border <= unit ? 1 : 0; // as many steps for every value
        long[] ends = prefix[row == rows.length ? 0 : row]; // across the seam of a circle
        long draw = words.next() >>> (64 - bits);
        int low = 0;
        int high = values.length - 1;
        for (int room = high; room > 0; room /= 2) {
            int middle = (low + high) / 2;
            boolean above = low < high && ends[middle] <= draw;
            low = above ? middle + 1 : low;
            high = above ? high : middle;
        }
        return low;
    }

    @Override
    public double position(int cell) {
        return values[cell];
    }
}
