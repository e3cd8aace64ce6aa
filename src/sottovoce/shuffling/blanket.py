"""What every person surely reports, whatever the truth: the blanket that hides everybody else.

With m_j = min_x P(j | x) and γ = Σ m_j, a report is drawn from m/γ with probability γ, without a look at the
value. Those reports hide the one of the person in question (Balle, Bell, Gascón and Nissim 2019); no other
way to divide the reports hides more (Su, Cheng and Wang 2025). For a window the background integers are the
blanket.

The observer compares ξ = P(j | x)/m_j and η = P(j | x')/m_j for j ~ m. Let Ξ be above every ξ_x in the convex
order: E(Ξ − t)₊ = max_x Σ_j (P(j | x) − t·m_j)₊ for all t. Then Ξ and Ξ' in opposite order are above every
pair x, x' (see `input_pair.py`), so no pair has to be searched for. A convex function lies below its chords:
the maximum is needed at a few t only.

A window is refined first: the report also tells where in its cell, on the extra coordinate, the draw fell.
That helps the observer, and then ξ = 1 + e_j/a_j inside the window and 1 outside: two values where a design
uses its whole ε.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentTypeError
from sottovoce.reporters.composites.polar import Polar
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.mixture import Mixture
from sottovoce.reporters.number import Number
from sottovoce.reporters.rows import MAX_ENTRIES, Rows
from sottovoce.reporters.translates import Translates
from sottovoce.reporters.window import Window
from sottovoce.shuffling.input_pair import Contrast, merge_kinds, mixture, opposite_pairing, sampled_parts

_MOST_KNOTS = 32
_APART = 1.02  # neighbouring knots differ by at least this factor


def blanket(reporter: Reporter, *, removal: bool = False) -> Contrast:
    """The contrast that is above that of any two inputs, against the blanket.

    Args:
        reporter: Whatever reports. Of a survey, the row of all answers that a person sends.
        removal: Compare an input with a draw from the blanket; of a survey, in every question that is drawn.

    Returns:
        A contrast whose sum over n people bounds that of every pair of inputs and every truth of the others.

    Raises:
        ArgumentTypeError: If the law of the reporter is not known here.
    """
    if isinstance(reporter, Survey):
        parts = [blanket(question, removal=removal) for question in reporter.items.values()]
        if reporter.functions is not None:
            return merge_kinds(mixture(parts, reporter.shares), outward=True)
        return sampled_parts(parts, reporter.sampled, outward=True)
    above = _single(reporter)
    return above.removal if removal else above


def _single(reporter: Reporter) -> Contrast:
    """The same of two inputs to anything but a survey."""
    if isinstance(reporter, Mechanism):
        return _window(reporter.window)
    if isinstance(reporter, Mixture):
        return mixture([_single(part) for part in reporter.parts], [float(s) for s in reporter.shares])
    if isinstance(reporter, Translates):
        return _translates(reporter)
    if isinstance(reporter, Polar):
        return sampled_parts([_single(reporter.distance), _single(reporter.angle)], 2, outward=True)
    return _rows(_table(reporter))


def common(covers: Sequence[Contrast]) -> Contrast:
    """The contrast of two inputs that is above several, each against its own blanket.

    Args:
        covers: Contrasts of two inputs.
    """

    def loss(t: float) -> float:
        return max(float(each.mass @ np.maximum(each.first - t, 0.0)) for each in covers)

    return _envelope(
        min(each.total for each in covers), np.concatenate([each.first for each in covers]), loss
    )


def cover(reporter: Reporter) -> FloatArray:
    """How likely each cell is whatever the truth; these add up to γ.

    Args:
        reporter: What one number, choice or place is reported with.
    """
    if isinstance(reporter, Translates):
        return np.asarray(reporter.backgrounds / (1 << reporter.bits))
    if isinstance(reporter, Mixture):
        shares = zip(reporter.parts, reporter.shares, strict=True)
        return np.concatenate([share * cover(part) for part, share in shares])
    if not isinstance(reporter, Mechanism):
        rows = _table(reporter)
        return np.asarray(rows.min(axis=0) / rows[0].sum())
    window = reporter.window
    weights = window.a
    if not window.wraps:
        first, last = (_shortened(window, s) for s in _reached(window))
        edge = np.concatenate(([0], np.cumsum(np.minimum(window.e, window.length))))
        reach = np.minimum(edge[1:], first + window.length) - np.maximum(edge[:-1], last)
        weights = weights + np.maximum(reach, 0)
    return np.asarray(weights / window.total)


def _table(reporter: Reporter) -> IntArray:
    """Rows of counts between which those of all other inputs lie."""
    if isinstance(reporter, Rows):
        return reporter.rows
    if not isinstance(reporter, Number):
        raise ArgumentTypeError(
            f"reporter must be a reporter of this package, got {type(reporter).__name__}", argument="reporter"
        )
    bends = reporter.bends(np.arange(reporter.cells))
    beside = np.concatenate([bends, np.nextafter(bends, -np.inf), np.nextafter(bends, np.inf)])
    x = np.unique(np.clip(beside, reporter.domain.low, np.nextafter(reporter.domain.high, -np.inf)))
    x = x if reporter.domain.is_circle else np.append(x, reporter.domain.high)
    if x.size * reporter.cells > MAX_ENTRIES:
        raise ArgumentTypeError(
            f"a {type(reporter).__name__} of {reporter.cells} cells is too large to be tabulated",
            argument="reporter",
        )
    return reporter.counts(x)


def _envelope(total: float, ratios: FloatArray, loss: Callable[[float], float]) -> Contrast:
    """Opposed inputs from max_x Σ (P − t·m)₊ at t = 1, at the largest ratio (where it is 0) and between."""
    knots = _knots(ratios)
    height = np.array([1.0 - total, *(loss(t) for t in knots[1:-1]), 0.0])
    slope = np.append(-np.diff(height) / np.diff(knots), 0.0)
    mass = np.concatenate(([total - slope[0]], -np.diff(slope)))
    return opposite_pairing(np.maximum(mass, 0.0), knots)


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


def _rows(rows: IntArray) -> Contrast:
    """Explicit rows: the least of each column is the blanket."""
    total = float(rows[0].sum())
    least, most = rows.min(axis=0), rows.max(axis=0)

    def loss(t: float) -> float:
        return max(float(np.maximum(row - t * least, 0.0).sum()) for row in rows) / total

    return _envelope(float(least.sum()) / total, most / least, loss)


def _translates(reporter: Translates) -> Contrast:
    """Choices or places: the two that share the fewest cells.

    The draws left over are told apart from the others in their cells, so that all ratios are equal. With
    equal laws of ξ and η the difference ξ − θη is the more spread out, the less often both are large.
    """
    both, ratio = int(reporter.together[1:].min()), float(reporter.largest_ratio)
    one, draws = reporter.elements - both, reporter.background
    rest = (reporter.cells - 2 * one - both) * draws + reporter.left_over
    mass = np.array([rest, one * draws, one * draws, both * draws]) / (1 << reporter.bits)
    contrast = Contrast(mass, np.array([1.0, ratio, 1.0, ratio]), np.array([1.0, 1.0, ratio, ratio]))
    return merge_kinds(contrast, outward=True)


def _window(window: Window) -> Contrast:
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

    return _envelope((window.mass + always) / window.total, ratios, loss)


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
