package sottovoce;

/** What a person gives: a number, an option or a position, and what becomes of one that is missing or outside. */
abstract class Input {
    /** What a value outside becomes, or null if it is missing or nothing is near; never a refusal because of a number. */
    abstract Object judged(Object value, boolean clip);

    /** A value that stands in for a missing one, drawn evenly. */
    abstract Object spread(Words words);

    /** Where it lies, if it is a number; else null. */
    Domain line() {
        return null;
    }
}
