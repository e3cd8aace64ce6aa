"""Where a background is worst: its tight cuts.

For a background g on finitely many reports the inner problem has a closed form: E·g on a contiguous window,
g elsewhere. The edges of the window give the multipliers of the cut that is tight there:

    value      κ = the loss at the window's edge;
    mean       D(y) = (y − y_a)(y − y_b), hence κ = −(x − y_a)(x − y_b), b = 2x − y_a − y_b. D does not
               depend on x, so without a prior its best x is the middle of the window, or the nearest end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.cuts import Cuts
from sottovoce.designs.solver.linear_program import Ceiling, Groups

REACH = 2e-7  # how far a mean may fall short of the domain's end: building stretches reports by as much


@dataclass(frozen=True, eq=False)
class TightCuts:
    """Cuts that hold with equality at one background.

    Attributes:
        cuts: The cuts.
        values: What each says of the background: the error at its input, or how far a mean is out of reach.
        groups: The group of each cut in the objective, or −1−k if it is about ceiling k.
        reached: True if some window has every mean of the domain; always, if reports may be biased.
    """

    cuts: Cuts
    values: FloatArray
    groups: Groups
    reached: bool = True


Oracle = Callable[[FloatArray, FloatArray], TightCuts]  # of reports y and a background g on them


def value_oracle(x: FloatArray, k: float, e: float, groups: Groups | None = None) -> Oracle:
    """The error at each of the inputs x, with the window of reports nearest to it."""
    group = np.zeros(len(x), dtype=np.intp) if groups is None else groups

    def tight(y: FloatArray, g: FloatArray) -> TightCuts:
        distance = np.abs(y[None, :] - x[:, None])
        order = np.argsort(distance, axis=1, kind="stable")
        within = np.cumsum((e - 1) * g[order], axis=1)
        last = np.minimum((within < 1 - g.sum() - 1e-15).sum(axis=1), len(y) - 1)
        edge = np.take_along_axis(order, last[:, None], axis=1)
        radius = np.take_along_axis(distance, edge, axis=1)[:, 0]
        cuts = Cuts.of(k, x, radius**k)
        return TightCuts(cuts, cuts.kappa + cuts.coefficients(y, e) @ g, group)

    return tight


def mean_oracle(e: float, x: FloatArray | None = None, ceilings: Sequence[Ceiling] = ()) -> Oracle:
    """The variance where windows of given means are worst: everywhere, or at the inputs x of a prior.

    For ceilings also where each window comes closest to each of them.
    """

    def tight(y: FloatArray, g: FloatArray) -> TightCuts:
        ends, missing = cuts_at_ends(y, g, e)
        reached = bool((missing <= REACH).all())
        a, b, mean = _windows(y, g, e)
        cuts, groups = Cuts.of(2.0, np.zeros(0), np.zeros(0)), np.zeros(0, dtype=np.intp)
        for k, ceiling in enumerate(ceilings):
            cuts += tangents(ceiling.highest(a, b), a, b)
            groups = np.append(groups, np.full(len(a), -1 - k))
        if x is None:
            cuts += tangents(np.clip((a + b) / 2, 0.0, 1.0), a, b)
            groups = np.append(groups, np.zeros(len(a), dtype=np.intp))
        else:
            window = np.clip(np.searchsorted(mean, x, side="right") - 1, 0, len(a) - 1)
            cuts += tangents(x, a[window], b[window])
            groups = np.append(groups, np.arange(len(x)))
        values = cuts.kappa + cuts.coefficients(y, e) @ g
        if reached:
            return TightCuts(cuts, values, groups)
        groups = np.concatenate([groups, np.zeros(len(ends), dtype=np.intp)])
        return TightCuts(cuts + ends, np.concatenate([values, missing]), groups, reached=False)

    return tight


def tangents(x: FloatArray, a: FloatArray, b: FloatArray) -> Cuts:
    """Cuts on the variance at x by windows between the reports a and b."""
    return Cuts.of(2.0, x, -(x - a) * (x - b), b=2 * x - a - b)


def _windows(y: FloatArray, g: FloatArray, e: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every window that g allows: its two end reports, and the mean from which on it is the one."""
    keep = g > 1e-13 * g.max()
    v, m = y[keep], g[keep]
    edge = np.concatenate(([0.0], np.cumsum((e - 1) * m)))
    length = 1 - m.sum()
    top = max(edge[-1] - length, 0.0)
    level = np.unique(np.clip(np.concatenate((edge, edge - length)), 0.0, top))
    level = level[np.append(True, np.diff(level) > 1e-13 * edge[-1])]
    middle = (level[1:] + level[:-1]) / 2 if len(level) > 1 else level
    first, last = (
        np.clip(np.searchsorted(edge, u, side="right") - 1, 0, len(v) - 1) for u in (middle, middle + length)
    )
    prefix = np.concatenate(([0.0], np.cumsum((e - 1) * m * v)))

    def integral(u: FloatArray, cell: NDArray[np.intp]) -> FloatArray:
        return np.asarray(prefix[cell] + (u - edge[cell]) * v[cell])

    start = level[:-1] if len(level) > 1 else level
    mean = m @ v + integral(start + length, last) - integral(start, first)
    return v[first], v[last], mean


def cuts_at_ends(y: FloatArray, g: FloatArray, e: float) -> tuple[Cuts, FloatArray]:
    """Cuts that say: some window has mean ≤ 0, some has mean ≥ 1; and by how much g misses them."""
    room = 1 - g.sum() - 1e-15
    low = y[min(int((np.cumsum((e - 1) * g) < room).sum()), len(y) - 1)]
    high = y[::-1][min(int((np.cumsum((e - 1) * g[::-1]) < room).sum()), len(y) - 1)]
    cuts = Cuts.of(2.0, np.array([0.0, 1.0]), np.array([low, 1 - high]), a=0.0, b=np.array([1.0, -1.0]))
    return cuts, cuts.kappa + cuts.coefficients(y, e) @ g
