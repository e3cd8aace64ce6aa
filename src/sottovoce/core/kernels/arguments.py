"""What the compiled kernels take: the tables of a window by name, as numba reads named tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels.tables import FloatArray


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
