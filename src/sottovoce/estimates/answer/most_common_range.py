"""Where people are, in sentences: the range of the most common values, and a share surely in some range.

The first is a rule that was tried (`smooth_fits`), so it "appears"; the second follows from the band that
holds the whole distribution function whatever the truth is, so it is sure. With F between low and high at the
edges at least low(b) − high(a) of the people are between a and b, and 1 − high(a) + low(b) from a around to
b.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.values.domain import Domain

_NICE = (1.0, 2.0, 2.5, 5.0)
_MINUTES = (1, 5, 15)
_DIGITS = 12
_STEPS = 10  # at least so many in a range

Range = tuple[float, float]


class Span(NamedTuple):
    """At least `share` of 100 people are between two edges of bins."""

    share: int
    edges: tuple[int, int]


class Sure(NamedTuple):
    """At least `share` of 100 people are between `low` and `high`; on a circle `high` may be beyond it."""

    share: int
    low: float
    high: float


def surely(low: FloatArray, high: FloatArray, *, circle: bool) -> Span | None:
    """The range of at most half the domain that surely holds most people for its length.

    Args:
        low: The lower limit of the distribution function at the edges of equal bins.
        high: The upper limit.
        circle: Whether a range may go on from the last edge to the first.

    Returns:
        How many people are between which edges, the second beyond the last where the range crosses the
        origin; None where no range surely holds more than its length.
    """
    bins = len(low) - 1
    first, last = np.meshgrid(np.arange(bins + 1), np.arange(bins + 1), indexing="ij")
    below = np.where(first > 0, high[first], 0.0)  # nobody is below the lowest
    around = circle & (last < first) & (first < bins)
    least = low[last] - below + around
    length = (last - first + bins * around) / bins
    gain = np.where((length > 0) & (length <= 0.5), least - length, -1.0)
    a, b = np.unravel_index(int(np.argmax(gain)), gain.shape)
    share = int(100 * least[a, b])
    return Span(share, (int(a), int(b + bins * around[a, b]))) if gain[a, b] > 0 and share else None


def outward(domain: Domain, low: float, high: float) -> Range:
    """A range with round ends that holds another: quarter hours for times, on a log scale by their size."""
    if domain.is_clock:
        step = max((s / 60 for s in _MINUTES if s / 60 * _STEPS <= high - low), default=1 / 60)
        steps = (step, step)
    elif domain.is_log:
        around = np.log(high / low) / _STEPS
        steps = _nice(low * around), _nice(high * around)
    else:
        steps = (_nice((high - low) / _STEPS),) * 2
    bottom = float(f"{np.floor(low / steps[0] + 1e-9) * steps[0]:.{_DIGITS}g}")
    top = float(f"{np.ceil(high / steps[1] - 1e-9) * steps[1]:.{_DIGITS}g}")
    if domain.is_circle:
        return bottom, min(top, bottom + domain.width)
    return max(bottom, domain.low), min(top, domain.high)


def _nice(most: float) -> float:
    """The largest of 1, 2, 2.5 and 5 times a power of ten that is at most this."""
    power = 10.0 ** np.floor(np.log10(most))
    return float(power * max((digit for digit in _NICE if digit * power <= most * (1 + 1e-9)), default=1.0))


def sentence(domain: Domain, n: int, common: Sequence[Range] | None, sure: Sure | None, level: float) -> str:
    """What is said about where people are.

    Args:
        domain: Where values live.
        n: How many people reported.
        common: The ranges of the most common values; None if they were not looked for.
        sure: How many are surely in some range, if any.
        level: How sure.

    Returns:
        One or two sentences.
    """
    noun = "times" if domain.is_clock else "values"
    noun += " (per factor)" if domain.is_log else ""
    ranges = [_between(domain, low, high) for low, high in common or ()]
    parts = (
        [] if common is None else [f"We cannot tell from these {n:,} people which {noun} are most common."]
    )
    if ranges:
        parts = [f"The most common {noun} appear to lie {', or '.join(ranges)}."]
    if sure is not None:
        people = " people" if ranges or common is None else ""
        where = _between(domain, sure.low, sure.high)
        parts.append(
            f"We are {100 * level:.10g} % sure that at least {sure.share} of 100{people} are {where}."
        )
    return " ".join(parts)


def reading(shaped: bool) -> str:
    """How to read the picture of a distribution, with its curve or without."""
    which = "The line is the likeliest curve; the shade" if shaped else "The shade"
    return (
        f"{which} is where the true one lies at about nine places in ten. Values that people round to, "
        "closer together than the shade is smooth, show as one hill."
    )


def _between(domain: Domain, low: float, high: float) -> str:
    first, last = (_written(domain, x) for x in outward(domain, low, high))
    return f"between {first} and {last}"


def _written(domain: Domain, x: float) -> str:
    if domain.is_circle:
        x = domain.low + (x - domain.low) % domain.width
    if domain.is_clock:
        minutes = round(60 * x) % 1440
        return f"{minutes // 60}:{minutes % 60:02d}"
    return f"{x:,.{_DIGITS}g}".replace("-", "−")
