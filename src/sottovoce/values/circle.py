"""A circle of numbers: times of day, angles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, positive_number, real_number
from sottovoce.values.domain import Domain


@dataclass(frozen=True, eq=False)
class Circle(Domain):
    """A circle; values run from `origin` once around.

    Attributes:
        circumference: How far it is once around.
        origin: Where values begin.

    >>> Circle(24).high
    24.0
    """

    circumference: float = 2 * math.pi
    origin: float = 0.0
    is_circle = True

    def __post_init__(self) -> None:
        around = positive_number(self.circumference, "circumference")
        origin = real_number(self.origin, "origin")
        if not (math.isfinite(origin + around) and origin + around > origin):
            raise ArgumentError(
                f"origin + circumference must be a finite number above origin, "
                f"got origin={origin!r}, circumference={around!r}",
                argument="domain",
            )
        object.__setattr__(self, "circumference", around)
        object.__setattr__(self, "origin", origin)

    @property
    def low(self) -> float:  # type: ignore[override]
        """Where values begin: the origin."""
        return self.origin

    @property
    def high(self) -> float:  # type: ignore[override]
        """Once around from there; the same point as `low`."""
        return self.origin + self.circumference

    def bring_inside(self, x: FloatArray) -> FloatArray:
        inside = (x >= self.low) & (x <= self.high)
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = x - self.low
            turn = np.mod(beyond, self.circumference)
            half = np.mod(x / 2 - self.low / 2, self.circumference / 2)  # where the difference overflows
        return np.where(inside, x, self.low + np.where(np.isfinite(beyond), turn, 2 * half))
