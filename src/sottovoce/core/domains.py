"""Where values live: an interval of the line, or a circle.

A domain maps values to the *unit coordinate* t in [0, 1] and back. Every mechanism works in t, so
nothing else in the library depends on units, and Theorem 3.6 of the OGPM paper (transformation
invariance) holds by construction. A power-of-two factor keeps the map finite for bounds near the
limits of floating point: [−1e308, 1e308] and [0, 5e−324] are as good as [0, 1].
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.compact import Compact
from sottovoce.core.errors import positive_number, real_number

FloatArray = NDArray[np.float64]


class Space(Compact, ABC):
    """A set of possible values: numbers (a `Domain`) or positions (a `Disc`)."""

    #: The shape of one value: () for a number, (2,) for a position.
    shape: tuple[int, ...] = ()

    @abstractmethod
    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        """Tell which values lie in the set.

        Args:
            x: Values.

        Returns:
            One truth value each; false for what is not finite.
        """

    @abstractmethod
    def bring_inside(self, x: FloatArray) -> FloatArray:
        """What `clip=True` means here.

        Args:
            x: Finite values.

        Returns:
            The nearest end of an interval or point of a disc, the same angle on a circle.
        """

    @abstractmethod
    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        """Spread values evenly over the set.

        Args:
            words: Uniform 64-bit words.

        Returns:
            One value for each word.
        """

    def absent(self, x: FloatArray) -> NDArray[np.bool_]:
        """Tell which values are missing: a part of them is NaN or infinite.

        Args:
            x: Values, NaN where there is none.

        Returns:
            One truth value each.
        """
        return np.asarray(~np.isfinite(x).all(axis=tuple(range(-len(self.shape), 0))))


class Domain(Space):
    """A range [low, high] of numbers; `Interval` has ends, on a `Circle` the ends are one point."""

    low: float
    high: float
    is_circle: bool

    def __str__(self) -> str:
        return f"[{self.low!r}, {self.high!r}]"

    @cached_property
    def scale(self) -> float:
        """A power of two that brings the width into the range where 1/width is finite."""
        if not math.isfinite(self.high - self.low):
            return 0.25
        return 1.0 if self.high - self.low > 2.0**-900 else 2.0**200

    @cached_property
    def scaled_low(self) -> float:
        """`low` times `scale`."""
        return self.low * self.scale

    @cached_property
    def scaled_width(self) -> float:
        """The width times `scale`."""
        return self.high * self.scale - self.low * self.scale

    @cached_property
    def per_width(self) -> float:
        """1 / `scaled_width`."""
        return 1.0 / self.scaled_width

    @property
    def width(self) -> float:
        """high − low (infinity where that overflows)."""
        return self.high - self.low

    def to_unit(self, x: ArrayLike) -> FloatArray:
        """Values to t in [0, 1], by exactly the arithmetic that every sampler uses.

        Args:
            x: Values in the units of the domain.

        Returns:
            Unit coordinates.
        """
        x = np.asarray(x, dtype=np.float64)
        return ((x if self.scale == 1.0 else x * self.scale) - self.scaled_low) * self.per_width

    def from_unit(self, t: ArrayLike) -> FloatArray:
        """Unit coordinates to values.

        Args:
            t: Unit coordinates; outside [0, 1] they give values outside the domain.

        Returns:
            Values in the units of the domain.
        """
        t = np.asarray(t, dtype=np.float64)
        return np.asarray((self.scaled_low + t * self.scaled_width) / self.scale)

    def stretched(self, amount: FloatArray | float, power: float = 1.0) -> FloatArray:
        """What holds on a domain of width 1, in the units of this one: amount · width^power.

        Args:
            amount: Lengths (areas, …) where the width is 1.
            power: 1 for lengths, 2 for squares.

        Returns:
            Infinite or zero only where the result is beyond the range of doubles, not where the width is.
        """
        with np.errstate(over="ignore", under="ignore"):
            factor = np.float64(self.scaled_width) ** power
            return np.asarray(amount * factor / np.float64(self.scale) ** power)

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        x = np.asarray(x, dtype=np.float64)
        return (x >= self.low) & (x <= self.high)

    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        return self.bring_inside(self.from_unit((words >> np.uint64(11)) * 2.0**-53))


@dataclass(frozen=True)
class Interval(Domain):
    """The interval [low, high].

    Attributes:
        low: The least value.
        high: The largest value.

    >>> Interval(0, 24).to_unit([0, 6, 24]).tolist()
    [0.0, 0.25, 1.0]
    """

    low: float
    high: float
    is_circle = False

    def __post_init__(self) -> None:
        low, high = real_number(self.low, "low"), real_number(self.high, "high")
        if not low < high:
            raise ValueError(f"domain must have low < high, got low={low!r}, high={high!r}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def bring_inside(self, x: FloatArray) -> FloatArray:
        return np.clip(x, self.low, self.high)


@dataclass(frozen=True)
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
            raise ValueError(
                f"origin + circumference must be a finite number above origin, "
                f"got origin={origin!r}, circumference={around!r}"
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


@dataclass(frozen=True)
class Disc(Space):
    """Positions (x, y) around the origin.

    Attributes:
        radius: How far away they may be.

    >>> Disc(10).contains([[3, 4], [8, 8]]).tolist()
    [True, False]
    """

    radius: float = 1.0
    shape = (2,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive_number(self.radius, "radius"))

    def __str__(self) -> str:
        return f"the disc of radius {self.radius!r}"

    def contains(self, x: ArrayLike) -> NDArray[np.bool_]:
        x = np.asarray(x, dtype=np.float64)
        return np.asarray(np.hypot(x[..., 0], x[..., 1]) <= self.radius)

    def bring_inside(self, x: FloatArray) -> FloatArray:
        half = np.asarray(x) / 2  # the distance of a finite position may be infinite
        away = np.hypot(half[..., 0], half[..., 1])[..., None]
        rim = self.radius * (1 - 2.0**-50)  # so that no rounding leads out again
        outside = away > rim / 2
        return np.where(outside, rim * np.divide(half, away, where=outside, out=half), x)

    def spread(self, words: NDArray[np.uint64]) -> FloatArray:
        away = self.radius * np.sqrt((words >> np.uint64(32)) * 2.0**-32)
        turn = 2 * math.pi * ((words & np.uint64(0xFFFFFFFF)) * 2.0**-32)
        return np.stack((away * np.cos(turn), away * np.sin(turn)), axis=-1)


DomainLike = Domain | tuple[float, float] | Sequence[float]


def as_domain(domain: DomainLike) -> Domain:
    """A domain as given, or the interval that a pair of numbers means."""
    if isinstance(domain, Domain):
        return domain
    if isinstance(domain, str | bytes) or not hasattr(domain, "__len__") or len(domain) != 2:
        raise TypeError(f"domain must be (low, high), an Interval or a Circle, got domain={domain!r}")
    low, high = domain
    return Interval(_plain(low), _plain(high))


def _plain(value: object) -> float:
    """A numpy scalar becomes the Python number it holds; everything else is judged by the domain."""
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[return-value]
