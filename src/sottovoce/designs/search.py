"""Cutting planes: ask the background so far where it is worst, add those cuts, solve again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels.tables import FloatArray
from sottovoce.designs.cuts import Cuts
from sottovoce.designs.master import GridProblem, Groups, Master
from sottovoce.designs.oracles import REACH, Oracle, TightCuts

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
    t, best, bound, weights = np.full(len(shares), -np.inf), np.inf, 0.0, np.zeros(0)
    if known is not None and len(known[0]):
        master.add(*known)
        g, t, weights = master.solve()
        bound = float(shares @ t)
    for _ in range(_ROUNDS):
        tight = oracle(y, g)
        if tight.reached:
            value = _value(tight, shares)
            if value < best:
                best, best_g = value, g
            if best - bound <= gap * best:
                break
        excess = tight.values - np.where(tight.cuts.a > 0, t[tight.groups], 0.0)
        violated = _violated(tight, excess, gap * problem.scale / 4, per_round or len(excess))
        if not len(violated):
            break
        master.add(tight.cuts[violated], tight.groups[violated])
        g, t, weights = master.solve()
        bound = float(shares @ t)
    return GridSolution(y, best_g, best, bound, master.cuts, weights, master.groups)


def _value(tight: TightCuts, shares: FloatArray) -> float:
    """The objective at a background: the largest error of each group, weighted."""
    errors = np.zeros(len(shares))
    on_error = tight.cuts.a > 0
    np.maximum.at(errors, tight.groups[on_error], tight.values[on_error])
    return float(shares @ errors)


def _violated(tight: TightCuts, excess: FloatArray, least: float, most: int) -> NDArray[np.intp]:
    """The most violated cut in each of `most` parts of the domain: neighbours say nearly the same."""
    part = (
        np.floor(tight.cuts.x * most) * 2 + (tight.cuts.a > 0)
        if len(excess) > most
        else np.arange(len(excess))
    )
    order = np.lexsort((-excess, part))
    first = order[np.append(True, np.diff(part[order]) != 0)]
    return first[excess[first] > np.where(tight.cuts.a[first] > 0, least, REACH / 4)]
