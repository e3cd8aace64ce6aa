package sottovoce;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Collection;

/** An exact fraction in lowest terms, and what is known of e^ε: the integers of sottovoce/exact/rational_bounds.py. */
public final class Ratio implements Comparable<Ratio> {
    static final Ratio ONE = new Ratio(BigInteger.ONE, BigInteger.ONE);
    private static final int BITS = 160; // denominators of the bounds are 2^160
    private static final int WORK = 256; // bits carried while computing them

    public final BigInteger numerator;
    public final BigInteger denominator;

    Ratio(BigInteger numerator, BigInteger denominator) {
        BigInteger common = numerator.gcd(denominator);
        this.numerator = numerator.divide(common);
        this.denominator = denominator.divide(common);
    }

    static Ratio of(long numerator, long denominator) {
        return new Ratio(BigInteger.valueOf(numerator), BigInteger.valueOf(denominator));
    }

    /** A finite decimal ≥ 0. */
    private static Ratio of(BigDecimal decimal) {
        BigInteger power = BigInteger.TEN.pow(Math.abs(decimal.scale()));
        BigInteger digits = decimal.unscaledValue();
        return decimal.scale() > 0 ? new Ratio(digits, power) : new Ratio(digits.multiply(power), BigInteger.ONE);
    }

    Ratio times(Ratio other) {
        return new Ratio(numerator.multiply(other.numerator), denominator.multiply(other.denominator));
    }

    /** The product of the largest of some ratios: that of a report which answers any `count` of them. */
    static Ratio productOfLargest(Collection<Ratio> ratios, int count) {
        return ratios.stream().sorted((one, other) -> other.compareTo(one)).limit(count).reduce(ONE, Ratio::times);
    }

    @Override
    public int compareTo(Ratio other) {
        return numerator.multiply(other.denominator).compareTo(other.numerator.multiply(denominator));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Ratio && compareTo((Ratio) other) == 0;
    }

    @Override
    public int hashCode() {
        return numerator.hashCode() ^ denominator.hashCode();
    }

    @Override
    public String toString() {
        return numerator + "/" + denominator;
    }

    /** The decimal that Python and JavaScript print for a double ≥ 0: the nearest of the shortest that mean it. */
    static BigDecimal printed(double number) {
        BigDecimal exact = new BigDecimal(number);
        for (int digits = 1; ; digits++) {
            BigDecimal best = null;
            for (RoundingMode mode : new RoundingMode[] {RoundingMode.FLOOR, RoundingMode.CEILING}) {
                BigDecimal candidate = exact.round(new MathContext(digits, mode));
                boolean nearer = best == null || candidate.subtract(exact).abs().compareTo(best.subtract(exact).abs()) < 0;
                if (candidate.doubleValue() == number && nearer) best = candidate;
            }
            if (best != null) return best;
        }
    }

    /** A rational q ≤ e^ε, where ε is the smaller of the double and the decimal that it prints as. */
    static Ratio expLower(double epsilon) {
        Ratio exact = of(new BigDecimal(epsilon));
        Ratio decimal = of(printed(epsilon));
        return expLower(decimal.compareTo(exact) < 0 ? decimal : exact);
    }

    /** Taylor's series in fixed point at x/2^k, squared k times: every term is positive, every operation rounds down. */
    private static Ratio expLower(Ratio x) {
        BigInteger ceiling = x.numerator.add(x.denominator).subtract(BigInteger.ONE).divide(x.denominator);
        int halvings = ceiling.bitLength() + 4;
        int work = WORK + 2 * halvings;
        BigInteger part = x.numerator.shiftLeft(work).divide(x.denominator).shiftRight(halvings);
        BigInteger term = BigInteger.ONE.shiftLeft(work);
        BigInteger total = term;
        for (long n = 1; term.signum() > 0; n++) {
            term = term.multiply(part).shiftRight(work).divide(BigInteger.valueOf(n));
            total = total.add(term);
        }
        for (int i = 0; i < halvings; i++) total = total.multiply(total).shiftRight(work);
        return new Ratio(total.shiftRight(work - BITS), BigInteger.ONE.shiftLeft(BITS));
    }

    /** Whether this ratio of at least 1 is at most e^ε. */
    boolean atMostExp(double epsilon) {
        if (!(epsilon > 0)) return false;
        if (epsilon >= numerator.bitLength()) return true; // ratio < 2^ε, and the series of a huge ε would never end
        return compareTo(expLower(epsilon)) <= 0;
    }

    /** The least double ε with this ratio ≤ e^ε: comparing it with another double decides as the integers do. */
    double logUpper() {
        double epsilon = nearestLog();
        while (compareTo(expLower(epsilon)) > 0) epsilon = Math.nextUp(epsilon);
        return epsilon;
    }

    /** The logarithm, rounded to nearest: a first guess y, and ln(ratio / e^y) by two terms of its series in fixed point. */
    private double nearestLog() {
        int a = Math.max(0, numerator.bitLength() - 64);
        int b = Math.max(0, denominator.bitLength() - 64);
        double leading = numerator.shiftRight(a).doubleValue() / denominator.shiftRight(b).doubleValue();
        double guess = Math.max(0, Math.log(leading) + (a - b) * Math.log(2));
        Ratio y = of(new BigDecimal(guess));
        Ratio q = expLower(y);
        BigInteger one = BigInteger.ONE.shiftLeft(BITS);
        BigInteger rest = numerator.multiply(q.denominator).shiftLeft(BITS).divide(denominator.multiply(q.numerator)).subtract(one);
        BigInteger square = rest.multiply(rest).divide(one.shiftLeft(1));
        BigInteger total = y.numerator.shiftLeft(BITS).divide(y.denominator).add(rest).subtract(square);
        return Math.scalb(total.doubleValue(), -BITS);
    }
}
