"""A part of a map, and where weights have to be above or below it so that they are everywhere.

An expectation is bilinear between neighbouring lines of the grid. So it is enough to look at the corners of
the rectangles into which the lines of the grid, and the sides of a box, cut the area. The edge of a polygon
cuts squares of the grid in two: from above those squares belong to it, from below they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, ArgumentTypeError
from sottovoce.estimates.fits.spatial_density import PlaceLaw

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LOT = 1 / 64  # of a step of the grid: as far as lots, in 32nds, can move a position on average
_SPARSE = 2  # every other line is enough to choose weights by; all of them are checked afterwards

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Corners:
    """Corners of rectangles that meet the area, and what a bound has to be there.

    Attributes:
        bound: The indicator of the region at each: from above its larger side, from below the smaller.
        interpolation: Corners × points: the weights by which values at corners follow from those at points.
        few: A part of the corners to begin with: the sides of a box, and every other line of the grid.
    """

    bound: FloatArray
    interpolation: csr_array
    few: Mask

    @classmethod
    def of(cls, law: PlaceLaw, lines: tuple[FloatArray, FloatArray], target: FloatArray) -> Corners:
        """The corners where rows and columns cross.

        Args:
            law: That of the places.
            lines: Rows and columns, in steps of the grid.
            target: The bound at each crossing.

        Returns:
            Those that matter.
        """
        from scipy import sparse

        one, two = (
            sparse.csr_array(np.maximum(1 - np.abs(line[:, None] - np.arange(many)), 0.0))
            for line, many in zip(lines, law.area.points, strict=True)
        )
        every = sparse.kron(one, two, format="csr")
        matters = every @ (~law.used).reshape(-1).astype(np.float64) == 0
        row, column = ((line % _SPARSE == 0) | (line % 1 != 0) for line in lines)
        few = (row[:, None] & column).reshape(-1)
        points = sparse.csr_array(every[matters][:, np.flatnonzero(law.used)])
        return cls(target.reshape(-1)[matters], points, few[matters])


def corners(law: PlaceLaw, region: Sequence[Sequence[float]], side: int) -> Corners:
    """Where a bound of a region's indicator has to hold, and which.

    Args:
        law: That of the places.
        region: A box ((x₀, x₁), (y₀, y₁)) or the corners of a polygon.
        side: 1 from above, −1 from below.

    Returns:
        The corners.

    Raises:
        ArgumentError: If the region is none, or has no part in the area.
    """
    try:
        given = np.array(region, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim != 2 or given.shape[1] != 2 or len(given) < 2 or not np.isfinite(given).all():
        rule = "region must be a box ((x0, x1), (y0, y1)) or three or more corners (x, y)"
        raise ArgumentTypeError(rule, argument="region")
    at = (
        _box(law, law.area.steps(given.T), side)
        if len(given) == 2
        else _polygon(law, law.area.steps(given), side)
    )
    if side > 0 and not at.bound.any():
        raise ArgumentError(f"region must have a part in {law.area}", argument="region")
    return at


def _box(law: PlaceLaw, ends: tuple[FloatArray, FloatArray], side: int) -> Corners:
    lines, inside = [], []
    for (low, high), many in zip(ends, law.area.points, strict=True):
        if not low < high:
            raise ArgumentError("region must have ends in order", argument="region")
        # Beyond the edge of the map there is nobody to be told apart.
        low = -np.inf if low <= 0 else low - side * LOT
        high = np.inf if high >= many - 1 else high + side * LOT
        line = np.unique([*range(many), *(end for end in (low, high) if 0 < end < many - 1)])
        lines.append(line)
        inside.append((line >= low) & (line <= high) if side > 0 else (line > low) & (line < high))
    return Corners.of(law, (lines[0], lines[1]), (inside[0][:, None] & inside[1]).astype(np.float64))


def _polygon(law: PlaceLaw, vertices: tuple[FloatArray, FloatArray], side: int) -> Corners:
    v, u = (np.arange(many, dtype=np.float64) for many in law.area.points)
    row, column = np.meshgrid(v[:-1], u[:-1], indexing="ij")
    crossed, inside = np.zeros(row.shape, dtype=bool), np.zeros(row.shape, dtype=bool)
    ring = [*zip(*(c.tolist() for c in vertices), strict=True)]
    for (a, b), (c, d) in pairwise([*ring, ring[0]]):
        crossed |= _meets(row, column, (a, b), (c, d))
        with np.errstate(divide="ignore", invalid="ignore"):  # level edges cross no level ray
            beyond = column + 0.5 < b + (row + 0.5 - a) * (d - b) / (c - a)
        inside ^= ((a > row + 0.5) != (c > row + 0.5)) & beyond
    whole = crossed | inside if side > 0 else inside & ~crossed
    padded = np.pad(whole, 1, constant_values=side < 0)
    around = [padded[1:, 1:], padded[1:, :-1], padded[:-1, 1:], padded[:-1, :-1]]
    target = np.any(around, axis=0) if side > 0 else np.all(around, axis=0)
    return Corners.of(law, (v, u), target.astype(np.float64))


def _meets(row: FloatArray, column: FloatArray, start: tuple[float, float], end: tuple[float, float]) -> Mask:
    """Which squares a segment meets: the part of it between the two lines of each pair, if there is one."""
    first, last = np.zeros(row.shape), np.ones(row.shape)
    for low, a, b in ((row, start[0], end[0]), (column, start[1], end[1])):
        way = b - a or 1e-300
        times = np.sort([(low - LOT - a) / way, (low + 1 + LOT - a) / way], axis=0)
        first, last = np.maximum(first, times[0]), np.minimum(last, times[1])
    return np.asarray(first <= last)
