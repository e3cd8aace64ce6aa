"""Sampling in numpy: one formula, no Python loop over values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.kernels.tables import TWO_52, TWO_52_BITS, Table, Tables

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
        s *= tables.slope[0]
        np.floor(s, out=s)
        s += tables.start[0] - less
    else:
        k = find(tables.knots, t)
        s = np.floor((t - tables.knot[k]) * tables.slope[k])
        s += tables.start[k] - less
    np.maximum(s, -less, out=s)  # for a single value, `np.clip` takes as long as ten of these
    np.minimum(s, tables.top - less, out=s)
    return s


def at_least(number: FloatArray, bound: float) -> FloatArray:
    """1.0 where an integer is at least `bound`, else 0.0: arithmetic is several times faster than a mask."""
    flag = number - (bound - 1.0)
    np.maximum(flag, 0.0, out=flag)
    return np.minimum(flag, 1.0, out=flag)


def draws(tables: Tables, words: NDArray[np.uint64]) -> FloatArray:
    """The top bits of each word as a double. The words are used up: their memory holds the result."""
    np.right_shift(words, np.uint64(tables.shift), out=words)
    np.bitwise_or(words, TWO_52_BITS, out=words)
    draw = words.view(np.float64)
    draw -= TWO_52
    return draw


def sample(tables: Tables, words: NDArray[np.uint64], t: FloatArray) -> NDArray[Any]:
    """The cells that these words draw at these unit coordinates (of any type, not yet rounded down)."""
    u = starts(tables, t, less=tables.background)
    draw = draws(tables, words)
    in_window = at_least(draw, tables.background)
    if tables.uniform:
        u *= in_window
        u += draw
        in_window *= tables.more_weight[0] - tables.back_weight[0]
        in_window += tables.back_weight[0]
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
