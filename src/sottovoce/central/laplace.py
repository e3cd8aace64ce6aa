"""Discrete Laplace noise, P(z) ∝ e^(−rate·|z|) on the integers, and the three mechanisms made of it.

Each gives noise for (Σ j, n·M): the sum of grid positions j in 0 … M and M times the number of people.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.central.draws import Draws, Integers


def weights(b: Fraction) -> tuple[Fraction, Fraction]:
    """Zero, and everything else, times (1 − b)."""
    return 1 - b, 2 * b


def discrete_laplace(rate: Fraction, count: int, draws: Draws, dtype: Any = np.int64) -> Integers:
    """Zero with probability (1 − b)/(1 + b), b = e^−rate; otherwise a sign and one plus a geometric number.

    >>> from sottovoce.central.draws import ExactDraws
    >>> discrete_laplace(Fraction(1, 1000), 4, ExactDraws.using(1)).tolist()
    [435, 1042, -660, 423]
    """
    other = draws.choose(weights, rate, count)
    sign = 1 - 2 * draws.below(2, count)
    return sign * other * (1 + draws.geometric(rate, count, dtype))


@dataclass(frozen=True)
class SumAndCount:
    """Algorithms 1 and 2: half of ε for the sum of j + origin, half for the count.

    `origin` is where position 0 lies, in grid steps from the point that the sum is taken about: zero of
    the real line in Algorithm 1, the middle of the bounds in Algorithm 2.
    """

    epsilon: Fraction
    steps: int
    origin: int

    @property
    def reach(self) -> int:
        """The most that one person adds to the sum."""
        return max(abs(self.origin), abs(self.origin + self.steps))

    def sample(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        total = discrete_laplace(self.epsilon / (2 * self.reach), count, draws, dtype)
        people = discrete_laplace(self.epsilon / 2, count, draws, dtype)
        return total - self.origin * people, self.steps * people

    def exponent(self, total: int, size: int) -> Fraction | None:
        """P ∝ e^(−ε·exponent); None where the probability is zero."""
        people, rest = divmod(size, self.steps)
        if rest:
            return None
        return Fraction(abs(total + self.origin * people), 2 * self.reach) + Fraction(abs(people), 2)


@dataclass(frozen=True)
class Transformed:
    """Algorithm 3 with Laplace noise: all of ε for the pair (Σ j, Σ (M − j)), of ℓ₁ sensitivity M."""

    epsilon: Fraction
    steps: int

    def sample(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        rate = self.epsilon / self.steps
        total = discrete_laplace(rate, count, draws, dtype)
        return total, total + discrete_laplace(rate, count, draws, dtype)

    def exponent(self, total: int, size: int) -> Fraction | None:
        return Fraction(abs(total) + abs(size - total), self.steps)
