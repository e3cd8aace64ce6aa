"""Where the limits of a distribution function cross p: the ends of a quantile's interval.

An upper limit of F(t) below p says that the quantile lies above t, a lower limit above p that it lies below.
What tells F near t apart is where the windows of values near t begin and end, so bins of cells are placed
there, for every quantile anew: a rough look on even bins says how wide the interval will be.

By duality the expected limit of an envelope under its own pilot q,

    min { q·w + κ·sd_q(w) : P w ≥ τ }  =  max { τ·f : χ(fP, q) ≤ κ },

is also the most that F(t) can be under a truth f whose n reports look like the pilot's (χ is the root of
Σ(fP − q)²/q, κ = z/√n). So where *expected* limits cross p no honest interval can be narrower, if the pilot
is the truth: that is the bound (testing two points, in the normal approximation, each side with its tail).

Both ends are searched for alike: places are multiplied by the side, 1 for the lower end, which limits from
above give, and −1 for the upper one, so that an excess over p increases with the place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.limits.declared_shape import worth
from sottovoce.estimates.limits.envelope import Envelope, Nodes, Target
from sottovoce.estimates.limits.false_position import Bracket, Crossing, false_position
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.shape_constraints import Shape
from sottovoce.estimates.limits.weighted_counts import Statistic, moments, normal_quantile
from sottovoce.reporters.number import Number

_ROUGH, _PLACED = 40, 96  # bins of cells: of the first look, and placed
_PAD = 0.15  # bins are fine this far beyond the expected interval, in its widths
_EXACT, _SHAPED_EXACT = 0.02, 0.005  # an end is searched for this exactly, in the same
_ROUNDED = 1e-12  # a limit of 1, rounded, does not exclude F = 1
_SIDES = (1, -1)  # from above: the lower end; from below: the upper end


class Level(NamedTuple):
    """Which quantile, of the population or of the respondents, and the error that each side may have."""

    p: float
    tail: float
    estimand: str = "population"

    @property
    def z(self) -> float:
        """The normal quantile of the error."""
        return normal_quantile(self.tail)

    def top(self, side: int) -> float:
        """The most by which a limit can exceed p."""
        return 1 - self.p if side > 0 else self.p


class Sample(NamedTuple):
    """What is known of the people.

    Attributes:
        mechanism: What their reports come from.
        n: How many there are in all.
        pilots: Densities on equal bins; weights are chosen under each of them.
        counts: The reports in all cells that each pilot's weights are applied to; none for expected limits.
        even: What bounds the average of a target on even bins, for looking further out.
    """

    mechanism: Number
    n: int
    pilots: Sequence[FloatArray]
    counts: Sequence[IntArray] = ()
    even: Callable[[Target, int, float, str], Statistic] | None = None


class Ends(NamedTuple):
    """The interval of a quantile in the unit coordinate, and the width below which no honest one can go."""

    low: float
    high: float
    bound: float


class Look(NamedTuple):
    """What the limits say at one place; the place and both excesses are times the side.

    Attributes:
        at: The place.
        excess: How far the limit of F there is beyond p.
        error: The standard error of the limit; zero where there are no reports.
        expected: The same excess of the limit that is expected under the pilots; none on even bins.
    """

    at: float
    excess: float
    error: float
    expected: float | None = None


class Half(NamedTuple):
    """The envelope under one pilot, and the reports that its weights are applied to.

    Attributes:
        envelope: For truths of the declared shape, if there is one.
        counts: On the bins of the envelope.
        plain: The envelope for all truths, where a shape is declared.
    """

    envelope: Envelope
    counts: IntArray | None
    plain: Envelope | None = None

    def weights(self, target: Target, side: int, z: float) -> tuple[FloatArray, bool]:
        """Weights for a target, and whether they make use of the shape."""
        weights = self.envelope.weights(target, side, z)
        if self.plain is None:
            return weights, False
        other = self.plain.weights(target, side, z)
        useful = worth((self.envelope, weights), (self.plain, other), side, z)
        return (weights if useful else other), useful


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of F(t) for t near a quantile, on bins of cells that are placed for it.

    Attributes:
        sample: What is known of the people.
        level: Which quantile.
        halves: The envelopes, one for each pilot.
        guess: Where each end is expected, times its side, and the slope of the limits there.
        exact: How exactly ends are searched for, in widths of the expected interval.
        shape: What is declared about the truth.
    """

    sample: Sample
    level: Level
    halves: Sequence[Half]
    guess: dict[int, tuple[float, float]]
    exact: float = _EXACT
    shape: Shape | None = None

    @property
    def width(self) -> float:
        """That of the interval that is expected."""
        return max(-self.guess[1][0] - self.guess[-1][0], 1e-6)

    @property
    def middle(self) -> float:
        """The quantile of the pilots, on average."""
        return float(np.mean([_quantile(pilot, self.level.p) for pilot in self.sample.pilots]))

    def shaped(self, shape: Shape, pilots: Sequence[FloatArray]) -> Limits:
        """The same for truths of a shape, under pilots that have it, on the same bins."""
        halves = [
            Half(_under(pilot, half.envelope.nodes, self.sample.n, shape), half.counts, half.envelope)
            for pilot, half in zip(pilots, self.halves, strict=True)
        ]
        return replace(self, halves=halves, exact=_SHAPED_EXACT, shape=shape)

    def useful(self, side: int) -> bool:
        """Whether the shape narrows the limits where the end is expected."""
        target = Target.up_to(side * self.guess[side][0])
        return all(half.weights(target, side, self.level.z)[1] for half in self.halves)

    def look(self, side: int, at: float) -> Look:
        """What the limits of F say at a place."""
        target, p, z = Target.up_to(side * at), self.level.p, self.level.z
        weights = [half.weights(target, side, z)[0] for half in self.halves]
        means = [half.envelope.expected(w, side, z) for half, w in zip(self.halves, weights, strict=True)]
        expected = side * (sum(means) / len(means) - p)
        parts = [
            half.envelope.part(w, half.counts, self.level.estimand)
            for half, w in zip(self.halves, weights, strict=True)
            if half.counts is not None
        ]
        if not parts:
            return Look(at, expected, 0.0, expected)
        return Look(at, self._excess(parts, side), float(moments(parts).error), expected)

    def look_on_even_bins(self, side: int, at: float) -> Look:
        """The same far from the quantile, where the placed bins are wide."""
        assert self.sample.even is not None
        parts = self.sample.even(Target.up_to(side * at), side, self.level.tail, self.level.estimand)
        return Look(at, self._excess(parts, side), float(moments(parts).error))

    def _excess(self, parts: Statistic, side: int) -> float:
        return side * (float(limit(parts, side, self.level.tail)) - self.level.p) + _ROUNDED


def quantile_interval(
    sample: Sample, level: Level, cells: Sequence[tuple[Shape, Sequence[FloatArray]]] = ()
) -> Ends:
    """The interval of a quantile, and the bound for the average of the pilots.

    Args:
        sample: What is known of the people.
        level: Which quantile, and how sure.
        cells: Shapes of which the truth has one, with pilots that have it, the likeliest first.

    Returns:
        The ends; those that rest on no shape are moved to the ends of the values that report alike.
    """
    plain = _placed(sample, level)
    shaped = [plain.shaped(*cell) for cell in cells]
    lower, upper = (_outermost(plain, shaped, side) for side in _SIDES)
    low, high = (lower.alike, -upper.alike) if lower.alike <= -upper.alike else (lower.at, -upper.at)
    bound = -_expected_crossing(plain, 1, lower.looks) - _expected_crossing(plain, -1, upper.looks)
    return Ends(max(low, 0.0), min(high, 1.0), max(bound, 0.0))


class _End(NamedTuple):
    """An end times its side, as far out as values report alike, and the looks that found it."""

    at: float
    alike: float
    looks: list[Look]


def _outermost(plain: Limits, shaped: Sequence[Limits], side: int) -> _End:
    """The end for all shapes, or without if one does not narrow it; then as far as values are alike."""
    every = shaped
    if not all(limits.useful(side) for limits in shaped):
        every = [replace(plain, exact=_SHAPED_EXACT)]
    first, *others = every or [plain]
    end, looks = _end(first, side)
    for other in others:
        end, more = _end(other, side, end)
        looks += more
    alike = max(
        side * at for at in plain.sample.mechanism.alike(side * end)
    )  # what excludes one excludes all
    return _End(end, end if first.shape is not None or end == min(side, 0) else alike, looks)


def _end(limits: Limits, side: int, start: float | None = None) -> tuple[float, list[Look]]:
    """The outermost place that may be the quantile, times the side, and the looks on the way.

    Args:
        limits: Those of F.
        side: Which end.
        start: A place: the end is there, or further out.
    """
    looks: list[Look] = []

    def excess(at: float) -> float:
        looks.append(limits.look(side, at))
        return looks[-1].excess

    alike = 0.6 * float(np.ptp(limits.sample.mechanism.alike(limits.middle))) if limits.shape is None else 0.0
    exact, top = max(limits.exact * limits.width, alike, 1e-7), limits.level.top(side)
    outer, (at, slope) = float(min(side, 0)), limits.guess[side]
    bracket = Bracket(outer, outer + 1)
    if start is not None:
        if (y := excess(start)) < 0:
            return start, looks
        bracket, at = bracket.narrowed(start, y), start - limits.width / 8
    end = false_position(excess, bracket, at, slope, exact, top=top).below
    while further := _further_out(limits, side, end, looks[-1].error, exact):
        looks += further
        last = further[-1]
        if last.excess < 0:
            break
        bracket = Bracket(outer, last.at, above=last.excess)
        end = false_position(excess, bracket, last.at - limits.width / 4, slope, exact, top=top).below
    return end, looks


def _further_out(limits: Limits, side: int, at: float, error: float, exact: float) -> list[Look]:
    """Looks beyond an end; if the last one's limit admits F = p, the end is further out.

    Where F stays at p for long (between two groups of people, or beyond the last) every limit looked at
    had its own chance to mislead. So limits are looked at where the pilots have F lower by their error,
    and again, until one is below p by as much.
    """
    rise = np.append(0.0, np.cumsum(np.mean(limits.sample.pilots, axis=0)))
    places, looks = np.linspace(0, 1, rise.size), list[Look]()
    y, reach = 0.0, limits.level.z * error
    while limits.sample.even is not None and y > -reach:
        share = np.interp(side * at, places, rise) - side * reach
        at = min(side * float(np.interp(share, rise, places)), at - exact)
        if at <= min(side, 0):
            break
        placed = at > limits.guess[side][0] - _PAD * limits.width  # bins are fine there
        look = limits.look(side, at) if placed else limits.look_on_even_bins(side, at)
        looks.append(look)
        y, reach = look.excess, limits.level.z * look.error
        if y >= 0:
            break
    return looks


def _expected_crossing(limits: Limits, side: int, looks: Sequence[Look]) -> float:
    """Where the expected limits cross p, from those computed on the way."""
    seen = [(look.at, look.expected) for look in looks if look.expected is not None]
    (at, y), *others = sorted(seen, key=lambda place: abs(place[1]))[:2]
    slope = limits.guess[side][1]
    for other, value in others:
        if abs(other - at) > 1e-9:
            slope = max((value - y) / (other - at), slope / 4)
    outer, inner = (0.0 if side > 0 else -1.0), side * limits.middle
    return min(max(at - y / slope, outer), inner)


def _placed(sample: Sample, level: Level) -> Limits:
    """Limits on bins of cells that are placed where the ends are expected, for each pilot."""
    rough = [_rough(sample, level, pilot) for pilot in sample.pilots]
    guess = {}
    for side in _SIDES:
        at, slope = np.mean([(ends[side].at, ends[side].slope) for ends in rough], axis=0).tolist()
        guess[side] = at, slope
    halves = []
    for i, (pilot, ends) in enumerate(zip(sample.pilots, rough, strict=True)):
        low, high = ends[1].at, -ends[-1].at
        # No finer than the pilot knows: ends may be expected within 1e-5, and limits just outside be bad.
        pad = max(_PAD * (high - low), 1 / len(pilot))
        nodes = _nodes(sample.mechanism, low, high, pad, _PLACED)
        counts = nodes.binned.in_bins(sample.counts[i]) if sample.counts else None
        halves.append(Half(_under(pilot, nodes, sample.n), counts))
    return Limits(sample, level, halves, guess)


def _rough(sample: Sample, level: Level, pilot: FloatArray) -> dict[int, Crossing]:
    """Where limits would cross p if the pilot were the truth, on few bins around its own quantile."""
    middle, step = _quantile(pilot, level.p), min(0.3, 1.5 * sample.n ** (-1 / 3))
    near = slice(int(max(middle - step, 0) * len(pilot)), int((middle + step) * len(pilot)) + 1)
    slope = max(float(pilot[near].mean()) * len(pilot), 0.3)  # F rises so fast there
    envelope = _under(pilot, _nodes(sample.mechanism, middle, middle, 1.5 * step, _ROUGH), sample.n)

    def excess(at: float, side: int) -> float:
        weights = envelope.weights(Target.up_to(side * at), side, level.z)
        return side * (envelope.expected(weights, side, level.z) - level.p)

    def end(side: int) -> Crossing:
        outer, top, start = float(min(side, 0)), level.top(side), side * middle - step / 2
        bracket, look = Bracket(outer, outer + 1), partial(excess, side=side)
        crossing = false_position(look, bracket, start, slope, 0.1 * step, top=top, looks=1)
        return crossing._replace(at=min(max(crossing.at, outer), side * middle))

    return {side: end(side) for side in _SIDES}


def _nodes(mechanism: Number, low: float, high: float, pad: float, bins: int) -> Nodes:
    """Nodes on bins placed for values between low − pad and high + pad."""
    zone = max(low - pad - 1e-6, 0.0), min(high + pad + 1e-6, 1.0)
    return Nodes(Binned.empty(mechanism, mechanism.bins(bins, zone)))


def _under(pilot: FloatArray, nodes: Nodes, n: int, shape: Shape | None = None) -> Envelope:
    """The envelope under a density on equal bins."""
    return Envelope(nodes, nodes.binned.table_of_parts(len(pilot)).mix(pilot), n, shape)


def _quantile(density: FloatArray, p: float) -> float:
    total = np.concatenate(([0.0], np.cumsum(density)))
    return float(np.interp(p, total / total[-1], np.arange(len(total)) / (len(total) - 1)))
