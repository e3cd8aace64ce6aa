"""Exact expectations of a window: moments, errors, and their maxima over the continuous domain.

Everything is in the unit coordinate. A window [s, s+K) of the extra coordinate gives

    E[f] = (Σ_j a_j f_j + F(s+K) − F(s)) / T,   F(u) = ∫_0^u f(v(u')) du',

and F is piecewise linear with its bends at the cell edges. So moments and L1, L2 errors cost two look-ups
per input; other losses cost a sum over the cells.

Their maxima over the continuous domain are found piece by piece (`worst_case`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.reporters.law.cell_positions import power_loss
from sottovoce.reporters.law.worst_case import ErrorAt, Pieces, Track
from sottovoce.reporters.window import Window

if TYPE_CHECKING:
    from sottovoce.reporters.law.number_law import NumberLaw

LongArray = NDArray[np.longdouble]

_BENDS = 16  # that are looked at rather than halving the domain once more
_ROW_BLOCK = 1 << 16  # cells × inputs handled at a time by the direct sums: they stay in the cache


class Expectations:
    """The moments and errors of one window, prefix sums cached."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self._sums_of: dict[str, tuple[LongArray, LongArray]] = {}

    # -- prefix sums ------------------------------------------------------------------------------------

    @cached_property
    def _edge(self) -> FloatArray:
        return self.window.edge.astype(np.float64)

    def _sums(self, p: str) -> tuple[LongArray, LongArray]:
        """For f = v^p (v centred): prefix sums of a·f over cells, and F at the cell edges."""
        if p not in self._sums_of:
            v = self.window.v.astype(np.longdouble) - 0.5
            f = np.ones_like(v) if p == "0" else v if p == "1" else v * v
            self._sums_of[p] = _prefix(self.window.a * f), _prefix(self.window.e * f)
        return self._sums_of[p]

    def _window_integral(self, p: str, u: FloatArray) -> LongArray:
        """F(u) for f = v^p; beyond H it goes round the circle."""
        edge, prefix = self._edge, self._sums(p)[1]
        wraps = u > edge[-1]
        u = np.where(wraps, u - edge[-1], u)
        cell = np.searchsorted(edge[1:-1], u, side="right")
        width = np.maximum(edge[cell + 1] - edge[cell], 1.0)
        within = (u - edge[cell]) / width.astype(np.longdouble)
        return np.asarray(prefix[cell] + within * (prefix[cell + 1] - prefix[cell]) + wraps * prefix[-1])

    def moment(self, p: str, s: FloatArray) -> LongArray:
        """E[(y − ½)^p | start s] for p = "1" or "2"."""
        end, begin = self._window_integral(p, np.stack((s + self.window.length, s)))
        return np.asarray((self._sums(p)[0][-1] + (end - begin)) / self.window.total)

    def bias(self, t: FloatArray, s: FloatArray) -> FloatArray:
        return np.asarray(self.moment("1", s) - (t.astype(np.longdouble) - 0.5), dtype=np.float64)

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

    def period(self) -> float:
        """On a circle of equal cells with one rise, moving by one cell changes nothing."""
        w = self.window
        equal = w.wraps and len(w.count) == 1 and len(w.knot_t) == 2 and w.knot_s[1] - w.knot_s[0] == w.around
        return 1.0 / w.cells if equal and abs(w.step[0] * w.cells - 1) < 1e-9 else 1.0

    def _absolute(self, t: FloatArray, s: FloatArray) -> FloatArray:
        """E|y − t| by splitting background and window at the first report above t."""
        c = t.astype(np.longdouble) - 0.5
        split = np.searchsorted(self.window.v, t, side="left")
        (n, _), (m, _) = self._sums("0"), self._sums("1")
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
        low, turn, high = self._window_integral("1", np.stack((start, middle, end)))
        return np.asarray((high - 2 * turn + low) - c * (end - 2 * middle + start))

    def _direct(self, t: FloatArray, s: FloatArray, k: float, circular: bool) -> FloatArray:
        """Any loss, as a sum over all cells."""
        out = np.empty(t.shape)
        rows = max(1, _ROW_BLOCK // self.window.cells)
        for first in range(0, t.size, rows):
            part = slice(first, first + rows)
            loss = power_loss(self.window.v, t[part], k, circular)
            out[part] = np.einsum("ij,ij->i", self.window.a + self.window.overlap(s[part]), loss)
        return out / self.window.total


class WindowLaw:
    """The law of a coin between windows: expectations, and their maxima over the continuous domain.

    A lone window is the coin with one side.
    """

    def __init__(self, windows: Sequence[Window], shares: Sequence[float]) -> None:
        self.parts = [Expectations(window) for window in windows]
        self.shares = list(shares)

    def starts(self, t: FloatArray) -> list[FloatArray]:
        """The window start of every part at each t."""
        return [part.window.starts(t).astype(np.float64) for part in self.parts]

    def error(self, t: FloatArray, starts: list[FloatArray], k: float, circular: bool) -> FloatArray:
        """E|y − t|^k."""
        errors = (part.error(t, s, k, circular) for part, s in zip(self.parts, starts, strict=True))
        return self._mixed(errors)

    def bias(self, t: FloatArray, starts: list[FloatArray]) -> FloatArray:
        """E[y] − t."""
        return self._mixed(part.bias(t, s) for part, s in zip(self.parts, starts, strict=True))

    def variance(self, starts: list[FloatArray]) -> FloatArray:
        """E[y²] − E[y]²."""
        moments = [
            self._mixed(part.moment(p, s) for part, s in zip(self.parts, starts, strict=True))
            for p in ("1", "2")
        ]
        return np.asarray(np.maximum(moments[1] - moments[0] * moments[0], 0), dtype=np.float64)

    def _mixed(self, terms: Iterable[Any]) -> Any:
        return sum(share * term for share, term in zip(self.shares, terms, strict=True))

    def worst_variance(self) -> float:
        """The largest variance."""
        return self._pieces().cut().quadratic_maximum(lambda t, starts: self.variance(starts))

    def worst_error(self, k: float, circular: bool) -> float:
        """max over t of E|y − t|^k: to rounding for k = 1, 2 in the domain's own distance, else to 1e−6.

        Of other losses, in the other distance and on circles of unequal cells, which no design here makes,
        it is what a search finds. What is returned is attained, or approached where a start leaps.
        """
        period = max(part.period() for part in self.parts) if circular else 1.0
        if period < 1.0 and len(self.parts) > 1:
            # Turning by a cell changes nothing, and within a cell errors move by its width squared.
            alone = (WindowLaw([part.window], [1.0]) for part in self.parts)
            return float(self._mixed(law.worst_error(k, circular) for law in alone))
        pieces = self._pieces(period)

        def error(t: FloatArray, starts: list[FloatArray]) -> FloatArray:
            return self.error(t, starts, k, circular)

        if k in (1.0, 2.0) and period < 1.0:
            turns = (self.parts[0].window.v[:2, None] + [0.0, 0.5, -0.5]).ravel() % period
            return pieces.cut(np.sort(turns)).quadratic_maximum(error)
        if circular or self.parts[0].window.wraps or k not in (1.0, 2.0):
            return pieces.searched(error)
        shares = [(share, self._at(part, k)) for share, part in zip(self.shares, self.parts, strict=True)]
        halvings = max(part.window.cells // _BENDS for part in self.parts).bit_length()
        peak, places = pieces.narrowed(shares, halvings)
        turns = np.sort(np.concatenate([part.window.v for part in self.parts]))
        rest = places.cut(turns).quadratic_maximum(error) if len(places.t0) else 0.0
        return max(peak, rest)

    @staticmethod
    def _at(part: Expectations, k: float) -> ErrorAt:
        return lambda t, s: part.error(t, s, k, False)

    def _pieces(self, until: float = 1.0) -> Pieces:
        return Pieces.until(until, [Track(part.window) for part in self.parts])


def resultant(m: NumberLaw) -> float:
    """ρ = E cos(y − x) on a circle, at the middle of a cell."""
    angle = 2 * math.pi * m.positions
    t = float(m.positions[0])
    x = float(m.domain.from_unit(t))
    return float(m.probabilities([x])[0] @ np.cos(angle - 2 * math.pi * t))


def _prefix(terms: Any) -> LongArray:
    return np.concatenate(([np.longdouble(0)], np.cumsum(terms, dtype=np.longdouble)))
