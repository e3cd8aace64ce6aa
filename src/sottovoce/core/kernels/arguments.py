"""What the compiled kernels take: the tables of a window by name, as numba reads named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.domains import Domain
from sottovoce.core.kernels.tables import TWO_52, TWO_52_BITS, FloatArray, IntArray, Tables

_PAIRS = 1 << 12  # numbers in a table of buckets that hold both of their lines: it stays in the first cache
_SCALES = 1 << 12  # buckets of t, at most, if one step is enough
_BUCKETS = 1 << 15  # of numbers, at most, if one step is enough: they stay in the second cache
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
    """How a word becomes a number, and which entry covers a number.

    Numbers of the background are draws, made finer; those of the window come after them. A bucket is what is
    left of a number after a shift. So much is `added` there that the same shift leaves the entry: an edge is
    where it carries. More than one edge in a bucket are as many sums.
    """

    shift: np.uint64
    background: int
    finer: int
    offset: int  # of numbers in the window, from draw plus start
    clamps: bool  # whether a start may lie outside [0, top], or a number reach the end and go around
    top: int
    around: int
    end: int
    bucket: np.uint64
    steps: int
    added: NDArray[np.uint64]


class Guide(NamedTuple):
    """Lines by equal buckets of t: where each ends, its start, its knot and its slope.

    Where at most one line ends in a bucket and that stays in the first cache, both lie side by side at the
    bucket shifted by `stride`. Otherwise `line` leads to the first line of a bucket, and one or two steps to
    the one that holds. Where a bucket may hold more, the other steps come before, from `first` on.
    """

    scale: float
    stride: np.uint64
    steps: int
    first: NDArray[Any]
    line: NDArray[Any]
    end: NDArray[np.uint64]
    start: NDArray[np.int64]
    knot: NDArray[np.float64]
    slope: NDArray[np.float64]


def arguments(tables: Tables, domain: Domain, second: tuple[Tables, int, int, int] | None) -> tuple[Any, ...]:
    """What the kernel of these tables takes after words, values and cells."""
    units = Units(domain.scaled_low, domain.ends[1] * domain.factor, domain.per_width)
    if not tables.uniform:  # plain tuples are handed over in a third of the time
        return tuple(units), *map(tuple, _look_ups(tables))
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


def _look_ups(tables: Tables) -> tuple[Guide, Draw, tuple[IntArray, IntArray, FloatArray]]:
    """Lines, and cells: each by itself where at most two begin in a bucket, else runs of equal ones."""
    knots, counts = _lines(tables), np.diff(tables.first, append=tables.cells).astype(np.int64)
    back, more = tables.back_weight.astype(np.int64), np.diff(tables.more).astype(np.int64) // counts
    if tables.cells <= _BUCKETS:
        cells = np.repeat(back, counts), np.repeat(more, counts)
        buckets = _buckets(*cells, 2)
        if buckets is not None:
            draw, _ = _draw(tables, *cells, 0, buckets)
            return knots, draw, (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    some = more > 0
    runs = back * counts, (more * counts)[some]
    buckets = _buckets(*runs, None)
    assert buckets is not None
    draw, begin = _draw(tables, *runs, len(back), buckets)
    first = np.concatenate((tables.first, tables.first[some])).astype(np.int64)
    weight = np.concatenate((back << draw.finer, more[some])).astype(np.float64)
    return knots, draw, (first, begin, weight)


def _buckets(back: IntArray, more: IntArray, most: int | None) -> tuple[int, int, int] | None:
    """The fewest edges in a bucket, at most so many, and the bits that buckets leave out in either part."""
    entries, steps = len(back) + len(more), 0
    while most is None or steps < most:
        steps = steps + 1 if steps < 4 else 2 * steps
        fine, coarse = (_shared_bits(np.cumsum(part)[:-1], steps) for part in (back, more))
        coarse = min(coarse, 47, 63 - entries.bit_length())  # numbers and entries stay within 64 bits
        fine = min(fine, coarse)
        if fine >= 0:
            buckets = (int(back.sum()) >> fine) + (int(more.sum()) >> coarse)
            if steps * buckets <= max(_BUCKETS << (steps - 1), 4 * entries) or steps >= entries:
                return steps, fine, coarse
    return None


def _shared_bits(edges: IntArray, steps: int) -> int:
    """How many last bits may be left out before more than so many edges are equal; −1 if they are."""
    return int((edges[steps:] ^ edges[:-steps]).min()).bit_length() - 1 if len(edges) > steps else 63


def _draw(
    tables: Tables, back: IntArray, more: IntArray, second: int, buckets: tuple[int, int, int]
) -> tuple[Draw, IntArray]:
    """The look-up of entries with these weights, those of the window from `second` on; where each begins."""
    steps, fine, coarse = buckets
    parts, window = [], -(-int(back.sum()) >> fine) << coarse
    for weight, bits, first in (back, fine, 0), (more, coarse, second):
        begin, edges = np.arange(-(-int(weight.sum()) >> bits)) << bits, np.cumsum(weight)[:-1]
        entry, edges = np.searchsorted(edges, begin, side="right"), np.append(edges, [1 << 62] * steps)
        room = begin[:, None] + (1 << bits) - edges[entry[:, None] + np.arange(steps)]
        part = np.maximum(room, 0) << (coarse - bits)
        part[:, 0] += (first + entry) << coarse
        parts.append(part)
    added = np.concatenate(parts)
    added -= (np.arange(len(added)) << coarse)[:, None]
    low, high = _reach(tables)
    draw = Draw(
        np.uint64(tables.shift), int(back.sum()), coarse - fine, window - int(back.sum()),
        tables.wraps or low < 0 or high > tables.top, int(tables.top),
        int(more.sum()) if tables.wraps else 0, window + int(more.sum()),
        np.uint64(coarse), steps, added.reshape(-1).view(np.uint64),
    )  # fmt: skip
    return draw, np.concatenate(((np.cumsum(back) - back) << draw.finer, np.cumsum(more) - more + window))


def _reach(tables: Tables) -> tuple[float, float]:
    """The least and the largest start before it is clamped; roundings keep the order of t."""
    until = np.append(np.nextafter(tables.knot[1:], -1.0), 1.0)
    ends = tables.start + np.floor((until - tables.knot) * tables.slope)
    return float(tables.start[0] + np.floor(-tables.knot[0] * tables.slope[0])), float(ends.max())


def _lines(tables: Tables) -> Guide:
    """The start table by buckets."""
    knot, start, slope = tables.knot, tables.start, tables.slope
    if slope[-1] * (1.0 - knot[-1]) > 2.0**56:  # flat where it is clamped, before it leaves the integers
        flat = max(knot[-1] + 2.0**55 / slope[-1], np.nextafter(knot[-1], 2.0))
        knot, start, slope = np.append(knot, flat), np.append(start, tables.top), np.append(slope, 0.0)
    edges = np.unique(knot[1:])
    edges = edges[edges > 0.0]
    line = np.maximum(np.searchsorted(knot, np.append(0.0, edges), side="right") - 1, 0)
    columns = [start[line].astype(np.int64).view(np.float64)]
    if slope.any():
        columns += [knot[line], slope[line]]
    steps, scale = 1, _scale(edges, 1)
    while scale is None:
        steps += 1
        scale = _scale(edges, steps)
    end = np.append(edges, np.full(steps + 1, np.inf))
    before = np.searchsorted(_places(edges, scale), np.arange(_places(np.array([1.0]), scale)[0] + 1))
    index = np.promote_types(np.uint16, np.min_scalar_type(len(edges)))  # each type is compiled
    first, ends, stride = before[:0], len(columns), 2 if len(columns) == 1 else 3
    if steps == 1 and len(before) << stride <= _PAIRS:
        after = np.minimum(before + 1, len(edges))
        pairs = np.concatenate([(column[before], column[after]) for column in columns])
        table = np.stack([*pairs, end[before], end[before]], axis=1).reshape(-1)
        views, before = [table[2 * i :] for i in (ends, *range(ends))], first
    else:
        views, stride = [end, *columns], 0
        if steps > 2:
            first, before = before, np.arange(len(edges) + 1)
    end, start, *lines = views
    return Guide(
        scale, np.uint64(stride), steps, first.astype(index), before.astype(index),
        end.view(np.uint64), start.view(np.int64), *(lines or [np.empty(0)] * 2),
    )  # fmt: skip


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
