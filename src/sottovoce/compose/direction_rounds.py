"""Two rounds for a mean direction: a few people say roughly where it is, the others how far to its sides.

    plan = sottovoce.rounds("direction", epsilon=2.0, domain=Circle(24))
    first = Tally(plan.first, plan.first.report(values[:2_000]))     # a tenth of the people
    second = plan.second(first)
    plan.estimate(first, Tally(second, second.report(values[2_000:])))

A direction that is known roughly, φ, is found from E sin(x − φ) alone. So the second round reports that sine,
a number between −1 and 1, with the design of least expected variance for where the first round sees people
(`optimal` with a prior): a table on the circle, because φ is public. With S = E sin(x − φ) of the second
round and cosine and sine of the first,

    E sin(x − ψ) = (S − sin(ψ − φ)·E cos(x − ψ)) / cos(ψ − φ),

and the interval is the arc of ψ at which neither this nor what the first round says of E sin(x − ψ), averaged
by their variances, excludes zero. All of these have limits that hold for every truth, whatever φ was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sottovoce.compose.design import design
from sottovoce.core.domains import Circle
from sottovoce.core.errors import DataError, check_confidence
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.repair import repaired
from sottovoce.core.rows import Rows
from sottovoce.core.shown import Shown
from sottovoce.designs.optimal import optimal
from sottovoce.estimates.circular import TURN, Waves
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.envelope import CrossFit, Target
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.query import Query, sources_of
from sottovoce.estimates.statistic import Moments, between, moments
from sottovoce.estimates.tally import Tally

_BINS = 64  # of the guess
_INPUTS = 4096  # of the table: what a value loses by going to the nearest is part of the limits
_CAUTION = 0.1  # the weight of an even spread in the guess
_ACROSS = 0.2  # the second round says nothing of directions whose cosine from φ is less


@dataclass(frozen=True)
class DirectionRounds(Shown):
    """A first mechanism that knows nothing, and a way to make the second from its reports.

    Attributes:
        epsilon: What one person's report may cost, in either round.
        domain: The circle that values lie on.
    """

    epsilon: float
    domain: Circle

    @cached_property
    def first(self) -> Mechanism:
        """For the people of the first round: the design for directions."""
        mechanism = design("direction", self.epsilon, self.domain)
        assert isinstance(mechanism, Mechanism)
        return mechanism

    def second(self, first: Tally) -> Rows:
        """Design the mechanism for everyone else: about the sine from the direction that was seen first.

        Args:
            first: The tally of the first round.

        Returns:
            A table on the circle.

        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        weights, about = self._guess(first)
        sines = np.sin(TURN * ((np.arange(_BINS) + 0.5) / _BINS - about))
        shares, edges = np.histogram(sines, _BINS // 2, (-1.0, 1.0), weights=weights)
        line = optimal(self.epsilon, (-1, 1), prior=((edges[1:] + edges[:-1]) / 2, shares))
        inputs = np.arange(_INPUTS) / _INPUTS
        rows = repaired(np.asarray(line.probabilities(np.sin(TURN * (inputs - about)))), self.epsilon)
        values = np.arange(line.cells) / line.cells  # which answer it is: none stands for one direction
        return Rows(self.epsilon, self.domain, inputs, rows, values, name="sine", task="direction")

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
        if not isinstance(second.required(2).reporter, Rows) or second.reporter.domain != self.domain:
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


class _Both(Waves):
    """Limits of E sin(x − ψ) from both rounds."""

    def __init__(self, query: Query, second: Tally, about: float) -> None:
        super().__init__(query)
        self.about, fit = about, CrossFit(second)
        bend = TURN**2
        sine = Target(lambda t: np.sin(TURN * (t - about)), curvature=(-bend, bend))
        self.sines = {side: moments(fit.statistic(sine, side, self.tail), "population") for side in (-1, 1)}
        middle = between(self.sines[-1], self.sines[1])
        c, s = np.cos(TURN * about), np.sin(TURN * about)
        errors = self.centre(-s, c)[1], float(middle.error)
        #: How much the second round counts, and the error of E sin(x − φ) of both together.
        self.share = errors[0] ** 2 / (errors[0] ** 2 + errors[1] ** 2)
        self.error = errors[1] * self.share**0.5
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
        return self.error / self.resultant / TURN

    def _limit(self, a: FloatArray, b: FloatArray, side: int, tail: float) -> FloatArray:
        """Of E sin(x − ψ), with a = −sin ψ and b = cos ψ."""
        away = np.arctan2(-a, b) - TURN * self.about
        used = np.cos(away) > _ACROSS
        share = np.where(used, self.share, 0.0)
        tilt, factor = share * np.tan(away), share / np.where(used, np.cos(away), 1.0)
        one, two = self.wave((1 - share) * a - tilt * b, (1 - share) * b + tilt * a, side), self.sines[side]
        error = np.hypot(one.error, factor * two.error)
        third = one.skewness * one.error**3 + two.skewness * (factor * two.error) ** 3
        freedom = min(one.freedom, two.freedom)
        both = Moments(one.value + factor * two.value, error, third / error**3, freedom)
        return np.asarray(both.limit(side, tail))
