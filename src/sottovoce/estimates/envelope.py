"""Envelope functionals: linear functionals of the report counts that bound an average for every truth.

For a target τ(x) choose weights w on groups of cells with h(x) = Σ_j w_j·P(j|x) ≥ τ(x) at *every* x. Then
E[Σ w_j c_j / n] ≥ the average of τ, whatever the distribution of x, and w·c/n plus its own sampling error is
an honest upper limit. No model of the truth enters: a pilot fit only chooses, among all such w, the one with
the least expected limit

    minimise  Σ q_j w_j + κ·sd_q(w)    subject to  h ≥ τ,        κ = z/√n.

P(j|x) is linear in x between the mechanism's bends, so h ≥ τ is enforced at all of them, on both sides where
the law or the target may jump, and a curved target is raised by the most it can leave its chord.
A constant w is always feasible, so a barrier method starts inside, stays inside, and needs no solver:
its result is valid wherever it stops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.estimates.model import Coarse
from sottovoce.kernels.tables import FloatArray, IntArray

_NEAR = 1e-9  # how far from a bend, in widths of the domain, its two sides are looked at
_GRID = 512  # inputs at which a curved target is held down between bends


@dataclass(frozen=True)
class Target:
    """τ as a function of the unit coordinate, where it jumps, and bounds of its second derivative."""

    at: Callable[[FloatArray], FloatArray]
    jumps: tuple[float, ...] = ()
    curvature: tuple[float, float] = (0.0, 0.0)

    def negative(self) -> Target:
        low, high = self.curvature
        return Target(lambda t: -self.at(t), self.jumps, (-high, -low))


class Nodes:
    """Where h ≥ τ is enforced: unit coordinates and the law of the groups there, a row each.

    Both sides of every bend and of every jump of the target, and a grid where the target is curved.
    """

    def __init__(self, coarse: Coarse) -> None:
        self.coarse = coarse

    def of(self, target: Target) -> tuple[FloatArray, FloatArray]:
        t, rows = self.curved if target.curvature != (0.0, 0.0) else self.straight
        if not target.jumps:
            return t, rows
        near = np.array(target.jumps)
        more = np.unique(np.clip(np.concatenate((near - _NEAR, near + _NEAR)), 0.0, 1.0))
        return _merged(t, rows, more, self._law(more))

    @cached_property
    def straight(self) -> tuple[FloatArray, FloatArray]:
        bends = self.coarse.mechanism.domain.to_unit(self.coarse.bends)
        t = np.unique(np.clip(np.concatenate((bends - _NEAR, bends + _NEAR)), 0.0, 1.0))
        return t, self._law(t)

    @cached_property
    def curved(self) -> tuple[FloatArray, FloatArray]:
        grid = np.setdiff1d(np.arange(_GRID + 1) / _GRID, self.straight[0])
        return _merged(*self.straight, grid, self._law(grid))

    def _law(self, t: FloatArray) -> FloatArray:
        domain = self.coarse.mechanism.domain
        law = self.coarse.law(np.clip(domain.from_unit(t), domain.low, domain.high))
        return np.stack([law.expect(group) for group in np.eye(len(self.coarse.first))], axis=1)


class Envelope:
    """The envelope problems of one pilot, for n reports."""

    def __init__(self, nodes: Nodes, pilot: FloatArray, n: int) -> None:
        self.nodes, self.pilot, self.n = nodes, pilot, n

    def upper(self, target: Target, z: float) -> FloatArray:
        """Weights of an upper limit: h ≥ τ everywhere, expected limit least under the pilot."""
        t, rows = self.nodes.of(target)
        bound = target.at(t) + _slack(target, t)
        # The two sides of a bend are one constraint unless something jumps there.
        apart = np.diff(t) > 3 * _NEAR
        apart |= (np.abs(np.diff(rows, axis=0)).max(axis=1) > 1e-6) | (np.abs(np.diff(bound)) > 1e-6)
        used = np.concatenate(([True], apart))
        w = minimise_limit(rows[used], bound[used], self.pilot, z / np.sqrt(self.n))
        return np.asarray(w + max(0.0, float((bound - rows @ w).max())))

    def lower(self, target: Target, z: float) -> FloatArray:
        """Weights of a lower limit: h ≤ τ everywhere."""
        return -self.upper(target.negative(), z)

    def noise(self, weights: FloatArray) -> tuple[float, float]:
        """The least and the largest variance of w(report) given x."""
        _, rows = self.nodes.straight
        variance = rows @ weights**2 - (rows @ weights) ** 2
        return max(float(variance.min()), 0.0), float(variance.max())

    def average_noise(self, weights: FloatArray, counts: IntArray) -> float:
        """An upper estimate of the average over people of the variance of w(report) given x.

        That variance is itself a function of x, so it has an envelope too. h is linear between nodes, hence
        the variance Σw²P − h² is concave there and leaves its chord by at most (Δh)²/4.
        """
        t, rows = self.nodes.curved
        h = rows @ weights
        steps = np.diff(h)[np.diff(t) > 3 * _NEAR]
        bound = rows @ weights**2 - h**2 + float((steps**2).max(initial=0.0)) / 4
        w = minimise_limit(rows, bound, self.pilot, 1 / np.sqrt(self.n))
        least, most = self.noise(weights)
        return float(np.clip(w @ counts / counts.sum(), least, most))


def _merged(
    t: FloatArray, rows: FloatArray, more: FloatArray, law: FloatArray
) -> tuple[FloatArray, FloatArray]:
    order = np.argsort(np.concatenate((t, more)), kind="stable")
    return np.concatenate((t, more))[order], np.concatenate((rows, law))[order]


def _slack(target: Target, t: FloatArray) -> float:
    """How far a concave piece can rise above its chord: −τ''·Δ²/8."""
    return max(0.0, -target.curvature[0]) * float(np.diff(t).max()) ** 2 / 8


def minimise_limit(rows: FloatArray, bound: FloatArray, q: FloatArray, kappa: float) -> FloatArray:
    """Weights with rows·w > bound that nearly minimise q·w + κ·sd_q(w), by a log barrier.

    The gap to the optimum is at most (number of rows)·μ; it ends at 1 % of what the sampling error adds.
    """
    span = float(np.ptp(bound)) or 1.0
    w = np.full(len(q), float(bound.max()) + span)
    mu = 0.1 * span / len(bound)
    while True:
        w, sd = _centre(rows, bound, q, kappa, mu, w, span)
        if len(bound) * mu < 0.01 * kappa * sd or mu < 1e-12 * span:
            return w
        mu *= 0.1


def _centre(
    rows: FloatArray, bound: FloatArray, q: FloatArray, kappa: float, mu: float, w: FloatArray, span: float
) -> tuple[FloatArray, float]:
    """Newton's method on the barrier problem of one μ."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    floor = (1e-6 * span) ** 2  # keeps the standard deviation smooth where w is constant

    def spread(w: FloatArray) -> tuple[FloatArray, float]:
        centred = w - q @ w
        return centred, float(np.sqrt(q @ (centred * centred) + floor))

    def height(w: FloatArray, slack: FloatArray) -> float:
        return float(q @ w + kappa * spread(w)[1] - mu * np.log(slack).sum())

    slack = rows @ w - bound
    for _ in range(50):
        centred, sd = spread(w)
        pull = q * centred
        gradient = q + (kappa / sd) * pull - mu * (rows.T @ (1 / slack))
        scaled = rows * (1 / slack)[:, None]
        hessian = mu * (scaled.T @ scaled)
        hessian -= (kappa / sd) * np.outer(q, q) + (kappa / sd**3) * np.outer(pull, pull)
        diagonal = np.diag_indices(len(w))
        hessian[diagonal] += kappa * q / sd
        hessian[diagonal] *= 1 + 1e-12
        try:
            step = -cho_solve(cho_factor(hessian), gradient)
        except LinAlgError:  # numerically singular: what we have is feasible and nearly optimal
            break
        decrease = float(-gradient @ step)
        if decrease < 0.1 * mu:
            break
        along = rows @ step
        falling = along < 0
        length = min(1.0, 0.95 * float((slack[falling] / -along[falling]).min())) if falling.any() else 1.0
        here = height(w, slack)
        while (
            length > 1e-9
            and height(w + length * step, slack + length * along) > here - 0.1 * length * decrease
        ):
            length *= 0.5
        if length <= 1e-9:
            break
        w = w + length * step
        slack = rows @ w - bound
    return w, spread(w)[1]
