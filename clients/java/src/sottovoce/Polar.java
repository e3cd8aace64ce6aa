package sottovoce;

import static sottovoce.Refusal.rule;

import java.util.List;

/** A reporter of a position {x, y} by distance and angle: `polar/1`. One integer for both. */
public final class Polar extends Reporter {
    private static final double TURN = 2 * Math.PI;
    private static final double ROUNDING = 0x1p-48; // of a distance: so far beyond the rim is on it

    /** The largest distance. */
    public final double radius;
    private final Scalar distance;
    private final Scalar angle;

    Polar(double epsilon, Scalar distance, Scalar angle) {
        super(epsilon, distance.audit.ratio.times(angle.audit.ratio), distance.cells * angle.cells, 1);
        Domain line = distance.domain;
        double turn = angle.domain.high - angle.domain.low;
        boolean radians = Math.abs(turn - TURN) <= 1e-9 * Math.max(turn, TURN);
        rule(!line.circle && line.low == 0 && angle.domain.circle && radians, "a position is a distance from 0 on and an angle in radians", "parts");
        radius = line.high;
        rule(radius >= Area.LEAST, "radius must be at least " + Area.LEAST, "radius");
        this.distance = distance;
        this.angle = angle;
    }

    @Override
    public double[] decode(long... report) {
        checkCell(report[0], cells);
        double r = distance.decode(report[0] / angle.cells);
        double turn = angle.decode(report[0] % angle.cells);
        return new double[] {r * Math.cos(turn), r * Math.sin(turn)};
    }

    @Override
    Object checked(Object value) {
        double[] position = position(value);
        if (!contains(position)) throw Refusal.outside();
        return position;
    }

    @Override
    Object judged(Object value, boolean clip) {
        double[] given = position(value);
        double x = given[0] / 2; // the distance of a finite position may be infinite
        double y = given[1] / 2;
        if (Double.isNaN(x + y) || Double.isInfinite(x) || Double.isInfinite(y)) return null;
        if (contains(given)) return given;
        double away = Math.hypot(x, y);
        return clip ? new double[] {x / away * radius, y / away * radius} : null;
    }

    private boolean contains(double[] position) {
        return Math.hypot(position[0], position[1]) <= radius * (1 + ROUNDING);
    }

    static double[] position(Object value) {
        if (value instanceof double[] && ((double[]) value).length == 2) return (double[]) value;
        List<?> parts = value instanceof List ? (List<?>) value : List.of(); // null: missing
        boolean numbers = parts.size() == 2 && parts.stream().allMatch(part -> part == null || part instanceof Number);
        if (!numbers) throw wrongType("value must be a position {x, y}, or null if it is missing");
        return parts.stream().mapToDouble(part -> part == null ? Double.NaN : ((Number) part).doubleValue()).toArray();
    }

    @Override
    Object spread(Words words) {
        long word = words.next();
        double away = radius * Math.sqrt((word >>> 32) * 0x1p-32);
        double turn = TURN * ((word & 0xffffffffL) * 0x1p-32);
        return new double[] {away * Math.cos(turn), away * Math.sin(turn)};
    }

    @Override
    long[] draw(Object value, Words words) {
        double[] position = (double[]) value;
        long one = distance.cell(Math.min(Math.hypot(position[0], position[1]), radius), words);
        double turn = angle.domain.bringInside(Math.atan2(position[1], position[0]));
        return new long[] {one * angle.cells + angle.cell(turn, words)};
    }
}
