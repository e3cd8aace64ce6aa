package sottovoce;

/** Where numbers lie: an interval or a circle; on a log scale noise is a factor. Mirrors sottovoce/values/: domain, interval, circle. */
public final class Domain {
    private static final double LN2 = 0.6931471805599453;
    private static final double ROOT = 0.7071067811865476;
    private static final double FINITE = 700; // e^700 and e^-700 are doubles

    public final double low;
    public final double high;
    public final boolean circle;
    /** On a circle, its length; otherwise 0. */
    public final double circumference;
    public final boolean log;
    private final double first;
    private final double last;
    private final double factor; // a power of two that brings the width into the range where 1/width is finite
    private final double scaledLow;
    private final double scaledWidth;
    private final double perWidth;

    Domain(double low, double high, double circumference, boolean log) {
        this.low = low;
        this.high = high;
        this.circumference = circumference;
        this.circle = circumference > 0;
        this.log = log;
        first = log ? naturalLog(low) : low;
        last = log ? naturalLog(high) : high;
        double width = last - first;
        factor = Double.isInfinite(width) ? 0.25 : width > 0x1p-900 ? 1 : 0x1p200;
        scaledLow = first * factor;
        scaledWidth = last * factor - first * factor;
        // Where that is subnormal, what is below: no unit coordinate is above 1.
        perWidth = scaledWidth * (1 / scaledWidth) > 1 ? 1 / scaledWidth - Double.MIN_VALUE : 1 / scaledWidth;
    }

    boolean same(Domain other) {
        return low == other.low && high == other.high && circumference == other.circumference && log == other.log;
    }

    public boolean contains(double x) {
        return x >= low && x <= high;
    }

    /** The nearest end of an interval; the same angle on a circle. */
    public double bringInside(double x) {
        if (contains(x)) return x;
        if (!circle) return Math.min(Math.max(x, low), high);
        boolean far = Double.isInfinite(x - low); // then half of everything is within doubles
        double turn = far ? 2 * ((x / 2 - low / 2) % (circumference / 2)) : (x - low) % circumference;
        return low + (turn < 0 ? turn + circumference : turn);
    }

    /** What a value outside becomes, or null if it is missing. */
    Double judged(Object value, boolean clip) {
        if (!(value instanceof Number)) throw Reporter.wrongType("value must be a number, or null if it is missing");
        double x = ((Number) value).doubleValue();
        if (Double.isNaN(x) || Double.isInfinite(x)) return null;
        double inside = clip ? bringInside(x) : x;
        return contains(inside) ? (Double) inside : null;
    }

    /** A value drawn evenly: it may stand in for a missing one. */
    double spread(Words words) {
        return bringInside(at((words.next() >>> 11) * 0x1p-53));
    }

    /** The place of a unit coordinate. */
    double at(double t) {
        double place = (scaledLow + t * scaledWidth) / factor;
        if (!log) return place;
        double x = Math.exp(Math.min(Math.max(place, -FINITE), FINITE));
        return t < 0 || t > 1 ? x : t == 1 ? high : bringInside(x);
    }

    /** The unit coordinate of a value, by the arithmetic that every sampler uses. */
    double unit(double x) {
        double place = log ? Math.min(Math.max(naturalLog(x), first), last) : x;
        return (place * factor - scaledLow) * perWidth;
    }

    /** The logarithm of a positive normal double, in steps that every language rounds alike (exact/logarithm.py). */
    static double naturalLog(double x) {
        long bits = Double.doubleToLongBits(x);
        double fraction = Double.longBitsToDouble((bits & 0xfffffffffffffL) | 0x3fe0000000000000L); // a half ≤ fraction < 1
        int small = fraction < ROOT ? 1 : 0;
        double m = fraction * (1 + small);
        double k = (bits >>> 52) - 1022 - small;
        double s = (m - 1) / (m + 1);
        double z = s * s;
        double series = 0;
        for (int odd = 21; odd > 1; odd -= 2) series = (series + 1.0 / odd) * z;
        return k * LN2 + 2 * (s + s * series);
    }
}
