"""What the compiled kernels take: the tables of a window by name, as numba reads named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.domains import Domain
from sottovoce.core.kernels.tables import FloatArray, Runs, Tables, narrow


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


class Draw(NamedTuple):
    """How a word becomes a place on the background or on the extra coordinate."""

    shift: np.uint64
    background: float
    top: float
    wraps: bool
    around: float


class Knots(NamedTuple):
    """The start table with its guide; no slopes in a step table."""

    guide: NDArray[Any]
    factor: float  # of t, for its bucket
    steps: int
    end: FloatArray
    begin: FloatArray
    start: FloatArray
    slope: FloatArray


def arguments(tables: Tables, domain: Domain) -> tuple[Units, Line] | tuple[Units, Draw, Knots, Runs]:
    """What the kernel of these tables takes after words, values and cells."""
    units = Units(domain.scaled_low, domain.ends[1] * domain.factor, domain.per_width)
    return (units, _line(tables)) if tables.uniform else (units, *_look_ups(tables))


def _line(tables: Tables) -> Line:
    return Line(
        np.uint64(tables.shift), tables.background, tables.top, tables.wraps,
        tables.knots.left[0], tables.start[0], tables.slope[0],
        tables.back_weight[0], tables.more_weight[0], float(tables.cells),
    )  # fmt: skip


def _look_ups(tables: Tables) -> tuple[Draw, Knots, Runs]:
    knots = tables.knots
    draw = Draw(np.uint64(tables.shift), tables.background, tables.top, tables.wraps, tables.around)
    slope = tables.slope if tables.slope.any() else np.empty(0)
    starts = Knots(
        narrow(knots.guide), knots.per_bucket, knots.steps,
        knots.left[1:], knots.left[:-1], tables.start, slope,
    )  # fmt: skip
    return draw, starts, tables.runs
