"""Exact expectations of a window: moments, errors, and their maxima over the continuous domain.

Everything is in the unit coordinate. A window [s, s+K) of the extra coordinate gives

    E[f] = (Σ_j a_j f_j + F(s+K) − F(s)) / T,   F(u) = ∫_0^u f(v(u')) du',

and F is piecewise linear with its bends at the cell edges. So moments and L1, L2 errors cost two look-ups
per input; other losses cost a sum over the cells.

Their maxima over the continuous domain are found piece by piece (`maxima`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.maxima import Bulge, Pieces
from sottovoce.core.window import Window

LongArray = NDArray[np.longdouble]

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
        pieces = Pieces(self.window, bends=True, edges=self.window.edge[np.append(first, self.window.cells)])
        return np.append(pieces.t0, pieces.t1[-1])

    # -- maxima -----------------------------------------------------------------------------------------

    def worst_variance(self) -> float:
        pieces = Pieces(self.window, bends=True)
        return pieces.quadratic_maximum(lambda t, s: self.variance(s))

    def worst_error(self, k: float, circular: bool) -> float:
        """max over t of E|y − t|^k: to rounding for k = 1, 2 in the domain's own distance, else to 1e−6.

        The exceptions to the first are circles of unequal cells, which no design here makes. What is returned
        is attained.
        """

        def at(t: FloatArray, s: FloatArray) -> FloatArray:
            return self.error(t, s, k, circular)

        period = self._period() if circular else 1.0
        if k in (1.0, 2.0) and (not circular or period < 1.0):
            turns = [self.window.v] if k == 1.0 or circular else []
            if circular:
                turns = [(self.window.v[:2, None] + [0.0, 0.5, -0.5]).ravel() % period]
            pieces = Pieces(self.window, bends=True, turns=turns, until=period)
            return pieces.quadratic_maximum(at)
        pieces = Pieces(self.window, bends=False, until=period)
        return pieces.bracketed_maximum(at, Bulge(self.window, k, circular))

    def _period(self) -> float:
        """On a circle of equal cells with one slope, moving by one cell changes nothing."""
        w = self.window
        equal = w.wraps and len(w.count) == 1 and len(w.knot_t) == 2 and w.knot_s[1] - w.knot_s[0] == w.around
        return 1.0 / w.cells if equal and abs(w.step[0] * w.cells - 1) < 1e-9 else 1.0


def _prefix(terms: Any) -> LongArray:
    return np.concatenate(([np.longdouble(0)], np.cumsum(terms, dtype=np.longdouble)))
