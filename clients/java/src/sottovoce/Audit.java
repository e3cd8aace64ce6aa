package sottovoce;

/** The exact ε of a spec: the largest ratio of the counts of one cell under two inputs, against what is claimed. */
public final class Audit {
    public final Ratio ratio;
    /** The logarithm of the ratio, the least double that is not below it. */
    public final double epsilon;
    public final double claimed;
    /** Whether ratio ≤ e^claimed, decided in integers. */
    public final boolean holds;

    Audit(Ratio ratio, double claimed) {
        this.ratio = ratio;
        this.claimed = claimed;
        epsilon = ratio.logUpper();
        holds = ratio.atMostExp(claimed);
    }
}
