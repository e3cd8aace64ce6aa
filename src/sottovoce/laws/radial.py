"""Laws on an interval whose density falls with the distance from the truth.

One *profile* φ(z) of the distance z ≥ 0 gives three laws: added as noise (reports anywhere), added and then
cut off at the ends of the domain (the mass beyond becomes an atom there), or restricted to the domain and
normalised again. All their formulas are incomplete moments M_k(R) = ∫_0^R z^k φ(z) dz.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.laws.law import Law

INFINITY = np.array(np.inf)


class Profile(Protocol):
    """φ on z ≥ 0, in units of the domain's width, with total mass ½: one side of a symmetric density."""

    def density(self, z: FloatArray) -> FloatArray: ...

    def mass(self, z: FloatArray) -> FloatArray:
        """M_0(z)."""
        ...

    def inverse(self, m: FloatArray) -> FloatArray:
        """z with M_0(z) = m, for 0 ≤ m < ½."""
        ...

    def tail(self, z: FloatArray) -> FloatArray:
        """½ − M_0(z) without cancellation."""
        ...

    def moment(self, k: float, z: FloatArray) -> FloatArray:
        """M_k(z); z may be infinite."""
        ...


@dataclass(frozen=True)
class Added(Law):
    """Truth plus noise: the same error everywhere, unbiased."""

    noise: Profile

    def _density(self, t: FloatArray, y: FloatArray) -> FloatArray:
        return self.noise.density(np.abs(y - t))

    def _cdf(self, t: FloatArray, y: FloatArray) -> FloatArray:
        tail = self.noise.tail(np.abs(y - t))
        return np.where(y < t, tail, 1 - tail)

    def _quantile(self, t: FloatArray, p: FloatArray) -> FloatArray:
        away = self.noise.inverse(np.abs(p - 0.5))
        return np.asarray(t + np.sign(p - 0.5) * away)

    def _deviation(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.zeros(t.shape), np.broadcast_to(2 * self.noise.moment(2.0, INFINITY), t.shape)

    def _error(self, t: FloatArray, k: float, circular: bool) -> FloatArray:
        return np.broadcast_to(2 * self.noise.moment(k, INFINITY), t.shape)

    def _range(self) -> tuple[float, float]:
        reach = float(self.noise.inverse(np.array(0.5 - 1e-6)))
        return -reach, 1 + reach


@dataclass(frozen=True)
class Cut(Added):
    """Truth plus noise, brought back to the nearest end of the domain: post-processing, so still ε-LDP."""

    def _density(self, t: FloatArray, y: FloatArray) -> FloatArray:
        return np.where((y >= 0) & (y <= 1), super()._density(t, y), 0.0)

    def _cdf(self, t: FloatArray, y: FloatArray) -> FloatArray:
        return np.where(y < 0, 0.0, np.where(y >= 1, 1.0, super()._cdf(t, y)))

    def _quantile(self, t: FloatArray, p: FloatArray) -> FloatArray:
        return np.clip(super()._quantile(t, p), 0.0, 1.0)

    def _atoms(self, t: FloatArray) -> list[tuple[float, FloatArray]]:
        return [(0.0, self.noise.tail(t)), (1.0, self.noise.tail(1 - t))]

    def _deviation(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        down, up = self._side(t, 1.0), self._side(1 - t, 1.0)
        return up - down, self._error(t, 2.0, False)

    def _error(self, t: FloatArray, k: float, circular: bool) -> FloatArray:
        return self._side(t, k) + self._side(1 - t, k)

    def _side(self, room: FloatArray, k: float) -> FloatArray:
        return np.asarray(self.noise.moment(k, room) + room**k * self.noise.tail(room))

    def _range(self) -> tuple[float, float]:
        return 0.0, 1.0


@dataclass(frozen=True)
class Restricted(Law):
    """φ(|y − t|) on the domain only, over its own mass there."""

    noise: Profile

    def _total(self, t: FloatArray) -> FloatArray:
        """The normaliser, which depends on the truth."""
        return self.noise.mass(t) + self.noise.mass(1 - t)

    def _density(self, t: FloatArray, y: FloatArray) -> FloatArray:
        inside = (y >= 0) & (y <= 1)
        return np.where(inside, self.noise.density(np.abs(y - t)) / self._total(t), 0.0)

    def _cdf(self, t: FloatArray, y: FloatArray) -> FloatArray:
        v = np.clip(y, 0.0, 1.0)
        below = self.noise.mass(t) + np.sign(v - t) * self.noise.mass(np.abs(v - t))
        return np.asarray(below / self._total(t))

    def _quantile(self, t: FloatArray, p: FloatArray) -> FloatArray:
        signed = p * self._total(t) - self.noise.mass(t)
        return np.clip(t + np.sign(signed) * self.noise.inverse(np.abs(signed)), 0.0, 1.0)

    def _deviation(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        lean = self.noise.moment(1.0, 1 - t) - self.noise.moment(1.0, t)
        return np.asarray(lean / self._total(t)), self._error(t, 2.0, False)

    def _error(self, t: FloatArray, k: float, circular: bool) -> FloatArray:
        return np.asarray((self.noise.moment(k, t) + self.noise.moment(k, 1 - t)) / self._total(t))
