"""Exact expectations of a window: moments, errors, and their maxima over the continuous domain.

Everything is in the unit coordinate. A window [s, s+K) of the extra coordinate gives

    E[f] = (Σ_j a_j f_j + F(s+K) − F(s)) / T,   F(u) = ∫_0^u f(v(u')) du',

and F is piecewise linear with its bends at the cell edges. So moments and L1, L2 errors cost two look-ups
per input; other losses cost a sum over the cells.

Maxima. Between bends (knots; s or s+K at a cell edge; t at a report) L1, L2 and the variance are
quadratic in t: three values give each piece's maximum. For other k and linear distance the error is
convex in t and quasi-convex in s, so four corners bound it on a rectangle, and bisection closes in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.tables import FloatArray, IntArray
from sottovoce.window import Window

LongArray = NDArray[np.longdouble]
ErrorAt = Callable[[FloatArray, FloatArray], FloatArray]

_ROW_BLOCK = 1 << 21  # cells × inputs handled at a time by the direct sums


class Expectations:
    """The moments and errors of one window, prefix sums cached."""

    def __init__(self, window: Window) -> None:
        self.window = window

    # -- prefix sums ------------------------------------------------------------------------------------

    @cached_property
    def _edge(self) -> FloatArray:
        return self.window.edge.astype(np.float64)

    @cached_property
    def _sums(self) -> dict[str, tuple[LongArray, LongArray]]:
        """For f = v^p (v centred): prefix sums of a·f over cells, and F at the cell edges."""
        v = self.window.v.astype(np.longdouble) - 0.5
        powers = {"0": np.ones_like(v), "1": v, "2": v * v}
        return {p: (_prefix(self.window.a * f), _prefix(self.window.e * f)) for p, f in powers.items()}

    def _window_integral(self, p: str, u: FloatArray) -> LongArray:
        """F(u) for f = v^p; beyond H it goes round the circle."""
        edge, prefix = self._edge, self._sums[p][1]
        wraps = u > edge[-1]
        u = np.where(wraps, u - edge[-1], u)
        cell = np.clip(np.searchsorted(edge, u, side="right") - 1, 0, len(edge) - 2)
        width = np.maximum(edge[cell + 1] - edge[cell], 1.0)
        within = (u - edge[cell]) / width.astype(np.longdouble)
        return np.asarray(prefix[cell] + within * (prefix[cell + 1] - prefix[cell]) + wraps * prefix[-1])

    def moment(self, p: str, s: FloatArray) -> LongArray:
        """E[(y − ½)^p | start s] for p = "1" or "2"."""
        ends = self._window_integral(p, s + self.window.length) - self._window_integral(p, s)
        return np.asarray((self._sums[p][0][-1] + ends) / self.window.total)

    def mean(self, s: FloatArray) -> LongArray:
        return self.moment("1", s)

    def variance(self, s: FloatArray) -> FloatArray:
        first = self.moment("1", s)
        return np.asarray(np.maximum(self.moment("2", s) - first * first, 0), dtype=np.float64)

    def bias(self, t: FloatArray, s: FloatArray) -> FloatArray:
        return np.asarray(self.mean(s) - (t.astype(np.longdouble) - 0.5), dtype=np.float64)

    # -- errors -----------------------------------------------------------------------------------------

    def error(self, t: FloatArray, s: FloatArray, k: float, circular: bool) -> FloatArray:
        """E|y − t|^k at start s."""
        if circular or k not in (1.0, 2.0):
            return self._direct(t, s, k, circular)
        if k == 2.0:
            c = t.astype(np.longdouble) - 0.5
            square = self.moment("2", s) - 2 * c * self.moment("1", s) + c * c
            return np.asarray(np.maximum(square, 0), dtype=np.float64)
        return self._absolute(t, s)

    def _absolute(self, t: FloatArray, s: FloatArray) -> FloatArray:
        """E|y − t| by splitting background and window at the first report above t."""
        c = t.astype(np.longdouble) - 0.5
        split = np.searchsorted(self.window.v, t, side="left")
        (n, _), (m, _) = self._sums["0"], self._sums["1"]
        total = (m[-1] - 2 * m[split]) - c * (n[-1] - 2 * n[split])
        middle = self._edge[split]
        length, around = self.window.length, self._edge[-1]
        total += self._absolute_part(s, np.minimum(s + length, around), middle, c)
        total += self._absolute_part(np.zeros_like(s), np.maximum(s + length - around, 0.0), middle, c)
        return np.asarray(total / self.window.total, dtype=np.float64)

    def _absolute_part(
        self, start: FloatArray, end: FloatArray, middle: FloatArray, c: LongArray
    ) -> LongArray:
        middle = np.clip(middle, start, end)
        low, turn, high = (self._window_integral("1", u) for u in (start, middle, end))
        return np.asarray((high - 2 * turn + low) - c * (end - 2 * middle + start))

    def _direct(self, t: FloatArray, s: FloatArray, k: float, circular: bool) -> FloatArray:
        """Any loss, as a sum over all cells."""
        out = np.empty(t.shape)
        rows = max(1, _ROW_BLOCK // self.window.cells)
        for first in range(0, t.size, rows):
            part = slice(first, first + rows)
            distance = np.abs(self.window.v - t[part, None])
            if circular:
                distance = np.mod(distance, 1.0)
                distance = np.minimum(distance, 1.0 - distance)
            loss = distance if k == 1 else np.square(distance) if k == 2 else distance**k
            out[part] = np.einsum("ij,ij->i", self._weights(s[part]), loss)
        return out / self.window.total

    def _weights(self, s: FloatArray) -> FloatArray:
        """Counts per cell for real-valued starts."""
        s = s[:, None]
        left, right, end = self._edge[:-1], self._edge[1:], s + self.window.length
        overlap = np.maximum(np.minimum(right, end) - np.maximum(left, s), 0.0)
        if self.window.wraps:
            overlap += np.maximum(np.minimum(right, end - self._edge[-1]) - left, 0.0)
        return np.asarray(self.window.a + overlap)

    # -- where the law bends ----------------------------------------------------------------------------

    def bends(self, first: IntArray) -> FloatArray:
        """Unit coordinates between which the probability of every group of cells is linear in t.

        Group i holds the cells from first[i] to the next entry; at a bend the law may also jump.
        """
        pieces = _Pieces(self.window, bends=True, edges=self.window.edge[np.append(first, self.window.cells)])
        return np.append(pieces.t0, pieces.t1[-1])

    # -- maxima -----------------------------------------------------------------------------------------

    def worst_variance(self) -> float:
        pieces = _Pieces(self.window, bends=True)
        return pieces.quadratic_maximum(lambda t, s: self.variance(s))

    def worst_error(self, k: float, circular: bool) -> float:
        """max over t of E|y − t|^k: to rounding for k = 1, 2 in the domain's own distance, else to 1e−6.

        The exceptions to the first are circles of unequal cells, which no design here makes.
        """

        def at(t: FloatArray, s: FloatArray) -> FloatArray:
            return self.error(t, s, k, circular)

        period = self._period() if circular else 1.0
        if k in (1.0, 2.0) and (not circular or period < 1.0):
            turns = [self.window.v] if k == 1.0 or circular else []
            if circular:
                turns = [(self.window.v[:2, None] + [0.0, 0.5, -0.5]).ravel() % period]
            pieces = _Pieces(self.window, bends=True, turns=turns, until=period)
            return pieces.quadratic_maximum(at)
        pieces = _Pieces(self.window, bends=False, until=period)
        return pieces.bracketed_maximum(at, self._steepness(k) if circular else None)

    def _period(self) -> float:
        """On a circle of equal cells with one slope, moving by one cell changes nothing."""
        w = self.window
        equal = w.wraps and len(w.count) == 1 and len(w.knot_t) == 2 and w.knot_s[1] - w.knot_s[0] == w.around
        return 1.0 / w.cells if equal and abs(w.step[0] * w.cells - 1) < 1e-9 else 1.0

    def _steepness(self, k: float) -> tuple[float, float]:
        """How fast a circular error can change with t and with s (distances are at most ½)."""
        return k * 0.5 ** (k - 1), 0.5**k / self.window.total


class _Pieces:
    """The graph of the start as a polyline: (t, s) from (t0, s0) to (t1, s1), cut where asked."""

    def __init__(
        self,
        window: Window,
        *,
        bends: bool,
        turns: list[FloatArray] | None = None,
        until: float = 1.0,
        edges: IntArray | None = None,
    ) -> None:
        self.window = window
        self.edges = window.edge if edges is None else edges
        knots, starts, slopes = window.segments
        ends = np.append(knots[1:], np.inf)
        cuts = [np.array([0.0, until]), knots, *self._clamps(knots, starts, slopes), *(turns or [])]
        if bends:
            cuts.append(self._crossings(knots, starts, slopes, ends))
        t = np.unique(np.concatenate(cuts))
        t = t[(t >= 0) & (t <= until)]
        segment = np.clip(np.searchsorted(knots, (t[:-1] + t[1:]) / 2, side="right") - 1, 0, None)
        self.t0, self.t1 = t[:-1], t[1:]
        self.s0, self.s1 = (
            np.clip(starts[segment] + (at - knots[segment]) * slopes[segment], 0.0, window.top)
            for at in (self.t0, self.t1)
        )
        if window.wraps:
            turns = np.floor((self.s0 + self.s1) / 2 / window.around) * window.around
            self.s0, self.s1 = self.s0 - turns, self.s1 - turns

    def _clamps(self, t: FloatArray, s: FloatArray, slope: FloatArray) -> list[FloatArray]:
        """Where a segment's line meets the smallest or the largest start, or the seam of a circle."""
        levels = [0.0, float(self.window.top)] + ([float(self.window.around)] if self.window.wraps else [])
        moving = slope > 0
        return [t[moving] + (level - s[moving]) / slope[moving] for level in levels]

    def _crossings(self, t: FloatArray, s: FloatArray, slope: FloatArray, end: FloatArray) -> FloatArray:
        """Where s or s + K passes a cell edge."""
        edge = np.unique(self.edges).astype(np.float64)
        length, around = float(self.window.length), float(self.window.around)
        levels = [edge, edge - length]
        if self.window.wraps:
            levels += [edge + around, edge - length + around, edge - length + 2 * around]
        level = np.unique(np.concatenate(levels))
        reach = s + (np.minimum(end, 1.0) - t) * slope
        begin = np.where(np.arange(len(t)) == 0, s - t * slope, s)
        low, high = np.searchsorted(level, begin), np.searchsorted(level, reach, side="right")
        counts = np.where(slope > 0, np.maximum(high - low, 0), 0)
        segment = np.repeat(np.arange(len(t)), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        crossed = level[low[segment] + within]
        return np.asarray(t[segment] + (crossed - s[segment]) / slope[segment])

    def quadratic_maximum(self, f: ErrorAt) -> float:
        """The maximum of an f that is quadratic along every piece."""
        left, right = f(self.t0, self.s0), f(self.t1, self.s1)
        middle = f((self.t0 + self.t1) / 2, (self.s0 + self.s1) / 2)
        slope, curve = right - left, 2 * (left + right - 2 * middle)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(curve < 0, 0.5 - slope / (2 * curve), 0.5)
            inside = (curve < 0) & (at > 0) & (at < 1)
            top = np.where(inside, middle - slope**2 / (8 * curve), middle)
        # A vertex far from its three values is rounding on a piece too short to matter.
        top = np.where(np.abs(top - middle) <= np.abs(slope) + 1e-12 * middle, top, middle)
        return float(max(left.max(), right.max(), top.max()))

    def bracketed_maximum(self, f: ErrorAt, steepness: tuple[float, float] | None, rounds: int = 60) -> float:
        """The maximum by bisection, dropping pieces whose upper bound is below what was reached."""
        t0, t1, s0, s1 = self.t0, self.t1, self.s0, self.s1
        left, right = f(t0, s0), f(t1, s1)
        best = max(left.max(), right.max())
        for _ in range(rounds):
            if steepness is None:
                bound = np.maximum(np.maximum(left, right), np.maximum(f(t0, s1), f(t1, s0)))
            else:
                bound = (left + right + steepness[0] * (t1 - t0) + steepness[1] * np.abs(s1 - s0)) / 2
            keep = bound > best * (1 + 1e-6)
            if not keep.any() or keep.sum() > 20_000:
                break
            t0, t1, s0, s1, left, right = (z[keep] for z in (t0, t1, s0, s1, left, right))
            tm, sm = (t0 + t1) / 2, (s0 + s1) / 2
            middle = f(tm, sm)
            best = max(best, middle.max())
            t0, t1, s0, s1 = (np.concatenate(pair) for pair in ((t0, tm), (tm, t1), (s0, sm), (sm, s1)))
            left, right = np.concatenate((left, middle)), np.concatenate((middle, right))
        return float(best)


def _prefix(terms: Any) -> LongArray:
    return np.concatenate(([np.longdouble(0)], np.cumsum(terms, dtype=np.longdouble)))
