"""What the compiled kernels take: the tables of a window by name, as numba reads named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.domains import Domain
from sottovoce.core.kernels.buckets import Buckets, buckets_of, leading, numbers
from sottovoce.core.kernels.tables import TWO_52, TWO_52_BITS, Tables

_PAIRS = 1 << 8  # buckets of t, at most, that hold both of their lines: they stay in the first cache
_SCALES = 1 << 12  # buckets of t, at most, if one step is enough
_CELLS = 1 << 15  # that are looked up one by one, at most
_CLOSEST = 32  # edges that most scales put into one bucket: judged before all others


class Units(NamedTuple):
    """From values to the unit coordinate: t = (x − low)·per_width, for x up to high."""

    low: float
    high: float
    per_width: float


class Line(NamedTuple):
    """One run of equal cells and one slope: nothing has to be looked up."""

    shift: np.uint64  # the draw is what is left of a word after this shift
    background: float  # A
    top: float
    wraps: bool
    knot: float
    start: float
    slope: float
    back_weight: float
    more_weight: float
    cells: float


class Side(NamedTuple):
    """The second side of a coin in the bits of a word: (word >> shift) & mask ≥ first."""

    shift: np.uint64
    mask: np.uint64
    first: int
    line: Line
    offset: np.int32  # of its cells


class Draw(NamedTuple):
    """How a word becomes a number, and which entry covers a number; what is not needed is None.

    Numbers of the background are draws, made finer; those of the window are draws and starts, and come after
    them. All are multiplied by 1 + 2^twice. A bucket is what is left of a number after a shift. So much is
    `added` there that the same shift leaves the entry: an edge is where it carries. More than one edge in a
    bucket are as many sums. Entries are cells, or runs of them. Where all cells are `even`, draws are
    divided: by so much, after so many that the first has more of.

    Starts are clamped if one may lie before the first knot or outside, or a number reach the end and go
    around. That takes the first knot and its slope, the least and the largest start, how much is once around,
    the start and the number that are.
    """

    draws: tuple[np.uint64, int, int, int, np.uint64]  # the shift, A, finer, twice, the shift to a bucket
    clamping: tuple[float, ...] | None
    edges: int | None = None  # in a bucket, if more than one
    added: NDArray[np.uint64] | None = None
    runs: tuple[IntArray, IntArray, FloatArray] | None = None  # first cells, first numbers, weights
    even: tuple[int, float, float] | None = None


class Guide(NamedTuple):
    """Lines by equal buckets of t: where each ends, its start, its knot and its slope; None if not needed.

    Where at most one line ends in a bucket and that stays in the first cache, both lie side by side, without
    knots and slopes if all are flat. Otherwise `line` leads to the first of a bucket, and one or two steps to
    the one that holds. Where a bucket may hold more, the other steps come before, from `early` on.
    """

    scale: float
    steps: int | None  # if more than one
    early: NDArray[Any] | None
    line: NDArray[Any] | None
    end: NDArray[np.uint64]
    start: NDArray[np.int64]
    rising: tuple[FloatArray, FloatArray] | None


def arguments(tables: Tables, domain: Domain, second: tuple[Tables, int, int, int] | None) -> tuple[Any, ...]:
    """What the kernel of these tables takes after words, values and cells."""
    units = Units(domain.scaled_low, domain.ends[1] * domain.factor, domain.per_width)
    if not tables.uniform:  # plain tuples are handed over in a third of the time
        guide, draw = _look_ups(tables)
        return tuple(units), *guide, *draw
    if second is None:
        return tuple(units), tuple(_line(tables))
    others, shift, mask, first = second
    side = Side(np.uint64(shift), np.uint64(mask), first, _line(others), np.int32(tables.cells))
    return units, _line(tables), side


def _line(tables: Tables) -> Line:
    return Line(
        np.uint64(tables.shift), tables.background, tables.top, tables.wraps,
        tables.knot[0], tables.start[0], tables.slope[0],
        tables.back_weight[0], tables.more_weight[0], float(tables.cells),
    )  # fmt: skip


def _look_ups(tables: Tables) -> tuple[Guide, Draw]:
    """Lines, and cells: each by itself where at most two begin in a bucket, else runs of equal ones.

    Where all cells are equal, but for some draws more of the first, nothing has to be looked up.
    """
    counts = np.diff(tables.first, append=tables.cells).astype(np.int64)
    back, more = tables.back_weight.astype(np.int64), np.diff(tables.more).astype(np.int64) // counts
    rest = int(back[0] - back[-1])
    equal = (back[1:] == back[-1]).all() and (more == more[0]).all()
    if equal and (rest == 0 or (rest > 0 and counts[0] == 1)):
        none = Buckets(1, 0, 0, 0, 0)
        return _lines(tables, none), _draw(tables, none)._replace(
            even=(rest, float(back[-1]), float(more[0]))
        )
    if tables.cells <= _CELLS:
        cells = np.repeat(back, counts), np.repeat(more, counts)
        few = buckets_of(*cells, most=2)
        if few is not None:
            return _lines(tables, few), _draw(tables, few, leading(*cells, 0, few))
    some = more > 0
    weights = back * counts, (more * counts)[some]
    buckets = buckets_of(*weights)
    assert buckets is not None
    runs = (
        np.concatenate((tables.first, tables.first[some])).astype(np.int64),
        np.concatenate(numbers(buckets, *(np.cumsum(part) - part for part in weights))),
        np.concatenate((back << buckets.finer, more[some])) * float(buckets.factor),
    )
    draw = _draw(tables, buckets, leading(*weights, len(back), buckets))
    return _lines(tables, buckets), draw._replace(runs=runs, edges=buckets.steps)


def _draw(tables: Tables, buckets: Buckets, added: IntArray | None = None) -> Draw:
    background, around = int(tables.background), int(tables.around) if tables.wraps else 0
    offset = buckets.window - background
    # The kernel itself takes no place before a knot: right where a line begins at 0.
    early = tables.knot[0] > 0.0 and tables.slope[0] > 0.0 and tables.start[0] > 0.0
    clamping = (
        tables.knot[0], tables.slope[0],
        offset, offset + int(tables.top), around, offset + around, buckets.window + around,
    )  # fmt: skip
    return Draw(
        (np.uint64(tables.shift), background, buckets.finer, buckets.twice, np.uint64(buckets.bits)),
        clamping if early or tables.wraps or _highest(tables) > tables.top else None,
        buckets.steps if buckets.steps > 1 else None,
        None if added is None else added.view(np.uint64),
    )


def _highest(tables: Tables) -> float:
    """The largest start before it is clamped; roundings keep the order of t."""
    until = np.append(np.nextafter(tables.knot[1:], -1.0), 1.0)
    return float((tables.start + np.floor((until - tables.knot) * tables.slope)).max())


def _lines(tables: Tables, buckets: Buckets) -> Guide:
    """The start table by buckets, its starts as they are added to a draw.

    A flat line and one that rises from it are one: the kernel takes no place before a knot.
    """
    knot, start, slope = tables.knot, tables.start, tables.slope
    some = np.append((knot[1:] > knot[:-1]) & (knot[1:] > 0.0), True)
    some[0] |= knot[0] > 0.0
    knot, start, slope = knot[some], start[some], slope[some]
    rises = np.append((slope[:-1] > 0.0) | (start[1:] != start[:-1]), True)
    edges = knot[1:][rises[:-1]]
    knot, start, slope = knot[rises], start[rises].astype(np.int64), slope[rises]
    start += buckets.window - int(tables.background)
    steps, scale = 1, _scale(edges, 1)
    while scale is None:
        steps += 1
        scale = _scale(edges, steps)
    line = np.searchsorted(_places(edges, scale), np.arange(_places(np.array([1.0]), scale)[0] + 1))
    columns, end, near = [start, knot, slope], np.append(edges, np.full(steps + 1, np.inf)), False
    if steps == 1 and len(line) <= (_PAIRS if slope.any() else 4 * _PAIRS):
        pairs, near = np.minimum(line[:, None] + [0, 1], len(edges)).reshape(-1), True
        columns = [column[pairs] for column in (columns if slope.any() else columns[:1])]
        end = end[line]
    elif np.array_equal(knot[1:], edges):  # one table for both: more of it stays in the first cache
        columns[1] = np.append(knot, end[len(edges) :])
        end = columns[1][1:]
    line = line.astype(np.promote_types(np.uint16, np.min_scalar_type(len(edges))))  # each type is compiled
    early = line if steps > 2 else None
    start, *rising = columns
    return Guide(
        scale,
        steps if steps > 1 else None,
        early,
        None if near else line if early is None else np.arange(len(edges) + 1, dtype=line.dtype),
        end.view(np.uint64),
        start,
        (rising[0], rising[1]) if rising else None,
    )


def _places(t: FloatArray, scale: float) -> IntArray:
    """The bucket of each t, as the kernel computes it."""
    return (t * scale + TWO_52).view(np.int64) - np.int64(TWO_52_BITS)


def _scale(edges: FloatArray, steps: int) -> float | None:
    """The least number of buckets that hold at most so many edges each; no power of two has to be it."""
    if len(edges) <= steps:
        return 1.0
    low, high = edges[:-steps], edges[steps:]
    scales = np.arange(len(edges) // steps, _SCALES if steps == 1 else 4 * _SCALES, dtype=np.float64)
    for i in np.argsort(high - low)[:_CLOSEST]:
        scales = scales[low[i] * scales + TWO_52 < high[i] * scales + TWO_52]
    return next((one for one in scales.tolist() if (low * one + TWO_52 < high * one + TWO_52).all()), None)
