"""Rounds for an unknown range: a few people say how large values are, the others where among those.

    plan = sottovoce.rounds("range", epsilon=1.0, largest=1e9)
    first = Tally(plan.first, plan.first.report(values[:10_000], outside="clip"))
    rough = plan.next(first)                                      # for where people seem to be
    second = Tally(rough, rough.report(values[10_000:20_000], outside="clip"))
    there, m = plan.beyond(plan.range(second)), sottovoce.design("mean", 1.0, plan.range(second))
    beyond = Tally(there, there.report(values[20_000:25_000], outside="clip"))
    plan.mean(beyond, Tally(m, m.report(values[25_000:], outside="clip")), trimmed=True)

The first round is on a signed logarithmic scale, sign(x)·log₁₀(1 + |x|/unit): twelve powers of ten are no
wider there than twelve hours. It is the square wave for 97 even places of that scale, as a table of the
values at them, so that every client knows it. If values are never negative (`signed=False`) it is the square
wave on an ordinary logarithmic domain. Everybody answers in one round only; the ranges depend on public
reports and on nothing of the people who use them. Whatever they are, the answer holds: values outside are
brought to the nearest end, so the mean is that of values brought into the range, and an end of a quantile's
interval that touches the range is open. The mean of all values as they are is another matter: a few people
far away, whom nobody may ever have asked, can put it anywhere. So it needs a bound of the spread, declared
beforehand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.classic import sw
from sottovoce.errors import ArgumentError, DataError, check_confidence, real_number
from sottovoce.estimates.answer.units import sources_of
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.envelope import CrossFit
from sottovoce.estimates.mean import mean
from sottovoce.estimates.probability import probability
from sottovoce.estimates.quantile import smooth_density
from sottovoce.estimates.tally import Tally
from sottovoce.frozen import Compact
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.number import Number
from sottovoce.reporters.rows import Rows
from sottovoce.surveys.design import design
from sottovoce.values.domain import Domain
from sottovoce.values.interval import Interval

_MASS = 0.95  # of the people as they are seen, in the shortest range that holds so many
_PAD = 0.25  # as much is added on each side, in its widths
OPEN = "an end that touches the range is open"
_PLACES, _CELLS = 97, 32  # of the signed scale: the spec is 50 kB
_HALF = 5e-4  # the error of a limit that says that half of the people are in the range


@dataclass(frozen=True)
class RangeRounds(Compact):
    """A first mechanism for values of any size, and ranges from what is reported.

    Attributes:
        epsilon: What one person's report may cost, in whichever round.
        largest: Values are brought into [−largest, largest].
        unit: What is small: below it the scale is nearly linear, above it logarithmic.
        signed: False if no value is negative.
    """

    epsilon: float
    largest: float
    unit: float
    signed: bool = True

    @property
    def least(self) -> float:
        """What no value is below."""
        return -self.largest if self.signed else 0.0

    @cached_property
    def first(self) -> Number:
        """For the people of the first round: the square wave, on the logarithmic scale."""
        if not self.signed:
            return self._scaled
        places = np.linspace(*self._scaled.domain.ends, _PLACES)
        values = np.linspace(-self.largest, self.largest, _CELLS)
        return Rows.of(
            self.epsilon,
            self._scaled.probabilities(places),
            (-self.largest, self.largest),
            inputs=self._values(places),
            values=values,
            name="signed scale",
        )

    @cached_property
    def _scaled(self) -> Mechanism:
        """The first round as it is on the scale."""
        if not self.signed:
            return sw(self.epsilon, Interval(self.unit, self.largest, scale="log"))
        end = math.log10(1 + self.largest / self.unit)
        return sw(self.epsilon, (-end, end), cells=_CELLS)

    def _values(self, scaled: FloatArray) -> FloatArray:
        """What lies at places of the signed scale."""
        sizes = np.minimum(self.unit * (10 ** np.abs(scaled) - 1), self.largest)
        return np.asarray(np.sign(scaled) * sizes)

    def range(self, tally: Tally) -> Interval:
        """Say where most people seem to be.

        Args:
            tally: Reports of `first`, or of a mechanism on a range that was found before.

        Returns:
            The shortest range with 95 % of a smooth fit, and a quarter more on each side.

        Raises:
            NoDataError: If nobody reported.
        """
        scaled = tally.required().digest == self.first.digest
        seen = Tally.from_counts(self._scaled, tally.counts) if scaled else tally
        density = smooth_density(CrossFit(seen))
        total = np.concatenate(([0.0], np.cumsum(density / density.sum())))
        last = np.searchsorted(total, np.minimum(total + _MASS, 1.0) - 1e-9)
        last = np.where(total + _MASS > 1 + 1e-9, 2 * len(total), last)  # too little is left from here
        begin = int(np.argmin(last - np.arange(len(total))))
        low, high = (np.array([begin, last[begin]]) / len(density)).tolist()
        pad = _PAD * (high - low)
        ends = seen.law.as_number().domain.from_unit(np.clip([low - pad, high + pad], 0.0, 1.0))
        if self.signed and scaled:
            ends = self._values(ends)
        step = 10.0 ** math.floor(math.log10(float(ends[1] - ends[0]) / 100))  # ends that can be read
        return Interval(math.floor(ends[0] / step) * step, math.ceil(ends[1] / step) * step)

    def next(self, tally: Tally) -> Mechanism:
        """For the people of the next round: the square wave on that range.

        Ask another tenth of the people with it, `outside="clip"`, and again as long as the range then shrinks
        to less than a third.

        Args:
            tally: As in `range`.

        Returns:
            A mechanism.

        Raises:
            NoDataError: If nobody reported.
        """
        return sw(self.epsilon, self.range(tally))

    def beyond(self, domain: Domain) -> Number:
        """For a twentieth of the people, once the range is chosen: are they in it? For `mean`.

        Args:
            domain: The range.

        Returns:
            A mechanism on all values, from `least` to `largest`.
        """
        everywhere = (self.least, self.largest)
        return design("probability", self.epsilon, everywhere, between=(domain.low, domain.high))

    def mean(
        self,
        beyond: Tally,
        last: Tally,
        *,
        trimmed: bool = False,
        spread: float | None = None,
        confidence: float = 0.95,
    ) -> Estimate:
        """Estimate a mean from the last round, with what lies beyond the range in the open.

        Args:
            beyond: Answers of some people to whether they are in the range.
            last: The tally of the last round, whose mechanism's domain is the range.
            trimmed: True for the mean of values brought into the range.
            spread: A bound of the standard deviation, declared beforehand, for the mean of all values.
            confidence: How often the interval should hold.

        Returns:
            The mean of the population. A note says how many people may lie beyond the range.

        Raises:
            ArgumentError: If neither is asked for: a mean of values without limits is not to be had.
            DataError: If `beyond` is about another range, or the range is too narrow for the spread.

        Example:
            >>> plan = RangeRounds(epsilon=4.0, largest=1e6, unit=1.0)
            >>> x = np.random.default_rng(1).normal(70, 9, 9000)
            >>> m = plan.next(Tally(plan.first, plan.first.report(x[:4000], rng=2)))
            >>> there = plan.beyond(m.domain)
            >>> beyond = Tally(there, there.report(x[4000:5000], rng=3))
            >>> e = plan.mean(beyond, Tally(m, m.report(x[5000:], outside="clip", rng=4)), trimmed=True)
            >>> bool(e.low < 70 < e.high)
            True
        """
        if trimmed == (spread is not None):
            sentence = (
                "a mean of values without limits is not identified: nobody knows what a few people far away "
                "have; say trimmed=True for the mean of values brought into the range, declare spread=, or "
                "ask for a quantile"
            )
            raise ArgumentError(sentence, code="unlimited", argument="trimmed")
        domain = last.law.as_number().domain
        if beyond.digest != self.beyond(domain).digest:
            raise DataError("beyond must be a tally about the range of the last round", argument="beyond")
        tail = (1 - check_confidence(confidence)) / 2
        half, most = (1 - probability(beyond, *domain.ends, confidence=1 - 2 * t).low for t in (_HALF, tail))
        within = f"{domain.low:.6g} to {domain.high:.6g}"
        notes: tuple[str, ...] = (f"beyond {within} lie at most {100 * most:.2g} % of the people",)
        if spread is None:
            answer, what = mean(last, confidence=confidence), f"mean of values brought into {within}"
        else:
            bound, what = real_number(spread, "spread"), "mean"
            if not 0 < bound <= domain.width / math.sqrt(8) or half > 0.5:
                sentence = "spread must be positive and at most 0.35 of a range that holds half of the people"
                raise DataError(f"{sentence}, got spread={bound!r}", code="spread", argument="spread")
            answer = mean(last, confidence=confidence + 2 * _HALF)
            sides = (-1, answer.low), (1, answer.high)
            low, high = (_opened(end, domain, bound, side) for side, end in sides)
            answer = replace(answer, low=low, high=high, error=math.nan, confidence=confidence)
            notes += (f"holds if the standard deviation is at most {bound:.12g}, as declared",)
        notes, sources = (*answer.notes, *notes), answer.sources | sources_of(beyond)
        return replace(
            answer, what=what, method="rounds", notes=notes, sides=None, reach=None, sources=sources
        )

    def quantile(self, estimate: Estimate, domain: Domain) -> Estimate:
        """A quantile of values brought into a range, as one of all values.

        Args:
            estimate: The quantile, from any mechanism or rounds on the range.
            domain: The range.

        Returns:
            The same, with an end that touches the range opened to `least` or `largest`.
        """
        low, high = self.opened(estimate.low, estimate.high, domain)
        notes = (*estimate.notes, OPEN) if (low, high) != (estimate.low, estimate.high) else estimate.notes
        return replace(estimate, low=low, high=high, notes=notes)

    def opened(self, low: float, high: float, domain: Domain) -> tuple[float, float]:
        """Open the ends of an interval that touch the range: what they bound may lie anywhere beyond.

        Args:
            low: The lower end.
            high: The upper end.
            domain: The range.

        Returns:
            Both ends.
        """
        return self.least if low <= domain.low else low, self.largest if high >= domain.high else high


def _opened(end: float, domain: Domain, spread: float, side: int) -> float:
    """The most (side 1) or least that the mean can be if that of values brought into the range is `end`.

    With c the middle and h half of the width, |x − x brought inside| ≤ (x − c)²/(4h). So the two means differ
    by at most (spread² + d²)/(4h), d the distance of the mean from c; and half of the people are within h of
    c, so d ≤ h + √2·spread ≤ 2h: of the two stretches that the quadratic leaves it is the nearer one.
    """
    c, h = (domain.low + domain.high) / 2, domain.width / 2
    root = 4 * h * h - 4 * h * side * (end - c) - spread**2
    nearer = 2 * h - math.sqrt(root) if root >= 0 else math.inf
    return c + side * min(nearer, h + math.sqrt(2) * spread)
