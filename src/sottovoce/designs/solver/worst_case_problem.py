"""A worst-case design problem on [0, 1]: its grids, its solution on one of them, and the proven limit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.classic import duchi, ogpm
from sottovoce.designs.published_formulas import ptt_optimal_q, ptt_worst_variance
from sottovoce.designs.solver.certificate import Certificate, Proof, settle
from sottovoce.designs.solver.cuts import Cuts
from sottovoce.designs.solver.cutting_planes import ActiveCuts, GridSolution, search
from sottovoce.designs.solver.linear_program import GridProblem
from sottovoce.designs.solver.oracles import mean_oracle, value_oracle
from sottovoce.reporters.mechanism import Mechanism

MAX_REPORTS = 449  # 64 KB of spec
_SENTINELS = 24  # at most so many reports beyond the support, on either side


@dataclass(frozen=True)
class Problem:
    """Least worst-case E|y − x|^k, or least worst-case variance of unbiased reports."""

    epsilon: float
    k: float
    unbiased: bool

    @property
    def question(self) -> dict[str, object]:
        """Everything that the answer depends on, in plain numbers."""
        return {"epsilon": self.epsilon, "k": self.k, "unbiased": self.unbiased}

    @property
    def usual_tolerance(self) -> float:
        """How far above the limit is good enough if nothing is said."""
        return 0.001 if self.epsilon <= 4 else 0.008 if self.epsilon <= 7 else 0.005

    @cached_property
    def e(self) -> float:
        """E = e^ε."""
        return math.exp(self.epsilon)

    @cached_property
    def scale(self) -> float:
        """A classic's worst case: the size of the answer."""
        if self.unbiased:
            q = ptt_optimal_q(self.epsilon)
            return min(ptt_worst_variance(self.epsilon, q) / 4, duchi(self.epsilon).worst_variance())
        classic, k = ogpm(self.epsilon, loss=self.k, cells=1024), self.k
        at_the_end = float(
            classic.error(1.0, k)
        )  # where it is worst; of other losses the worst takes a search
        return min(classic.worst_error(k) if k in (1, 2) else at_the_end, 0.5**k)

    @cached_property
    def length(self) -> float:
        """The typical distance of a report from the truth: what a grid has to resolve."""
        if self.unbiased or self.k >= 2:
            return self.scale ** (1 / self.k)
        return math.exp(-self.epsilon / 2)

    def reports_for(self, tolerance: float) -> int:
        """How many reports should do: the loss of a grid is quadratic in its step."""
        span = 1 + 2 * self.length if self.unbiased else 1.0
        needed = span / (1.2 * math.sqrt(tolerance) * self.length)
        return round(min(max(needed, 65), MAX_REPORTS)) | 1

    def solve(self, reports: int, *, gap: float, coarse: GridSolution | None = None) -> GridSolution:
        """Find the best background on a grid of so many reports.

        Args:
            reports: How many reports the grid has, sentinels left out.
            gap: The relative gap between value and bound on the grid.
            coarse: A solution on a coarser grid, to begin with.
        """
        y, known = self._grid(reports, coarse), None if coarse is None else coarse.active
        if self.unbiased:
            return self._for_means(y, gap, known, _per_round(reports))
        # The error of a grid background is largest halfway between reports or on them.
        oracle = value_oracle(np.linspace(0.0, 0.5, reports), self.k, self.e)
        return search(self._on(y), oracle, gap=gap, known=known, per_round=_per_round(reports))

    def proof(self, best: GridSolution, *, gap: float) -> Proof:
        """Find the limit that the multipliers of a solution prove.

        Args:
            best: The solution.
            gap: The relative gap with which it was found.
        """
        own = settle(*_both_sides(best), self.epsilon)
        if self.unbiased or self.k >= 2:
            return own
        # Corners of the loss off the grid would cost the certificate: prove with inputs on the grid, too.
        (cuts, groups), y = best.active, best.y
        on_grid = np.isin(cuts.x, y)
        oracle = value_oracle(y[: len(y) // 2 + 1], self.k, self.e)
        known = cuts[on_grid], groups[on_grid]
        other = search(self._on(y), oracle, gap=gap, known=known, per_round=_per_round(len(y)))
        return max(own, settle(*_both_sides(other), self.epsilon), key=lambda proof: proof.limit)

    def certified(self, design: Mechanism, proof: Proof) -> Certificate:
        """State the exact worst case of the integers that ship, against the limit."""
        worst = design.worst_variance() if self.unbiased else design.worst_error(self.k)
        cuts, weights, limit = proof
        return Certificate(self.epsilon, self.k, self.unbiased, limit, worst, "cuts", cuts, weights)

    def _on(self, y: FloatArray) -> GridProblem:
        return GridProblem(self.epsilon, y, np.ones(1), self.scale, symmetric=True)

    def _for_means(self, y: FloatArray, gap: float, known: ActiveCuts | None, per_round: int) -> GridSolution:
        """The best background on a grid that grows by the reports which the certificate needs."""
        oracle = mean_oracle(self.e)
        best = search(self._on(y), oracle, gap=gap, known=known, per_round=per_round)
        for _ in range(8):
            dip = self._dip_outside(best)
            if dip is None:
                break
            y = np.sort(np.append(y, [dip, 1 - dip]))
            best = search(self._on(y), oracle, gap=gap, known=best.active, per_round=per_round)
        return best

    def _grid(self, reports: int, coarse: GridSolution | None) -> FloatArray:
        if not self.unbiased:
            return np.linspace(0.0, 1.0, reports)
        if coarse is None:
            reach = 1.3 * self.length
        else:
            # The support, a step more on either side, and sparse sentinels beyond for the certificate.
            low, high = coarse.support
            reach = max(-low, high - 1) + 1.5 * float(np.diff(coarse.y).min())
        beyond = reach + 0.15 * self.length * 1.6 ** np.arange(_SENTINELS)
        beyond = beyond[beyond < max(3 * self.length, 6.0) + reach]
        inner = np.linspace(-reach, 1 + reach, reports)
        return np.concatenate((-beyond[::-1], inner, 1 + beyond))

    def _dip_outside(self, best: GridSolution) -> float | None:
        """Where the sum of cuts is most negative below the support: a report that the grid must have, too.

        There it is a parabola that sentinels alone do not hold up: E times the weight of a mean far out.
        """
        cuts, weights = _both_sides(best)
        low = best.support[0]
        y = low - np.geomspace(1e-3 * self.length, max(3 * self.length, 6.0), 1500)[::-1]
        r = weights @ cuts.coefficients(y, self.e)
        at = int(np.clip(np.argmin(r), 1, len(y) - 2))
        if r[at] >= -1e-4 * self.scale:
            return None
        curve = np.polyfit(y[at - 1 : at + 2] - y[at], r[at - 1 : at + 2], 2)
        return float(y[at] - curve[1] / (2 * curve[0]) if curve[0] > 0 else y[at])


def _per_round(reports: int) -> int:
    """How many cuts a round may add."""
    return max(64, reports // 3)


def _both_sides(proof: GridSolution) -> tuple[Cuts, FloatArray]:
    """The cuts that carry weight and their mirror images, half each; the weights of errors add up to one."""
    keep = proof.weights > 1e-12 * proof.weights.max()
    cuts, weights = proof.cuts[keep], proof.weights[keep]
    cuts, weights = cuts + cuts.mirrored(), np.concatenate((weights, weights)) / 2
    return cuts, weights / float(weights @ cuts.a)
