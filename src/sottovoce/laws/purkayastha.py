"""The Purkayastha mechanism (Weggenmann, Kerschbaum 2021) on the circle.

    density ∝ exp(−(ε/π)·distance) for distances along a circle of circumference 2π

A Laplace density wrapped without overlap: the distance is at most π, so the ratio is at most e^ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.core.domains import Circle, DomainLike, FloatArray
from sottovoce.core.errors import check_epsilon
from sottovoce.designs.build import named
from sottovoce.laws.around import Around
from sottovoce.laws.law import circle_domain


@dataclass(frozen=True)
class Wrapped:
    """φ(z) ∝ e^{−2εz} on [0, ½]."""

    epsilon: float

    @property
    def _total(self) -> float:
        return -math.expm1(-self.epsilon)

    def density(self, z: FloatArray) -> FloatArray:
        return np.asarray(self.epsilon * np.exp(-2 * self.epsilon * z) / self._total)

    def mass(self, z: FloatArray) -> FloatArray:
        return np.asarray(-np.expm1(-2 * self.epsilon * z) / (2 * self._total))

    def inverse(self, m: FloatArray) -> FloatArray:
        return np.asarray(-np.log1p(-2 * m * self._total) / (2 * self.epsilon))

    def tail(self, z: FloatArray) -> FloatArray:
        return 0.5 - self.mass(z)

    def moment(self, k: float, z: FloatArray) -> FloatArray:
        from scipy.special import gamma, gammainc

        rate = 2 * self.epsilon
        return np.asarray(gamma(k + 1) * gammainc(k + 1, rate * z) / (2 * rate**k * self._total))


@named
def purkayastha(epsilon: float, domain: DomainLike | None = None) -> Around:
    """An exponential density in the distance along the circle.

    >>> purkayastha(1.0).worst_error("l2") > 2.5  # OGPM with the L2 root: 2.14
    True
    """
    epsilon = check_epsilon(epsilon)
    domain = circle_domain(Circle() if domain is None else domain, "purkayastha")
    return Around(epsilon, domain, Wrapped(epsilon))
