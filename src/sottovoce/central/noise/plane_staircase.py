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

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.central.noise.exact_draws import Draws, Integers
from sottovoce.central.noise.integer_staircase import inner_steps, level
from sottovoce.central.noise.noise import Noise
from sottovoce.designs.solver.roots import lowest


def ladder_moment(power: int, epsilon: float, start: Any) -> Any:
    """Σ_{t ≥ 0} b^t·(start + t)^power, b = e^−ε, for powers up to 4."""
    b, c = math.exp(-epsilon), -math.expm1(-epsilon)
    sums = [1 / c, b / c**2, b * (1 + b) / c**3, b * (1 + 4 * b + b * b) / c**4]
    sums.append(b * (1 + 11 * b + 11 * b**2 + b**3) / c**5)
    return sum(math.comb(power, i) * start ** (power - i) * sums[i] for i in range(power + 1))


def variance_2d(epsilon: float, gamma: float) -> float:
    """Variance of one coordinate of the continuous law; the two are uncorrelated.

    It is a mixture of uniform laws on diamonds of radius R = γ + t, of variance R²/6, with weight ∝ b^t·R².
    """
    return float(ladder_moment(4, epsilon, gamma)) / (6 * ladder_moment(2, epsilon, gamma))


@lru_cache(maxsize=256)
def optimal_gamma_2d(epsilon: float) -> float:
    """γ of least variance.

    >>> round(optimal_gamma_2d(4.0), 3)
    0.391
    """
    return lowest(lambda gamma: variance_2d(epsilon, gamma), 0.0, 1.0, 1e-5)[0]


@dataclass(frozen=True)
class Staircase2D(Noise):
    """Noise for (Σ j, n·M): the second is the sum of both coordinates.

    Attributes:
        epsilon: The privacy parameter.
        steps: M.
        inner: g.
    """

    epsilon: Fraction
    steps: int
    inner: int

    @staticmethod
    def optimal(epsilon: Fraction, steps: int) -> Staircase2D:
        """The one of least variance."""
        return Staircase2D(epsilon, steps, inner_steps(optimal_gamma_2d(float(epsilon)), steps))

    @property
    def rate(self) -> float:
        return float(self.epsilon)

    @property
    def gamma(self) -> float:
        """The γ of the continuous law whose rounding this is."""
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

    def draw(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
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

    def variance(self, alpha: FloatArray) -> FloatArray:
        return ((1 - alpha) ** 2 + alpha**2) * variance_2d(self.rate, self.gamma)

    def tail(self, t: FloatArray, alpha: FloatArray, miss: float) -> FloatArray:
        """P(|(slope·p + q)/2| > t), slope = 1 − 2α, over the diamonds |p|, |q| ≤ R, in blocks of radii."""
        t, slope, epsilon = t[:, None], 1 - 2 * alpha[:, None], self.rate
        length = max(1, int(0.04 / epsilon))
        blocks = math.ceil((16 - math.log(miss)) / (epsilon * length))
        first = length * np.arange(blocks + 1)
        left = np.exp(-epsilon * first) * ladder_moment(2, epsilon, self.gamma + first)
        left /= ladder_moment(2, epsilon, self.gamma)
        w = 2 * t / (self.gamma + first[1:] - 1)
        sloped = (1 + slope - w) ** 2 / (4 * np.maximum(slope, 1e-300))
        beyond = np.where(w <= 1 - slope, 1 - w, np.where(w < 1 + slope, sloped, 0))
        return beyond @ (left[:-1] - left[1:]) + left[-1]


def _fold(d: IntArray, e: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """A uniform point of size × (size − 1) to a uniform one of the triangle e < d < size."""
    return np.where(e < d, d, size - 1 - d), np.where(e < d, e, size - 2 - e)
