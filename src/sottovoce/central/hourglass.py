"""The hourglass mechanism of Kulesza, Suresh and Wang (2024) on the grid.

Noise (z, k·M) for the sum of grid positions and for M times the number of people:

    P(z, k) ∝ e^(−ε·(|J| + |k − J|)),   J = J(z) the staircase's level

This is Eq. (7) of the paper with both of its cases in one formula, the second coordinate being
y = k − z/M. A person at grid position j moves (z, k) by (j, 1), 0 ≤ j ≤ M, so J by 0, by 1, or from −1
to 1: the exponent changes by at most one. The marginal of z is the optimal staircase (Lemma 3); given z,
k is two-sided geometric about J (Lemma 4, whose ⌈·⌉ must be the ⌊·⌋ in J).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.central.draws import Draws, Integers
from sottovoce.central.laplace import discrete_laplace
from sottovoce.central.staircase import Staircase, level


@dataclass(frozen=True)
class Hourglass:
    """Noise for (Σ j, n·M) in the add-remove model."""

    staircase: Staircase

    @staticmethod
    def optimal(epsilon: Fraction, steps: int) -> Hourglass:
        return Hourglass(Staircase.optimal(epsilon, steps))

    def sample(self, count: int, draws: Draws, dtype: Any = np.int64) -> tuple[Integers, Integers]:
        z, at = self.staircase.sample(count, draws, dtype)
        k = at + discrete_laplace(self.staircase.epsilon, count, draws, dtype)
        return z, k * self.staircase.steps

    def exponent(self, total: int, size: int) -> Fraction | None:
        """P ∝ e^(−ε·exponent); None where the probability is zero."""
        k, rest = divmod(size, self.staircase.steps)
        if rest:
            return None
        at = level(total, self.staircase.steps, self.staircase.inner)
        return Fraction(abs(at) + abs(k - at))
