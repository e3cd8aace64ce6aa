"""Laws on the circle whose density falls with the distance along it.

In the unit coordinate the circumference is 1 and distances are at most ½; φ has mass ½ on [0, ½]. Under
circular distance the error is the same at every truth. Under linear distance a report z beyond the seam
counts as 1 − z, which is how the comparisons that flatten the circle see it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.laws.law import Law
from sottovoce.laws.radial import Profile

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(96)


def quadrature(f: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    """∫ f from low to high for a smooth f, by Gauss and Legendre."""
    low, high = np.broadcast_arrays(low, high)
    middle, half = (low + high) / 2, (high - low) / 2
    values = f(middle[..., None] + half[..., None] * _NODES)
    return np.asarray((values * _WEIGHTS).sum(axis=-1) * half)


@dataclass(frozen=True)
class Around(Law):
    """φ(distance along the circle)."""

    noise: Profile

    def _density(self, t: FloatArray, y: FloatArray) -> FloatArray:
        z = np.abs(y - t)
        inside = (y >= 0) & (y <= 1)
        return np.where(inside, self.noise.density(np.minimum(z, np.abs(1 - z))), 0.0)

    def _signed(self, d: FloatArray) -> FloatArray:
        """∫_0^d of the density at offset d in [−1, 1], going round where |d| > ½."""
        turn = np.rint(d)
        rest = d - turn
        return np.asarray(turn + np.sign(rest) * self.noise.mass(np.abs(rest)))

    def _cdf(self, t: FloatArray, y: FloatArray) -> FloatArray:
        v = np.clip(y, 0.0, 1.0)
        return np.clip(self._signed(v - t) - self._signed(-t), 0.0, 1.0)

    def _quantile(self, t: FloatArray, p: FloatArray) -> FloatArray:
        target = p + self._signed(-t)
        turn = np.rint(target)
        rest = target - turn
        return np.clip(t + turn + np.sign(rest) * self.noise.inverse(np.abs(rest)), 0.0, 1.0)

    def _error(self, t: FloatArray, k: float, circular: bool) -> FloatArray:
        if circular:
            return np.broadcast_to(2 * self.noise.moment(k, np.array(0.5)), t.shape)
        return self._side(t, k) + self._side(1 - t, k)

    def _side(self, room: FloatArray, k: float) -> FloatArray:
        """One half of the circle: distance z up to the seam, 1 − z beyond it."""
        seam = np.minimum(room, 0.5)
        return self.noise.moment(k, seam) + self._beyond(seam, k)

    def _beyond(self, seam: FloatArray, k: float) -> FloatArray:
        """∫ (1 − z)^k φ from the seam to ½."""
        return quadrature(lambda z: (1 - z) ** k * self.noise.density(z), seam, np.array(0.5))

    def _deviation(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        lean = []
        for room in (1 - t, t):
            seam = np.minimum(room, 0.5)
            lean.append(self.noise.moment(1.0, seam) - self._beyond(seam, 1.0))
        return np.asarray(lean[0] - lean[1]), self._error(t, 2.0, False)
