"""The integer window: the one object behind every piecewise mechanism.

Cells j = 0..N−1 carry integer weights: background a_j ≥ 1 and extra e_j ≥ 0. With A = Σ a_j, H = Σ e_j
and K = 2^bits − A, the input only chooses where a window of length K starts on the *extra coordinate*
[0, H), on which cell j covers e_j. A uniform draw below 2^bits falls into the background (below A) or into
the window. Cell j is hit by a_j plus the overlap of the window with it: between a_j and a_j + e_j draws
out of 2^bits, whatever the input. That is the whole privacy argument; `largest_ratio` counts it.

Positions of reports (`value`, `step`) and of inputs (`t`) are in the unit coordinate of the domain.
Cells come in runs of equal ones, so a uniform mechanism of 2^16 cells is a handful of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import SpecError
from sottovoce.exact.exponential import MAX_BITS
from sottovoce.frozen import Compact
from sottovoce.reporters.sampling.tables import Tables

if TYPE_CHECKING:
    from fractions import Fraction

    from sottovoce.reporters.law.operator import Operator

MAX_CELLS = 1 << 20
_COPIES = 6  # window lengths away from a window at which weights still follow it
_LEAST_GAP = 2.0**-64  # between two knots of the start table, unless they coincide


@dataclass(frozen=True, eq=False, repr=False)
class Window(Compact):
    """Runs of cells and the table of window starts, checked for consistency (not yet for ε)."""

    wraps: bool
    bits: int
    count: IntArray
    background: IntArray
    extra: IntArray
    value: FloatArray
    step: FloatArray
    knot_t: FloatArray
    knot_s: IntArray
    stepwise: bool

    def __post_init__(self) -> None:
        whole = ("count", "background", "extra", "knot_s")
        for name in (*whole, "value", "step", "knot_t"):
            array = np.array(getattr(self, name), dtype=np.int64 if name in whole else np.float64)
            object.__setattr__(self, name, _frozen(array))
        self._check_cells()
        self._check_starts()

    def _check_cells(self) -> None:
        runs = len(self.count)
        _rule(1 <= self.bits <= MAX_BITS, f"bits must be at most {MAX_BITS}")
        _rule(runs >= 1, "cells must not be empty")
        for name in ("background", "extra", "value", "step"):
            _rule(getattr(self, name).shape == (runs,), f"cells.{name} must have one entry per run")
        _rule(bool((self.count >= 1).all()), "cells.count must be at least 1")
        cells = self._exact_sum(np.ones_like(self.count))
        _rule(cells <= MAX_CELLS, f"there can be at most {MAX_CELLS} cells")
        _rule(bool((self.background >= 1).all()), "cells.background must be at least 1")
        _rule(bool((self.extra >= 0).all()), "cells.extra must not be negative")
        _rule(bool(np.isfinite([self.value, self.step]).all()), "cell values must be finite")
        with np.errstate(over="ignore", invalid="ignore"):
            last = self.value + self.step * (self.count - 1)
        ordered = (self.step >= 0).all() and (self.value[1:] >= last[:-1]).all() and np.isfinite(last).all()
        _rule(bool(ordered), "cell values must not decrease")
        if self.wraps:
            _rule(self.value[0] >= 0 and last[-1] <= 1, "values on a circle must lie between 0 and 1")
        a, h = self._exact_sum(self.background), self._exact_sum(self.extra)
        _rule(a + (2 * h if self.wraps else h) <= 1 << 53, "the weights must add up to at most 2^53")
        _rule(a < 1 << self.bits, "the background must leave room for the window (A < 2^bits)")
        _rule(h >= (1 << self.bits) - a, "the extra weights must hold the window (H >= 2^bits - A)")

    def _check_starts(self) -> None:
        knots = len(self.knot_t)
        _rule(self.knot_s.shape == (knots,), "start.t and start.s must have one entry per knot")
        _rule(knots >= (1 if self.stepwise else 2), "start needs a knot (two if it is not a step table)")
        _rule(bool((self.knot_t >= 0).all() and (self.knot_t <= 1).all()), "start.t must lie between 0 and 1")
        s, gap = self.knot_s, np.diff(self.knot_t)
        _rule(bool(((gap == 0) | (gap >= _LEAST_GAP)).all()), "start.t must not decrease")
        _rule(bool((np.diff(s) >= 0).all()), "start.s must not decrease")
        _rule(bool(s[0] >= 0 and s[-1] <= self.top), f"start.s must lie in [0, {self.top}]")
        t, first, rise = self.segments  # the last is followed up to 1; before the first all starts are 0
        reach = first + np.floor((np.append(t[1:], 1.0) - t) * rise)
        _rule(bool((reach <= 1 << 53).all()), "lines of starts must stay within 2^53")

    def _exact_sum(self, per_cell: IntArray) -> int:
        return sum(int(c) * int(w) for c, w in zip(self.count, per_cell, strict=True))

    # -- totals ---------------------------------------------------------------------------------------

    @cached_property
    def cells(self) -> int:
        """N."""
        return int(self.count.sum())

    @cached_property
    def total(self) -> int:
        """T = 2^bits: the number of equally likely draws."""
        return 1 << self.bits

    @cached_property
    def mass(self) -> int:
        """A: draws that pick a background cell."""
        return int((self.count * self.background).sum())

    @cached_property
    def around(self) -> int:
        """H: the length of the extra coordinate."""
        return int((self.count * self.extra).sum())

    @cached_property
    def length(self) -> int:
        """K: the length of the window."""
        return self.total - self.mass

    @property
    def top(self) -> int:
        """The largest start; on a circle starts run twice around, so that one rise can cross the seam."""
        return 2 * self.around - 1 if self.wraps else self.around - self.length

    # -- per cell -------------------------------------------------------------------------------------

    @cached_property
    def a(self) -> IntArray:
        return _frozen(np.repeat(self.background, self.count))

    @cached_property
    def e(self) -> IntArray:
        return _frozen(np.repeat(self.extra, self.count))

    @cached_property
    def edge(self) -> IntArray:
        """Cell j covers [edge_j, edge_{j+1}) of the extra coordinate."""
        return _frozen(np.concatenate(([0], np.cumsum(self.e))))

    @cached_property
    def v(self) -> FloatArray:
        """Where each cell's report lies, in the unit coordinate: value + step·(index within the run)."""
        first = np.repeat(np.cumsum(self.count) - self.count, self.count)
        value, step = np.repeat(self.value, self.count), np.repeat(self.step, self.count)
        return _frozen(value + step * (np.arange(self.cells) - first))

    # -- starts and sampling --------------------------------------------------------------------------

    @cached_property
    def segments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(t_k, s_k, rise_k): from t_k on, the window starts at s_k + ⌊(t − t_k)·rise_k⌋, clamped."""
        t, s = self.knot_t, self.knot_s.astype(np.float64)
        if self.stepwise:
            return t, s, np.zeros_like(s)
        gap = np.diff(t)
        rise = np.divide(np.diff(s), gap, out=np.zeros_like(gap), where=gap > 0)
        return t[:-1], s[:-1], rise

    @cached_property
    def tables(self) -> Tables:
        return Tables.of(
            bits=self.bits, top=self.top, wraps=self.wraps, starts=self.segments,
            count=self.count, background=self.background, extra=self.extra,
        )  # fmt: skip

    def starts(self, t: FloatArray) -> IntArray:
        """The exact window start of each unit coordinate, in [0, H)."""
        knots, first, rise = self.segments
        k = np.maximum(np.searchsorted(knots, t, side="right") - 1, 0)
        s = np.clip(first[k] + np.floor((t - knots[k]) * rise[k]), 0, self.top).astype(np.int64)
        return s % self.around if self.wraps else s

    def counts(self, s: IntArray) -> IntArray:
        """How many of the 2^bits draws give each cell, for each start: an exact row per start."""
        return np.asarray(self.a + self.overlap(np.asarray(s, dtype=np.int64)))

    def overlap(self, s: Any, cells: Any = slice(None)) -> Any:
        """How much of the window that starts at s lies on each cell, or on the one cell given for each s."""
        left, right = self.edge[:-1][cells], self.edge[1:][cells]
        if isinstance(cells, slice):
            s = s[..., None]
        overlap = np.maximum(np.minimum(right, s + self.length) - np.maximum(left, s), 0)
        if self.wraps:
            overlap += np.maximum(np.minimum(right, s + self.length - self.around) - left, 0)
        return overlap

    # -- the probability law as an operator -------------------------------------------------------------

    def operator(self, s: IntArray) -> Operator:
        """P(cell | start) for the given starts, with O(cells + starts) products."""
        from sottovoce.reporters.law.operator import Operator  # a device has no use for it

        s = np.asarray(s, dtype=np.int64)
        end = s + self.length
        wrapped = end > self.around
        ends = self._locate(s), self._locate(np.where(wrapped, end - self.around, end))
        return Operator.windows(self.a / self.total, self.e / self.total, *ends, wrapped)

    def _locate(self, u: IntArray) -> tuple[IntArray, FloatArray]:
        """The cell that holds a position of the extra coordinate, and the part of it below."""
        cell = np.searchsorted(self.edge[:-1], u, side="right") - 1
        width = np.maximum(self.e[cell], 1)
        return cell.astype(np.int64), (u - self.edge[cell]) / width

    # -- bins of cells ----------------------------------------------------------------------------------

    def table(self, s: IntArray, first: IntArray) -> FloatArray:
        """P(bin | start), a row per start: background, and what of the window lies between the edges."""
        edge, s = self.edge[np.append(first, self.cells)].astype(np.float64), s[:, None]
        cover = np.clip(edge - s, 0.0, self.length)  # whole numbers, exact as they are below 2^53
        if self.wraps:
            cover += np.clip(np.minimum(edge, s + self.length - self.around), 0, None)
        return np.asarray((np.add.reduceat(self.a, first) + np.diff(cover, axis=1)) / self.total)

    def even(self, most: int) -> IntArray:
        """First cells of bins of nearly equal size."""
        return np.arange(min(most, self.cells)) * self.cells // min(most, self.cells)

    def placed(self, most: int, s: tuple[int, int]) -> IntArray:
        """First cells of bins that are fine where windows that start between `s` begin and end.

        And one, two and more window lengths from there: weights that tell such starts apart vary there. Four
        fifths of the bins are so placed, at the same steps in every copy; the others are even.
        """
        reach = min(-(-self.around // self.length), _COPIES) // (2 if self.wraps else 1)
        copies = np.arange(-reach, reach + 1)[:, None] * self.length
        inside = (s[1] + copies > 0) & (s[0] + copies < self.around) | self.wraps
        at = np.linspace(*s, max(2, 4 * most // 5 // int(inside.sum()))) + copies[inside[:, 0]]
        at = at.reshape(-1) % self.around if self.wraps else at[(at >= 0) & (at < self.around)]
        cells = np.searchsorted(self.edge[:-1], at.astype(np.int64), side="right") - 1
        return np.unique(np.concatenate((self.even(most // 5 + 1), cells)))

    # -- privacy --------------------------------------------------------------------------------------

    @property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of two counts of one cell over all allowed starts, exactly."""
        from fractions import Fraction  # with decimals, a sixth of the time that a device takes to start

        return Fraction(*self.extremes)

    @cached_property
    def extremes(self) -> tuple[int, int]:
        """The largest and the least count of one cell over all allowed starts, for the cell of largest ratio.

        A cell's overlap with the window rises and falls as the start moves on, so on an interval it is least
        at one of the two extreme starts: at the first one for the last cell of a run, at the last one for
        the first. On a circle the window misses as much of a cell as the gap H − K can hold. One look per
        run, so that a spec of a few bytes and a million cells costs nothing.
        """
        a, e, gap = self.background, self.extra, self.around - self.length
        most = a + np.minimum(e, self.length)
        if self.wraps:
            least = a + np.maximum(e - gap, 0)
        else:
            end = np.cumsum(self.count * e)
            last = self.length - (end - e)  # how far the window at 0 reaches into the last cell
            first = end - (self.count - 1) * e - gap  # and how much the window at the top has of the first
            least = a + np.clip(np.minimum(last, first), 0, e)
        approximate = most / least
        close = approximate >= approximate.max() * (1 - 1e-14)
        largest = 1, 1
        for p, q in {*zip(most[close].tolist(), least[close].tolist(), strict=True)}:
            if p * largest[1] > largest[0] * q:
                largest = p, q
        return largest


def _rule(holds: bool, sentence: str) -> None:
    if not holds:
        raise SpecError(sentence)


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array
