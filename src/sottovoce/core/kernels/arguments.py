"""What the compiled kernels take: the tables of a window by name, as numba reads named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.domains import Domain
from sottovoce.core.kernels.tables import Table, Tables

_FEW_BUCKETS = 1 << 12  # more do not stay in the first cache


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
    """How a word becomes a number that is looked up among the runs."""

    shift: np.uint64
    background: float
    top: float
    wraps: bool
    around: float


class Guide(NamedTuple):
    """A table by buckets of what is looked up.

    A `wide` one has for every bucket what is before and after the one edge that may lie in it: one look-up
    less, as long as that stays in the cache. Otherwise `guide` leads from a bucket to an entry, at most two
    `edge`s before the right one. Where a bucket may hold more, so many `more` steps from `first` come before.
    """

    origin: float
    shift: np.uint64
    base: np.uint64
    wide: bool
    more: int
    first: NDArray[Any]
    guide: NDArray[Any]
    edge: NDArray[np.uint64]


def arguments(tables: Tables, domain: Domain, second: tuple[Tables, int, int, int] | None) -> tuple[Any, ...]:
    """What the kernel of these tables takes after words, values and cells."""
    units = Units(domain.scaled_low, domain.ends[1] * domain.factor, domain.per_width)
    if not tables.uniform:
        return units, *_look_ups(tables)
    if second is None:
        return tuple(units), tuple(_line(tables))  # plain ones are handed over in a third of the time
    others, shift, mask, first = second
    side = Side(np.uint64(shift), np.uint64(mask), first, _line(others), np.int32(tables.cells))
    return units, _line(tables), side


def _line(tables: Tables) -> Line:
    return Line(
        np.uint64(tables.shift), tables.background, tables.top, tables.wraps,
        tables.knot[0], tables.start[0], tables.slope[0],
        tables.back_weight[0], tables.more_weight[0], float(tables.cells),
    )  # fmt: skip


def _look_ups(tables: Tables) -> tuple[Any, ...]:
    draw = Draw(np.uint64(tables.shift), tables.background, tables.top, tables.wraps, tables.around)
    slopes, divides = bool(tables.slope.any()), not tables.atoms
    lines = (tables.start, tables.knot, tables.slope) if slopes else (tables.start,)
    starts = _guide(tables.knots, _FEW_BUCKETS >> (3 if slopes else 0), *lines)
    cells, begin = tables.first_cell.astype(np.min_scalar_type(tables.cells - 1)), tables.runs.left[:-1]
    runs = _guide(tables.runs, *((0, cells, begin, tables.weight) if divides else (_FEW_BUCKETS, cells)))
    return draw, *starts, *runs


def _guide(table: Table, most_wide: int, *columns: NDArray[Any]) -> tuple[Any, ...]:
    """The table and its columns, by entries or by buckets; three, of which some may be empty."""
    small = Table.of(table.left, table.end, _FEW_BUCKETS)
    table = small if small.steps <= 2 else table
    wide = table.steps == 1 and len(table.guide) <= most_wide
    last, more, entry = len(table.left) - 2, max(0, table.steps - 2), table.guide.astype(np.int64)
    edge = np.append(np.maximum(table.left[1:], 0.0) + 0.0, [np.inf]).view(np.uint64)
    if wide:
        edge, pairs = edge[entry], np.stack((entry, np.minimum(entry + 1, last)), axis=1).reshape(-1)
        columns = tuple(column[pairs] for column in columns)
    index = np.promote_types(np.uint16, np.min_scalar_type(last))  # one type, or two: each is compiled
    first, guide = (entry, np.arange(last + 1)) if more else (entry[:0], entry)
    names = Guide(
        table.origin, table.shift, table.base, wide, more, first.astype(index), guide.astype(index), edge
    )
    return names, *columns, *[np.empty(0)] * (3 - len(columns))
