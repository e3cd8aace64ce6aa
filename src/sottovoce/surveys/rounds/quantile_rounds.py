"""Two rounds for a quantile: a few people say roughly where it lies, the others which side of it they are on.

    plan = sottovoce.rounds("quantile", epsilon=1.0, domain=(0, 24), p=0.9)
    first = Tally(plan.first, plan.first.report(values[:6_000]))     # 30 % of the people
    second = plan.second(first, people=14_000)
    plan.estimate(first, Tally(second, second.report(values[6_000:])))

In the second round everybody is asked about one of eight pairs of thresholds a < b, by a coin: below a,
between, or from b on? The own answer is E times as likely as each other one. The pairs lie around where the
first round sees the quantile, from close to it to where it is hardly expected.

The limits of F at the thresholds are envelopes whose weights rest on the first round alone, and people of the
second round are others: so they hold whatever the first round said. Thresholds are looked at from outside in,
and the first that does not exclude the quantile ends the search: so the error is spent once, 96 % of it. The
rest is spent on limits from the first round's own reports, in case the pairs missed it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.three_windows import narrow_wave
from sottovoce.errors import DataError, check_confidence, whole_number
from sottovoce.estimates.answer.units import Query, sources_of
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.limits.envelope import BINS, CrossFit, Envelope, Nodes, Target
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Statistic, moments, normal_quantile
from sottovoce.estimates.quantile import quantile_limits, smooth_density
from sottovoce.estimates.tally import Tally
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.mixture import Mixture
from sottovoce.reporters.window import Window
from sottovoce.values.domain import Domain

_ANSWERS = 3  # to each question: below, between, above
_BITS = 51  # three times as much still fits 2^53
_REACH = (0.6, 5.5)  # how far pairs lie from the quantile, in standard errors of F
_MOST = 0.8  # nor further in F than this part of the way to the nearer of 0 and 1
#: How many of 16 people are asked about each pair, from inside out: if pairs reach all the way, and if not.
_FAR, _NEAR = (1, 2, 3, 3, 2, 2, 2, 1), (1, 2, 3, 3, 3, 2, 1, 1)
_FIRST_TAIL = 0.04  # the share of the error that the first round's own limits spend


class _Half(NamedTuple):
    """Limits from one side: statistics at thresholds, from outside in."""

    places: FloatArray
    statistics: Sequence[Statistic]


@dataclass(frozen=True)
class QuantileRounds(Shown, Compact):
    """A first mechanism that knows nothing, and a way to make the second from its reports.

    Attributes:
        epsilon: What one person's report may cost, in either round.
        domain: The interval that values lie in.
        p: Which quantile.
        asked_first: The part of the people to ask first.
    """

    epsilon: float
    domain: Domain
    p: float
    asked_first: float = 0.3

    @cached_property
    def first(self) -> Mechanism:
        """For the people of the first round: one window, which is a small spec."""
        return replace(narrow_wave(self.epsilon, self.domain), made_for="quantile")

    def second(self, first: Tally, people: int) -> Mixture:
        """Design the pairs of thresholds for everyone else.

        Args:
            first: The tally of the first round.
            people: How many will report in the second round.

        Returns:
            Eight questions of three answers, and the coin between them.

        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        total = np.concatenate(([0.0], np.cumsum(self._pilot(first))))
        gain, n = math.expm1(self.epsilon), whole_number(people, "people", least=1)

        def error(share: float) -> float:
            """Of F where it is `share`, if everybody were asked about one pair there."""
            seen = (1 + gain * share) / (gain + 3)
            return math.sqrt(seen * (1 - seen) / n) * (gain + 3) / gain

        units = [1.96 * error(share) for share in (self.p, 1 - self.p)]
        most = _MOST * min(self.p, 1 - self.p)  # how far F may be from p
        coin = _FAR if _REACH[1] * max(units) <= most else _NEAR
        ends = [max(min(_REACH[1], most / unit), 2 * _REACH[0]) for unit in units]
        down, up = (u * np.linspace(_REACH[0], end, len(coin)) for u, end in zip(units, ends, strict=True))
        levels = self.p - down, self.p + up
        below, above = (np.interp(level, total, np.arange(BINS + 1) / BINS) for level in levels)
        pairs = zip(np.clip(below, 1e-6, 1 - 3e-6), np.clip(above, 2e-6, 1 - 2e-6), strict=True)
        parts = [self._pair(float(a), float(max(b, a + 1e-6))) for a, b in pairs]
        return Mixture(tuple(parts), coin, name="pairs of thresholds")

    def estimate(self, first: Tally, second: Tally, *, confidence: float = 0.95) -> Estimate:
        """Estimate the quantile.

        Args:
            first: The tally of the first round.
            second: The tally of the second round.
            confidence: How often the interval should hold, whatever the first round said.

        Returns:
            The quantile of the population, in the units of the domain.

        Raises:
            DataError: If a tally is of another mechanism.
            NoDataError: If nobody reported.
        """
        what = f"{self.p:.12g}-quantile"
        query = Query(second, what, "population", check_confidence(confidence))
        parts: Any = () if query.tally.law.composition is None else query.tally.law.composition.reporters
        if query.domain != self.domain or {part.cells for part in parts} != {_ANSWERS}:
            raise DataError("second must be a tally of the second round's mechanism", argument="second")
        pilot, tail = self._pilot(first), query.tail
        (own,) = quantile_limits(CrossFit(first), [self.p], tail * _FIRST_TAIL)
        knots = np.array([part.window.knot_t for part in parts])
        halves = {
            side: _limits(second, np.sort(at)[::side], pilot, side, tail * (1 - _FIRST_TAIL))
            for side, at in ((1, knots[:, 1]), (-1, knots[:, 2]))
        }
        ends = {1: own.low, -1: own.high}
        for side, (places, statistics) in halves.items():
            for place, statistic in zip(places, statistics, strict=True):
                if side * (float(limit(statistic, side, tail * (1 - _FIRST_TAIL))) - self.p) >= 0:
                    break
                ends[side] = max(ends[1], place) if side > 0 else min(ends[-1], place)
        value = self._value(halves)
        answer = query.answer((ends[1], ends[-1]), value, math.nan, method="two rounds", notes=(_NOTE,))
        sources = answer.sources | sources_of(first)
        return replace(answer, n=first.n + second.n, sources=sources)

    def _pilot(self, first: Tally) -> FloatArray:
        """The density that the first round suggests."""
        if first.digest != self.first.digest:
            raise DataError("first must be a tally of the first round's mechanism", argument="first")
        density = smooth_density(CrossFit(first.required()))
        return 0.99 * density / density.sum() + 0.01 / len(density)

    def _value(self, halves: dict[int, _Half]) -> float:
        """Where a line through the innermost limits' statistics reaches p."""
        places = np.concatenate([half.places[-3:] for half in halves.values()])
        values = np.concatenate(
            [[float(moments(s).value) for s in half.statistics[-3:]] for half in halves.values()]
        )
        slope, level = np.polyfit(places, values, 1)
        return float((self.p - level) / slope) if slope > 0 else float(places.mean())

    def _pair(self, a: float, b: float) -> Mechanism:
        """Below a, between, or from b on: three cells, the own one E times as likely."""
        q = exp_lower(self.epsilon)
        background = math.ceil((1 << _BITS) / (q + 2))
        extra = (1 << _BITS) - _ANSWERS * background
        window = Window(
            wraps=False,
            bits=_BITS,
            count=np.array([_ANSWERS]),
            background=np.array([background]),
            extra=np.array([extra]),
            value=np.array([0.0]),
            step=np.array([0.5]),
            knot_t=np.array([0.0, a, b]),
            knot_s=np.array([0, extra, 2 * extra]),
            stepwise=True,
        )
        return Mechanism(self.epsilon, self.domain, window, name="pair")


def _limits(second: Tally, places: FloatArray, pilot: FloatArray, side: int, tail: float) -> _Half:
    """Statistics that bound F below thresholds, each with weights from the pilot alone."""
    mechanism = second.law.as_number()
    binned = Binned(mechanism, np.arange(mechanism.cells), second.counts)
    problem = Envelope(Nodes(binned), binned.table_of_parts(len(pilot)).mix(pilot), second.n)
    statistics = list[Statistic]()
    for place in places:
        weights = problem.weights(Target.below(float(place)), side, normal_quantile(tail))
        statistics.append([problem.part(weights, second.counts, "population")])
    return _Half(places, statistics)


_NOTE = "thresholds were chosen by the first round's reports; the interval holds whatever those said"
