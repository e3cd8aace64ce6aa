"""Cuts: the linear inequalities in the background that every ε-LDP mechanism obeys, and their weighted sums.

Let g be the least likelihood of a report over all inputs, so that q_x, the likelihood at x, lies in [g, E·g].
For an input x and numbers a ≥ 0, b, κ put

    D(y) = a·|y − x|^k + b·(y − x) − κ,        c(D) = E·D where D < 0, D elsewhere.

Then q_x·D ≥ g·c(D) for every report, and integrating

    a·error(x) + b·bias(x)  ≥  κ + ∫ g(y)·c(D(y)) dy:

a cut, linear in g. a = 1, b = 0 bounds the error; with b it bounds the variance of an unbiased report; a = 0,
b = ±1 says that a mean can be reached; a = b = 0, κ = ±1 that 1/E ≤ ∫g ≤ 1.

A sum of cuts with weights w ≥ 0 bounds *every* mechanism by Σ w·κ once r(y) = Σ w·c(D(y)) ≥ 0 for every
real y: `designs.solver.cut_sums` checks that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Cuts:
    """Columns of cuts for one exponent k, in the unit coordinate."""

    k: float
    x: FloatArray
    a: FloatArray
    b: FloatArray
    kappa: FloatArray

    @classmethod
    def of(
        cls, k: float, x: FloatArray, kappa: FloatArray, a: float = 1.0, b: FloatArray | float = 0.0
    ) -> Cuts:
        x = np.asarray(x, dtype=np.float64)
        return cls(k, x, np.full(x.shape, a), np.broadcast_to(b, x.shape).astype(float), np.asarray(kappa))

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, chosen: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Cuts:
        return Cuts(self.k, self.x[chosen], self.a[chosen], self.b[chosen], self.kappa[chosen])

    def __add__(self, other: Cuts) -> Cuts:
        pairs = ((self.x, other.x), (self.a, other.a), (self.b, other.b), (self.kappa, other.kappa))
        return Cuts(self.k, *(np.concatenate(pair) for pair in pairs))

    def mirrored(self) -> Cuts:
        """The same cuts seen from the other end of the domain."""
        return Cuts(self.k, 1 - self.x, self.a, -self.b, self.kappa)

    def lowered(self, shift: float) -> Cuts:
        return Cuts(self.k, self.x, self.a, self.b, self.kappa - shift)

    def values(self, y: FloatArray) -> FloatArray:
        """D at each y: a row per cut."""
        z = y[None, :] - self.x[:, None]
        return np.asarray(self.a[:, None] * _power(z, self.k) + self.b[:, None] * z - self.kappa[:, None])

    def slopes(self, y: FloatArray, towards: FloatArray) -> FloatArray:
        """D′ at each y on the side of `towards`: a row per cut."""
        z = y[None, :] - self.x[:, None]
        side = np.sign(towards[None, :] - self.x[:, None])
        return np.asarray(self.a[:, None] * self.k * side * _power(z, self.k - 1) + self.b[:, None])

    def coefficients(self, y: FloatArray, e: float) -> FloatArray:
        """c(D) at each y: what a unit of background at y contributes to each cut."""
        d = self.values(y)
        return np.where(d < 0, e * d, d)

    def roots(self) -> FloatArray:
        """Where some D changes sign, and the x where |y − x| may have a corner."""
        points = [self.x]
        lossy = self.a > 0
        a, b, kappa, x = self.a[lossy], self.b[lossy], self.kappa[lossy], self.x[lossy]
        if np.any(b):  # only with k = 2
            half = np.sqrt(np.maximum(b * b / 4 + a * kappa, 0)) / a
            points += [x - b / (2 * a) - half, x - b / (2 * a) + half]
        else:
            reach = (np.maximum(kappa, 0) / a) ** (1 / self.k)
            points += [x - reach, x + reach]
        linear = ~lossy & (self.b != 0)
        points.append(self.x[linear] + self.kappa[linear] / self.b[linear])
        return np.unique(np.concatenate(points))


def _power(z: FloatArray, k: float) -> FloatArray:
    if k == 2:
        return np.asarray(z * z)
    d = np.abs(z)
    return d if k == 1 else np.ones_like(d) if k == 0 else np.asarray(d**k)
