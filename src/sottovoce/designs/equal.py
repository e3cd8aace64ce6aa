"""Equal cells: a background on an interval as cells of one weight, close together where it is dense.

Cells come in runs of equal steps, so that thousands of them fit into a small spec. The window is a whole
number of cells: both its ends pass from cell to cell at once, so the mean of an unbiased mechanism is linear
from one such start to the next.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.domains import Domain
from sottovoce.core.exact import exp_lower
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.window import Window
from sottovoce.designs.build import draw_bits, mean_starts

Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class Background:
    """Masses of reports.

    Attributes:
        e: E = e^ε.
        y: The reports, increasing and symmetric about ½.
        g: Their masses.
        width: Over what each mass is spread; 0 for an atom.
    """

    e: float
    y: FloatArray
    g: FloatArray
    width: FloatArray

    @property
    def length(self) -> float:
        """K: the length of the window in the extra coordinate."""
        return 1 - float(self.g.sum())

    @property
    def edge(self) -> FloatArray:
        """The extra coordinate at which each report begins, and its end."""
        return np.append(0.0, np.cumsum((self.e - 1) * self.g))

    def at(self, u: FloatArray, side: Side) -> FloatArray:
        """The report at a position of the extra coordinate; at an edge the one on this side of it."""
        edge = self.edge
        j = np.clip(np.searchsorted(edge, u, side=side) - 1, 0, len(self.y) - 1)
        within = np.clip((u - edge[j]) / np.maximum(edge[j + 1] - edge[j], 1e-300), 0.0, 1.0) - 0.5
        return np.asarray(self.y[j] + within * self.width[j])

    def quantiles(self, inside: int) -> FloatArray:
        """Positions of cells of equal mass, so many to a window: the mean report of each."""
        edge = self.edge
        cells = round(inside * edge[-1] / self.length)
        u = np.linspace(0.0, edge[-1], cells + 1)
        j = np.clip(np.searchsorted(edge, u, side="right") - 1, 0, len(self.y) - 1)
        into = u - edge[j]
        rest = 1 - into / np.maximum(edge[j + 1] - edge[j], 1e-300)
        below = np.append(0.0, np.cumsum(np.diff(edge) * self.y))[j]
        means = np.diff(below + into * (self.y[j] - rest * self.width[j] / 2)) * cells / edge[-1]
        return np.asarray((means + 1 - means[::-1]) / 2)


def equal_cells(
    epsilon: float, domain: Domain, *, positions: FloatArray, inside: int, unbiased: bool, tolerance: float
) -> Mechanism:
    """Make a mechanism of cells of one weight near these unit positions, `inside` of them in a window.

    The window is the one nearest to t, or with `unbiased` the one whose mean is t; then positions are scaled
    so that every mean is reached. Positions must not decrease and be symmetric about ½; a cell may be off by
    the tolerance for the sake of longer runs.
    """
    q, cells = exp_lower(epsilon), len(positions)
    bits = draw_bits(float(cells / (cells + inside * (q - 1))), float(q - 1), False)
    a = math.ceil((1 << bits) / (cells + inside * (q - 1)))
    e = ((1 << bits) - cells * a) // inside
    count, value, step = _symmetric_runs(positions, tolerance)
    background = np.full(len(count), a)
    background[0] += (1 << bits) - cells * a - inside * e  # what is left of the draws; this run is one cell
    if unbiased:
        v = _values(count, value, step) - 0.5
        stretch = (1 << bits) / 2 / (e * min(v[cells - inside :].sum(), -v[:inside].sum()))
        step = step * stretch
        value = _ordered(count, 0.5 + (value - 0.5) * stretch, step)
        edge = e * np.arange(cells + 1)
        v, levels = _values(count, value, step), edge[: cells + 1 - inside]
        _, knot_t, knot_s = mean_starts(v, np.repeat(background, count), edge, inside * e, levels, bits)
    else:
        knot_t, knot_s = _nearest(count, value, step, inside, tolerance)
        knot_s *= e
    window = Window(
        wraps=False,
        bits=bits,
        count=count,
        background=background,
        extra=np.full(len(count), e),
        value=value,
        step=step,
        knot_t=knot_t,
        knot_s=knot_s,
        stepwise=False,
    )
    return Mechanism(epsilon, domain, window)


def _values(count: IntArray, value: FloatArray, step: FloatArray) -> FloatArray:
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.asarray(np.repeat(value, count) + np.repeat(step, count) * within)


def _symmetric_runs(positions: FloatArray, tolerance: float) -> tuple[IntArray, FloatArray, FloatArray]:
    """Counts, values and steps of runs; those of the upper half mirror the lower ones."""
    half = len(positions) // 2
    first, step = _runs(positions[:half], tolerance)
    count, value = np.diff(np.append(first, half)), positions[first]
    middle = positions[half : len(positions) - half]
    top = 1 - (value + step * (count - 1))[::-1]
    count = np.concatenate((count, np.ones(len(middle), dtype=np.int64), count[::-1]))
    value, step = np.concatenate((value, middle, top)), np.concatenate((step, 0 * middle, step[::-1]))
    return count, _ordered(count, value, step), step


def _runs(positions: FloatArray, tolerance: float) -> tuple[IntArray, FloatArray]:
    """First cells and steps of runs that stay within the tolerance of the positions; the first is one cell.

    >>> _runs(np.array([0.0, 0.0, 1.0, 2.0, 3.0, 5.0]), 0.01)[0].tolist()
    [0, 1, 5]
    """
    first, steps, begin = [0], [0.0], 1
    while begin < len(positions):
        ahead = positions[begin + 1 : begin + 4096] - positions[begin]
        cells = np.arange(1, len(ahead) + 1)
        low = np.maximum.accumulate((ahead - tolerance) / cells)
        high = np.minimum.accumulate((ahead + tolerance) / cells)
        more = int(np.argmin(np.append(low <= high, False)))
        more = 0 if more == 1 else more  # any two cells lie on a line
        first.append(begin)
        steps.append(max(float(low[more - 1] + high[more - 1]) / 2, 0.0) if more else 0.0)
        begin += more + 1
    return np.array(first), np.array(steps)


def _ordered(count: IntArray, value: FloatArray, step: FloatArray) -> FloatArray:
    """Values of runs of which none begins before the last one ends, which tolerance and rounding allow."""
    value = value.copy()
    for i in range(1, len(value)):
        value[i] = max(value[i], value[i - 1] + step[i - 1] * (count[i - 1] - 1))
    return value


def _nearest(
    count: IntArray, value: FloatArray, step: FloatArray, inside: int, tolerance: float
) -> tuple[FloatArray, IntArray]:
    """Knots where an end of the window passes from run to run, in cells; t is in the middle of both ends.

    Between such starts both ends move evenly; at a gap between runs the window waits.
    """
    first = np.append(0, np.cumsum(count))
    level = np.union1d(first, first - inside)
    level = level[(level >= 0) & (level <= first[-1] - inside)]

    def end(cell: IntArray, side: Side) -> FloatArray:
        run = np.clip(np.searchsorted(first, cell, side=side) - 1, 0, len(count) - 1)
        return np.asarray(value[run] + step[run] * (cell - first[run] - 0.5))

    sides: tuple[Side, Side] = ("left", "right")
    turn = np.stack([(end(level, side) + end(level + inside, side)) / 2 for side in sides], axis=1)
    gap = turn[:, 1] - turn[:, 0] > tolerance
    turn[~gap] = turn[~gap].mean(axis=1, keepdims=True)
    distinct = np.stack((np.ones_like(gap), gap), axis=1).ravel()
    t, s = np.clip(turn.ravel()[distinct], 0.0, 1.0), np.repeat(level, 2)[distinct]
    t = np.maximum.accumulate(t)
    bucket = np.floor(t * 2**14)  # of the rule about look-ups in `core.spec`: two knots in each are enough
    change = bucket[1:] != bucket[:-1]
    keep = np.append(True, change) | np.append(change, True)
    t, s = t[keep], s[keep]
    if t[-2] == t[-1] < 1:  # a knot after the last leap: a start is looked up from the last knot but one
        t, s = np.append(t, 1.0), np.append(s, s[-1])
    return t, s
