package sottovoce;

import java.util.Collections;
import java.util.Map;

/**
 * What a device runs: values in, integer cells out, within an ε that was counted. Made by `fromJson` only. A value is a
 * Double, a position double[] {x, y}, an option (String), or of a survey a Map by name or a List in order of these.
 */
public abstract class Reporter extends Input {
    private static final double MIN_EPSILON = 1e-6;
    private static final double MAX_EPSILON = 16;

    public final Audit audit;
    public final double epsilon;
    /** How many different integers a report is made of: cells 0 … cells−1. */
    public final long cells;
    /** How many integers one report is. */
    public final int width;

    Reporter(double epsilon, Ratio ratio, long cells, int width) {
        Refusal.rule(epsilon >= MIN_EPSILON && epsilon <= MAX_EPSILON, "epsilon must be between 1e-6 and 16", "epsilon");
        audit = new Audit(ratio, epsilon);
        if (!audit.holds) {
            throw new Refusal(Refusal.Kind.PRIVACY, "the counts give epsilon=" + audit.epsilon + ", more than the claimed epsilon=" + epsilon, "epsilon");
        }
        this.epsilon = epsilon;
        this.cells = cells;
        this.width = width;
    }

    /** Read a spec that anybody may have written; refused unless its counts give the ε it claims. */
    public static Reporter fromJson(String text) {
        return Formats.read(text);
    }

    /** Count the exact ε of a spec without believing what it claims. */
    public static Audit audit(String text) {
        return Formats.audit(text);
    }

    /** SHA-256 of a spec's canonical text without the task that it says it was made for. */
    public static String digest(String text) {
        return Formats.digest(text);
    }

    /** The reporters of the questions by name; that of a single one is called "value". */
    public Map<String, Reporter> questions() {
        return Collections.singletonMap("value", this);
    }

    /** What a person gives, by name. */
    Map<String, ? extends Input> inputs() {
        return questions();
    }

    /** Whether the exact ε is at most this one, in integers. */
    public boolean keeps(double agreed) {
        return audit.ratio.atMostExp(agreed);
    }

    /** Randomise one value: `width` integers. */
    public long[] report(Object value) {
        return draw(checked(value), Words.secure());
    }

    /** The report that given words draw: for checks against other implementations. */
    public long[] reportFrom(Words words, Object value) {
        return draw(checked(value), words);
    }

    /** What a report stands for: as values are, of a survey a Map of the questions that it answers. */
    public abstract Object decode(long... report);

    /** A value in the domain, or a refusal that does not tell it. */
    abstract Object checked(Object value);

    abstract long[] draw(Object value, Words words);

    static void checkCell(long cell, long cells) {
        if (cell < 0 || cell >= cells) {
            throw new Refusal(Refusal.Kind.DATA, "cells must be whole numbers in 0.." + (cells - 1), "cell");
        }
    }

    /** The same for a report, the last time before it is written down or sent. */
    final long[] checkCells(long[] report) {
        for (long cell : report) checkCell(cell, cells);
        return report;
    }

    static Refusal wrongType(String sentence) {
        return new Refusal(Refusal.Kind.ARGUMENT, "type", sentence, "value");
    }
}
