"""The staircase mechanism of Geng and Viswanath on the integers, optimal for one number.

    P(z) ∝ e^(−ε·|J(z)|),   J(z) = ⌊(z + M − g)/M⌋ for z ≥ 0,   J(−z) = −J(z)

M is the sensitivity in grid steps and g, between 1 and M, the half-width of the central step. Moving z
by at most M changes |J| by at most one, for every g: rounding γ·M to an integer cannot loosen ε.
Rounding the continuous staircase with γ = (g − ½)/M to the nearest integer gives exactly this law.
With M = g = 1 it is the two-sided geometric mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sottovoce.central.analysis import optimal_gamma
from sottovoce.central.draws import Draws, Integers


def inner_steps(gamma: float, steps: int) -> int:
    """γ on the grid: the central step has 2g − 1 points, which stand for a half-width of (g − ½)/M."""
    return min(steps, max(1, round(gamma * steps + 0.5)))


def level(z: int, steps: int, inner: int) -> int:
    """J(z): the signed number of steps that z lies away from the central one."""
    return (z + steps - inner) // steps if z >= 0 else -((-z + steps - inner) // steps)


@dataclass(frozen=True)
class Staircase:
    """Noise for one integer of sensitivity `steps`.

    >>> from sottovoce.central.draws import ExactDraws
    >>> Staircase(Fraction(1), steps=1, inner=1).sample(5, ExactDraws.using(1))[0].tolist()
    [2, -1, 0, -2, 0]
    """

    epsilon: Fraction
    steps: int
    inner: int

    @staticmethod
    @lru_cache(maxsize=256)  # one object per set of parameters: its thresholds are built once
    def optimal(epsilon: Fraction, steps: int) -> Staircase:
        return Staircase(epsilon, steps, inner_steps(optimal_gamma(float(epsilon)), steps))

    @property
    def gamma(self) -> float:
        """The γ of the continuous staircase whose rounding this is."""
        return (self.inner - 0.5) / self.steps

    def weights(self, b: Fraction) -> tuple[Fraction, Fraction]:
        """Central step (2g − 1 points) and all others (M points of weight b^a at ±a), over 1 − b."""
        return (2 * self.inner - 1) * (1 - b), 2 * self.steps * b

    def sample(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        """Noise z and its level J(z)."""
        outside = draws.choose(self.weights, self.epsilon, count)
        sign = 1 - 2 * draws.below(2, count)
        inside = draws.below(2 * self.inner - 1, count) - (self.inner - 1)
        distance = (1 + draws.geometric(self.epsilon, count, dtype)) * outside
        within = self.inner + draws.below(self.steps, count)
        z = sign * ((distance - 1) * self.steps + within)
        return np.where(outside == 1, z, inside.astype(dtype)), sign * distance

    def exponent(self, z: int) -> int:
        """P(z) ∝ e^(−ε·exponent)."""
        return abs(level(z, self.steps, self.inner))
