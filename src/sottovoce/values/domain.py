"""What an interval and a circle have alike: values to the unit coordinate and back.

A domain maps values to the *unit coordinate* t in [0, 1] and back. Every mechanism works in t, so
nothing else in the library depends on units, and Theorem 3.6 of the OGPM paper (transformation
invariance) holds by construction. A power-of-two factor keeps the map finite for ends near the
limits of floating point: [−1e308, 1e308] and [0, 5e−324] are as good as [0, 1]. With `scale="log"` it is the
logarithm of a value that t is measured along: for incomes, durations, and whatever else differs by factors.
"""

from __future__ import annotations

import math
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.exact.logarithm import natural_log
from sottovoce.values.space import Space

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FINITE = 700.0  # e^700 and e^-700 are doubles


class Domain(Space):
    """A range [low, high] of numbers; `Interval` has ends, on a `Circle` the ends are one point."""

    low: float
    high: float
    is_circle: bool
    #: "linear", or "log" where the unit coordinate is measured along the logarithm of a value.
    scale: str = "linear"

    def __str__(self) -> str:
        return f"[{self.low!r}, {self.high!r}]"

    # Written out: a dataclass would compile them anew for each class, which a device waits for at its start.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Domain) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return type(self), *(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    @property
    def is_clock(self) -> bool:
        """Whether values are the hours of a day."""
        return self.is_circle and (self.low, self.high) == (0, 24)

    @property
    def is_log(self) -> bool:
        """Whether values are compared by factors instead of differences."""
        return self.scale == "log"

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Where the unit coordinate is 0 and 1: low and high, or their logarithms."""
        if not self.is_log:
            return self.low, self.high
        low, high = natural_log(np.array([self.low, self.high])).tolist()
        return low, high

    @cached_property
    def factor(self) -> float:
        """A power of two that brings the width into the range where 1/width is finite."""
        if not math.isfinite(self.width):
            return 0.25
        return 1.0 if self.width > 2.0**-900 else 2.0**200

    @cached_property
    def scaled_low(self) -> float:
        """The first of the `ends` times `factor`."""
        return self.ends[0] * self.factor

    @cached_property
    def scaled_width(self) -> float:
        """The width times `factor`."""
        return self.ends[1] * self.factor - self.ends[0] * self.factor

    @cached_property
    def per_width(self) -> float:
        """1 / `scaled_width`; where that is subnormal, what is below: no unit coordinate is above 1."""
        factor = 1.0 / self.scaled_width
        return factor if self.scaled_width * factor <= 1.0 else factor - 5e-324

    @property
    def width(self) -> float:
        """high − low (infinity where that overflows), or the logarithm of high / low."""
        return self.ends[1] - self.ends[0]

    @property
    def grain(self) -> float:
        """How far apart neighbouring doubles at the ends of the domain are in the unit coordinate."""
        spacing = float(np.spacing(max(map(abs, self.ends)))) * self.factor
        return (spacing + (2.0**-52 if self.is_log else 0.0)) * self.per_width

    def line(self, x: ArrayLike) -> FloatArray:
        """Values on the line that the unit coordinate is measured along.

        Args:
            x: Values in the units of the domain.

        Returns:
            The values themselves, or their logarithms; those of the domain lie between the `ends`.
        """
        x = np.asarray(x, dtype=np.float64)
        if not self.is_log:
            return x
        logarithm = natural_log(x)
        return np.where(self.contains(x), np.clip(logarithm, *self.ends), logarithm)

    def unit_slope(self, x: ArrayLike) -> FloatArray:
        """How fast the unit coordinate grows with a value.

        Args:
            x: Values in the units of the domain.

        Returns:
            1 / width; on a log scale 1 / (x · width).
        """
        x = np.asarray(x, dtype=np.float64)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.width / (np.maximum(x, 0.0) if self.is_log else np.ones_like(x)))

    def to_unit(self, x: ArrayLike) -> FloatArray:
        """Values to t in [0, 1], by exactly the arithmetic that every sampler uses.

        Args:
            x: Values in the units of the domain.

        Returns:
            Unit coordinates.
        """
        x = self.line(x)
        return ((x if self.factor == 1.0 else x * self.factor) - self.scaled_low) * self.per_width

    def from_unit(self, t: ArrayLike) -> FloatArray:
        """Unit coordinates to values.

        Args:
            t: Unit coordinates; outside [0, 1] they give values outside the domain.

        Returns:
            Values in the units of the domain.
        """
        t = np.asarray(t, dtype=np.float64)
        line = np.asarray((self.scaled_low + t * self.scaled_width) / self.factor)
        if not self.is_log:
            return line
        x = np.exp(np.clip(line, -_FINITE, _FINITE))
        x = np.where((t < 0) | (t > 1), x, np.clip(x, self.low, self.high))
        return np.where(t == 1, self.high, x)  # not its neighbour

    def stretched(self, amount: FloatArray | float, power: float = 1.0) -> FloatArray:
        """What holds on a domain of width 1, in the units of this one: amount · width^power.

        Args:
            amount: Lengths (areas, …) where the width is 1.
            power: 1 for lengths, 2 for squares.

        Returns:
            Those of the values, on a log scale those of their logarithms. Infinite or zero only where the
            result is beyond the range of doubles, not where the width is.
        """
        with np.errstate(over="ignore", under="ignore"):
            factor = np.float64(self.scaled_width) ** power
            return np.asarray(amount * factor / np.float64(self.factor) ** power)

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        x = np.asarray(x, dtype=np.float64)
        return (x >= self.low) & (x <= self.high)

    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        return self.bring_inside(self.from_unit((words >> np.uint64(11)) * 2.0**-53))

    def examples(self, count: int) -> FloatArray:
        ends = [self.low, self.high, float(self.from_unit(0.5)), np.nextafter(self.low, self.high)]
        return np.concatenate((ends, self.from_unit(np.linspace(0.0, 1.0, count + 2)[1:-1])))

    def _beyond(self) -> FloatArray:
        return self.from_unit([-0.3719083, 1.3719083, 2.1190847])
