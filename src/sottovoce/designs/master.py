"""The master problem: the background that is best against the cuts known so far, a small linear program.

    minimise  Σ_i p_i·t_i   over  g ≥ 0, t
    subject to  κ + Σ_j g_j·c(D(y_j)) ≤ a·t_i  for every cut of group i,    1/E ≤ Σ g ≤ 1.

Worst-case problems have one group; with a prior every input is a group of its own with its prior weight. A
symmetric problem has a symmetric solution (mirror it and average: the problem is convex), so pairs of
mirrored reports share an unknown. The multipliers of the cuts are what a certificate is made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels.tables import FloatArray
from sottovoce.designs.cuts import Cuts


@dataclass
class Master:
    """Cuts over a grid of reports `y` (symmetric about ½ if `folded`); grows by `add`."""

    y: FloatArray
    e: float
    shares: FloatArray
    scale: float  # a typical value of t: HiGHS works to absolute tolerances
    folded: bool
    cuts: list[Cuts] = field(default_factory=list)
    groups: list[NDArray[np.intp]] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)

    def add(self, cuts: Cuts, groups: NDArray[np.intp]) -> None:
        if len(cuts):
            self.cuts.append(cuts)
            self.groups.append(groups)
            self.rows.append(self._fold(cuts.coefficients(self.y, self.e)) / self._unit(cuts)[:, None])

    def _unit(self, cuts: Cuts) -> FloatArray:
        """Cuts on the error in units of `scale`; those on means as they are, to be met exactly."""
        return np.where(cuts.a > 0, self.scale, 1.0)

    def _fold(self, rows: FloatArray) -> FloatArray:
        """Coefficients of the unknowns: the mass of a report, or of a mirrored pair."""
        if not self.folded:
            return rows
        return (rows[:, : self._unknowns] + rows[:, ::-1][:, : self._unknowns]) / 2

    @property
    def _unknowns(self) -> int:
        return (len(self.y) + 1) // 2 if self.folded else len(self.y)

    @property
    def all_cuts(self) -> Cuts:
        total = self.cuts[0]
        for cuts in self.cuts[1:]:
            total = total + cuts
        return total

    def solve(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(g, t, weights of the cuts); Σ p·t is the least value that the cuts allow."""
        from scipy.optimize import linprog

        cuts, groups = self.all_cuts, np.concatenate(self.groups)
        n, m = self._unknowns, len(self.shares)
        matrix = np.zeros((len(cuts) + 2, n + m))
        matrix[:-2, :n] = np.vstack(self.rows)
        matrix[np.arange(len(cuts)), n + groups] = -cuts.a
        matrix[-2, :n], matrix[-1, :n] = 1.0, -self.e
        result = linprog(
            np.concatenate([np.zeros(n), self.shares]),
            A_ub=matrix,
            b_ub=np.concatenate([-cuts.kappa / self._unit(cuts), [1.0, -1.0]]),
            bounds=(0, None),
            method="highs-ds",
        )
        if result.x is None:
            raise ArithmeticError(f"the solver failed on the design problem: {result.message}")
        g = np.maximum(result.x[:n], 0)
        if self.folded:
            g = self._unfold(g)
        weights = np.maximum(-result.ineqlin.marginals[: len(cuts)], 0) / self._unit(cuts) * self.scale
        return g, np.asarray(result.x[n:] * self.scale), weights

    def _unfold(self, pairs: FloatArray) -> FloatArray:
        g = np.zeros(len(self.y))
        g[: len(pairs)] += pairs / 2
        g[::-1][: len(pairs)] += pairs / 2
        return g
