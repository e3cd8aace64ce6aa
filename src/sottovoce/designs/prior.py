"""Designs for a prior: a public guess of where values lie, as samples or as weighted values.

Least *expected* error or variance under the guess instead of the least worst case. Without unbiasedness such
a design shrinks reports towards the prior: where the guess has no weight it may be arbitrarily bad. An
unbiased one stays unbiased at every input, whatever the guess.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.domains import Domain
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.designs.certificate import Certificate, settle
from sottovoce.designs.problem import Problem, Solution
from sottovoce.designs.search import Found, direct_oracle, search, unbiased_oracle

MOST_POINTS = 65  # a finer guess is spread over this many inputs, mass and mean kept


@dataclass(frozen=True, eq=False)
class Prior:
    """Distinct inputs of [0, 1], increasing, and their chances."""

    points: FloatArray
    chances: FloatArray


#: Samples, or a pair of values and weights.
PriorLike = ArrayLike | tuple[ArrayLike, ArrayLike]


def as_prior(prior: PriorLike, domain: Domain) -> Prior:
    """Samples (any sequence of values) or a pair (values, weights), in the units of the domain."""
    values, weights = prior if _is_pair(prior) else (prior, None)
    points = np.asarray(values)
    if points.dtype.kind not in "iuf" or points.ndim != 1 or points.size == 0:
        raise TypeError("prior must be samples (a sequence of numbers) or a pair (values, weights)")
    if not domain.contains(points).all():
        outside = points[~domain.contains(points)][0]
        rule = f"prior must lie in the domain [{domain.low!r}, {domain.high!r}]"
        raise ValueError(f"{rule}, got the value {outside.item()!r}")
    mass = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != points.shape:
        found = f"{len(points)} values and weights of shape {mass.shape}"
        raise ValueError(f"prior must have one weight per value, got {found}")
    if not (np.isfinite(mass).all() and (mass >= 0).all() and mass.sum() > 0):
        raise ValueError("prior must have weights that are finite, not negative and not all zero")
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
    def question(self) -> dict[str, Any]:
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

    def solve(self, reports: int, *, gap: float, warm: Solution | None = None) -> Solution:
        points, chances = self.prior.points, self.prior.chances
        y = self._grid(reports, warm)
        if not self.unbiased:
            y = np.union1d(y, points)  # a corner of the loss off the grid would cost the certificate
        groups = np.arange(len(points))
        oracle = (
            unbiased_oracle(self.e, points)
            if self.unbiased
            else direct_oracle(points, self.k, self.e, groups)
        )
        found = search(
            oracle,
            y,
            self.e,
            shares=chances,
            scale=self.scale,
            start=self._start(y),
            gap=gap,
            folded=False,
            warm=None if warm is None else warm.found.active,
        )
        return self._proved_for_prior(found)

    def _proved_for_prior(self, found: Found) -> Solution:
        keep = found.weights >= 1e-12 * found.weights.max()  # all of them if a constant report costs nothing
        cuts, weights, groups = found.cuts[keep], found.weights[keep], found.groups[keep]
        lossy = cuts.a > 0
        held = np.bincount(groups[lossy], weights[lossy], len(self.prior.chances))
        share = np.minimum(1.0, self.prior.chances / np.maximum(held, 1e-300))
        weights = np.where(lossy, weights * share[groups], weights)
        cuts, weights, limit = settle(cuts, weights, self.epsilon)
        return Solution(found.y, found.g, max(limit, 0.0), cuts, weights, found)

    def certified(self, made: Mechanism, solution: Solution) -> Certificate:
        """The expectation of the shipped mechanism under the prior, against the limit."""
        certificate = super().certified(made, solution)
        x = self.prior.points
        each = made.variance(x) if self.unbiased else made.error(x, self.k)
        return replace(
            certificate,
            unit_worst=float(self.prior.chances @ each),
            prior=(self.prior.points, self.prior.chances),
        )
