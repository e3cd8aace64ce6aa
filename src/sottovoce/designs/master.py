"""The master problem: the background that is best against the cuts known so far, a small linear program.

    minimise  Σ_i p_i·t_i   over  g ≥ 0, t
    subject to  κ + Σ_j g_j·c(D(y_j)) ≤ a·t_i  for every cut of group i,    1/E ≤ Σ g ≤ 1.

Worst-case problems have one group; with a prior every input is a group of its own with its prior weight. A
symmetric problem has a symmetric solution (mirror it and average: the problem is convex), so pairs of
mirrored reports share an unknown. The multipliers of the cuts are what a certificate is made of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels.tables import FloatArray
from sottovoce.designs.cuts import Cuts

Groups = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class GridProblem:
    """Which background on a grid of reports is best.

    Attributes:
        epsilon: Privacy parameter ε.
        y: The reports, increasing.
        shares: p, the weight of each group of cuts: 1 for a worst case, the chances of a prior.
        scale: A typical value of t: HiGHS works to absolute tolerances.
        symmetric: True if the problem is the same from either end of the domain; y then is symmetric about ½.
    """

    epsilon: float
    y: FloatArray
    shares: FloatArray
    scale: float
    symmetric: bool

    @property
    def e(self) -> float:
        """E = e^ε."""
        return math.exp(self.epsilon)


@dataclass
class Master:
    """The cuts so far; grows by `add`."""

    problem: GridProblem
    _cuts: list[Cuts] = field(default_factory=list)
    _groups: list[Groups] = field(default_factory=list)
    _rows: list[FloatArray] = field(default_factory=list)

    def add(self, cuts: Cuts, groups: Groups) -> None:
        """Add cuts, each to its group."""
        if len(cuts):
            self._cuts.append(cuts)
            self._groups.append(groups)
            coefficients = cuts.coefficients(self.problem.y, self.problem.e)
            self._rows.append(self._fold(coefficients) / self._unit(cuts)[:, None])

    @property
    def cuts(self) -> Cuts:
        """All cuts, in the order in which they came."""
        total = self._cuts[0]
        for cuts in self._cuts[1:]:
            total = total + cuts
        return total

    @property
    def groups(self) -> Groups:
        """The group of each cut."""
        return np.concatenate(self._groups)

    def solve(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Solve the program: (g, t, weights of the cuts); Σ p·t is the least value that the cuts allow."""
        from scipy.optimize import linprog

        problem, cuts, groups = self.problem, self.cuts, self.groups
        n, m = self._unknowns, len(problem.shares)
        matrix = np.zeros((len(cuts) + 2, n + m))
        matrix[:-2, :n] = np.vstack(self._rows)
        matrix[np.arange(len(cuts)), n + groups] = -cuts.a
        matrix[-2, :n], matrix[-1, :n] = 1.0, -problem.e
        result = linprog(
            np.concatenate([np.zeros(n), problem.shares]),
            A_ub=matrix,
            b_ub=np.concatenate([-cuts.kappa / self._unit(cuts), [1.0, -1.0]]),
            bounds=(0, None),
            method="highs-ds",
        )
        if result.x is None:
            raise ArithmeticError(f"the solver failed on the design problem: {result.message}")
        g = self._unfold(np.maximum(result.x[:n], 0))
        multipliers = np.maximum(-result.ineqlin.marginals[: len(cuts)], 0)
        weights = multipliers / self._unit(cuts) * problem.scale
        return g, np.asarray(result.x[n:] * problem.scale), weights

    def _unit(self, cuts: Cuts) -> FloatArray:
        """Cuts on the error in units of `scale`; those on means as they are, to be met exactly."""
        return np.where(cuts.a > 0, self.problem.scale, 1.0)

    @property
    def _unknowns(self) -> int:
        reports = len(self.problem.y)
        return (reports + 1) // 2 if self.problem.symmetric else reports

    def _fold(self, rows: FloatArray) -> FloatArray:
        """Coefficients of the unknowns: the mass of a report, or of a mirrored pair."""
        if not self.problem.symmetric:
            return rows
        return (rows[:, : self._unknowns] + rows[:, ::-1][:, : self._unknowns]) / 2

    def _unfold(self, masses: FloatArray) -> FloatArray:
        """The mass of each report, from those of the unknowns."""
        if not self.problem.symmetric:
            return masses
        g = np.zeros(len(self.problem.y))
        g[: len(masses)] += masses / 2
        g[::-1][: len(masses)] += masses / 2
        return g
