"""Areas: a disc or a box that places lie in, on a grid of points.

A position between points becomes one of the four around it by lot, the nearer ones more often, so that on
average it is itself. The points are the first elements of a group Z_rows × Z_columns that wraps around: where
the group is larger than the grid by as much as a base set, that margin keeps opposite sides apart, and where
it is as large as the grid, it is a torus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, SpecError, real_number, whole_number
from sottovoce.values.disc import LEAST, Positions
from sottovoce.wire.checked_json import as_bool, as_float, as_int, as_list, check_keys

MAX_POINTS = 1024
KILOMETRES = 6371.0088 * math.pi / 180  # of a degree of latitude
_STEPS = 32  # into which the way between two points is divided: five bits of a word
_LOT = (np.arange(_STEPS) + 0.5) / _STEPS
_FAR = 1e150  # its square is finite
_ROUNDING = 2.0**-48  # that of sixteen numbers as large as the coordinates: so far beyond the rim is on it


@dataclass(frozen=True)
class Area(Positions):
    """Positions in a box, or in the disc that fills it.

    Attributes:
        x: The first and the last x; longitudes where positions are in degrees.
        y: The first and the last y; latitudes where positions are in degrees.
        round: Whether only the disc is meant: with axes of different length, an ellipse.
        degrees: Whether x is a longitude and y a latitude.
        points: Rows and columns of the grid, ends included.
        moduli: The group Z_rows × Z_columns that the grid lies in.

    Example:
        >>> town = Area((0.0, 10.0), (0.0, 5.0), points=(6, 11), moduli=(6, 11))
        >>> town.contains([[3, 4], [4, 8]]).tolist()
        [True, False]
    """

    x: tuple[float, float]
    y: tuple[float, float]
    round: bool = False
    degrees: bool = False
    points: tuple[int, int] = (64, 64)
    moduli: tuple[int, int] = (64, 64)
    lots = _STEPS**2

    def __post_init__(self) -> None:
        for name, most in (("x", 180.0), ("y", 90.0)):
            low, high = (real_number(end, name) for end in getattr(self, name))
            object.__setattr__(self, name, (low, high))
            if not LEAST <= high - low < math.inf:
                raise ArgumentError(
                    f"{name} must end at least {LEAST} above its beginning, got {name}={low, high}",
                    argument=name,
                )
            if self.degrees and not -most <= low < high <= most:
                raise ArgumentError(
                    f"{name} must lie within ±{most:g} degrees, got {name}={low, high}; on both sides of the "
                    "date line are two areas, or positions that you project first",
                    argument=name,
                )
        for name in ("points", "moduli"):
            pair = tuple(whole_number(one, name, 2, MAX_POINTS) for one in getattr(self, name))
            object.__setattr__(self, name, pair)
        if any(size < many for size, many in zip(self.moduli, self.points, strict=True)):
            raise ArgumentError(
                f"moduli must be at least points, got moduli={self.moduli}", argument="moduli"
            )

    def __str__(self) -> str:
        if not self.round:
            return f"the box {self.x} × {self.y}"
        middle = tuple(float(c) for c in self._low + self._half)
        return f"the disc around {middle} that fills {self.x} × {self.y}"

    # -- positions --------------------------------------------------------------------------------------

    @property
    def _low(self) -> FloatArray:
        return np.array([self.x[0], self.y[0]])

    @property
    def _half(self) -> FloatArray:
        return np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]]) / 2

    @property
    def scale(self) -> tuple[float, float]:
        """What a step of 1 in x and in y measures: kilometres at the middle latitude, or 1."""
        if not self.degrees:
            return 1.0, 1.0
        return KILOMETRES * math.cos(math.radians(sum(self.y) / 2)), KILOMETRES

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        x = np.asarray(x, dtype=np.float64)
        ends = (self.x, self.y)
        box = [(x[..., i] >= low) & (x[..., i] <= high) for i, (low, high) in enumerate(ends)]
        inside = np.asarray(box[0] & box[1])
        if not self.round:
            return inside
        far = np.maximum(np.abs(self._low), np.abs([self.x[1], self.y[1]])) / self._half
        return inside & (np.square(self._centred(x)).sum(axis=-1) <= 1 + _ROUNDING * (far[0] + far[1]))

    def _centred(self, x: FloatArray) -> FloatArray:
        """From −1 to 1 across the box."""
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((x - self._low) / self._half - 1, -_FAR, _FAR))

    def bring_inside(self, x: FloatArray) -> FloatArray:
        low, high = self._low, [self.x[1], self.y[1]]
        if self.round:
            middle = self._centred(x)
            away = np.sqrt(np.square(middle).sum(axis=-1, keepdims=True))
            x = np.where(away > 1, low + self._half * (middle / np.maximum(away, 1) + 1), x)
        return np.clip(x, low, high)

    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        one, two = (words >> np.uint64(32)) * 2.0**-32, (words & np.uint64(0xFFFFFFFF)) * 2.0**-32
        if self.round:
            away, turn = np.sqrt(one), 2 * math.pi * two
            one, two = (away * np.cos(turn) + 1) / 2, (away * np.sin(turn) + 1) / 2
        return self.bring_inside(self._low + 2 * self._half * np.stack((one, two), axis=-1))

    # -- points of the grid -----------------------------------------------------------------------------

    @property
    def group(self) -> tuple[int, int]:
        """The group that points are elements of."""
        return self.moduli

    def steps(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Positions in steps of the grid.

        Args:
            x: Positions x, y.

        Returns:
            Rows and columns, as real numbers.
        """
        rows, columns = self.points
        u = (x[..., 0] - self.x[0]) / (self.x[1] - self.x[0]) * (columns - 1)
        v = (x[..., 1] - self.y[0]) / (self.y[1] - self.y[0]) * (rows - 1)
        return v, u

    def elements(self, x: FloatArray, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Positions as points of the grid, one of the four around each.

        Args:
            x: Positions inside.
            words: A word for each, of which the last ten bits decide.

        Returns:
            Elements of the group.
        """
        v, u = self.steps(x)
        five = np.uint64(_STEPS - 1)
        column = np.floor(u + _LOT[(words & five).astype(np.int64)])
        row = np.floor(v + _LOT[((words >> np.uint64(5)) & five).astype(np.int64)])
        return np.asarray(row * self.moduli[1] + column, dtype=np.int64)

    def lot(self, x: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The elements that a position may become, and in how many of `lots` cases each.

        Args:
            x: Positions inside, a row each.

        Returns:
            Four elements and four whole numbers for each.
        """
        ends, counts = [], []
        for step, many in zip(self.steps(x), self.points, strict=True):
            first = np.minimum(np.floor(step), many - 2)
            above = (np.floor(step[:, None] + _LOT) > first[:, None]).sum(axis=1)
            ends.append(np.stack((first, first + 1), axis=1).astype(np.int64))
            counts.append(np.stack((_STEPS - above, above), axis=1))
        elements = ends[0][:, :, None] * self.moduli[1] + ends[1][:, None, :]
        return elements.reshape(-1, 4), (counts[0][:, :, None] * counts[1][:, None, :]).reshape(-1, 4)

    def members(self, block: Sequence[int]) -> NDArray[np.int64]:
        """The elements of a base set that is given by the lengths of its rows, checked.

        Args:
            block: Odd lengths, of rows one above the other with their middles aligned.

        Returns:
            Elements of the group.

        Raises:
            SpecError: If it does not fit into the group.
        """
        rows, columns = self.moduli
        if not 1 <= len(block) <= rows or not all(1 <= one <= columns and one % 2 for one in block):
            raise SpecError("blocks must be odd lengths of rows, within the group", argument="blocks")
        if sum(block) >= rows * columns:
            raise SpecError("blocks must leave something out", argument="blocks")
        half = max(block) // 2
        row = np.repeat(np.arange(len(block)), block)
        column = np.concatenate([np.arange(half - one // 2, half + one // 2 + 1) for one in block])
        return np.asarray(row * columns + column, dtype=np.int64)

    def middle(self, shift: NDArray[np.int64], block: Sequence[int]) -> FloatArray:
        """The position in the middle of a translate, or the nearest one inside.

        Args:
            shift: Elements of the group.
            block: The base set.

        Returns:
            Positions x, y.
        """
        row, column = np.divmod(shift, self.moduli[1])
        row, column = row - len(block) // 2, column - max(block) // 2
        if self.moduli == self.points:
            row, column = row % self.points[0], column % self.points[1]
        return self.bring_inside(self.at(row, column))

    def at(self, row: ArrayLike, column: ArrayLike) -> FloatArray:
        """The positions of points.

        Args:
            row: Rows, from 0.
            column: Columns, from 0.

        Returns:
            Positions x, y on a last axis.
        """
        rows, columns = self.points
        u, v = np.broadcast_arrays(np.asarray(column) / (columns - 1), np.asarray(row) / (rows - 1))
        return self._low + 2 * self._half * np.stack((u, v), axis=-1)

    # -- on the wire ------------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """What a spec says of it.

        Returns:
            Plain values by name.
        """
        pairs = {name: list(getattr(self, name)) for name in ("x", "y", "points", "moduli")}
        return {**pairs, "round": self.round, "degrees": self.degrees}


def read_area(content: Any) -> Area:
    """The area that a spec gives, read with suspicion."""
    check_keys(content, {"x", "y", "points", "moduli", "round", "degrees"}, "area")
    x, y = (tuple(as_list(content[key], key, as_float, 2)) for key in ("x", "y"))
    points, moduli = (tuple(as_list(content[key], key, as_int, 2)) for key in ("points", "moduli"))
    full, degrees = (as_bool(content[key], key) for key in ("round", "degrees"))
    try:
        return Area(x, y, full, degrees, points, moduli)
    except ValueError as error:
        raise SpecError(f"area: {error}", argument="area") from None
