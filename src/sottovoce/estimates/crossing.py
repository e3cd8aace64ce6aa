"""Where the limits of a distribution function cross p: the ends of a quantile's interval.

An upper limit of F(t) below p says that the quantile lies above t, a lower limit above p that it lies below.
What tells F near t apart is where the windows of values near t begin and end, so groups of cells are placed
there, for every quantile anew: a rough look on even groups says how wide the interval will be.

By duality the expected limit of an envelope under its own pilot q,

    min { q·w + κ·sd_q(w) : P w ≥ τ }  =  max { τ·f : χ(fP, q) ≤ κ },

is also the most that F(t) can be under a truth f whose n reports look like the pilot's (χ is the root of
Σ(fP − q)²/q, κ = z/√n). So where *expected* limits cross p no honest interval can be narrower, if the pilot
is the truth: that is the bound (testing two points, in the normal approximation, each side with its tail).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import NamedTuple

import numpy as np

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.number import Number
from sottovoce.estimates.declared import worth
from sottovoce.estimates.envelope import Envelope, Nodes, Target
from sottovoce.estimates.model import Coarse
from sottovoce.estimates.shapes import Shape
from sottovoce.estimates.statistic import Asking, Limit, Moments, in_step, moments, normal_quantile

_ROUGH, _PLACED = 40, 96  # groups of cells: of the first look, and placed
_PAD = 0.15  # groups are fine this far beyond the expected interval, in its widths
_EXACT, _SHAPED_EXACT = 0.02, 0.005  # an end is searched for this exactly, in the same
_ROUNDED = 1e-12  # a limit of 1, rounded, does not exclude F = 1
_SIDES = (1, -1)  # from above: the lower end; from below: the upper end


class Crossing(NamedTuple):
    """Where an increase crosses zero.

    Attributes: the last place looked at ``below``, where the last chord has its zero (``at``), its ``slope``.
    """

    below: float
    at: float
    slope: float


class Search:
    """False position for the zero of something that increases but for rounding, halved where it is slow.

    Args:
        excess: What crosses zero.
        low: A place where it is negative, not to be looked at.
        high: A place where it is not.
        top: Its largest value: where that is seen nothing is known, and perhaps nowhere below.
    """

    def __init__(self, excess: Callable[[float], Asking[float]], low: float, high: float, top: float) -> None:
        self.excess, self.top = excess, top
        self.low, self.below, self.high, self.above = low, -math.inf, high, math.inf

    def run(self, at: float, slope: float, exact: float, looks: int = 14) -> Asking[Crossing]:
        """Look at a place, then where the slope says, until the crossing is known as exactly as asked."""
        side = 0
        for _ in range(looks):
            at = min(max(at, self.low + exact / 2), self.high - exact / 2)
            y = yield from self.look(at)
            side = min(side, 0) - 1 if y < 0 else max(side, 0) + 1  # how often in a row on one side
            gap, rise = self.high - self.low, self.above - self.below
            slope = rise / gap if rise < math.inf else slope
            if gap <= 1.5 * exact or -self.below <= slope * exact:
                break
            if rise < math.inf:
                at = self.low + gap * (0.5 if abs(side) > 1 else -self.below / rise) - exact / 3
            elif y >= self.top:
                at = self.low + exact
            else:  # twice as far each time: it may hardly change for long
                at -= 2.0 ** (abs(side) - 1) * (1.2 * y / slope + math.copysign(exact / 2, y))
        if self.above - self.below < math.inf:
            at = self.low - self.below * (self.high - self.low) / (self.above - self.below)
        return Crossing(self.low, at, slope)

    def look(self, at: float) -> Asking[float]:
        """What it is at one place, remembered where that narrows the crossing down."""
        y = yield from self.excess(at)
        if y < 0:
            self.low, self.below = at, y
        else:
            self.high, self.above = at, y
        return y


class Ends(NamedTuple):
    """The interval of a quantile in the unit coordinate, and the width below which no honest one can go."""

    low: float
    high: float
    bound: float


class Focus:
    """Limits of F(t) for t near the p-quantile.

    Args:
        mechanism: What the reports come from.
        pilots: Densities on equal bins; weights are chosen under each of them.
        n: How many reports there are in all.
        p: Which quantile.
        tail: The error of each side.
        counts: The reports in all cells that each pilot's weights are applied to; none for expected limits.
        even: What bounds the average of a target on even groups, for looking further out.
        estimand: Whose quantile it is.
    """

    def __init__(
        self,
        mechanism: Number,
        pilots: Sequence[FloatArray],
        n: int,
        p: float,
        tail: float,
        counts: Sequence[IntArray] = (),
        even: Callable[[Target, int, float, str], Asking[Moments]] | None = None,
        estimand: str = "population",
    ) -> None:
        self.shape: Shape | None = None
        self.mechanism, self.n, self.p, self.tail, self.estimand = mechanism, n, p, tail, estimand
        self.z, self.top = normal_quantile(tail), {1: 1 - p, -1: p}
        self.pilots, self.counts, self.even, self.exact = pilots, counts, even, _EXACT
        self.expected: dict[int, list[tuple[float, float]]] = {1: [], -1: []}
        self.middle = float(np.mean([_quantile(pilot, p) for pilot in pilots]))
        self.halves: list[tuple[Envelope, IntArray | None]] = []
        self.plain: list[tuple[Envelope, IntArray | None]] = []
        self.guess: dict[int, FloatArray] = {}  # where each end is expected, and the slope of limits there
        self.width, self.errors = 1.0, {1: 0.0, -1: 0.0}  # expected of the interval; of the last limits

    def ends(self, cells: Sequence[tuple[Shape, Sequence[FloatArray]]] = ()) -> Asking[Ends]:
        """The interval, and the bound for the average of the pilots.

        Args:
            cells: Shapes of which the truth has one, with pilots that have it, the likeliest first.

        Returns:
            The ends; those that rest on no shape are moved to the ends of the values that report alike.
        """
        yield from self._place_groups()
        shaped = [self._reshaped(*cell) for cell in cells]
        lower, upper = yield from in_step([self._outermost(side, shaped) for side in _SIDES])
        ends = (lower[1], -upper[1]) if lower[1] <= -upper[1] else (lower[0], -upper[0])
        bound = max(-sum(self._expected_crossing(side) for side in _SIDES), 0.0)
        return Ends(max(ends[0], 0.0), min(ends[1], 1.0), bound)

    def _place_groups(self) -> Asking[None]:
        """Groups of cells where the ends are expected, for each pilot."""
        rough = yield from in_step([self._rough(pilot) for pilot in self.pilots])
        pairs = [dict(zip(_SIDES, ends, strict=True)) for ends in rough]
        self.guess = {side: np.mean([ends[side][1:] for ends in pairs], axis=0) for side in _SIDES}
        self.width = max(-float(self.guess[1][0] + self.guess[-1][0]), 1e-6)
        for i, (pilot, ends) in enumerate(zip(self.pilots, pairs, strict=True)):
            low, high = ends[1].at, -ends[-1].at
            problem = self._problem(pilot, low, high, _PAD * (high - low), _PLACED)
            counts = problem.nodes.coarse.grouped(self.counts[i]) if self.counts else None
            self.halves.append((problem, counts))

    def _reshaped(self, shape: Shape, pilots: Sequence[FloatArray]) -> Focus:
        """The same for truths of a shape, on the same groups."""
        other = copy(self)
        other.shape, other.exact, other.plain = shape, _SHAPED_EXACT, self.halves
        other.halves = [
            (other._envelope(pilot, problem.nodes), counts)
            for pilot, (problem, counts) in zip(pilots, self.halves, strict=True)
        ]
        return other

    def _outermost(self, side: int, shaped: Sequence[Focus]) -> Asking[tuple[float, float]]:
        """The end for all shapes, or without if one does not narrow it; then as far as values are alike."""
        first, *others = shaped or [self]
        if shaped:
            at = side * float(self.guess[side][0])
            every = yield from in_step([one._weights(side, at) for one in shaped])
            if not all(useful for pairs in every for _, useful in pairs):
                first, others = copy(self), []
                first.exact = _SHAPED_EXACT
        end = yield from first._end(side)
        for other in others:
            if (yield from other._excess(side, end)) >= 0:
                end = yield from other._end(side, end)
        alike = max(side * at for at in self.mechanism.alike(side * end))  # what excludes one excludes all
        return end, end if first.shape is not None or end == min(side, 0) else alike

    def _end(self, side: int, start: float | None = None) -> Asking[float]:
        """The outermost place that may be the quantile, times the side."""
        alike = 0.6 * float(np.ptp(self.mechanism.alike(self.middle))) if self.shape is None else 0.0
        outer, exact = float(min(side, 0)), max(self.exact * self.width, alike, 1e-7)
        search = Search(partial(self._excess, side), outer, outer + 1, self.top[side])
        at, slope = self.guess[side]
        if start is not None:
            yield from search.look(start)
            at = start - self.width / 8
        end = (yield from search.run(at, slope, exact)).below
        while (place := (yield from self._admitted(side, end, exact))) is not None:
            search.low, search.below, (search.high, search.above) = outer, -math.inf, place
            end = (yield from search.run(place[0] - self.width / 4, slope, exact)).below
        return end

    def _admitted(self, side: int, at: float, exact: float) -> Asking[tuple[float, float] | None]:
        """A place beyond an end whose limit admits F = p, if one is met, and by how much.

        Where F stays at p for long (between two groups of people, or beyond the last) every limit looked at
        had its own chance to mislead. So limits are looked at where the pilots have F lower by their error,
        and again, until one is below p by as much.
        """
        rise = np.append(0.0, np.cumsum(np.mean(self.pilots, axis=0)))
        places, error, y = np.linspace(0, 1, rise.size), self.z * self.errors[side], 0.0
        while self.even is not None and y > -error:
            share = np.interp(side * at, places, rise) - side * error
            at = min(side * float(np.interp(share, rise, places)), at - exact)
            if at <= min(side, 0):
                break
            if at > self.guess[side][0] - _PAD * self.width:  # groups are fine there
                y = yield from self._excess(side, at)
            else:
                bound = yield from self.even(Target.up_to(side * at), side, self.tail, self.estimand)
                self.errors[side] = float(bound.error)
                y = side * (float(bound.limit(side, self.tail)) - self.p) + _ROUNDED
            error = self.z * self.errors[side]
            if y >= 0:
                return at, y
        return None

    def _excess(self, side: int, at: float) -> Asking[float]:
        """How far the limit of F(at) from one side is beyond p; both at and p times the side."""
        parts, means = [], []
        every = yield from self._weights(side, side * at)
        for (weights, _), (problem, counts) in zip(every, self.halves, strict=True):
            means.append(side * (problem.expected(weights, side, self.z) - self.p))
            if counts is not None:
                parts.append(problem.part(weights, counts, self.estimand))
        mean = sum(means) / len(means)
        self.expected[side].append((at, mean))
        if not parts:
            return mean
        summary = moments(parts, self.estimand)
        self.errors[side] = float(summary.error)
        return side * (float(summary.limit(side, self.tail)) - self.p) + _ROUNDED

    def _weights(self, side: int, at: float) -> Asking[list[tuple[FloatArray, bool]]]:
        """Weights for F(at) in each half, and whether they make use of a shape."""
        problems = [problem for problem, _ in (*self.halves, *self.plain)]
        every = yield [Limit(problem, Target.up_to(at), side, self.z) for problem in problems]
        pairs, many = list(zip(problems, every, strict=True)), len(self.halves)
        if not self.plain:
            return [(weights, False) for weights in every]
        useful = [worth(pairs[i], pairs[many + i], side, self.z) for i in range(many)]
        return [(every[i if use else many + i], use) for i, use in enumerate(useful)]

    def _expected_crossing(self, side: int) -> float:
        """Where the expected limits cross p, from those computed on the way."""
        outer, inner = (0.0 if side > 0 else -1.0), side * self.middle
        places = sorted(self.expected[side], key=lambda place: abs(place[1]))[:2]
        (at, y), slope = places[0], self.guess[side][1]
        if len(places) > 1 and abs(places[1][0] - at) > 1e-9:
            slope = max((places[1][1] - y) / (places[1][0] - at), slope / 4)
        return min(max(at - y / slope, outer), inner)

    def _rough(self, pilot: FloatArray) -> Asking[list[Crossing]]:
        """Where limits would cross p if the pilot were the truth, on few groups around its own quantile."""
        middle, step = _quantile(pilot, self.p), min(0.3, 1.5 * self.n ** (-1 / 3))
        near = slice(int(max(middle - step, 0) * len(pilot)), int((middle + step) * len(pilot)) + 1)
        slope = max(float(pilot[near].mean()) * len(pilot), 0.3)  # F rises so fast there
        problem = self._problem(pilot, middle, middle, 1.5 * step, _ROUGH)

        def excess(at: float, side: int) -> Asking[float]:
            (weights,) = yield [Limit(problem, Target.up_to(side * at), side, self.z)]
            return side * (problem.expected(weights, side, self.z) - self.p)

        def end(side: int, outer: float) -> Asking[Crossing]:
            search = Search(partial(excess, side=side), outer, outer + 1, self.top[side])
            crossing = yield from search.run(side * middle - step / 2, slope, 0.1 * step, looks=1)
            return crossing._replace(at=min(max(crossing.at, outer), side * middle))

        return (yield from in_step([end(1, 0.0), end(-1, -1.0)]))

    def _problem(self, pilot: FloatArray, low: float, high: float, pad: float, groups: int) -> Envelope:
        """Envelopes under a pilot, on groups placed for values between low − pad and high + pad."""
        zone = max(low - pad - 1e-6, 0.0), min(high + pad + 1e-6, 1.0)
        first = self.mechanism.groups(groups, zone)
        return self._envelope(pilot, Nodes(Coarse.empty(self.mechanism, first)))

    def _envelope(self, pilot: FloatArray, nodes: Nodes) -> Envelope:
        return Envelope(nodes, nodes.coarse.table_of_bins(len(pilot)).mix(pilot), self.n, self.shape)


def _quantile(density: FloatArray, p: float) -> float:
    total = np.concatenate(([0.0], np.cumsum(density)))
    return float(np.interp(p, total / total[-1], np.arange(len(total)) / (len(total) - 1)))
