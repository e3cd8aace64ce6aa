package sottovoce;

/**
 * What can go wrong, in words for people (about people's data never the value itself) and for programs: its kind, a code,
 * and the argument or field that it is about.
 */
public final class Refusal extends RuntimeException {
    /** What refuses. */
    public enum Kind {
        /** An argument has a value that it must not have. */
        ARGUMENT("range"),
        /** A spec is malformed or its numbers contradict each other. */
        SPEC("spec"),
        /** The counts do not give the ε that is claimed, or more than was agreed to. */
        PRIVACY("privacy"),
        /** Values or cells that a reporter cannot take. */
        DATA("data"),
        /** The collector refused, or could not be reached. */
        COLLECTOR("unreachable");

        final String code;

        Kind(String code) {
            this.code = code;
        }
    }

    private static final long serialVersionUID = 1;

    public final Kind kind;
    public final String code;
    /** The argument or field that it is about, or null. */
    public final String argument;
    /** Of a collector's answer; 0 if there was none. */
    public final int status;
    /** Whether the same request may succeed later. */
    public final boolean retryable;

    Refusal(Kind kind, String sentence, String argument) {
        this(kind, kind.code, sentence, argument);
    }

    Refusal(Kind kind, String code, String sentence, String argument) {
        this(kind, code, sentence, argument, 0, false);
    }

    Refusal(Kind kind, String code, String sentence, String argument, int status, boolean retryable) {
        super(sentence);
        this.kind = kind;
        this.code = code;
        this.argument = argument;
        this.status = status;
        this.retryable = retryable;
    }

    /** Refuse a spec unless a rule holds. */
    static void rule(boolean holds, String sentence, String argument) {
        if (!holds) throw new Refusal(Kind.SPEC, sentence, argument);
    }

    static Refusal outside() {
        return new Refusal(Kind.DATA, "outside", "value must be a number in the domain", "value");
    }
}
