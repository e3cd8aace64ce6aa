"""Discrete Laplace noise, P(z) ∝ e^(−rate·|z|) on the integers, and the mechanisms made of it.

Algorithms 1 to 3 of Kulesza, Suresh and Wang (2024), with integers for the paper's real numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.central.noise.exact_draws import Draws, Integers
from sottovoce.central.noise.noise import Noise


def weights(b: Fraction) -> tuple[Fraction, Fraction]:
    """Zero, and everything else, times (1 − b)."""
    return 1 - b, 2 * b


def discrete_laplace(rate: Fraction, count: int, draws: Draws, dtype: Any = np.int64) -> Integers:
    """Zero with probability (1 − b)/(1 + b), b = e^−rate; otherwise a sign and one plus a geometric number.

    >>> from sottovoce.central.noise.exact_draws import ExactDraws
    >>> discrete_laplace(Fraction(1, 1000), 4, ExactDraws.using(1)).tolist()
    [59, -1283, -1072, -2154]
    """
    other = draws.choose(weights, rate, count)
    sign = 1 - 2 * draws.below(2, count)
    return sign * other * (1 + draws.geometric(rate, count, dtype))


def discrete_laplace_variance(rate: float) -> float:
    """Its variance, 2b/(1 − b)²."""
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


def discrete_laplace_blocks(rate: float, miss: float) -> tuple[FloatArray, FloatArray, float]:
    """The law in blocks of neighbours: each block's largest number, its mass, and the mass left out.

    For a small rate there are too many numbers to add up one by one. Taking each at the worst end of its
    block makes a tail larger, never smaller.
    """
    length = max(1, int(0.04 / rate))
    blocks = math.ceil((8 - math.log(miss)) / (rate * length))
    first = 1 + length * np.arange(blocks)
    mass = np.exp(-rate * first) * -math.expm1(-rate * length) / (1 + math.exp(-rate))
    numbers = np.concatenate((-first[::-1], [0], first + length - 1)).astype(np.float64)
    rest = 2 * math.exp(-rate * (1 + length * blocks)) / (1 + math.exp(-rate))
    return numbers, np.concatenate((mass[::-1], [math.tanh(rate / 2)], mass)), rest


@dataclass(frozen=True)
class SumAndCount(Noise):
    """Algorithms 1 and 2: half of ε for the sum of j + origin, half for the count.

    Attributes:
        epsilon: The privacy parameter.
        steps: M.
        origin: Where position 0 lies, in grid steps from the point that the sum is taken about: zero of
            the real line in Algorithm 1, the middle of the domain in Algorithm 2.
    """

    symmetric: ClassVar[bool] = False

    epsilon: Fraction
    steps: int
    origin: int

    @property
    def rate(self) -> float:
        return float(self.epsilon)

    @property
    def reach(self) -> int:
        """The most that one person adds to the sum, in grid steps."""
        return max(abs(self.origin), abs(self.origin + self.steps))

    @property
    def farthest(self) -> float:
        return 2 + abs(self.origin / self.steps)

    def draw(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        total = discrete_laplace(self.epsilon / (2 * self.reach), count, draws, dtype)
        people = discrete_laplace(self.epsilon / 2, count, draws, dtype)
        return total - self.origin * people, self.steps * people

    def exponent(self, total: int, size: int) -> Fraction | None:
        people, rest = divmod(size, self.steps)
        if rest:
            return None
        return Fraction(abs(total + self.origin * people), 2 * self.reach) + Fraction(abs(people), 2)

    def variance(self, alpha: FloatArray) -> FloatArray:
        scale, origin = 2 * self.reach / self.steps / self.rate, self.origin / self.steps
        return 2 * scale**2 + (alpha + origin) ** 2 * discrete_laplace_variance(self.rate / 2)

    def tail(self, t: FloatArray, alpha: FloatArray, miss: float) -> FloatArray:
        scale, origin = 2 * self.reach / self.steps / self.rate, self.origin / self.steps
        numbers, mass, rest = discrete_laplace_blocks(self.rate / 2, miss)
        s = t[:, None] - np.abs(alpha[:, None] + origin) * numbers
        half = np.exp(-np.abs(s) / scale) / 2
        return 2 * (np.where(s > 0, half, 1 - half) @ mass) + rest


@dataclass(frozen=True)
class Transformed(Noise):
    """Algorithm 3 with Laplace noise: all of ε for the pair (Σ j, Σ (M − j)), of ℓ₁ sensitivity M.

    Attributes:
        epsilon: The privacy parameter.
        steps: M.
    """

    epsilon: Fraction
    steps: int

    @property
    def rate(self) -> float:
        return float(self.epsilon)

    def draw(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        rate = self.epsilon / self.steps
        total = discrete_laplace(rate, count, draws, dtype)
        return total, total + discrete_laplace(rate, count, draws, dtype)

    def exponent(self, total: int, size: int) -> Fraction | None:
        return Fraction(abs(total) + abs(size - total), self.steps)

    def variance(self, alpha: FloatArray) -> FloatArray:
        return ((1 - alpha) ** 2 + alpha**2) * 2 / self.rate**2

    def tail(self, t: FloatArray, alpha: FloatArray, miss: float) -> FloatArray:
        """Of the sum of two independent Laplace variables, of scales (1 − α)/ε and α/ε."""
        long, short = (1 - alpha) / self.rate, alpha / self.rate
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            gap = long**2 - short**2
            apart = (long**2 * np.exp(-t / long) - short**2 * np.exp(-t / short)) / gap
            apart = np.where(short == 0, np.exp(-t / long), apart)
        return np.where(gap == 0, (1 + t / (2 * long)) * np.exp(-t / long), apart)
