"""The sampling loops in numpy: one formula, no Python loop over values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.reporters.sampling.tables import TWO_52, TWO_52_BITS, RowTables, SetTables, Sums, Table, Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray


def find(table: Table, at: FloatArray) -> IntArray:
    """The entry of a table that covers each number."""
    if len(table.left) == 2:
        return np.zeros(at.shape, dtype=np.int64)
    bucket = (at + table.origin).view(np.uint64)
    bucket >>= table.shift
    bucket -= table.base
    entry = table.guide[bucket].astype(np.int64)
    bucket.fill(0)
    for _ in range(table.steps):
        entry += at >= table.left[entry + 1]
    return entry


def starts(tables: Tables, t: FloatArray, less: float = 0.0) -> FloatArray:
    """Where the window of each unit coordinate begins, minus `less`; on a circle up to twice around."""
    if len(tables.start) == 1:
        s = t - tables.knot[0]
        s *= tables.rise[0]
        np.floor(s, out=s)
        s += tables.start[0] - less
    else:
        k = find(tables.knots, t)
        s = np.floor((t - tables.knot[k]) * tables.rise[k])
        s += tables.start[k] - less
    np.maximum(s, -less, out=s)  # for a single value, `np.clip` takes as long as ten of these
    np.minimum(s, tables.top - less, out=s)
    return s


def at_least(number: FloatArray, bound: float) -> FloatArray:
    """1.0 where an integer is at least `bound`, else 0.0: arithmetic is several times faster than a mask."""
    flag = number - (bound - 1.0)
    np.maximum(flag, 0.0, out=flag)
    return np.minimum(flag, 1.0, out=flag)


def draws(words: NDArray[np.uint64], shift: np.uint64) -> FloatArray:
    """The top bits of each word as a double. The words are used up: their memory holds the result."""
    np.right_shift(words, shift, out=words)
    np.bitwise_or(words, TWO_52_BITS, out=words)
    draw = words.view(np.float64)
    draw -= TWO_52
    return draw


def sample(tables: Tables, words: NDArray[np.uint64], t: FloatArray) -> NDArray[Any]:
    """The cells that these words draw at these unit coordinates (of any type, not yet rounded down)."""
    u = starts(tables, t, less=tables.background)
    draw = draws(words, tables.shift)
    in_window = at_least(draw, tables.background)
    if tables.line is not None:
        u *= in_window
        u += draw
        in_window *= tables.weight[1] - tables.weight[0]
        in_window += tables.weight[0]
        u /= in_window
        return u if not tables.wraps else _once_around(u, tables.cells)
    u += tables.background
    if tables.wraps:
        u -= tables.around * at_least(u, tables.around)
    u *= in_window
    u += draw
    if tables.wraps:
        u -= tables.around * at_least(u, tables.background + tables.around)
    run = find(tables.runs, u)
    u -= tables.runs.left[run]
    u /= tables.weight[run]
    np.floor(u, out=u)
    u += tables.first_cell[run]
    run.fill(0)
    return u


def _once_around(place: FloatArray, cells: int) -> NDArray[np.uint32]:
    """place mod cells; numpy divides unsigned integers by a scalar much faster than it takes remainders."""
    cell = place.astype(np.uint32)
    place.fill(0)
    cell -= cell // np.uint32(cells) * np.uint32(cells)
    return cell


def rows(words: NDArray[np.uint64], t: FloatArray, out: NDArray[Any], tables: RowTables) -> None:
    """Fill `out` with the cells that these words draw in the row of each unit coordinate."""
    row = _count(tables.borders, np.zeros(t.size, dtype=np.int64), t)
    draw = draws(words, tables.shift)  # no copy: with a cell, a draw tells the row
    np.copyto(out, _count(tables.sums, row, draw), casting="unsafe")


def _count(table: Sums, row: IntArray, number: FloatArray) -> IntArray:
    """How many entries of its row are not above each number."""
    scaled = number * table.scale
    bucket = scaled.astype(np.int64)
    bucket += row * table.buckets
    place = table.guide[bucket].astype(np.int64)
    for array in (scaled, bucket):
        array.fill(0)  # with a cell, a draw tells the row
    for bit in reversed(range(table.steps)):
        place += (table.entries[place + ((1 << bit) - 1)] <= number) << bit
    return place - row * table.width


def translates(words: NDArray[np.uint64], element: IntArray, out: NDArray[Any], sets: SetTables) -> int:
    """Fill `out` with the cells that these words draw; returns how many elements are outside the group."""
    outside = np.count_nonzero((element < 0) | (element >= sets.rows * sets.columns))
    if outside:
        return int(outside)
    draw = draws(words, sets.shift)
    # Three kinds of draws, each a division by a number of its own.
    begin = np.where(draw < sets.first, 0.0, np.where(draw < sets.rest, sets.one_more, sets.rest))
    size = np.where(
        draw < sets.first,
        sets.background + 1,
        np.where(draw < sets.rest, sets.background, sets.extra),
    )
    in_set = draw >= sets.rest
    draw -= begin
    place = divided(draw, size)
    entry = np.where(in_set, place, 0.0).astype(np.int64)
    row, column = np.divmod(element, sets.columns)
    row = row + sets.row[entry]
    row -= sets.rows * (row >= sets.rows)
    column = column + sets.column[entry]
    column -= sets.columns * (column >= sets.columns)
    cell = sets.base[entry] + row * sets.columns + column
    np.copyto(out, np.where(in_set, cell, place), casting="unsafe")
    for array in (draw, place, entry, cell):
        array.fill(0)  # where within a cell a draw fell tells more than the cell
    return 0


def divided(number: FloatArray, by: FloatArray) -> FloatArray:
    """⌊number / by⌋ of whole doubles below 2^53, exactly.

    The quotient of doubles is right to one rounding, so its floor is right or one too large.
    """
    quotient = np.floor(number / by)
    quotient -= quotient * by > number
    return quotient
