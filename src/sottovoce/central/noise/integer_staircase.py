"""The staircase mechanism of Geng and Viswanath on the integers, optimal for one number.

    P(z) ∝ e^(−ε·|J(z)|),   J(z) = ⌊(z + M − g)/M⌋ for z ≥ 0,   J(−z) = −J(z)

M is the sensitivity in grid steps and g, between 1 and M, the half-width of the central step. Moving z
by at most M changes |J| by at most one, for every g: rounding γ·M to an integer cannot loosen ε.
Rounding the continuous staircase (`laws.staircase`) with γ = (g − ½)/M to the nearest integer gives exactly
this law. With M = g = 1 it is the two-sided geometric mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.central.noise.discrete_laplace import discrete_laplace_variance
from sottovoce.central.noise.exact_draws import Draws, Integers
from sottovoce.central.noise.noise import Noise
from sottovoce.laws.staircase import Stairs, staircase_gamma


def inner_steps(gamma: float, steps: int) -> int:
    """γ on the grid: the central step has 2g − 1 points, which stand for a half-width of (g − ½)/M."""
    return min(steps, max(1, round(gamma * steps + 0.5)))


def level(z: int, steps: int, inner: int) -> int:
    """J(z): the signed number of steps that z lies away from the central one."""
    return (z + steps - inner) // steps if z >= 0 else -((-z + steps - inner) // steps)


@dataclass(frozen=True)
class Staircase:
    """Noise for one integer.

    Attributes:
        epsilon: The privacy parameter.
        steps: M, the sensitivity.
        inner: g.

    Example:
        >>> from sottovoce.central.noise.exact_draws import ExactDraws
        >>> Staircase(Fraction(1), steps=1, inner=1).draw(5, ExactDraws.using(1))[0].tolist()
        [-1, 0, -1, 0, 0]
    """

    epsilon: Fraction
    steps: int
    inner: int

    @staticmethod
    @lru_cache(maxsize=256)  # one object per set of parameters: its thresholds are built once
    def optimal(epsilon: Fraction, steps: int) -> Staircase:
        """The one of least variance."""
        return Staircase(epsilon, steps, inner_steps(staircase_gamma(float(epsilon), "l2"), steps))

    @property
    def law(self) -> Stairs:
        """The continuous law whose rounding this is, in units of the sensitivity."""
        return Stairs(float(self.epsilon), (self.inner - 0.5) / self.steps)

    @property
    def variance(self) -> float:
        """Its variance, in units of the sensitivity squared."""
        if self.steps == 1:
            return discrete_laplace_variance(float(self.epsilon))
        return 2 * float(self.law.moment(2, np.array(np.inf)))

    def weights(self, b: Fraction) -> tuple[Fraction, Fraction]:
        """Central step (2g − 1 points) and all others (M points of weight b^a at ±a), over 1 − b."""
        return (2 * self.inner - 1) * (1 - b), 2 * self.steps * b

    def draw(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        """Noise z and its level J(z)."""
        outside = draws.choose(self.weights, self.epsilon, count)
        sign = 1 - 2 * draws.below(2, count)
        inside = draws.below(2 * self.inner - 1, count) - (self.inner - 1)
        distance = (1 + draws.geometric(self.epsilon, count, dtype)) * outside
        within = self.inner + draws.below(self.steps, count)
        z = sign * ((distance - 1) * self.steps + within)
        return np.where(outside == 1, z, inside.astype(dtype)), sign * distance

    def exponent(self, z: int) -> int:
        """The law: P(z) ∝ e^(−ε·exponent)."""
        return abs(level(z, self.steps, self.inner))


@dataclass(frozen=True)
class PublicCount(Noise):
    """The swap model: staircase noise on the sum, none on the number of people."""

    public_count: ClassVar[bool] = True

    staircase: Staircase

    @property
    def rate(self) -> float:
        return float(self.staircase.epsilon)

    def draw(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        total, _ = self.staircase.draw(count, draws, dtype)
        return total, np.zeros(count, dtype=dtype)

    def exponent(self, total: int, size: int) -> Fraction | None:
        return None if size else Fraction(self.staircase.exponent(total))

    def variance(self, alpha: FloatArray) -> FloatArray:
        return np.full_like(alpha, self.staircase.variance)

    def tail(self, t: FloatArray, alpha: FloatArray, miss: float) -> FloatArray:
        return 2 * self.staircase.law.tail(t)
