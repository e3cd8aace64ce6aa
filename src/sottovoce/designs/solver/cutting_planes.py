"""Cutting planes: ask the background so far where it is worst, add those cuts, solve again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.cuts import Cuts
from sottovoce.designs.solver.linear_program import GridProblem, Groups, Master, Optimum
from sottovoce.designs.solver.oracles import REACH, Oracle, TightCuts

_ROUNDS = 60

ActiveCuts = tuple[Cuts, Groups]


@dataclass(frozen=True, eq=False)
class GridSolution:
    """The best background on a grid, and the weighted cuts that bound what is possible there.

    Attributes:
        y: The reports.
        g: The background.
        value: What it attains.
        bound: What no background on this grid goes below.
        cuts: The cuts of the last master problem.
        weights: Their multipliers.
        groups: Their groups.
    """

    y: FloatArray
    g: FloatArray
    value: float
    bound: float
    cuts: Cuts
    weights: FloatArray
    groups: Groups

    @property
    def active(self) -> ActiveCuts:
        """The cuts that hold the bound up: a start for a search on another grid."""
        heavy = self.weights > 0
        return self.cuts[heavy], self.groups[heavy]

    @property
    def support(self) -> tuple[float, float]:
        """The outermost reports that carry mass."""
        heavy = self.y[self.g > 1e-7 * self.g.max()]
        return float(heavy[0]), float(heavy[-1])

    def reports(self, least: float) -> tuple[FloatArray, FloatArray]:
        """The reports that ship, and their masses: neighbours take over those with less of the background.

        A narrow cell would make every look-up of a draw finer. The mean stays what it is.
        """
        y, g = self.y[self.g > 0], self.g[self.g > 0]
        while len(g) > 3 and g.min() < least * g.sum():
            i = int(g.argmin())
            if 0 < i < len(g) - 1:
                share = (y[i] - y[i - 1]) / (y[i + 1] - y[i - 1])
                g[[i - 1, i + 1]] += g[i] * np.array([1 - share, share])
            else:
                pair = [0, 1] if i == 0 else [i - 1, i]
                y[pair] = g[pair] @ y[pair] / g[pair].sum()
                g[pair] = g[pair].sum()
            y, g = np.delete(y, i), np.delete(g, i)
        return y, g


def search(
    problem: GridProblem,
    oracle: Oracle,
    *,
    gap: float,
    known: ActiveCuts | None = None,
    per_round: int | None = None,
) -> GridSolution:
    """Find the best background on a grid.

    Args:
        problem: The grid and the objective.
        oracle: Tells where a background is worst.
        gap: The relative gap between value and bound that is small enough.
        known: Cuts to begin with.
        per_round: How many cuts a round may add; all that are violated if not given.

    Returns:
        The background of least value so far, after at most 60 rounds.
    """
    master, y, shares = Master(problem), problem.y, problem.shares
    g = best_g = np.full(len(y), math.exp(-problem.epsilon / 2) / len(y))
    now, best, bound = Optimum(g, np.full(len(shares), -np.inf), np.zeros(0), 0.0), np.inf, 0.0
    if known is not None and len(known[0]):
        master.add(*known)
        now = master.solve()
        bound = problem.cost(now.t, now.z)
    for _ in range(_ROUNDS):
        tight = oracle(y, now.g)
        heights = problem.heights(tight.cuts.x, tight.groups)
        if tight.reached:
            value = _value(problem, tight, heights, gap)
            if value < best:
                best, best_g = value, now.g
            if best - bound <= gap * best < np.inf:
                break
        heights *= np.where(problem.soft(tight.groups), 1 + now.z, 1.0)
        excess = tight.values - np.where(tight.groups < 0, heights, now.t[np.maximum(tight.groups, 0)])
        excess = np.where(tight.cuts.a > 0, excess, tight.values)
        # The same excess above a ceiling that `_value` refuses: refused and not cut, it would end the search.
        least = gap / 4 * np.where(tight.groups < 0, np.minimum(heights, problem.scale), problem.scale)
        violated = _violated(tight, excess, least, per_round or len(excess))
        if not len(violated):
            break
        master.add(tight.cuts[violated], tight.groups[violated])
        now = master.solve()
        bound = problem.cost(now.t, now.z)
    return GridSolution(y, best_g, best, bound, master.cuts, now.weights, master.groups)


def _value(problem: GridProblem, tight: TightCuts, heights: FloatArray, gap: float) -> float:
    """The objective at a background, from the largest error of each group; infinite above a firm ceiling."""
    errors = np.zeros(len(problem.shares))
    on_error, soft = (tight.cuts.a > 0) & (tight.groups >= 0), problem.soft(tight.groups)
    np.maximum.at(errors, tight.groups[on_error], tight.values[on_error])
    firm = (tight.groups < 0) & ~soft
    if (tight.values[firm] > heights[firm] * (1 + gap / 4)).any():
        return np.inf
    passed = float((tight.values[soft] / heights[soft]).max(initial=1.0)) - 1
    return problem.cost(errors, passed if passed > gap / 4 else 0.0)


def _violated(tight: TightCuts, excess: FloatArray, least: FloatArray, most: int) -> NDArray[np.intp]:
    """The most violated cut in each of `most` parts of the domain: neighbours say nearly the same."""
    part = (
        np.floor(tight.cuts.x * most) * 16 + np.where(tight.cuts.a > 0, np.maximum(-tight.groups, 0), 15)
        if len(excess) > most
        else np.arange(len(excess))
    )
    order = np.lexsort((-excess, part))
    first = order[np.append(True, np.diff(part[order]) != 0)]
    return first[excess[first] > np.where(tight.cuts.a[first] > 0, least[first], REACH / 4)]
