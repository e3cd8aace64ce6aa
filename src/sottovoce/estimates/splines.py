"""The distribution as a smooth log density: cubic B-splines on a fine grid (`log_density` fits them).

B holds cubic B-splines (periodic on a circle), S_k = D_kᵀD_k, and D_k takes k-th differences. There is more
than one local maximum and more than one sensible k, so a few starts are fitted and their densities averaged
by evidence. What no smooth density explains (a spike) is added as single points of the grid while that raises
the evidence by more than the log of the number of places it could have been put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.core.kernels.operator import Operator
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.estimates.log_density import DensityFit, LogDensity
from sottovoce.estimates.model import Table

SPLINES = 64
#: n·ε² from which splines beat EMS (benchmarks/reconstruction.py).
ENOUGH = 2500.0
#: Where the search for smoothing starts: (k, λ₁, λ_k).
STARTS = ((2, 1e-2, 1e-2), (2, 1e-1, 1e2), (3, 1e-2, 1e-1), (3, 1e-1, 1e3))
#: A smoothing that leaves narrow peaks to atoms: where the search with atoms starts.
STIFF = (0.1, 100.0)
MOST_ATOMS = 6


@dataclass(frozen=True, eq=False)
class Splines(LogDensity):
    """Cubic B-splines, on a line or around a circle."""

    law: Operator | Table
    circle: bool

    @cached_property
    def _free(self) -> FloatArray:
        """A constant added to θ changes nothing: an orthonormal basis of what is left."""
        return np.linalg.qr(np.column_stack([np.ones(SPLINES), np.eye(SPLINES)[:, 1:]]))[0][:, 1:]

    @cached_property
    def _smooth(self) -> FloatArray:
        return basis(self.points, circle=self.circle) @ self._free

    def _penalty(self, order: int) -> FloatArray:
        d = differences(SPLINES, order, circle=self.circle) @ self._free
        return np.asarray(d.T @ d)

    def fit(self, starts: Sequence[tuple[int, float, float]] = STARTS) -> list[DensityFit]:
        """A fit from every start, and the best of them with atoms if the reports ask for any."""
        fits = [self.search(order, (first, second)) for order, first, second in starts]
        best = max(fits, key=lambda fit: fit.evidence)
        while len(best.atoms) < MOST_ATOMS:
            trials = [self.search(2, STIFF, (*best.atoms, place)) for place in self._likely_places(best)]
            trial = max(trials, key=lambda fit: fit.evidence)
            if trial.evidence <= best.evidence:
                break
            best = trial
        return [*fits, best] if best.atoms else fits

    def _likely_places(self, fit: DensityFit) -> set[int]:
        """Where an atom may be: the highest point, and where a stiffer fit lacks most mass."""
        design = self._design(fit.atoms)
        s = self._penalties(np.array(STIFF), (self._penalty(1), self._penalty(2)), len(fit.atoms))
        stiff = self._climb(self._at(design, fit.theta), s, most=20)[0].f
        slope = self.law.expect(self.counts / self.law.mix(stiff))
        height = fit.density.copy()
        for known in (slope, height):
            known[list(fit.atoms)] = 0.0
        return {int(np.argmax(slope)), int(np.argmax(height))}


def basis(points: int, *, circle: bool, splines: int = SPLINES) -> FloatArray:
    """Cubic B-splines on equally spaced knots, at the middles of `points` equal cells of [0, 1]."""
    from scipy.interpolate import BSpline

    spans = splines if circle else splines - 3
    knots = np.arange(-3, spans + 4) / spans
    matrix = BSpline.design_matrix((np.arange(points) + 0.5) / points, knots, 3).toarray()
    if circle:  # the last three are the first three, once around
        matrix[:, :3] += matrix[:, splines:]
    return np.asarray(matrix[:, :splines])


def differences(count: int, order: int, *, circle: bool) -> FloatArray:
    """The matrix of `order`-th differences of `count` numbers, around the circle where there is one."""
    d = np.eye(count)
    for _ in range(order):
        d = np.roll(d, -1, axis=0) - d if circle else np.diff(d, axis=0)
    return d
