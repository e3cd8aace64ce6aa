"""What the compiled kernels take: the tables of a window by name, as numba reads named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.domains import Domain
from sottovoce.core.kernels.tables import FloatArray, Table, Tables

_MOST_BUCKETS = {1: 1 << 15, 3: 1 << 12}  # by columns: more do not stay in the cache


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
    """A side of a coin, and those after it: words with (word >> shift) & mask ≥ first, bits below a draw."""

    shift: np.uint64
    mask: np.uint64
    first: int
    offset: np.int32  # of its cells


class Draw(NamedTuple):
    """How a word becomes a number that is looked up among the runs."""

    shift: np.uint64
    background: float
    top: float
    wraps: bool
    around: float


class Guide(NamedTuple):
    """A table by buckets: what is looked up there before and after the edge that each may hold.

    Where a bucket may hold several edges, or there are many buckets, `steps` from the entries of the `guide`
    replace buckets by entries beforehand.
    """

    origin: float
    shift: np.uint64
    base: np.uint64
    steps: int
    guide: NDArray[Any]
    next_edge: FloatArray
    edge: FloatArray


def arguments(tables: Tables, domain: Domain) -> tuple[Any, ...]:
    """What the kernel of these tables takes after words, values and cells."""
    units = Units(domain.scaled_low, domain.ends[1] * domain.factor, domain.per_width)
    return (units, _line(tables)) if tables.uniform else (units, *_look_ups(tables))


def _line(tables: Tables) -> Line:
    return Line(
        np.uint64(tables.shift), tables.background, tables.top, tables.wraps,
        tables.knot[0], tables.start[0], tables.slope[0],
        tables.back_weight[0], tables.more_weight[0], float(tables.cells),
    )  # fmt: skip


def _look_ups(tables: Tables) -> tuple[Any, ...]:
    draw = Draw(np.uint64(tables.shift), tables.background, tables.top, tables.wraps, tables.around)
    slopes, divides = bool(tables.slope.any()), not tables.atoms
    starts = _guide(tables.knots, tables.start, *((tables.knot, tables.slope) if slopes else ()))
    cells, begin = tables.first_cell.astype(np.int32), tables.runs.left[:-1]
    runs = _guide(tables.runs, cells, *((begin, tables.weight) if divides else ()))
    return draw, *starts, *runs


def _guide(table: Table, *columns: NDArray[Any]) -> tuple[Any, ...]:
    """The table, and three columns by twice the bucket, and one more after its edge; empty if not given."""
    settled = table.steps > 1 or len(table.guide) > _MOST_BUCKETS[len(columns)]
    entry = np.arange(len(table.left) - 1) if settled else table.guide.astype(np.int64)
    edge = np.full(len(entry), np.inf) if settled else table.left[1:][entry]
    after = np.minimum(entry + 1, len(table.left) - 2)
    steps = table.steps if settled else 0
    guide = Guide(table.origin, table.shift, table.base, steps, table.guide, table.left[1:], edge)
    wide = [np.stack((column[entry], column[after]), axis=1).reshape(-1) for column in columns]
    return guide, *wide, *[np.empty(0)] * (3 - len(wide))
