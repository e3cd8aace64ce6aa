"""Cutting planes: ask the background found so far where it is worst, add those cuts, solve again.

For a background g on finitely many reports the inner problem has a closed form: E·g on a contiguous window,
g elsewhere. The edges of the window give the multipliers of the cut that is tight there:

    direct     κ = the loss at the window's edge;
    unbiased   D(y) = (y − y_a)(y − y_b), hence κ = −(x − y_a)(x − y_b), b = 2x − y_a − y_b. D does not
               depend on x, so without a prior its best x is the middle of the window, or the nearest end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels.tables import FloatArray
from sottovoce.designs.cuts import Cuts
from sottovoce.designs.master import Master

_ROUNDS = 60
_REACH = 2e-7  # how far a mean may fall short of the domain's end: building stretches reports by as much


@dataclass(frozen=True)
class Found:
    """A background on a grid, its value, and the weighted cuts that bound the value on that grid."""

    y: FloatArray
    g: FloatArray
    value: float
    bound: float
    cuts: Cuts
    weights: FloatArray
    groups: NDArray[np.intp]

    @property
    def active(self) -> Warm:
        """The cuts that hold the bound up: a start for a search on another grid."""
        chosen = self.weights > 0
        return self.cuts[chosen], self.groups[chosen]

    @property
    def support(self) -> tuple[float, float]:
        heavy = self.y[self.g > 1e-7 * self.g.max()]
        return float(heavy[0]), float(heavy[-1])


@dataclass(frozen=True)
class Answer:
    """What an oracle says of a background: tight cuts, the value of each, whether every mean is reached."""

    cuts: Cuts
    values: FloatArray
    groups: NDArray[np.intp]
    reached: bool = True


Oracle = Callable[[FloatArray, FloatArray], Answer]
Warm = tuple[Cuts, NDArray[np.intp]]


def search(
    oracle: Oracle,
    y: FloatArray,
    e: float,
    *,
    shares: FloatArray,
    scale: float,
    start: FloatArray,
    warm: Warm | None = None,
    folded: bool = True,
    gap: float = 1e-5,
    per_round: int = 64,
) -> Found:
    """The best background on the reports y, to a relative `gap` between its value and its bound."""
    master = Master(y, e, shares, scale, folded)
    g, t, best, best_g = start, np.full(len(shares), -np.inf), np.inf, start
    bound, weights = 0.0, np.zeros(0)
    if warm is not None and len(warm[0]):
        master.add(*warm)
        g, t, weights = master.solve()
        bound = float(shares @ t)
    for _ in range(_ROUNDS):
        answer = oracle(y, g)
        loss = answer.cuts.a > 0
        if answer.reached:
            value = _value(answer, shares)
            if value < best:
                best, best_g = value, g
            if best - bound <= gap * best:
                break
        above = answer.values - np.where(loss, t[answer.groups], 0.0)
        chosen = _spread(answer, above, gap * scale / 4, per_round if len(shares) == 1 else len(above))
        if not len(chosen):
            break
        master.add(answer.cuts[chosen], answer.groups[chosen])
        g, t, weights = master.solve()
        bound = float(shares @ t)
    return Found(y, best_g, best, bound, master.all_cuts, weights, np.concatenate(master.groups))


def _value(answer: Answer, shares: FloatArray) -> float:
    each = np.zeros(len(shares))
    loss = answer.cuts.a > 0
    np.maximum.at(each, answer.groups[loss], answer.values[loss])
    return float(shares @ each)


def _spread(answer: Answer, above: FloatArray, least: float, most: int) -> NDArray[np.intp]:
    """The most violated cut in each of `most` parts of the domain: neighbours say nearly the same."""
    part = (
        np.floor(answer.cuts.x * most) * 2 + (answer.cuts.a > 0)
        if len(above) > most
        else np.arange(len(above))
    )
    order = np.lexsort((-above, part))
    first = np.append(True, np.diff(part[order]) != 0)
    chosen = order[first]
    return chosen[above[chosen] > np.where(answer.cuts.a[chosen] > 0, least, _REACH / 4)]


# -- oracles ----------------------------------------------------------------------------------------------


def direct_oracle(x: FloatArray, k: float, e: float, groups: NDArray[np.intp] | None = None) -> Oracle:
    """The error at each of the inputs x, with the window of reports nearest to it."""
    group = np.zeros(len(x), dtype=np.intp) if groups is None else groups

    def ask(y: FloatArray, g: FloatArray) -> Answer:
        distance = np.abs(y[None, :] - x[:, None])
        order = np.argsort(distance, axis=1, kind="stable")
        within = np.cumsum((e - 1) * g[order], axis=1)
        last = np.minimum((within < 1 - g.sum() - 1e-15).sum(axis=1), len(y) - 1)
        edge = np.take_along_axis(order, last[:, None], axis=1)
        reach = np.take_along_axis(distance, edge, axis=1)[:, 0]
        cuts = Cuts.of(k, x, reach**k)
        return Answer(cuts, cuts.kappa + cuts.coefficients(y, e) @ g, group)

    return ask


def unbiased_oracle(e: float, x: FloatArray | None = None) -> Oracle:
    """The variance where windows of given means are worst: everywhere, or at the inputs x of a prior."""

    def ask(y: FloatArray, g: FloatArray) -> Answer:
        reach, gap = _reach_cuts(y, g, e)
        reached = bool((gap <= _REACH).all())
        a, b, mean = _windows(y, g, e)
        if x is None:
            at = np.clip((a + b) / 2, 0.0, 1.0)
            groups = np.zeros(len(at), dtype=np.intp)
        else:
            piece = np.clip(np.searchsorted(mean, x, side="right") - 1, 0, len(a) - 1)
            at, a, b, groups = x, a[piece], b[piece], np.arange(len(x))
        cuts = Cuts.of(2.0, at, -(at - a) * (at - b), b=2 * at - a - b)
        values = cuts.kappa + cuts.coefficients(y, e) @ g
        if reached:
            return Answer(cuts, values, groups)
        both = np.concatenate([groups, np.zeros(len(reach), dtype=np.intp)])
        return Answer(cuts + reach, np.concatenate([values, gap]), both, reached=False)

    return ask


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
    cell, cell_end = (
        np.clip(np.searchsorted(edge, u, side="right") - 1, 0, len(v) - 1) for u in (middle, middle + length)
    )
    prefix = np.concatenate(([0.0], np.cumsum((e - 1) * m * v)))

    def integral(u: FloatArray, j: NDArray[np.intp]) -> FloatArray:
        return np.asarray(prefix[j] + (u - edge[j]) * v[j])

    start = level[:-1] if len(level) > 1 else level
    mean = m @ v + integral(start + length, cell_end) - integral(start, cell)
    return v[cell], v[cell_end], mean


def _reach_cuts(y: FloatArray, g: FloatArray, e: float) -> tuple[Cuts, FloatArray]:
    """Cuts that say: some window has mean ≤ 0, some has mean ≥ 1; and by how much g misses them."""
    room = 1 - g.sum() - 1e-15
    low = y[min(int((np.cumsum((e - 1) * g) < room).sum()), len(y) - 1)]
    high = y[::-1][min(int((np.cumsum((e - 1) * g[::-1]) < room).sum()), len(y) - 1)]
    cuts = Cuts.of(2.0, np.array([0.0, 1.0]), np.array([low, 1 - high]), a=0.0, b=np.array([1.0, -1.0]))
    return cuts, cuts.kappa + cuts.coefficients(y, e) @ g
