"""Envelope functionals: linear functionals of the report counts that bound an average for every truth.

For a target τ(x) choose weights w on bins of cells with h(x) = Σ_j w_j·P(j|x) ≥ τ(x) at *every* x. Then
E[Σ w_j c_j / n] ≥ the average of τ, whatever the distribution of x, and w·c/n plus its own sampling error is
an honest upper limit. No model of the truth enters: a pilot fit only chooses, among all such w, the one with
the least expected limit

    minimise  Σ q_j w_j + κ·sd_q(w)    subject to  h ≥ τ,        κ = z/√n.

P(j|x) is linear in x between the mechanism's bends, so h ≥ τ is enforced at all of them and on both sides of
each: the law may jump there, so may the target, and perhaps at the very same x (a round number). A curved
target is raised by the most it can leave its chord.
A constant w is always feasible, so the solver (`envelope_solver`) starts inside and stays inside: its result
is valid wherever it stops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.estimates.answer.units import FEW, generator_of, half
from sottovoce.estimates.fits.binned_cells import Binned, em
from sottovoce.estimates.limits.envelope_solver import Problem, least_limit
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.shape_constraints import Shape
from sottovoce.estimates.limits.weighted_counts import Part, normal_quantile
from sottovoce.estimates.tally import Tally

BINS = 256  # of the pilot
_CELL_BINS = 64
_NEAR = 1e-9  # how far from a bend or jump its sides are looked at, in widths of the domain
_JUMP = 1e-8  # a law that changes by less from one side of a bend to the other is continuous there
_ALIKE = 1e-6  # neighbours whose laws differ by less, of the range of all, are one constraint
_CURVED = 512  # inputs at which a curved target is held down between bends
_FINER = 128  # the same for the variance of weights, which bends less


@dataclass(frozen=True)
class Target:
    """What is averaged over the people.

    Attributes:
        at: τ as a function of the unit coordinate.
        jumps: Where it jumps.
        curvature: Bounds of its second derivative.
    """

    at: Callable[[FloatArray], FloatArray]
    jumps: tuple[float, ...] = ()
    curvature: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def up_to(cls, end: float) -> Target:
        """1[x ≤ end]: its average is the distribution function."""
        return cls(lambda t: (t <= end).astype(np.float64), jumps=(end,))

    @classmethod
    def below(cls, end: float) -> Target:
        """1[x < end], for a law that jumps there itself: then nobody's side is in doubt."""
        return cls(lambda t: (t < end).astype(np.float64))

    @classmethod
    def within(cls, low: float, high: float) -> Target:
        """1[low ≤ x ≤ high], or across the seam of a circle where low > high."""

        def inside(t: FloatArray) -> FloatArray:
            return np.asarray((t >= low) & (t <= high) if low <= high else (t >= low) | (t <= high), float)

        return cls(inside, jumps=(low, high))

    def above(self, t: FloatArray, near: float) -> FloatArray:
        """τ, at a jump the largest of it and its sides: somebody may be there. Nobody is beyond an end."""
        if not self.jumps:
            return self.at(t)
        least, most = np.maximum(t - 1.5 * near, 0.0), np.minimum(t + 1.5 * near, 1.0)
        places = np.array([t, least, most, *(np.clip(jump, least, most) for jump in self.jumps)])
        return np.asarray(self.at(places).max(axis=0))

    def negative(self) -> Target:
        """−τ."""
        low, high = self.curvature
        return Target(lambda t: -self.at(t), self.jumps, (-high, -low))


#: x itself, whose average is the mean.
IDENTITY = Target(lambda t: t)


class LawAt(NamedTuple):
    """P(bin | t) at some unit coordinates t in order.

    Attributes:
        t: The coordinates.
        rows: The law at each.
        first: Where runs of neighbours with one law begin: the sides of a bend without a jump, and values
            that report alike.
    """

    t: FloatArray
    rows: FloatArray
    first: IntArray

    @classmethod
    def of(cls, t: FloatArray, rows: FloatArray) -> LawAt:
        """Those at these coordinates."""
        moves = np.abs(np.diff(rows, axis=0)).max(axis=1) > _ALIKE * np.ptp(rows)
        return cls(t, rows, np.flatnonzero(np.append(True, moves)))


class Nodes:
    """Unit coordinates and the law of the bins there, a row each: what holds at them holds everywhere.

    P(bin | x) is linear in x between the mechanism's bends, so it is computed at them and follows
    elsewhere. At a bend the law may jump: both of its sides are nodes too. `near` is how far away a side is
    looked at: no less than two of the floating-point numbers that values can be.
    """

    def __init__(self, binned: Binned) -> None:
        self.binned, self.near = binned, max(_NEAR, 2 * binned.mechanism.domain.grain)

    @cached_property
    def straight(self) -> LawAt:
        """Every bend, with its sides where the law jumps."""
        domain, near = self.binned.mechanism.domain, self.near
        bends = np.unique(self.binned.mechanism.unit_bends(self.binned.first))
        between = (bends[1:] + bends[:-1])[np.diff(bends) < 2 * near] / 2  # where sides overlap
        t = np.clip(np.concatenate((bends - near, bends, bends + near, between, [0.0, 1.0])), 0.0, 1.0)
        t = domain.to_unit(np.unique(np.clip(domain.from_unit(t), domain.low, domain.high)))
        rows = self.binned.mechanism.unit_table(t, self.binned.first)
        same = (np.diff(t) < 1.5 * near) & (np.abs(np.diff(rows, axis=0)).max(axis=1) < _JUMP)
        middle = np.concatenate(([False], same[1:] & same[:-1], [False]))  # a bend whose sides are like it
        beside = np.append(middle[1:], False) | np.insert(middle[:-1], 0, False)
        beside[[0, -1]] = False
        return LawAt.of(t[middle | ~beside], rows[middle | ~beside])

    def around(self, jumps: tuple[float, ...], shape: Shape | None = None) -> LawAt:
        """The bends, both sides of some jumps, and what a declared shape needs."""
        sides = [jump + side for jump in jumps for side in (-self.near, self.near)]
        return self._with(np.array(sides if shape is None else [*sides, *shape.places(jumps, self.near)]))

    @cached_property
    def curved(self) -> LawAt:
        """The bends and a grid for what is curved in between."""
        return self._with(np.arange(_CURVED + 1) / _CURVED)

    @cached_property
    def finer(self) -> LawAt:
        """The bends and a grid for the variance of weights."""
        return self._with(np.arange(_FINER + 1) / _FINER)

    def _with(self, more: FloatArray) -> LawAt:
        """The bends and more."""
        (t, rows, _), more = self.straight, np.unique(more)
        right = np.minimum(np.maximum(np.searchsorted(t, more), 1), len(t) - 1)
        before, after = t[right - 1], t[right]
        apart = (after - before > 3 * self.near) & (after > more) & (before < more)
        more, right = more[apart], right[apart]  # within a bend its two sides speak for it
        share = ((more - before[apart]) / (after - before)[apart])[:, None]
        law = (1 - share) * rows[right - 1] + share * rows[right]
        return LawAt.of(np.insert(t, right, more), np.insert(rows, right, law, axis=0))


class Envelope:
    """The envelope problems of one pilot, for n reports and truths of a declared shape, if any."""

    def __init__(self, nodes: Nodes, pilot: FloatArray, n: int, shape: Shape | None = None) -> None:
        self.nodes, self.pilot, self.n, self.shape = nodes, pilot, n, shape

    def weights(self, target: Target, side: int, z: float) -> FloatArray:
        """Weights of an upper limit (side 1: h ≥ τ everywhere) or a lower one, best for such a pilot."""
        target = target if side > 0 else target.negative()
        straight = target.curvature == (0.0, 0.0)
        if self.shape is not None and straight:
            return side * self._shaped(self.shape, target, z)
        law = self.nodes.around(target.jumps) if straight else self.nodes.curved
        # How far a concave piece can rise above its chord: −τ''·Δ²/8.
        rise = 0.0 if straight else max(0.0, -target.curvature[0]) * float(np.diff(law.t).max()) ** 2 / 8
        return side * self._above(law, target.above(law.t, self.nodes.near) + rise, z)

    def expected(self, weights: FloatArray, side: int, z: float) -> float:
        """The limit that these weights give on average if the pilot is the truth."""
        mean = float(self.pilot @ weights)
        return mean + side * z * float(np.sqrt(self.pilot @ (weights - mean) ** 2 / self.n))

    def noise(self, weights: FloatArray) -> tuple[float, float]:
        """The least and the largest variance of w(report) given x."""
        variance, rise = self._variance(weights)
        return max(float(variance.min()), 0.0), float((variance + rise).max())

    def average_noise(self, weights: FloatArray, counts: IntArray) -> float:
        """An upper estimate of the average over people of that variance, which has an envelope too."""
        variance, rise = self._variance(weights)
        w = self._above(self.nodes.finer, variance + rise, 1.0)
        return float(np.clip(w @ counts / counts.sum(), *self.noise(weights)))

    def part(self, weights: FloatArray, counts: IntArray, estimand: str, fakes: int = 0) -> Part:
        """What these weights say of some reports."""
        ceiling = self.average_noise(weights, counts) if estimand == "respondents" else math.inf
        return Part(weights, counts, *self.noise(weights), ceiling, fakes)

    def _variance(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The variance of w(report) at the nodes, and how far it can rise above its chords beside them.

        h is linear between nodes, so Σw²P − h² is concave there and leaves its chord by at most (Δh)²/4.
        """
        t, rows, _ = self.nodes.finer
        h, rise = rows @ weights, np.zeros(len(t) + 1)
        rise[1:-1] = np.where(t[1:] - t[:-1] > 3 * self.nodes.near, (h[1:] - h[:-1]) ** 2 / 4, 0.0)
        return rows @ weights**2 - h**2, np.maximum(rise[1:], rise[:-1])

    def _above(self, law: LawAt, bound: FloatArray, z: float) -> FloatArray:
        """Weights that are above a bound at some nodes: where the law is one, above the highest."""
        highest = np.maximum.reduceat(bound, law.first)
        w, _ = least_limit(Problem(law.rows[law.first], highest, self.pilot, z / math.sqrt(self.n)))
        return w + max(0.0, float((bound - law.rows @ w).max()))

    def _shaped(self, shape: Shape, target: Target, z: float) -> FloatArray:
        """Weights for truths of a shape. What u costs is in all of them: it joins every limit."""
        near = self.nodes.near
        t, rows, _ = self.nodes.around(target.jumps, shape)
        added, cost = shape.columns(t, target.jumps, near)
        rows, added, bound = (
            shape.extremes(t, values, near) for values in (rows, added, target.above(t, near))
        )
        w, u = least_limit(Problem(rows, bound, self.pilot, z / math.sqrt(self.n), added, cost))
        return w + float(cost @ u) + max(0.0, float((bound - rows @ w - added @ u).max()))


class CrossFit:
    """A tally on bins of cells, divided for choosing and applying weights.

    With `blind` the weights never look at the data: they suit people spread evenly over the domain. With
    `fakes` so many reports may be anything: then weights are blind too, so that no fake chooses those
    of honest reports, and every limit is wider by what fakes can do.

    Attributes:
        halves: Counts of all cells, and the density on equal bins that the other half suggests.
    """

    def __init__(self, tally: Tally, *, blind: bool = False, fakes: int = 0) -> None:
        self.tally, self.blind, self.fakes = tally, blind, fakes
        self.binned = Binned.of(tally, _CELL_BINS)
        self.n, self.nodes = self.binned.n, Nodes(self.binned)
        self.law, even = self.binned.table_of_parts(BINS), np.full(BINS, 1 / BINS)
        if blind or fakes or self.n < FEW:  # half of very few reports could suggest nothing
            self.halves: list[tuple[IntArray, FloatArray]] = [(tally.counts, even)]
        else:
            one = half(tally.counts, generator_of(tally))
            halves = one, tally.counts - one
            # Stopped long before it follows the noise: only a rough idea of the truth is wanted.
            pilots = [em(self.law, self.binned.in_bins(half), even) for half in halves]
            self.halves = list(zip(halves, pilots[::-1], strict=True))

    @cached_property
    def _problems(self) -> list[tuple[IntArray, Envelope]]:
        return [
            (self.binned.in_bins(counts), Envelope(self.nodes, self.law.mix(density), self.n))
            for counts, density in self.halves
        ]

    def statistic(self, target: Target, side: int, tail: float, estimand: str = "population") -> list[Part]:
        """What bounds the average of a target from above (side 1) or below (side −1)."""
        return [
            problem.part(problem.weights(target, side, normal_quantile(tail)), counts, estimand, self.fakes)
            for counts, problem in self._problems
        ]

    def limits(
        self, bounds: Sequence[tuple[Target, int]], tail: float, estimand: str = "population"
    ) -> list[float]:
        """Normal confidence limits for the averages of several targets."""
        return [
            float(limit(self.statistic(target, side, tail, estimand), side, tail)) for target, side in bounds
        ]
