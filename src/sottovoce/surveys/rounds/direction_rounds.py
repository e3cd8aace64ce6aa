"""Two rounds for a mean direction: a few people say roughly where it is, the others how far to its sides.

    plan = sottovoce.rounds("direction", epsilon=2.0, domain=Circle(24))
    first = Tally(plan.first, plan.first.report(values[:2_000]))     # a tenth of the people
    second = plan.second(first)
    plan.estimate(first, Tally(second, second.report(values[2_000:])))

A direction that is known roughly, φ, is found from E sin(x − φ) alone. So the second round reports that sine,
a number between −1 and 1, with the design of least expected variance for where the first round sees people
(`optimal` with a prior). Its window, which moves from the least report to the largest as the sine rises, goes
on around while the sine falls: the part of it that has passed the end begins again below, so the mean report
falls as steadily. One start table thus gives every x the window whose mean report is sin(x − φ), and the
mechanism is an ordinary one on the circle. With S = E sin(x − φ) of the second round and cosine and sine of
the first,

    E sin(x − ψ) = (S − sin(ψ − φ)·E cos(x − ψ)) / cos(ψ − φ),

and the interval is the arc of ψ at which neither this nor what the first round says of E sin(x − ψ), averaged
by their variances, excludes zero. All of these have limits that hold for every truth, whatever φ was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.optimal import optimal
from sottovoce.errors import DataError, check_confidence
from sottovoce.estimates.answer.units import Query, sources_of
from sottovoce.estimates.direction import TURN, Waves
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.envelope import CrossFit, Target
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Moments, between, moments
from sottovoce.estimates.tally import Tally
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.number import Number
from sottovoce.reporters.window import Window
from sottovoce.surveys.design import design
from sottovoce.values.domain import Domain

_BINS = 64  # of the guess
_KNOTS, _GRID = 256, 1 << 13  # of the start table: it is even, and bends on a grid where the window needs it
_CAUTION = 0.1  # the weight of an even spread in the guess
_ACROSS = 0.2  # the second round says nothing of directions whose cosine from φ is less


@dataclass(frozen=True)
class DirectionRounds(Shown, Compact):
    """A first mechanism that knows nothing, and a way to make the second from its reports.

    Attributes:
        epsilon: What one person's report may cost, in either round.
        domain: The circle that values lie on.
    """

    epsilon: float
    domain: Domain

    @cached_property
    def first(self) -> Number:
        """For the people of the first round: the design for directions."""
        return design("direction", self.epsilon, self.domain).as_number()

    def second(self, first: Tally) -> Mechanism:
        """Design the mechanism for everyone else: about the sine from the direction that was seen first.

        Args:
            first: The tally of the first round.

        Returns:
            A mechanism on the circle; no cell of it stands for one direction.

        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        weights, about = self._guess(first)
        sines = np.sin(TURN * ((np.arange(_BINS) + 0.5) / _BINS - about))
        shares, edges = np.histogram(sines, _BINS // 2, (-1.0, 1.0), weights=weights)
        line = optimal(self.epsilon, (-1, 1), prior=((edges[1:] + edges[:-1]) / 2, shares))
        window = _turned(line.window, about)
        return Mechanism(self.epsilon, self.domain, window, name="sine", made_for="direction")

    def estimate(self, first: Tally, second: Tally, *, confidence: float = 0.95) -> Estimate:
        """Estimate the mean direction.

        Args:
            first: The tally of the first round.
            second: The tally of the second round.
            confidence: How often the interval should hold, whatever the first round said.

        Returns:
            The direction of the population, in the units of the circle, as `circular_mean` gives it.

        Raises:
            DataError: If a tally is of another mechanism.
            NoDataError: If nobody reported.
        """
        _, about = self._guess(first)
        asked = second.required(2).law.as_number()
        if asked.domain != self.domain or asked.digest == self.first.digest:
            raise DataError("second must be a tally of the second round's mechanism", argument="second")
        query = Query(first, "circular mean", "population", check_confidence(confidence))
        both = _Both(query, second, about)
        whole = both.direction - 0.5, both.direction + 0.5
        arc, error = both.arc(), both.direction_error
        notes = () if arc is not None else ("no direction can be excluded: the interval is the whole circle",)
        answer = query.answer(
            arc or whole, both.direction, error, ends=whole, method="two rounds", notes=notes
        )
        return replace(answer, n=first.n + second.n, sources=answer.sources | sources_of(second))

    def _guess(self, first: Tally) -> tuple[FloatArray, float]:
        """Where people seem to be, on equal bins, and their mean direction in turns."""
        if first.digest != self.first.digest:
            raise DataError("first must be a tally of the first round's mechanism", argument="first")
        shares = np.asarray(distribution(first.required(2), bins=_BINS, band=False).probabilities)
        vector = shares @ np.exp(1j * TURN * (np.arange(_BINS) + 0.5) / _BINS)
        return (1 - _CAUTION) * shares + _CAUTION / _BINS, float(np.angle(vector) / TURN)


def _turned(line: Window, about: float) -> Window:
    """The window of a mean on [−1, 1], on a circle: its mean report is the sine of the angle from `about`.

    From start 0 to H − K the mean report rises, from there to H it falls, by v(s + K) − v(s) at s.
    """
    a, e = -(-line.a // 4), line.e // 4  # starts run twice around: two bits fewer
    edge = np.concatenate(([0], np.cumsum(e)))
    around, bits = int(edge[-1]), line.bits - 2
    length = (1 << bits) - int(a.sum())
    sums = np.concatenate(([0.0], np.cumsum(e * line.v)))

    def reports(s: FloatArray) -> FloatArray:
        """The sum of the reports below a position of the extra coordinate, once around and more."""
        return np.asarray(np.interp(s % around, edge, sums) + s // around * sums[-1])

    bends = np.unique(np.concatenate((edge, (edge - length) % around)))
    mean = reports(bends + length) - reports(bends)
    mean = 2 * (mean - mean.min()) / np.ptp(mean) - 1
    rises, falls = bends <= around - length, bends >= around - length
    half = np.arccos(-mean) / TURN  # the sine is least at angle 0 and largest at ½
    kinks = np.mod(np.where(rises, half, 1 - half) + about - 0.25, 1.0)
    t = np.unique(np.append(np.arange(_KNOTS) / _KNOTS, np.floor(kinks * _GRID) / _GRID))
    turn, angle = np.divmod(t - about + 0.25, 1.0)
    sine = -np.cos(TURN * angle)
    up = np.interp(sine, mean[rises], bends[rises])
    down = np.interp(-sine, -mean[falls], bends[falls])
    starts = np.minimum(np.where(angle <= 0.5, up, down), around - 1) + (turn - turn[0]) * around
    starts = np.maximum.accumulate(starts.astype(np.int64))
    return Window(
        wraps=True,
        bits=bits,
        count=np.ones_like(a),
        background=a,
        extra=e,
        value=np.arange(len(a)) / len(a),
        step=np.zeros(len(a)),
        knot_t=np.append(t, 1.0),
        knot_s=np.append(starts, starts[0] + around),
        stepwise=False,
    )


class _Both(Waves):
    """Limits of E sin(x − ψ) from both rounds."""

    def __init__(self, query: Query, second: Tally, about: float) -> None:
        super().__init__(query)
        self.about, fit = about, CrossFit(second)
        bend = TURN**2
        sine = Target(lambda t: np.sin(TURN * (t - about)), curvature=(-bend, bend))
        self.sines = {side: moments(fit.statistic(sine, side, self.tail)) for side in (-1, 1)}
        middle = between(self.sines[-1], self.sines[1])
        c, s = np.cos(TURN * about), np.sin(TURN * about)
        errors = self.centre(-s, c)[1], float(middle.error)
        #: How much the second round counts.
        self.share = errors[0] ** 2 / (errors[0] ** 2 + errors[1] ** 2)
        self.sine = float(middle.value)

    @cached_property
    def direction(self) -> float:
        """The estimated direction as a unit coordinate in [0, 1)."""
        c, s = self.vector
        turned = self.about + np.arcsin(np.clip(self.sine / max(np.hypot(c, s), 1e-12), -1, 1)) / TURN
        apart = np.mod(turned - np.arctan2(s, c) / TURN + 0.5, 1.0) - 0.5
        return float(np.mod(np.arctan2(s, c) / TURN + self.share * apart, 1.0))

    @property
    def direction_error(self) -> float:
        """Its root mean square error in turns."""
        c, s = np.cos([TURN * self.direction]), np.sin([TURN * self.direction])
        error = float(between(*(self._sine(-s, c, side) for side in (-1, 1))).error[0])
        return error / self.resultant / TURN if self.resultant > 0 else math.nan

    def _limit(self, a: FloatArray, b: FloatArray, side: int, tail: float) -> FloatArray:
        return np.asarray(limit(self._sine(a, b, side), side, tail))

    def _sine(self, a: FloatArray, b: FloatArray, side: int) -> Moments:
        """What bounds E sin(x − ψ) from one side, with a = −sin ψ and b = cos ψ."""
        away = np.arctan2(-a, b) - TURN * self.about
        used = np.cos(away) > _ACROSS
        share = np.where(used, self.share, 0.0)
        tilt, factor = share * np.tan(away), share / np.where(used, np.cos(away), 1.0)
        one, two = self.wave((1 - share) * a - tilt * b, (1 - share) * b + tilt * a, side), self.sines[side]
        error = np.hypot(one.error, factor * two.error)
        third = one.skewness * one.error**3 + two.skewness * (factor * two.error) ** 3
        freedom = min(one.freedom, two.freedom)
        skewness = np.divide(third, error**3, out=np.zeros_like(error), where=error > 0)
        return Moments(one.value + factor * two.value, error, skewness, freedom)
