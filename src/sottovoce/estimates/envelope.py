"""Envelope functionals: linear functionals of the report counts that bound an average for every truth.

For a target τ(x) choose weights w on groups of cells with h(x) = Σ_j w_j·P(j|x) ≥ τ(x) at *every* x. Then
E[Σ w_j c_j / n] ≥ the average of τ, whatever the distribution of x, and w·c/n plus its own sampling error is
an honest upper limit. No model of the truth enters: a pilot fit only chooses, among all such w, the one with
the least expected limit

    minimise  Σ q_j w_j + κ·sd_q(w)    subject to  h ≥ τ,        κ = z/√n.

P(j|x) is linear in x between the mechanism's bends, so h ≥ τ is enforced at all of them and on both sides of
each: the law may jump there, so may the target, and perhaps at the very same x (a round number). A curved
target is raised by the most it can leave its chord.
A constant w is always feasible, so the solver (`interior_point`) starts inside and stays inside: its result
is valid wherever it stops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.estimates.interior_point import least_limit
from sottovoce.estimates.model import Coarse

_NEAR = 1e-9  # how far from a bend or jump its sides are looked at, in widths of the domain
_GRID = 512  # inputs at which a curved target is held down between bends
_FINER = 128  # the same for the variance of weights, which bends less


@dataclass(frozen=True)
class Target:
    """τ as a function of the unit coordinate, where it jumps, and bounds of its second derivative."""

    at: Callable[[FloatArray], FloatArray]
    jumps: tuple[float, ...] = ()
    curvature: tuple[float, float] = (0.0, 0.0)

    def above(self, t: FloatArray, near: float) -> FloatArray:
        """τ, around a jump the larger side of it: somebody may be exactly there, whichever side that is."""
        if not self.jumps:
            return self.at(t)
        return np.maximum(self.at(t), np.maximum(self.at(t - 1.5 * near), self.at(t + 1.5 * near)))

    def negative(self) -> Target:
        low, high = self.curvature
        return Target(lambda t: -self.at(t), self.jumps, (-high, -low))


#: x itself, whose average is the mean.
IDENTITY = Target(lambda t: t)


class Nodes:
    """Where h ≥ τ is enforced: unit coordinates and the law of the groups there, a row each.

    Every bend and every jump of the target with both of its sides, and a grid where the target is curved. The
    law is computed at the bends; everywhere else it follows, because it is linear between them. `near` is how
    far away a side is looked at: no less than two of the floating-point numbers that values can be.
    """

    def __init__(self, coarse: Coarse) -> None:
        self.coarse = coarse
        domain = coarse.mechanism.domain
        largest = max(abs(domain.low), abs(domain.high)) * domain.scale
        self.near = max(_NEAR, 2 * float(np.spacing(largest)) * domain.per_width)
        self._jumps: dict[tuple[float, ...], tuple[FloatArray, FloatArray]] = {}

    def of(self, target: Target) -> tuple[FloatArray, FloatArray]:
        if target.curvature != (0.0, 0.0):
            return self.curved
        if target.jumps not in self._jumps:
            at = np.array(target.jumps)
            self._jumps[target.jumps] = self._with(np.concatenate((at - self.near, at + self.near)))
        return self._jumps[target.jumps]

    @cached_property
    def straight(self) -> tuple[FloatArray, FloatArray]:
        domain = self.coarse.mechanism.domain
        bends, near = np.unique(domain.to_unit(self.coarse.bends)), self.near
        between = (bends[1:] + bends[:-1])[np.diff(bends) < 2 * near] / 2  # where sides overlap
        t = np.clip(np.concatenate((bends - near, bends, bends + near, between, [0.0, 1.0])), 0.0, 1.0)
        x = np.unique(np.clip(domain.from_unit(t), domain.low, domain.high))
        return domain.to_unit(x), self.coarse.law(x).dense()

    @cached_property
    def curved(self) -> tuple[FloatArray, FloatArray]:
        return self._with(np.arange(_GRID + 1) / _GRID)

    @cached_property
    def finer(self) -> tuple[FloatArray, FloatArray]:
        return self._with(np.arange(_FINER + 1) / _FINER)

    def _with(self, more: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The bends and more, in order."""
        t, rows = self.straight
        more = np.setdiff1d(np.clip(more, 0.0, 1.0), t)
        left = np.clip(np.searchsorted(t, more) - 1, 0, len(t) - 2)
        apart = np.diff(t)[left] > 3 * self.near  # within a bend its two sides speak for it
        more, left = more[apart], left[apart]
        share = ((more - t[left]) / (t[left + 1] - t[left]))[:, None]
        law = (1 - share) * rows[left] + share * rows[left + 1]
        order = np.argsort(np.concatenate((t, more)), kind="stable")
        return np.concatenate((t, more))[order], np.concatenate((rows, law))[order]


class Envelope:
    """The envelope problems of one pilot, for n reports."""

    def __init__(self, nodes: Nodes, pilot: FloatArray, n: int) -> None:
        self.nodes, self.pilot, self.n = nodes, pilot, n

    def upper(self, target: Target, z: float) -> FloatArray:
        """Weights of an upper limit: h ≥ τ everywhere, expected limit least under the pilot."""
        t, rows = self.nodes.of(target)
        return self._above(t, rows, target.above(t, self.nodes.near) + _slack(target, t), z)

    def lower(self, target: Target, z: float) -> FloatArray:
        """Weights of a lower limit: h ≤ τ everywhere."""
        return -self.upper(target.negative(), z)

    def noise(self, weights: FloatArray) -> tuple[float, float]:
        """The least and the largest variance of w(report) given x."""
        variance, rise = self._variance(weights)
        return max(float(variance.min()), 0.0), float((variance + rise).max())

    def average_noise(self, weights: FloatArray, counts: IntArray) -> float:
        """An upper estimate of the average over people of the variance of w(report) given x.

        That variance is itself a function of x, so it has an envelope too.
        """
        variance, rise = self._variance(weights)
        w = self._above(*self.nodes.finer, variance + rise, 1.0)
        return float(np.clip(w @ counts / counts.sum(), *self.noise(weights)))

    def _variance(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The variance of w(report) at the nodes, and how far it can rise above its chords beside them.

        h is linear between nodes, so Σw²P − h² is concave there and leaves its chord by at most (Δh)²/4.
        """
        t, rows = self.nodes.finer
        h = rows @ weights
        rise = np.where(np.diff(t) > 3 * self.nodes.near, np.diff(h) ** 2 / 4, 0.0)
        return rows @ weights**2 - h**2, np.maximum(np.append(rise, 0.0), np.insert(rise, 0, 0.0))

    def _above(self, t: FloatArray, rows: FloatArray, bound: FloatArray, z: float) -> FloatArray:
        # The two sides of a bend are one constraint unless something jumps there.
        apart = np.diff(t) > 3 * self.nodes.near
        apart |= (np.abs(np.diff(rows, axis=0)).max(axis=1) > 1e-6) | (np.abs(np.diff(bound)) > 1e-6)
        used = np.concatenate(([True], apart))
        w = least_limit(rows[used], bound[used], self.pilot, z / np.sqrt(self.n))
        return np.asarray(w + max(0.0, float((bound - rows @ w).max())))


def _slack(target: Target, t: FloatArray) -> float:
    """How far a concave piece can rise above its chord: −τ''·Δ²/8."""
    return max(0.0, -target.curvature[0]) * float(np.diff(t).max()) ** 2 / 8
