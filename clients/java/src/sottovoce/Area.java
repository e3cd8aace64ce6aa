package sottovoce;

import static sottovoce.Refusal.rule;

import java.util.Arrays;
import java.util.Map;

/** Where places lie: a box, or the disc that fills it, on a grid of points. Mirrors sottovoce/values/area.py. */
public final class Area extends Elements {
    private static final int MAX_POINTS = 1024;
    private static final int STEPS = 32; // into which the way between two points is divided
    static final double LEAST = 1e-300; // across an area or a disc: far from where doubles lose digits
    private static final double FAR = 1e150; // its square is finite
    private static final double ROUNDING = 0x1p-48; // that of sixteen numbers as large as the coordinates: so far beyond the rim is on it

    private final double[] low;
    private final double[] high;
    private final boolean round;
    private final long[] points; // columns and rows, as x and y

    private Area(Map<String, Object> spec, long[] moduli) {
        super((int) moduli[0], (int) moduli[1]);
        double[] x = Reader.reals(spec.get("x"), "x");
        double[] y = Reader.reals(spec.get("y"), "y");
        rule(x.length == 2 && y.length == 2, "x and y must be lists of 2", "area");
        low = new double[] {x[0], y[0]};
        high = new double[] {x[1], y[1]};
        round = Reader.flag(spec.get("round"), "round");
        boolean degrees = Reader.flag(spec.get("degrees"), "degrees");
        for (int i = 0; i < 2; i++) {
            rule(high[i] - low[i] >= LEAST && !Double.isInfinite(high[i] - low[i]), "area must have ends above its beginnings, by at least " + LEAST, "area");
            rule(!degrees || low[i] >= -90 * (2 - i) && high[i] <= 90 * (2 - i), "area must lie within 180 and 90 degrees", "area");
        }
        long[] grid = sizes(spec, "points");
        rule(moduli[0] >= grid[0] && moduli[1] >= grid[1], "moduli must be at least points", "moduli");
        points = new long[] {grid[1], grid[0]};
    }

    static Area read(Object content) {
        Map<String, Object> spec = Reader.object(content, "area", "x", "y", "points", "moduli", "round", "degrees");
        return new Area(spec, sizes(spec, "moduli"));
    }

    private static long[] sizes(Map<String, Object> spec, String key) {
        long[] sizes = Reader.integers(spec.get(key), key);
        rule(sizes.length == 2 && Arrays.stream(sizes).allMatch(size -> size >= 2 && size <= MAX_POINTS), key + " must be two numbers from 2 to 1024", key);
        return sizes;
    }

    @Override
    int[] members(long[] block) {
        boolean fits = block.length >= 1 && block.length <= rows && Arrays.stream(block).allMatch(length -> length >= 1 && length <= columns && length % 2 == 1);
        rule(fits, "blocks must be odd lengths of rows, within the group", "blocks");
        int[] elements = new int[(int) Arrays.stream(block).sum()];
        rule(elements.length < rows * columns, "blocks must leave something out", "blocks");
        int half = widest(block) / 2;
        int at = 0;
        for (int row = 0; row < block.length; row++) {
            int first = half - (int) block[row] / 2;
            for (int i = 0; i < block[row]; i++) elements[at++] = row * columns + first + i;
        }
        return elements;
    }

    private static int widest(long[] block) {
        return (int) Arrays.stream(block).max().getAsLong();
    }

    /** From −1 to 1 across the box. */
    private double centred(double[] position, int i) {
        return Math.min(Math.max((position[i] - low[i]) / ((high[i] - low[i]) / 2) - 1, -FAR), FAR);
    }

    boolean contains(double[] position) {
        for (int i = 0; i < 2; i++) if (!(position[i] >= low[i] && position[i] <= high[i])) return false;
        double u = centred(position, 0);
        double v = centred(position, 1);
        return !round || u * u + v * v <= 1 + ROUNDING * (far(0) + far(1));
    }

    /** How far from 0 the area reaches, in half its sides. */
    private double far(int i) {
        return Math.max(Math.abs(low[i]), Math.abs(high[i])) / ((high[i] - low[i]) / 2);
    }

    private double[] bringInside(double[] position) {
        double u = centred(position, 0);
        double v = centred(position, 1);
        double away = Math.sqrt(u * u + v * v);
        double[] inside = new double[2];
        for (int i = 0; i < 2; i++) {
            double moved = round && away > 1 ? low[i] + (high[i] - low[i]) / 2 * ((i == 0 ? u : v) / away + 1) : position[i];
            inside[i] = Math.min(Math.max(moved, low[i]), high[i]);
        }
        return inside;
    }

    @Override
    Object judged(Object value, boolean clip) {
        double[] position = Polar.position(value);
        for (double part : position) if (Double.isNaN(part) || Double.isInfinite(part)) return null;
        if (contains(position)) return position;
        return clip ? bringInside(position) : null;
    }

    @Override
    Object spread(Words words) {
        long word = words.next();
        double one = (word >>> 32) * 0x1p-32;
        double two = (word & 0xffffffffL) * 0x1p-32;
        if (round) {
            double away = Math.sqrt(one);
            double turn = 2 * Math.PI * two;
            one = (away * Math.cos(turn) + 1) / 2;
            two = (away * Math.sin(turn) + 1) / 2;
        }
        return bringInside(new double[] {low[0] + (high[0] - low[0]) * one, low[1] + (high[1] - low[1]) * two});
    }

    @Override
    int[] point(Object value, long word) {
        return new int[] {step((double[]) value, 1, word >>> 5 & 31), step((double[]) value, 0, word & 31)};
    }

    private int step(double[] position, int i, long lot) {
        return (int) Math.floor((position[i] - low[i]) / (high[i] - low[i]) * (points[i] - 1) + (lot + 0.5) / STEPS);
    }

    /** The position in the middle of a translate, or the nearest one inside. */
    @Override
    double[] decode(int shift, long[] block, int[] elements) {
        int[] at = {shift % columns - widest(block) / 2, shift / columns - block.length / 2};
        boolean torus = points[0] == columns && points[1] == rows;
        double[] middle = new double[2];
        for (int i = 0; i < 2; i++) {
            double step = torus ? (at[i] + points[i]) % points[i] : at[i];
            middle[i] = low[i] + (high[i] - low[i]) * (step / (points[i] - 1));
        }
        return bringInside(middle);
    }
}
