"""A disc around the origin, and what all positions in the plane share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, DataError, positive_number
from sottovoce.values.space import Space

LEAST = 1e-300  # across an area or a disc: far from where doubles lose digits
_ROUNDING = 2.0**-48  # of a distance: so far beyond the rim of a disc is on it
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: its multiples spread evenly


class Positions(Space):
    """Positions x, y in the plane: arrays whose last axis is 2."""

    shape = (2,)

    @property
    def scale(self) -> tuple[float, float]:
        """What a step of 1 in x and in y measures."""
        return 1.0, 1.0

    def numbers(self, values: Any, name: str = "values") -> FloatArray:
        points = super().numbers(values, name)
        if points.ndim == 0 or points.shape[-1] != 2:
            raise DataError(
                f"{name} must be positions x, y, got shape {points.shape}", code="shape", argument=name
            )
        return points

    def examples(self, count: int) -> FloatArray:
        spread = self.spread(np.arange(1, count // 2 + 2, dtype=np.uint64) * _GOLDEN)
        return np.concatenate((self.bring_inside(spread * 1e3), spread))


@dataclass(frozen=True)
class Disc(Positions):
    """Positions (x, y) around the origin.

    Attributes:
        radius: How far away they may be.

    >>> Disc(10).contains([[3, 4], [8, 8]]).tolist()
    [True, False]
    """

    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive_number(self.radius, "radius"))
        if self.radius < LEAST:
            raise ArgumentError(f"radius must be at least {LEAST}, got {self.radius!r}", argument="radius")

    def __str__(self) -> str:
        return f"the disc of radius {self.radius!r}"

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        x = np.asarray(x, dtype=np.float64)
        return np.asarray(np.hypot(x[..., 0], x[..., 1]) <= self.radius * (1 + _ROUNDING))

    def bring_inside(self, x: FloatArray) -> FloatArray:
        half = np.asarray(x) / 2  # the distance of a finite position may be infinite
        away = np.hypot(half[..., 0], half[..., 1])[..., None]
        outside = away > self.radius / 2
        return np.where(outside, self.radius * np.divide(half, away, where=outside, out=half), x)

    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        away = self.radius * np.sqrt((words >> np.uint64(32)) * 2.0**-32)
        turn = 2 * math.pi * ((words & np.uint64(0xFFFFFFFF)) * 2.0**-32)
        return np.stack((away * np.cos(turn), away * np.sin(turn)), axis=-1)
