"""An interval of the line, and the pair of numbers that means one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, ArgumentTypeError, one_of, real_number
from sottovoce.values.domain import Domain

SCALES = ("linear", "log")
_LEAST = 1e-300  # of a log scale: far from where doubles lose digits


@dataclass(frozen=True, eq=False)
class Interval(Domain):
    """The interval [low, high].

    Attributes:
        low: The least value.
        high: The largest value.
        scale: "linear", or "log" for positive values that differ by factors, such as incomes: then noise is
            a factor too, quantiles and distributions come back in the unit of the people, and errors,
            biases and variances are those of the logarithm.

    >>> Interval(0, 24).to_unit([0, 6, 24]).tolist()
    [0.0, 0.25, 1.0]
    >>> Interval(1, 10_000, scale="log").from_unit([0, 0.5, 1]).round(6).tolist()
    [1.0, 100.0, 10000.0]
    """

    low: float
    high: float
    scale: str = "linear"
    is_circle = False

    def __post_init__(self) -> None:
        low, high = real_number(self.low, "low"), real_number(self.high, "high")
        one_of(self.scale, "scale", SCALES)
        if not low < high:
            raise ArgumentError(
                f"domain must have low < high, got low={low!r}, high={high!r}", argument="domain"
            )
        if self.is_log and low < _LEAST:
            raise ArgumentError(
                f"a log scale needs values above 0: low must be at least {_LEAST}, got low={low!r}",
                argument="low",
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if self.is_log and not self.ends[0] < self.ends[1]:
            raise ArgumentError(
                f"a log scale needs low and high whose logarithms differ, got low={low!r}, high={high!r}",
                argument="high",
            )

    def __repr__(self) -> str:
        scale = ", scale='log'" if self.is_log else ""
        return f"Interval(low={self.low!r}, high={self.high!r}{scale})"

    def bring_inside(self, x: FloatArray) -> FloatArray:
        return np.clip(x, self.low, self.high)


DomainLike = Domain | tuple[float, float] | Sequence[float]


def as_domain(domain: DomainLike) -> Domain:
    """A domain as given, or the interval that a pair of numbers means."""
    if isinstance(domain, Domain):
        return domain
    several = hasattr(domain, "__len__") and hasattr(domain, "__iter__")
    if isinstance(domain, str | bytes) or not several or len(domain) != 2:
        raise ArgumentTypeError(
            f"domain must be (low, high), an Interval or a Circle, got domain={domain!r}", argument="domain"
        )
    low, high = domain
    return Interval(_plain(low), _plain(high))


def _plain(value: object) -> float:
    """A numpy scalar becomes the Python number it holds; everything else is judged by the domain."""
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[return-value]
