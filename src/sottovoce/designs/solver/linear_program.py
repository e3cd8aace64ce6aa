"""The master problem: the background that is best against the cuts known so far, a small linear program.

    minimise  Σ_i p_i·t_i + penalty·z   over  g, t, z ≥ 0
    subject to  κ + Σ_j g_j·c(D(y_j)) ≤ a·t_i           for every cut of group i,
                κ + Σ_j g_j·c(D(y_j)) ≤ (1 + z)·C_k(x)  for every cut of group −1−k,    1/E ≤ Σ g ≤ 1.

Worst-case problems have one group; with a prior every input is a group of its own with its prior weight. C_k
is a ceiling: a variance that must not be passed at x, or only where that cannot be helped (firm ones have no
z). A symmetric problem has a symmetric solution (mirror it and average: the problem is convex), so pairs of
mirrored reports share an unknown. The multipliers of the cuts are what a certificate is made of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.cuts import Cuts
from sottovoce.errors import SolverError, require_extra

Groups = NDArray[np.intp]
_PENALTY = 100.0  # of passing a soft ceiling, in units of the scale


@dataclass(frozen=True)
class Ceiling:
    """C(x) = curve·(x − ½)² + level: a variance that is not to be passed at x.

    Attributes:
        curve: How fast it rises from the middle.
        level: What it is in the middle.
        firm: True if it must hold whatever it costs.
    """

    curve: float
    level: float
    firm: bool = False

    def at(self, x: FloatArray) -> FloatArray:
        """C(x)."""
        return np.asarray(self.curve * (x - 0.5) ** 2 + self.level)

    def highest(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Where a window between a and b comes closest to C: the x of the largest −(x − a)(x − b) − C(x)."""
        if self.curve <= -1:
            return np.where(a + b > 1, 1.0, 0.0)
        return np.clip((a + b + self.curve) / (2 * (1 + self.curve)), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class GridProblem:
    """Which background on a grid of reports is best.

    Attributes:
        epsilon: Privacy parameter ε.
        y: The reports, increasing.
        shares: p, the weight of each group of cuts: 1 for a worst case, the chances of a prior.
        scale: A typical value of t: HiGHS works to absolute tolerances.
        symmetric: True if the problem is the same from either end of the domain; y then is symmetric about ½.
        ceilings: What the variance must not pass; cuts of group −1−k are about the k-th.
    """

    epsilon: float
    y: FloatArray
    shares: FloatArray
    scale: float
    symmetric: bool
    ceilings: tuple[Ceiling, ...] = ()

    def heights(self, x: FloatArray, groups: Groups) -> FloatArray:
        """The ceiling above each cut that is about one; 0 above the others."""
        heights = np.zeros(len(x))
        for k, ceiling in enumerate(self.ceilings):
            heights = np.where(groups == -1 - k, ceiling.at(x), heights)
        return heights

    def soft(self, groups: Groups) -> NDArray[np.bool_]:
        """Which cuts are about a ceiling that may be passed."""
        return np.isin(groups, [-1 - k for k, ceiling in enumerate(self.ceilings) if not ceiling.firm])

    def cost(self, t: FloatArray, z: float) -> float:
        """The objective."""
        return float(self.shares @ t) + _PENALTY * self.scale * z

    @property
    def e(self) -> float:
        """E = e^ε."""
        return math.exp(self.epsilon)


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a master problem answers: its cost is the least that the cuts allow.

    Attributes:
        g: The background.
        t: The error of each group.
        weights: The multipliers of the cuts.
        z: By how much soft ceilings are passed, relatively.
    """

    g: FloatArray
    t: FloatArray
    weights: FloatArray
    z: float


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

    def solve(self) -> Optimum:
        """Solve the program."""
        problem, cuts, groups = self.problem, self.cuts, self.groups
        n, m, unit = self._unknowns, len(problem.shares), self._unit(cuts)
        heights = problem.heights(cuts.x, groups) / unit
        matrix = np.zeros((len(cuts) + 2, n + m + bool(problem.ceilings)))
        matrix[:-2, :n] = np.vstack(self._rows)
        free = np.flatnonzero(groups >= 0)
        matrix[free, n + groups[free]] = -cuts.a[free]
        matrix[:-2, n + m :] = np.where(problem.soft(groups), -heights, 0.0)[:, None]
        matrix[-2, :n], matrix[-1, :n] = 1.0, -problem.e
        x, multipliers = linear_program(
            np.concatenate([np.zeros(n), problem.shares, [_PENALTY] * bool(problem.ceilings)]),
            matrix,
            np.concatenate([heights - cuts.kappa / unit, [1.0, -1.0]]),
        )
        weights = multipliers[: len(cuts)] / unit * problem.scale
        return Optimum(self._unfold(x[:n]), x[n : n + m] * problem.scale, weights, float(x[n + m :].sum()))

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


def linear_program(cost: FloatArray, matrix: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The x ≥ 0 of least cost with matrix·x ≤ most, and the multipliers of its rows."""
    require_extra("analysis", "an optimal design")
    from scipy.optimize import linprog

    result = linprog(cost, A_ub=matrix, b_ub=most, bounds=(0, None), method="highs-ds")
    if result.x is None:
        raise SolverError(f"the solver failed on the design problem: {result.message}")
    return np.maximum(result.x, 0), np.maximum(-result.ineqlin.marginals, 0)
