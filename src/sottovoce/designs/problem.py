"""A worst-case design problem on [0, 1]: its grids, its solution on one of them, and the proven limit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.designs.certificate import Certificate, settle
from sottovoce.designs.classic import duchi, ogpm, ptt_optimal_q, ptt_worst_variance
from sottovoce.designs.cuts import Cuts
from sottovoce.designs.search import Found, Oracle, Warm, direct_oracle, search, unbiased_oracle

MAX_REPORTS = 449  # 64 KB of spec
_ONE = np.ones(1)


@dataclass(frozen=True)
class Solution:
    """A background on reports y and a limit proved for every mechanism by weighted cuts."""

    y: FloatArray
    g: FloatArray
    limit: float
    cuts: Cuts
    weights: FloatArray
    found: Found


@dataclass(frozen=True)
class Problem:
    """Least worst-case E|y − x|^k, or least worst-case variance of unbiased reports."""

    epsilon: float
    k: float
    unbiased: bool

    @cached_property
    def e(self) -> float:
        return math.exp(self.epsilon)

    @cached_property
    def scale(self) -> float:
        """A classic's worst case: the size of the answer."""
        if self.unbiased:
            q = ptt_optimal_q(self.epsilon)
            return min(ptt_worst_variance(self.epsilon, q) / 4, duchi(self.epsilon, (0, 1)).worst_variance())
        return min(ogpm(self.epsilon, loss=self.k, cells=1024).worst_error(self.k), 0.5**self.k)

    @cached_property
    def length(self) -> float:
        """The typical distance of a report from the truth: what a grid has to resolve."""
        if self.unbiased or self.k >= 2:
            return self.scale ** (1 / self.k)
        return math.exp(-self.epsilon / 2)

    @property
    def question(self) -> dict[str, Any]:
        """Everything that the answer depends on, in plain numbers."""
        return {"epsilon": self.epsilon, "k": self.k, "unbiased": self.unbiased}

    @property
    def usual_tolerance(self) -> float:
        return 0.001 if self.epsilon <= 4 else 0.008

    def reports_for(self, tolerance: float) -> int:
        """How many reports should do: the loss of a grid is quadratic in its step."""
        span = 1 + 2 * self.length if self.unbiased else 1.0
        needed = span / (1.2 * math.sqrt(tolerance) * self.length)
        return round(min(max(needed, 65), MAX_REPORTS)) | 1

    def solve(self, reports: int, *, gap: float, warm: Solution | None = None) -> Solution:
        """The best background on a grid of so many reports, and the limit that its multipliers prove."""
        y = self._grid(reports, warm)

        def run(oracle: Oracle, known: Warm | None, y: FloatArray = y) -> Found:
            return search(
                oracle,
                y,
                self.e,
                shares=_ONE,
                scale=self.scale,
                start=self._start(y),
                gap=gap,
                warm=known,
                per_round=max(64, reports // 3),
            )

        known = None if warm is None else warm.found.active
        if self.unbiased:
            found = run(unbiased_oracle(self.e), known)
            for _ in range(8):
                dip = self._dip_outside(found)
                if dip is None:
                    break
                y = np.sort(np.append(y, [dip, 1 - dip]))
                found = run(unbiased_oracle(self.e), found.active, y)
            return self._proved(found, [found])
        # The error of a grid background is largest halfway between reports or on them.
        halves = np.linspace(0.0, 0.5, reports)
        found = run(direct_oracle(halves, self.k, self.e), known)
        proofs = [found]
        if self.k < 2:
            # Corners of the loss off the grid would cost the certificate: prove with inputs on the grid.
            cuts, groups = found.active
            on = np.isin(cuts.x, y)
            on_grid = direct_oracle(y[: reports // 2 + 1], self.k, self.e)
            proofs.append(run(on_grid, (cuts[on], groups[on])))
        return self._proved(found, proofs)

    def _start(self, y: FloatArray) -> FloatArray:
        return np.full(len(y), math.exp(-self.epsilon / 2) / len(y))

    def _grid(self, reports: int, warm: Solution | None) -> FloatArray:
        if not self.unbiased:
            return np.linspace(0.0, 1.0, reports)
        if warm is None:
            reach = 1.3 * self.length
        else:
            # The support, a step more on either side, and sparse sentinels beyond for the certificate.
            low, high = warm.found.support
            reach = max(-low, high - 1) + 1.5 * float(np.diff(warm.y).min())
        beyond = reach + 0.15 * self.length * 1.6 ** np.arange(24)
        beyond = beyond[beyond < max(3 * self.length, 6.0) + reach]
        inner = np.linspace(-reach, 1 + reach, reports)
        return np.concatenate((-beyond[::-1], inner, 1 + beyond))

    def _dip_outside(self, found: Found) -> float | None:
        """Where the sum of cuts is most negative below the support: a report that the grid must have, too.

        There it is a parabola that sentinels alone do not hold up: E times the weight of a mean far out.
        """
        cuts, weights = _both_sides(found)
        low = found.support[0]
        y = low - np.geomspace(1e-3 * self.length, max(3 * self.length, 6.0), 1500)[::-1]
        r = weights @ cuts.coefficients(y, self.e)
        at = int(np.clip(np.argmin(r), 1, len(y) - 2))
        if r[at] >= -1e-4 * self.scale:
            return None
        curve = np.polyfit(y[at - 1 : at + 2] - y[at], r[at - 1 : at + 2], 2)
        return float(y[at] - curve[1] / (2 * curve[0]) if curve[0] > 0 else y[at])

    def certified(self, made: Mechanism, solution: Solution) -> Certificate:
        """The exact worst case of the shipped mechanism, against the limit."""
        worst = made.worst_variance() if self.unbiased else made.worst_error(self.k)
        return Certificate(
            self.epsilon,
            self.k,
            self.unbiased,
            solution.limit,
            worst,
            "cuts",
            solution.cuts,
            solution.weights,
        )

    def _proved(self, found: Found, proofs: list[Found]) -> Solution:
        best: tuple[Cuts, FloatArray, float] | None = None
        for proof in proofs:
            settled = settle(*_both_sides(proof), self.epsilon)
            if best is None or settled[2] > best[2]:
                best = settled
        assert best is not None
        return Solution(found.y, found.g, best[2], best[0], best[1], found)


def _both_sides(proof: Found) -> tuple[Cuts, FloatArray]:
    """The cuts that carry weight and their mirror images, half each; the weights of errors add up to one."""
    keep = proof.weights > 1e-12 * proof.weights.max()
    cuts, weights = proof.cuts[keep], proof.weights[keep]
    cuts, weights = cuts + cuts.mirrored(), np.concatenate((weights, weights)) / 2
    return cuts, weights / float(weights @ cuts.a)
