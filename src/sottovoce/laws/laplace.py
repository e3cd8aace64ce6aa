"""The Laplace mechanism (Dwork, McSherry, Nissim, Smith 2006) on a domain of width Δ.

density (ε/2Δ)·exp(−ε|y − x|/Δ),   E|y − x|^k = k!·(Δ/ε)^k
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.integer_weights import named
from sottovoce.errors import check_epsilon
from sottovoce.laws.law import interval_domain
from sottovoce.laws.radial import Added
from sottovoce.values.interval import DomainLike


@dataclass(frozen=True)
class Exponential:
    """φ(z) = rate·e^{−rate·z} / 2·total, up to where its mass is ½: `total` is 1 on the whole half-line."""

    rate: float
    total: float = 1.0

    def density(self, z: FloatArray) -> FloatArray:
        return np.asarray(self.rate * np.exp(-self.rate * z) / (2 * self.total))

    def mass(self, z: FloatArray) -> FloatArray:
        return np.asarray(-np.expm1(-self.rate * z) / (2 * self.total))

    def inverse(self, m: FloatArray) -> FloatArray:
        return np.asarray(-np.log1p(-2 * m * self.total) / self.rate)

    def tail(self, z: FloatArray) -> FloatArray:
        return np.asarray((np.exp(-self.rate * z) - (1 - self.total)) / (2 * self.total))

    def moment(self, k: float, z: FloatArray) -> FloatArray:
        """Γ(k+1)·rate^{−k}/2·total times the regularised incomplete gamma function."""
        from scipy.special import gamma, gammainc

        return np.asarray(gamma(k + 1) * gammainc(k + 1, self.rate * z) / (2 * self.rate**k * self.total))


@named
def laplace(epsilon: float, domain: DomainLike = (0, 1)) -> Added:
    """Add Laplace noise of scale width/ε: reports anywhere on the line.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.

    Returns:
        The law, unbiased.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.

    Example:
        >>> round(laplace(1.0, (0, 1)).worst_variance(), 12)
        2.0
    """
    epsilon = check_epsilon(epsilon)
    return Added(epsilon, interval_domain(domain, "laplace"), Exponential(epsilon))
