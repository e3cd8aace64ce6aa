"""The hourglass mechanism of Kulesza, Suresh and Wang (2024) on the grid.

Noise (z, k·M) for the sum of grid positions and for M times the number of people:

    P(z, k) ∝ e^(−ε·(|J| + |k − J|)),   J = J(z) the staircase's level

This is Eq. (7) of the paper with both of its cases in one formula, the second coordinate being
y = k − z/M. A person at grid position j moves (z, k) by (j, 1), 0 ≤ j ≤ M, so J by 0, by 1, or from −1
to 1: the exponent changes by at most one. The marginal of z is the optimal staircase (Lemma 3); given z,
k is two-sided geometric about J (Lemma 4, whose ⌈·⌉ must be the ⌊·⌋ in J).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.central.noise.discrete_laplace import (
    discrete_laplace,
    discrete_laplace_blocks,
    discrete_laplace_variance,
)
from sottovoce.central.noise.exact_draws import Draws, Integers
from sottovoce.central.noise.integer_staircase import Staircase, level
from sottovoce.central.noise.noise import Noise
from sottovoce.errors import check_epsilon


def sigma2(epsilon: float) -> float:
    """The bound that the hourglass meets: no ε-DP mean has a worst-case n²·MSE below σ²(ε)·(high − low)².

    Eq. (2) of the paper, up to o(1) in n. It is also the variance of the optimal staircase.

    >>> round(sigma2(1.0), 5), round(sigma2(8.0), 8)
    (1.9181, 0.00337983)
    """
    epsilon = check_epsilon(epsilon)
    b = math.exp(-epsilon)
    return (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / math.expm1(-epsilon) ** 2


@dataclass(frozen=True)
class Hourglass(Noise):
    """Noise for (Σ j, n·M) in the add-remove model.

    Attributes:
        staircase: The noise of the sum.
    """

    staircase: Staircase

    @staticmethod
    def optimal(epsilon: Fraction, steps: int) -> Hourglass:
        """The one of least variance."""
        return Hourglass(Staircase.optimal(epsilon, steps))

    @property
    def rate(self) -> float:
        return float(self.staircase.epsilon)

    def draw(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        z, at = self.staircase.draw(count, draws, dtype)
        k = at + discrete_laplace(self.staircase.epsilon, count, draws, dtype)
        return z, k * self.staircase.steps

    def exponent(self, total: int, size: int) -> Fraction | None:
        k, rest = divmod(size, self.staircase.steps)
        if rest:
            return None
        at = level(total, self.staircase.steps, self.staircase.inner)
        return Fraction(abs(at) + abs(k - at))

    def variance(self, alpha: FloatArray) -> FloatArray:
        law = self.staircase.law
        b, c, peak = math.exp(-self.rate), -math.expm1(-self.rate), float(law.density(np.zeros(())))
        first, second = b / c**2, b * (1 + b) / c**3  # Σ a·b^a, Σ a²·b^a
        cross = 2 * peak * (second + (law.gamma - 0.5) * first)  # E[x·J]
        square = 2 * peak * second  # E[J²]
        spread = 2 * law.moment(2, np.array(np.inf))  # E[x²]
        return spread - 2 * alpha * cross + alpha**2 * (square + discrete_laplace_variance(self.rate))

    def tail(self, t: FloatArray, alpha: FloatArray, miss: float) -> FloatArray:
        t, alpha = t[:, None], alpha[:, None]
        numbers, mass, rest = discrete_laplace_blocks(self.rate, miss)
        return 2 * (self._beyond(t - alpha * numbers, alpha) @ mass) + rest

    def _beyond(self, s: FloatArray, alpha: FloatArray) -> FloatArray:
        """P(x − α·J > s) for the staircase's x and its level J, α ≤ ½.

        Level a ≥ 1 spreads x − α·a evenly over the unit that ends at u = a(1 − α) + γ, with mass ∝ b^a; s
        cuts at most two of these units.
        """
        negative, s = s < 0, np.abs(s)
        law, epsilon, step = self.staircase.law, self.rate, 1 - alpha
        gamma, b, c = law.gamma, math.exp(-epsilon), -math.expm1(-epsilon)
        beyond = np.maximum(gamma - s, 0) + b * np.maximum(1 - gamma - step - s, 0)  # levels 0 and −1
        whole = np.maximum(np.ceil((s + 1 - gamma) / step), 1)  # from here on a unit lies beyond s
        beyond += np.exp(-epsilon * whole) / c
        for back in (1, 2):
            a = whole - back
            beyond += np.where(a >= 1, np.exp(-epsilon * a) * np.clip(a * step + gamma - s, 0, 1), 0)
        beyond *= float(law.density(np.zeros(())))
        return np.where(negative, 1 - beyond, beyond)
