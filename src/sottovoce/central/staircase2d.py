"""The two-dimensional staircase of Geng, Kairouz, Oh and Viswanath on the integer plane.

    P(z₁, z₂) ∝ e^(−ε·J(|z₁| + |z₂|))

for the noise of (Σ j, Σ (M − j)), whose ℓ₁ sensitivity is M. A ring |z₁| + |z₂| = r has 4r points (one for
r = 0): in each quadrant (r − i, i) for 0 ≤ i < r. Writing r = g + t·M + d, 0 ≤ d < M, the points of all
rings beyond the centre fall into three kinds, each with constant bounds once t is drawn:

    i < g                         4·M·g       · b^(t+1)      t geometric
    i = g + t'·M + u,  t' < t     4·M²·t      · b^(t+1)      t = 1 + t' + another geometric number
    i = r − d + e,     e < d      2·M·(M − 1) · b^(t+1)      t geometric

and the centre, r < g, is one point and a triangle of 4·g·(g − 1)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.central.analysis import optimal_gamma_2d
from sottovoce.central.draws import Draws, Integers
from sottovoce.central.staircase import inner_steps, level
from sottovoce.central.thresholds import IntArray


@dataclass(frozen=True)
class Staircase2D:
    """Noise for (Σ j, n·M): the second is the sum of both coordinates."""

    epsilon: Fraction
    steps: int
    inner: int

    @staticmethod
    def optimal(epsilon: Fraction, steps: int) -> Staircase2D:
        return Staircase2D(epsilon, steps, inner_steps(optimal_gamma_2d(float(epsilon)), steps))

    @property
    def gamma(self) -> float:
        return (self.inner - 0.5) / self.steps

    def weights(self, b: Fraction) -> tuple[Fraction, ...]:
        """Centre point, centre triangle, first kind, third kind, second kind, over (1 − b)²."""
        m, g = self.steps, self.inner
        return (
            (1 - b) ** 2,
            2 * g * (g - 1) * (1 - b) ** 2,
            4 * m * g * b * (1 - b),
            2 * m * (m - 1) * b * (1 - b),
            4 * m * m * b * b,
        )

    def sample(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        m, g = self.steps, self.inner
        kind = draws.choose(self.weights, self.epsilon, count)
        turn = draws.below(4, count)
        first = draws.geometric(self.epsilon, count, dtype)
        second = draws.geometric(self.epsilon, count, dtype)
        short, shorter = draws.below(g, count), draws.below(max(1, g - 1), count)
        long, other, longer = draws.below(m, count), draws.below(m, count), draws.below(max(1, m - 1), count)
        centre_d, centre_e = _fold(short, shorter, g)
        ring_d, ring_e = _fold(long, longer, m)
        near, far = g + first * m, g + (1 + first + second) * m  # r − d
        kinds = [kind == i for i in range(5)]
        r = np.select(kinds, [0 * near, centre_d, near + long, near + ring_d, far + long])
        i = np.select(kinds, [0 * near, centre_e, short + 0 * near, near + ring_e, g + first * m + other])
        x, y = r - i, i
        z1 = np.select([turn == 0, turn == 1, turn == 2], [x, -y, -x], y)
        z2 = np.select([turn == 0, turn == 1, turn == 2], [y, x, -y], -x)
        return z1, z1 + z2

    def exponent(self, total: int, size: int) -> Fraction | None:
        return Fraction(level(abs(total) + abs(size - total), self.steps, self.inner))


def _fold(d: IntArray, e: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """A uniform point of size × (size − 1) to a uniform one of the triangle e < d < size."""
    return np.where(e < d, d, size - 1 - d), np.where(e < d, e, size - 2 - e)
