"""The staircase mechanism (Geng, Viswanath 2014; Geng, Kairouz, Oh, Viswanath 2015).

Noise whose density falls by e^{−ε} once per domain width, at γ, 1 + γ, 2 + γ, …:

    φ(z) = a·b^j on [j, j+γ), a·b^{j+1} on [j+γ, j+1),   b = e^{−ε},  a = (1 − b) / 2(γ + b(1 − γ))

γ is chosen for the loss: 1/(1 + e^{ε/2}) for L1 (then E|y − x| = e^{ε/2}/(e^ε − 1)) and
((b(1 + b)/2)^{1/3} − b)/(1 − b) for L2. With D_i = γ^i(1 − b) + b:   E|y − x| = b/(1−b) + D_2/2D,
Var = b(1+b)/(1−b)² + b·D_2/(1−b)D + D_3/3D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.integer_weights import named
from sottovoce.designs.solver.roots import lowest
from sottovoce.errors import ArgumentError, check_epsilon, loss_exponent, real_number
from sottovoce.laws.law import interval_domain
from sottovoce.laws.radial import Added
from sottovoce.values.interval import DomainLike

_CHUNK = 1 << 18


@dataclass(frozen=True)
class Stairs:
    """φ above; its incomplete moments are needed only over a whole side."""

    epsilon: float
    gamma: float

    @property
    def _b(self) -> float:
        return math.exp(-self.epsilon)

    @property
    def _one_minus_b(self) -> float:
        return -math.expm1(-self.epsilon)

    def _d(self, power: int) -> float:
        return self.gamma**power * self._one_minus_b + self._b

    @property
    def _height(self) -> float:
        return self._one_minus_b / (2 * self._d(1))

    def density(self, z: FloatArray) -> FloatArray:
        step = np.floor(z)
        return np.asarray(self._height * np.exp(-self.epsilon * (step + (z - step >= self.gamma))))

    def mass(self, z: FloatArray) -> FloatArray:
        return 0.5 - self.tail(z)

    def tail(self, z: FloatArray) -> FloatArray:
        step = np.floor(z)
        s = z - step
        part = np.minimum(s, self.gamma) + self._b * np.maximum(s - self.gamma, 0.0)
        return np.asarray(np.exp(-self.epsilon * step) * (0.5 - self._height * part))

    def inverse(self, m: FloatArray) -> FloatArray:
        tail = 0.5 - m
        step = np.floor(-np.log(2 * tail) / self.epsilon)
        part = np.clip((0.5 - tail * np.exp(self.epsilon * step)) / self._height, 0.0, None)
        beyond = np.maximum(part - self.gamma, 0.0) / self._b
        return np.asarray(step + np.minimum(np.minimum(part, self.gamma) + beyond, 1.0))

    def moment(self, k: float, z: FloatArray) -> FloatArray:
        if not np.isinf(z).all():
            raise ArgumentError(
                "moments of the staircase are over a whole side: z must be infinite", argument="z"
            )
        b, rest, d = self._b, self._one_minus_b, self._d(1)
        if k == 1:
            side = b / rest + self._d(2) / (2 * d)
        elif k == 2:
            side = b * (1 + b) / rest**2 + b * self._d(2) / (rest * d) + self._d(3) / (3 * d)
        else:
            side = 2 * self._height * self._series(k)
        return np.full(z.shape, side / 2)

    def _series(self, k: float) -> float:
        """Σ_j b^j (∫ z^k over [j, j+γ) + b ∫ z^k over [j+γ, j+1)), to rounding."""
        total, first, steps = 0.0, 0, math.ceil((60 + 10 * k) / self.epsilon) + 1
        while first < steps:
            j = np.arange(first, min(first + _CHUNK, steps), dtype=np.float64)
            low, middle, high = (power ** (k + 1) for power in (j, j + self.gamma, j + 1))
            terms = np.exp(-self.epsilon * j) * ((middle - low) + self._b * (high - middle))
            total, first = total + float(terms.sum()) / (k + 1), first + _CHUNK
        return total


@named
def staircase(
    epsilon: float, domain: DomainLike = (0, 1), loss: str | float = "l2", *, gamma: float | None = None
) -> Added:
    """Add staircase noise: the best added noise for a loss, where inputs may be a domain's width apart.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.
        loss: "l1", "l2" or the k ≥ 1 of |y − x|^k.
        gamma: Where the steps are, between 0 and 1; the best place for the loss if not given.

    Returns:
        The law, unbiased.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.

    Example:
        >>> law = staircase(1.0, loss="l1")
        >>> round(law.worst_error("l1"), 6) == round(math.exp(0.5) / math.expm1(1.0), 6)
        True
    """
    epsilon, domain = check_epsilon(epsilon), interval_domain(domain, "staircase")
    if gamma is None:
        gamma = staircase_gamma(epsilon, loss)
    elif not 0 <= real_number(gamma, "gamma") <= 1:
        raise ArgumentError(f"gamma must lie between 0 and 1, got gamma={gamma!r}", argument="gamma")
    return Added(epsilon, domain, Stairs(epsilon, float(gamma)))


def staircase_gamma(epsilon: float, loss: str | float = "l2") -> float:
    """The γ of least error for a loss.

    >>> round(staircase_gamma(1.0, "l1"), 4), round(staircase_gamma(1.0, "l2"), 4)
    (0.3775, 0.4167)
    """
    k = loss_exponent(loss)
    if k == 1:
        return 1 / (1 + math.exp(epsilon / 2))
    if k == 2:  # Eq. (50) of Geng and Viswanath, simplified
        b = math.exp(-epsilon)
        return ((b * (1 + b) / 2) ** (1 / 3) - b) / -math.expm1(-epsilon)
    return lowest(lambda g: float(Stairs(epsilon, g).moment(k, np.array(np.inf))), 0.0, 1.0, 1e-5)[0]
