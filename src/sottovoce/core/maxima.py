"""Maxima over the continuous domain: where the law bends, and how far it can rise in between.

Between bends (knots; s or s+K at a cell edge; t at a report) L1, L2 and the variance are quadratic in t:
three values give each piece's maximum. For all losses and linear distance the error is convex in t and
quasi-convex in s, so four corners bound it on a rectangle, and bisection closes in: on the maximum itself, or
on the few places where bends have to be looked at. Around a circle it may lie above the corners by what
`Bulge` bounds, which falls with the square of the rectangle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.window import Window

ErrorAt = Callable[[FloatArray, FloatArray], FloatArray]
#: Errors at places t, given the window starts there: one array of starts for each part.
AtStarts = Callable[[FloatArray, list[FloatArray]], FloatArray]
#: A part of a coin: its probability, its errors, and how far they may bulge.
Share = tuple[float, ErrorAt, "Bulge"]
_NOWHERE: FloatArray = np.empty(0)
_LONG, _LEAST_INSIDE = 256, 64  # cells of a run, and of a window, from which on sums may be integrals
_BLOCK = 1 << 16  # runs × inputs handled at a time


class Peak(NamedTuple):
    """A largest value, its place, and the start of every track there: on either side of where it leaps."""

    value: float
    t: float
    starts: tuple[float, ...]


class Track:
    """The start of one window over [0, 1], a polyline that is cut where something bends."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.knots, self.starts, self.slopes = window.segments

    def cuts(self) -> list[FloatArray]:
        """Where the polyline turns."""
        return [self.knots, *self._clamps()]

    def segment(self, t0: FloatArray, t1: FloatArray) -> IntArray:
        """The segment that holds each piece; no knot divides one."""
        return np.clip(np.searchsorted(self.knots, (t0 + t1) / 2, side="right") - 1, 0, None)

    def at(self, t0: FloatArray, t1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The starts at both ends of pieces that no cut divides."""
        segment = self.segment(t0, t1)
        s0, s1 = (
            np.clip(
                self.starts[segment] + (t - self.knots[segment]) * self.slopes[segment], 0.0, self.window.top
            )
            for t in (t0, t1)
        )
        if self.window.wraps:
            turns = np.floor((s0 + s1) / 2 / self.window.around) * self.window.around
            s0, s1 = s0 - turns, s1 - turns
        return s0, s1

    def _clamps(self) -> list[FloatArray]:
        """Where a segment's line meets the smallest or the largest start; on a circle, where an end of the
        window meets the seam.
        """
        around, length = float(self.window.around), float(self.window.length)
        levels = [0.0, float(self.window.top)]
        if self.window.wraps:
            levels += [around, around - length, 2 * around - length]
        moving = self.slopes > 0
        t, s, slope = self.knots[moving], self.starts[moving], self.slopes[moving]
        return [t + (level - s) / slope for level in levels]

    def crossings(self, t0: FloatArray, t1: FloatArray) -> list[FloatArray]:
        """Where s or s + K passes a cell edge, on pieces that no knot divides."""
        segment = self.segment(t0, t1)
        t, s, slope = self.knots[segment], self.starts[segment], self.slopes[segment]
        begin, reach = s + (t0 - t) * slope, s + (t1 - t) * slope
        edge, length, around = self.window.edge.astype(np.float64), self.window.length, self.window.around
        levels = [edge, edge - length]
        if self.window.wraps:
            levels += [edge + around, edge - length + around, edge - length + 2 * around]
        crossings = []
        for level in levels:
            piece, crossed = _between(level, begin, np.where(slope > 0, reach, -np.inf))
            at = t[piece] + (crossed - s[piece]) / slope[piece]
            crossings.append(np.clip(at, t0[piece], t1[piece]))
        return crossings


def _between(level: FloatArray, low: FloatArray, high: FloatArray) -> tuple[IntArray, FloatArray]:
    """All levels from low_i to high_i, for every i, and the i of each; levels do not decrease."""
    first, last = np.searchsorted(level, low), np.searchsorted(level, high, side="right")
    counts = np.maximum(last - first, 0)
    piece = np.repeat(np.arange(len(low)), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return piece, level[first[piece] + within]


class Pieces:
    """Pieces [t0, t1] of the domain on which no start turns, and the starts of every track at their ends."""

    def __init__(self, tracks: Sequence[Track], t0: FloatArray, t1: FloatArray) -> None:
        self.tracks, self.t0, self.t1 = tracks, t0, t1
        self.starts = [track.at(t0, t1) for track in tracks]

    @classmethod
    def until(cls, end: float, tracks: Sequence[Track]) -> Pieces:
        """All of [0, end]."""
        t = np.unique(np.concatenate(([0.0, end], *(cut for track in tracks for cut in track.cuts()))))
        t = t[(t >= 0) & (t <= end)]
        return cls(tracks, t[:-1], t[1:])

    def cut(self, turns: FloatArray = _NOWHERE) -> Pieces:
        """The same, divided where an end of a window passes a cell edge, and at these turns."""
        crossings = (cut for track in self.tracks for cut in track.crossings(self.t0, self.t1))
        t = np.unique(np.concatenate((self.t0, self.t1, _between(turns, self.t0, self.t1)[1], *crossings)))
        middle = (t[:-1] + t[1:]) / 2
        inside = middle <= self.t1[np.searchsorted(self.t0, middle, side="right") - 1]
        return Pieces(self.tracks, t[:-1][inside], t[1:][inside])

    def quadratic_maximum(self, f: AtStarts) -> float:
        """The maximum of an f that is quadratic along every piece."""
        starts = [np.concatenate((s0, s1, (s0 + s1) / 2)) for s0, s1 in self.starts]
        t = np.concatenate((self.t0, self.t1, (self.t0 + self.t1) / 2))
        left, right, middle = f(t, starts).reshape(3, -1)
        slope, curve = right - left, 2 * (left + right - 2 * middle)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(curve < 0, 0.5 - slope / (2 * curve), 0.5)
            inside = (curve < 0) & (at > 0) & (at < 1)
            top = np.where(inside, middle - slope**2 / (4 * curve), middle)
        # A vertex far from its three values is rounding on a piece too short to matter.
        top = np.where(np.abs(top - middle) <= np.abs(slope) + 1e-12 * middle, top, middle)
        return float(max(left.max(), right.max(), top.max()))

    def narrowed(self, parts: Sequence[Share], rounds: int, close: float = 0.0) -> tuple[Peak, Pieces]:
        """The largest value that bisection met; the pieces whose bound is above it, and not close.

        The bound of a piece is, for every part, the largest error at its four corners, plus how far it may
        bulge; the weights add these up.
        """

        def highest(t: FloatArray, starts: list[FloatArray]) -> Peak:
            values = np.sum([share * f(t, s) for (share, f, _), s in zip(parts, starts, strict=True)], axis=0)
            at = int(np.argmax(values))
            return Peak(float(values[at]), float(t[at]), tuple(float(s[at]) for s in starts))

        def bound(t0: FloatArray, t1: FloatArray, starts: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
            total, t = np.zeros_like(t0), np.concatenate((t0, t1, t0, t1))
            for (share, f, bulge), (s0, s1) in zip(parts, starts, strict=True):
                corners = f(t, np.concatenate((s0, s1, s1, s0))).reshape(4, -1).max(axis=0)
                total += share * (corners + bulge(t0, t1, s0, s1))
            return total

        t0, t1, starts = self.t0, self.t1, self.starts
        best = max(highest(t0, [s for s, _ in starts]), highest(t1, [s for _, s in starts]))
        for _ in range(rounds):
            keep = bound(t0, t1, starts) > best.value * (1 + close)
            t0, t1, starts = t0[keep], t1[keep], [(s0[keep], s1[keep]) for s0, s1 in starts]
            if not keep.any():
                break
            tm, middles = (t0 + t1) / 2, [(s0 + s1) / 2 for s0, s1 in starts]
            best = max(best, highest(tm, middles))
            t0, t1 = np.concatenate((t0, tm)), np.concatenate((tm, t1))
            starts = [
                (np.concatenate((s0, sm)), np.concatenate((sm, s1)))
                for (s0, s1), sm in zip(starts, middles, strict=True)
            ]
        order = np.argsort(t0)
        return best, Pieces(self.tracks, t0[order], t1[order])


class Smooth:
    """E d(y, t)^k with sums over the cells of long runs replaced by integrals: a few powers, not one a cell.

    The middle of a cell stands for it, and cells that the window covers in part are counted as such. That is
    off by about the square of a cell's share of a window: near enough to see where the error is largest.
    """

    def __init__(self, window: Window, k: float, circular: bool) -> None:
        self.window, self.k, self.circular = window, k, circular
        short = (window.count < _LONG) & (window.step > 0)
        run = np.repeat(np.arange(len(short)), np.where(short, window.count, 1))
        within = np.arange(len(run)) - np.searchsorted(run, run)
        self.count = np.where(short, 1, window.count)[run]
        self.back, self.extra = window.background[run], window.extra[run]
        self.edge = np.cumsum(self.count * self.extra) - self.count * self.extra
        self.step = np.where(short, 0.0, window.step)[run]
        self.low = window.value[run] + within * window.step[run] - self.step / 2

    @classmethod
    def of(cls, window: Window, k: float, circular: bool) -> Smooth | None:
        """None where cells are too few, in all or in a window."""
        inside = window.length / max(int(window.extra.max()), 1)
        return cls(window, k, circular) if inside >= _LEAST_INSIDE and window.count.max() >= _LONG else None

    def __call__(self, t: FloatArray, s: FloatArray) -> FloatArray:
        out = np.empty(t.shape)
        rows = max(1, _BLOCK // len(self.count))
        for first in range(0, t.size, rows):
            part = slice(first, first + rows)
            out[part] = self._block(t[part, None], s[part, None])
        return out / self.window.total

    def _block(self, t: FloatArray, s: FloatArray) -> FloatArray:
        around, end = self.window.around, s + self.window.length
        more = self._until(t, self._cells(end)) - self._until(t, self._cells(s))
        if self.window.wraps:
            more += self._until(t, self._cells(end - around))
        return np.asarray((self.back * self._until(t, self.count) + self.extra * more).sum(axis=1))

    def _cells(self, u: FloatArray) -> FloatArray:
        """How many cells of each run lie below a position of the extra coordinate."""
        return np.clip((u - self.edge) / np.maximum(self.extra, 1), 0.0, self.count)

    def _until(self, t: FloatArray, cells: Any) -> FloatArray:
        """The sum of d(y, t)^k over so many cells of each run."""
        whole, low = np.floor(cells) * (self.step > 0), self.low - t
        last = (cells - whole) * self._power(low + (whole + 0.5) * self.step)
        step = np.where(self.step > 0, self.step, 1.0)
        return np.asarray(last + (self._integral(low + whole * self.step) - self._integral(low)) / step)

    def _power(self, z: FloatArray) -> FloatArray:
        z = np.abs(z)
        return np.asarray((np.maximum(np.minimum(z, 1.0 - z), 0.0) if self.circular else z) ** self.k)

    def _integral(self, z: FloatArray) -> FloatArray:
        """∫ d^k from 0 to z."""
        size, k = np.abs(z), self.k + 1
        if self.circular:
            far = size > 0.5
            power = np.where(far, np.maximum(1.0 - size, 0.0), size) ** k  # half a cell beyond the seam
            return np.asarray(np.sign(z) * np.where(far, 2 * 0.5**k - power, power) / k)
        return np.asarray(np.sign(z) * size**k / k)


class Bulge:
    """How far E d(y, t)^k may lie above four corners of a rectangle of (t, s).

    On an interval with linear distance: not at all. In t it is convex, except that distances around a circle
    turn at the reports opposite to t: there the slope of d^k falls by J = 2k·½^(k−1), which lifts it by at
    most J·Δt/4. In s it is quasi-convex as long as d^k falls and then rises along the window. A window that
    holds the reports opposite to t, or the seam of a circle under linear distance, is another matter: the
    slope in s is the difference of d^k at the two ends of the window and varies by at most V = k·D^(k−1)
    times how far they move, D the largest distance, which lifts it by at most V·Δs/4.
    """

    def __init__(self, window: Window, k: float, circular: bool) -> None:
        self.window, self.circular = window, circular
        self.slope = k * (0.5 if circular else 1.0) ** (k - 1)  # reports on a circle lie in [0, 1]
        if circular:
            opposite = np.mod(window.v + 0.5, 1.0)
            order = np.argsort(opposite)
            self.opposite = opposite[order]
            self.back, self.all = (
                np.concatenate(([0.0], np.cumsum(weight[order] / window.total)))
                for weight in (window.a, window.a + window.e)
            )

    def __call__(self, t0: FloatArray, t1: FloatArray, s0: FloatArray, s1: FloatArray) -> FloatArray:
        """The most that the error can lie above the corners of [t0, t1] × [s0, s1]."""
        if not self.circular and not self.window.wraps:
            return np.zeros_like(t0)
        low, high = np.minimum(s0, s1), np.maximum(s0, s1)
        begin, begin1, end0, end = (
            self._report(u) for u in (low, high, low + self.window.length, high + self.window.length)
        )
        moved = ((begin1 - begin) + (end - end0)) * (high - low) / self.window.total
        if not self.circular:
            return np.asarray(self.slope * moved / 4)
        # Windows that do not reach the reports opposite to t leave them only the background.
        reaches = np.floor(end - t0 - 0.5) >= np.ceil(begin - t1 - 0.5)
        first = np.searchsorted(self.opposite, t0, side="left")
        last = np.searchsorted(self.opposite, t1, side="right")
        turned = np.where(reaches, self.all[last] - self.all[first], self.back[last] - self.back[first])
        return np.asarray(self.slope * (2 * turned * (t1 - t0) + np.where(reaches, moved, 0.0)) / 4)

    def _report(self, u: FloatArray) -> FloatArray:
        """The report at a position of the extra coordinate; one more for each time around a circle."""
        turns = np.floor(u / self.window.around) if self.window.wraps else np.zeros_like(u)
        cell = np.searchsorted(self.window.edge[1:-1], u - turns * self.window.around, side="right")
        return np.asarray(self.window.v[cell] + turns)
