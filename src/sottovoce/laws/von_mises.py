"""The von Mises–Fisher mechanism (Weggenmann, Kerschbaum 2021) on the circle.

    density exp(κ·cos θ) / 2π I_0(κ) at angle θ from the truth, κ = ε/2

The exponent runs from κ to −κ, so ε-LDP over the whole circle needs κ = ε/2. No closed forms: the
distribution function is the Fourier series z + Σ (I_n/I_0)·sin(2πnz)/πn, moments are quadrature.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.integer_weights import named
from sottovoce.errors import check_epsilon
from sottovoce.laws.circular import Around, quadrature
from sottovoce.laws.law import circle_domain
from sottovoce.values.circle import Circle
from sottovoce.values.interval import DomainLike

_TERMS = 48  # I_n(8)/I_0(8) is below 1e−30 there
_TABLE = 4097


@dataclass(frozen=True)
class Angular:
    """φ(z) = exp(κ cos 2πz) / I_0(κ) on [0, ½]."""

    kappa: float

    @cached_property
    def _ratios(self) -> FloatArray:
        from scipy.special import ive

        n = np.arange(1, _TERMS + 1)
        return np.asarray(ive(n, self.kappa) / ive(0, self.kappa))

    @cached_property
    def _peak(self) -> float:
        from scipy.special import ive

        return float(1 / ive(0, self.kappa))

    def density(self, z: FloatArray) -> FloatArray:
        return np.asarray(self._peak * np.exp(self.kappa * (np.cos(2 * math.pi * z) - 1)))

    def mass(self, z: FloatArray) -> FloatArray:
        total = np.array(z, dtype=np.float64)
        for n, ratio in enumerate(self._ratios, start=1):
            if ratio < 1e-18:
                break
            total = total + ratio * np.sin(2 * math.pi * n * z) / (math.pi * n)
        return total

    @cached_property
    def _table(self) -> tuple[FloatArray, FloatArray]:
        z = np.linspace(0.0, 0.5, _TABLE)
        return self.mass(z), z

    def inverse(self, m: FloatArray) -> FloatArray:
        """A table, then three steps of Newton: exact to rounding."""
        z = np.interp(m, *self._table)
        for _ in range(3):
            z = np.clip(z - (self.mass(z) - m) / self.density(z), 0.0, 0.5)
        return np.asarray(z)

    def tail(self, z: FloatArray) -> FloatArray:
        return 0.5 - self.mass(z)

    def moment(self, k: float, z: FloatArray) -> FloatArray:
        return quadrature(lambda s: s**k * self.density(s), np.array(0.0), z)


@named
def von_mises(epsilon: float, domain: DomainLike | None = None) -> Around:
    """Report with a von Mises density of κ = ε/2.

    Args:
        epsilon: Privacy parameter ε.
        domain: The circle; one of circumference 2π if not given.

    Returns:
        The law.

    Raises:
        ValueError: If an argument is out of range or the domain is an interval.

    Example:
        >>> law = von_mises(2.0)
        >>> float((law.density(0.0, 0.0) / law.density(0.0, math.pi)).round(6)) == round(math.exp(2.0), 6)
        True
    """
    epsilon = check_epsilon(epsilon)
    domain = circle_domain(Circle() if domain is None else domain, "von_mises")
    return Around(epsilon, domain, Angular(epsilon / 2))
