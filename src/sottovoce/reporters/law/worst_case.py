"""Maxima over the continuous domain: where the law bends, and how far it can rise in between.

Between bends (knots; s or s+K at a cell edge; t at a report) L1, L2 and the variance are quadratic in t:
three values give each piece's maximum. On an interval the error is convex in t and
quasi-convex in s, so four corners bound it on a rectangle, and bisection closes in on the few places where
bends have to be looked at. Around a circle and for other losses the maximum is searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.reporters.window import Window

ErrorAt = Callable[[FloatArray, FloatArray], FloatArray]
#: Errors at places t, given the window starts there: one array of starts for each part.
AtStarts = Callable[[FloatArray, list[FloatArray]], FloatArray]
#: A part of a coin: its probability and its errors.
Share = tuple[float, ErrorAt]
_NOWHERE: FloatArray = np.empty(0)
_GRID, _KEPT, _SAME = 512, 16, 1e-7  # places of a search, pieces that it goes on with, and what ends it


class Track:
    """The start of one window over [0, 1], a polyline that is cut where something bends."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.knots, self.starts, self.rises = window.segments

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
                self.starts[segment] + (t - self.knots[segment]) * self.rises[segment], 0.0, self.window.top
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
        moving = self.rises > 0
        t, s, rise = self.knots[moving], self.starts[moving], self.rises[moving]
        return [t + (level - s) / rise for level in levels]

    def crossings(self, t0: FloatArray, t1: FloatArray) -> list[FloatArray]:
        """Where s or s + K passes a cell edge, on pieces that no knot divides."""
        segment = self.segment(t0, t1)
        t, s, rise = self.knots[segment], self.starts[segment], self.rises[segment]
        begin, reach = s + (t0 - t) * rise, s + (t1 - t) * rise
        edge, length, around = self.window.edge.astype(np.float64), self.window.length, self.window.around
        levels = [edge, edge - length]
        if self.window.wraps:
            levels += [edge + around, edge - length + around, edge - length + 2 * around]
        crossings = []
        for level in levels:
            piece, crossed = _between(level, begin, np.where(rise > 0, reach, -np.inf))
            at = t[piece] + (crossed - s[piece]) / rise[piece]
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

    def narrowed(self, parts: Sequence[Share], rounds: int) -> tuple[float, Pieces]:
        """The largest value that bisection met; the pieces whose bound is above it.

        The bound of a piece is, for every part, the largest error at its four corners; the weights add these
        up. That is for linear distance on an interval.
        """

        def highest(t: FloatArray, starts: list[FloatArray]) -> float:
            values = [share * f(t, s) for (share, f), s in zip(parts, starts, strict=True)]
            return float(np.sum(values, axis=0).max())

        def bound(t0: FloatArray, t1: FloatArray, starts: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
            total, t = np.zeros_like(t0), np.concatenate((t0, t1, t0, t1))
            for (share, f), (s0, s1) in zip(parts, starts, strict=True):
                corners = f(t, np.concatenate((s0, s1, s1, s0))).reshape(4, -1).max(axis=0)
                total += share * corners
            return total

        t0, t1, starts = self.t0, self.t1, self.starts
        best = max(highest(t0, [s for s, _ in starts]), highest(t1, [s for _, s in starts]))
        for _ in range(rounds):
            keep = bound(t0, t1, starts) > best
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

    def searched(self, f: AtStarts) -> float:
        """The largest value that a search meets: on a grid, then in halves of the best pieces."""
        parts = np.ceil(_GRID * (self.t1 - self.t0) / (self.t1[-1] - self.t0[0])).astype(np.intp)
        piece = np.repeat(np.arange(len(parts)), parts)
        step = ((self.t1 - self.t0) / parts)[piece]
        within = np.arange(len(piece)) - np.searchsorted(piece, piece)
        t0 = self.t0[piece] + within * step
        t1 = np.where(within + 1 < parts[piece], t0 + step, self.t1[piece])
        best = 0.0
        while True:
            pieces = Pieces(self.tracks, t0, t1)
            values = np.maximum(*(f(t, [s[end] for s in pieces.starts]) for end, t in enumerate((t0, t1))))
            kept = np.argsort(values)[-_KEPT:]
            best = max(best, float(values[kept[-1]]))
            if best - values[kept[0]] <= _SAME * best or (t1 - t0)[kept].max() < _SAME**2:
                return best
            t0, t1, middle = t0[kept], t1[kept], (t0[kept] + t1[kept]) / 2
            t0, t1 = np.append(t0, middle), np.append(middle, t1)
