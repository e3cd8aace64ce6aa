package sottovoce;

/** Values as elements of a finite group Z_rows × Z_columns. */
abstract class Elements extends Input {
    final int rows;
    final int columns;

    Elements(int rows, int columns) {
        this.rows = rows;
        this.columns = columns;
    }

    /** The elements of a base set, or a refusal. */
    abstract int[] members(long[] block);

    /** Row and column of a value inside; the word decides between points. */
    abstract int[] point(Object value, long word);

    /** What a cell stands for: its shift, its base set and the elements of that. */
    abstract Object decode(int shift, long[] block, int[] elements);
}
