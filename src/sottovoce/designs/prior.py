"""Designs for a prior: a public guess of where values lie, as samples or as weighted values.

Least *expected* error or variance under the guess instead of the least worst case. Without unbiasedness such
a design shrinks reports towards the prior: where the guess has no weight it may be arbitrarily bad. An
unbiased one stays unbiased at every input, whatever the guess.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.certificate import Certificate, Proof, settle
from sottovoce.designs.solver.cutting_planes import GridSolution, search
from sottovoce.designs.solver.linear_program import GridProblem
from sottovoce.designs.solver.oracles import mean_oracle, value_oracle
from sottovoce.designs.solver.worst_case_problem import Problem
from sottovoce.errors import ArgumentError, ArgumentTypeError
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.values.domain import Domain

MOST_POINTS = 65  # a finer guess is spread over this many inputs, mass and mean kept


@dataclass(frozen=True, eq=False)
class Prior:
    """Distinct inputs of [0, 1], increasing, and their chances."""

    points: FloatArray
    chances: FloatArray

    @property
    def folded(self) -> tuple[FloatArray, FloatArray, bool]:
        """The points and chances of the objective, and if they are the lower half of a symmetric guess."""
        x, p = self.points, self.chances
        if not (np.allclose(x, 1 - x[::-1], 0, 1e-12) and np.allclose(p, p[::-1], 1e-9, 0)):
            return x, p, False
        half = p[: (len(x) + 1) // 2].copy()
        half[: len(x) // 2] *= 2
        return x[: len(half)], half, True


#: Samples, or a pair of values and weights.
PriorLike = ArrayLike | tuple[ArrayLike, ArrayLike]


def as_prior(prior: PriorLike, domain: Domain) -> Prior:
    """Samples (any sequence of values) or a pair (values, weights), in the units of the domain."""
    values, weights = prior if _is_pair(prior) else (prior, None)
    points = np.asarray(values)
    if points.dtype.kind not in "iuf" or points.ndim != 1 or points.size == 0:
        sentence = "prior must be samples (a sequence of numbers) or a pair (values, weights)"
        raise ArgumentTypeError(sentence, argument="prior")
    if not domain.contains(points).all():
        outside = points[~domain.contains(points)][0]
        rule = f"prior must lie in the domain [{domain.low!r}, {domain.high!r}]"
        raise ArgumentError(f"{rule}, got the value {outside.item()!r}", argument="prior")
    mass = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != points.shape:
        sizes = f"{len(points)} values and weights of shape {mass.shape}"
        raise ArgumentError(f"prior must have one weight per value, got {sizes}", argument="prior")
    if not (np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0):
        sentence = "prior must have weights that are finite, not negative and not all zero"
        raise ArgumentError(sentence, argument="prior")
    return _thinned(np.clip(domain.to_unit(points), 0.0, 1.0), mass / mass.sum())


def _is_pair(prior: PriorLike) -> TypeGuard[tuple[ArrayLike, ArrayLike]]:
    return isinstance(prior, tuple) and len(prior) == 2 and all(np.ndim(part) == 1 for part in prior)


def _thinned(t: FloatArray, mass: FloatArray) -> Prior:
    points, where = np.unique(t, return_inverse=True)
    chances = _sums(where, mass, len(points))
    if len(points) > MOST_POINTS:
        low = np.minimum((points * (MOST_POINTS - 1)).astype(np.intp), MOST_POINTS - 2)
        part = points * (MOST_POINTS - 1) - low
        left = _sums(low, chances * (1 - part), MOST_POINTS)
        chances = left + _sums(low + 1, chances * part, MOST_POINTS)
        points = np.linspace(0.0, 1.0, MOST_POINTS)
    return Prior(points[chances > 0], chances[chances > 0])


def _sums(where: NDArray[np.intp], mass: FloatArray, length: int) -> FloatArray:
    return np.bincount(where, mass, length).astype(np.float64)


@dataclass(frozen=True)
class PriorProblem(Problem):
    """Least expected E|y − x|^k under a prior, or least expected variance of unbiased reports."""

    prior: Prior

    @property
    def question(self) -> dict[str, object]:
        return {
            **super().question,
            "points": self.prior.points.tolist(),
            "chances": self.prior.chances.tolist(),
        }

    @property
    def usual_tolerance(self) -> float:
        return 0.002 if self.epsilon <= 4 else 0.01

    @cached_property
    def scale(self) -> float:
        """No more than what the best constant report leaves, if reports may be biased."""
        worst = super().scale
        if self.unbiased:
            return worst
        spread = self.prior.points[:, None] - self.prior.points[None, :]
        constant = float((self.prior.chances @ np.abs(spread) ** self.k).min())
        return min(worst, max(constant, 1e-6 * worst))

    def solve(self, reports: int, *, gap: float, coarse: GridSolution | None = None) -> GridSolution:
        (points, chances, symmetric), y = self.prior.folded, self._grid(reports, coarse)
        if self.unbiased:
            oracle = mean_oracle(self.e, points)
        else:
            y = np.union1d(y, points)  # a corner of the loss off the grid would cost the certificate
            y = np.append(y[y <= 0.5], 1 - y[y < 0.5][::-1]) if symmetric else y
            oracle = value_oracle(points, self.k, self.e, np.arange(len(points)))
        problem = GridProblem(self.epsilon, y, chances, self.scale, symmetric)
        return search(problem, oracle, gap=gap, known=None if coarse is None else coarse.active)

    def proof(self, best: GridSolution, *, gap: float) -> Proof:
        """The limit that the cuts prove when no input has more weight than its chance."""
        keep = best.weights >= 1e-12 * best.weights.max()  # all of them if a constant report costs nothing
        cuts, weights, groups = best.cuts[keep], best.weights[keep], best.groups[keep]
        if self.prior.folded[2]:
            groups, mirror = np.append(groups, len(self.prior.points) - 1 - groups), cuts.mirrored()
            cuts, weights = cuts + mirror, np.tile(weights / 2, 2)
            cuts = replace(cuts, x=np.where(cuts.a > 0, self.prior.points[groups], cuts.x))  # to the last bit
        on_error = cuts.a > 0
        total = np.bincount(groups[on_error], weights[on_error], len(self.prior.chances))
        share = np.minimum(1.0, self.prior.chances / np.maximum(total, 1e-300))
        weights = np.where(on_error, weights * share[groups], weights)
        proof = settle(cuts, weights, self.epsilon)
        return proof._replace(limit=max(proof.limit, 0.0))

    def certified(self, design: Mechanism, proof: Proof) -> Certificate:
        """State the expectation of the integers that ship under the prior, against the limit."""
        x, chances = self.prior.points, self.prior.chances
        each = design.variance(x) if self.unbiased else design.error(x, self.k)
        certificate = super().certified(design, proof)
        return replace(certificate, unit_worst=float(chances @ each), prior=(x, chances))
