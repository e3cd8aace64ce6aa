package sottovoce;

/** A reporter of one number: `window/1`, `mixture/1` and `rows/1`. */
public final class Scalar extends Reporter {
    public final Domain domain;
    private final Law law;

    /** What a spec says about cells. */
    interface Law {
        Ratio ratio();

        int cells();

        /** The cell of a unit coordinate. */
        int cell(double unit, Words words);

        /** What a cell stands for, in the unit coordinate. */
        double position(int cell);
    }

    Scalar(double epsilon, Domain domain, Law law) {
        super(epsilon, law.ratio(), law.cells(), 1);
        this.domain = domain;
        this.law = law;
    }

    /** Randomise one number: an integer cell. */
    public int report(double value) {
        if (!domain.contains(value)) throw Refusal.outside();
        return cell(value, Words.secure());
    }

    /** The number that a cell stands for, in the units of the domain. */
    public double decode(long cell) {
        checkCell(cell, cells);
        return domain.at(law.position((int) cell));
    }

    @Override
    public Double decode(long... report) {
        return decode(report[0]);
    }

    int cell(double x, Words words) {
        return law.cell(domain.unit(x), words);
    }

    @Override
    Object checked(Object value) {
        if (!(value instanceof Number)) throw wrongType("value must be a number");
        double x = ((Number) value).doubleValue();
        if (!domain.contains(x)) throw Refusal.outside();
        return x;
    }

    @Override
    Object judged(Object value, boolean clip) {
        return domain.judged(value, clip);
    }

    @Override
    Domain line() {
        return domain;
    }

    @Override
    Object spread(Words words) {
        return domain.spread(words);
    }

    @Override
    long[] draw(Object value, Words words) {
        return new long[] {cell((Double) value, words)};
    }
}
