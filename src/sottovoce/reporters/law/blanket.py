"""What every person surely reports, whatever the truth: the blanket that hides everybody else.

With m_j = min_x P(j | x) and γ = Σ m_j, a report is drawn from m/γ with probability γ, without a look at the
value. Those reports hide the one of the person in question (Balle, Bell, Gascón and Nissim 2019); no other
way to divide the reports hides more (Su, Cheng and Wang 2025). For a window the background integers are the
blanket.

The observer compares ξ = P(j | x)/m_j and η = P(j | x')/m_j for j ~ m. Let Ξ be above every ξ_x in the convex
order: E(Ξ − t)₊ = max_x Σ_j (P(j | x) − t·m_j)₊ for all t. Then Ξ and Ξ' in opposite order are above every
pair x, x' (`shuffling/input_pair.py`), so no pair has to be searched for. A convex function lies below its
chords: the maximum is needed at a few t only.

A window is refined first: the report also tells where in its cell, on the extra coordinate, the draw fell.
That helps the observer, and then ξ = 1 + e_j/a_j inside the window and 1 outside: two values where a design
uses its whole ε.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from sottovoce.reporters.window import Window

_MOST_KNOTS = 32
_APART = 1.02  # neighbouring knots differ by at least this factor


class Opposed(NamedTuple):
    """Two inputs that are above every pair: how likely each kind of report is.

    Attributes:
        mass: Its probability whatever the truth; these add up to γ.
        first: Its probability under the first input, over that.
        second: The same under the second one.
    """

    mass: FloatArray
    first: FloatArray
    second: FloatArray


def opposed(mass: FloatArray, ratio: FloatArray) -> Opposed:
    """Two inputs whose likelihoods have the same law, paired so that they oppose each other most.

    Args:
        mass: Probabilities of the values of the likelihood.
        ratio: The values, over the blanket.
    """
    order = np.argsort(ratio)
    edges = np.concatenate(([0.0], np.cumsum(mass[order])))
    cuts = np.unique(np.concatenate((edges, edges[-1] - edges)))
    middle, width = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)
    rank = np.clip(np.searchsorted(edges, (middle, edges[-1] - middle), side="right") - 1, 0, mass.size - 1)
    return Opposed(width, *ratio[order][rank])


def envelope(total: float, ratios: FloatArray, loss: Callable[[float], float]) -> Opposed:
    """Opposed inputs from what they lose to a multiple of the blanket.

    Args:
        total: The mass of the blanket.
        ratios: The values that P(j | x)/m_j can have.
        loss: max_x Σ (P − t·m)₊ for a t. It is asked between 1 and the largest ratio, where it is 0.
    """
    knots = _knots(ratios)
    height = np.array([1.0 - total, *(loss(t) for t in knots[1:-1]), 0.0])
    slope = np.append(-np.diff(height) / np.diff(knots), 0.0)
    mass = np.concatenate(([total - slope[0]], -np.diff(slope)))
    return opposed(np.maximum(mass, 0.0), knots)


def _knots(ratios: FloatArray) -> FloatArray:
    """1, the largest ratio, and some of those between, a little apart."""
    top = float(ratios.max()) * (1 + 2.0**-50)
    between = np.unique(ratios[(ratios > _APART) & (ratios * _APART < top)])
    if between.size > _MOST_KNOTS:
        between = np.geomspace(between[0], between[-1], _MOST_KNOTS)
    knots = [1.0]
    for t in between:
        if t >= knots[-1] * _APART:
            knots.append(float(t))
    return np.array([*knots, max(top, 1 + 2.0**-40)])


def table_blanket(rows: IntArray) -> Opposed:
    """Explicit rows: the least of each column is the blanket."""
    total = float(rows[0].sum())
    least, most = rows.min(axis=0), rows.max(axis=0)

    def loss(t: float) -> float:
        return max(float(np.maximum(row - t * least, 0.0).sum()) for row in rows) / total

    return envelope(float(least.sum()) / total, most / least, loss)


# -- of a window ------------------------------------------------------------------------------------------


def windows_cover(windows: Sequence[Window], shares: Sequence[float]) -> FloatArray:
    """How likely each cell is whatever the truth, of windows that a coin chooses between."""
    return np.concatenate([share * _cover(one) for one, share in zip(windows, shares, strict=True)])


def _cover(window: Window) -> FloatArray:
    """The background of each cell, and what every window covers."""
    weights = window.a
    if not window.wraps:
        first, last = (_shortened(window, s) for s in _reached(window))
        edge = np.concatenate(([0], np.cumsum(np.minimum(window.e, window.length))))
        reach = np.minimum(edge[1:], first + window.length) - np.maximum(edge[:-1], last)
        weights = weights + np.maximum(reach, 0)
    return np.asarray(weights / window.total)


def windows_blanket(windows: Sequence[Window], shares: Sequence[float]) -> Opposed:
    """Windows that a coin chooses between, which everybody sees."""
    mass, first, second = zip(*map(_window, windows), strict=True)
    shared = [share * one for one, share in zip(mass, shares, strict=True)]
    return Opposed(*map(np.concatenate, (shared, first, second)))


def _window(window: Window) -> Opposed:
    """A window: the background, and what every window covers.

    No cell holds more of the window than there is of it, so a cell with more extra weight is cut to that.
    """
    length, turns = window.length, 2 if window.wraps else 1
    extra = np.tile(np.minimum(window.extra, length), turns)
    background, count = np.tile(window.background, turns), np.tile(window.count, turns)
    edges = np.concatenate(([0], np.cumsum(count * extra)))
    if window.wraps:
        first, last = 0, int(edges[-1]) // 2
    else:
        first, last = (_shortened(window, s) for s in _reached(window))
    always = 0 if window.wraps else max(0, first + length - last)
    reached = np.diff(np.clip(edges, first, last + length)) > 0
    ratios = 1 + (extra / background)[reached]
    cuts = np.unique(np.concatenate((edges, [first, last, first + length, last + length])))
    middle = (cuts[1:] + cuts[:-1]) / 2
    run = np.clip(np.searchsorted(edges, middle, side="right") - 1, 0, extra.size - 1)
    sure = (middle > last) & (middle < first + length) if always else np.zeros(middle.size, dtype=bool)
    starts = np.unique(np.clip(np.concatenate((cuts, cuts - length)), first, last))
    weight = background / np.maximum(extra, 1)  # background per unit of the extra coordinate

    def loss(t: float) -> float:
        """The best window of Σ (P − t·m)₊: a sliding sum, piecewise linear in the start."""
        height = np.where(sure, 0.0, np.maximum(1 - (t - 1) * weight[run], 0.0))
        area = np.concatenate(([0.0], np.cumsum(height * np.diff(cuts))))
        inside = np.interp(starts + length, cuts, area) - np.interp(starts, cuts, area)
        return float(inside.max()) / window.total

    return envelope((window.mass + always) / window.total, ratios, loss)


def _reached(window: Window) -> tuple[int, int]:
    """The least and the largest start of any input: a segment's starts rise, so its ends tell."""
    ends = np.concatenate((window.knot_t, np.nextafter(window.knot_t[1:], 0.0), [0.0, 1.0]))
    starts = window.starts(np.unique(ends))
    return int(starts.min()), int(starts.max())


def _shortened(window: Window, start: int) -> int:
    """A start, on the extra coordinate where no cell is longer than the window."""
    removed, left = 0, 0
    for count, extra in zip(window.count.tolist(), window.extra.tolist(), strict=True):
        over = extra - window.length
        if over > 0:
            full, part = divmod(min(max(start - left, 0), count * extra), extra)
            removed += full * over + min(part, over)
        left += count * extra
    return start - removed
