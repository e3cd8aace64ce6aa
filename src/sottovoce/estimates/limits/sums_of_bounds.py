"""What bounds a quantity from either side, and what follows for sums over independent people.

Every linear estimate ends in two statistics: one whose expectation is at most the truth, one whose
expectation is at least the truth. Statistics of different people are independent, so those of a sum
Σ factor·quantity are sums again: the upper one takes the upper statistic where the factor is positive and
the lower one where it is negative. Differences, contrasts, slopes and weighted means are such sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Moments, between, cut

_LEAST_TAIL = 1e-300


@dataclass(frozen=True)
class Sides:
    """Two statistics that bound a quantity, in its own units.

    Attributes:
        lower: The one below.
        upper: The one above.
        ends: What the quantity can be at all.
        spent: The error on each side that other parts of the bounds have used already.
    """

    lower: Moments
    upper: Moments
    ends: tuple[float, float]
    spent: float = 0.0

    @classmethod
    def total(cls, terms: Sequence[tuple[float, Sides]], constant: float = 0.0) -> Sides:
        """Σ factor·quantity + constant, of independent quantities.

        Args:
            terms: Factors and the bounds of their quantities.
            constant: What is added.

        Returns:
            The bounds of the sum.
        """
        lower, upper = (
            Moments.total(
                [(f, one.upper if (f > 0) == (side > 0) else one.lower) for f, one in terms if f != 0]
            )
            for side in (-1, 1)
        )
        ends = [sum(f * one.ends[(f > 0) == high] for f, one in terms) + constant for high in (False, True)]
        return cls(
            replace(lower, value=lower.value + constant),
            replace(upper, value=upper.value + constant),
            (ends[0], ends[1]),
            sum(one.spent for f, one in terms if f != 0),
        )

    def allows(self, tail: float) -> bool:
        """Whether enough error is left for limits with this error on each side."""
        return self.spent <= tail / 2

    def limits(self, tail: float) -> tuple[float, float]:
        """The interval whose error on each side is `tail`.

        Args:
            tail: More than what is spent.

        Returns:
            Its ends, in order.
        """
        rest = tail - self.spent
        low, high = float(limit(self.lower, -1, rest)), float(limit(self.upper, 1, rest))
        low, high = min(low, high), max(low, high)  # each has a statistic of its own
        low, high = map(float, cut(low, high, self.ends))
        return low, high

    @property
    def error(self) -> float:
        """The root mean square error of the middle: sampling error and the most that its bias can be."""
        return float(between(self.lower, self.upper).error)

    def p_value(self, at: float = 0.0) -> float:
        """Twice the least error on one side whose limit excludes a value.

        Args:
            at: The value in question.

        Returns:
            A bound for the chance of bounds as far from that value, if it is the true one; at most 1.
        """
        sides = ((self.lower, -1), (self.upper, 1))
        tails = [_least_tail(one, side, at) for one, side in sides]
        return min(1.0, 2 * (min(tails) + self.spent))


def _least_tail(one: Moments, side: int, at: float) -> float:
    """The error at which a limit on one side reaches a value, rounded up; at most 1/2."""

    def excludes(tail: float) -> bool:
        return side * (float(limit(one, side, tail)) - at) < 0

    if not excludes(0.5):
        return 0.5
    below, above = 0.0, 1.0  # exponents of a half and of the least tail
    while above - below > 1e-4:
        middle = (below + above) / 2
        below, above = (middle, above) if excludes(_LEAST_TAIL**middle / 2) else (below, middle)
    return _LEAST_TAIL**below / 2
