"""Two rounds for a mean: a few people say roughly where values lie, the others get a mechanism for that.

    plan = sottovoce.two_rounds(epsilon=2.0, domain=(0, 120))
    first = Tally(plan.first, plan.first.report(values[:500]))       # a tenth of the people
    second = plan.second(first)                                      # optimal(…, prior=…)
    plan.mean(first, Tally(second, second.report(values[500:])))

Every person answers in one round only and spends ε once: the second mechanism depends on the *reports* of
the first people, which are public, and not on anything of the people who use it. Both rounds are unbiased
whatever the truth, so a first round that misleads costs accuracy and never correctness. What is gained is in
docs/howto/many-attributes.md: nothing at ε ≤ ½, a third of the variance at ε = 2 when values lie close
together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.optimal import optimal
from sottovoce.errors import ArgumentError, DataError, check_confidence, check_epsilon, real_number
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.estimates.tally import Tally
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.number import Number
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

_BINS = 32


@dataclass(frozen=True)
class TwoRounds(Shown, Compact):
    """A first mechanism that knows nothing, and a way to make the second from its reports.

    Attributes:
        epsilon: What one person's report may cost, in either round.
        domain: The interval that values lie in.
        caution: The weight of an even spread in the guess: how much the second round allows for a first one
            that was wrong.
    """

    epsilon: float
    domain: Domain
    caution: float = 0.1

    @cached_property
    def first(self) -> Mechanism:
        """For the people of the first round: unbiased, of least worst-case variance."""
        return optimal(self.epsilon, self.domain)

    def guess(self, first: Tally) -> tuple[FloatArray, FloatArray]:
        """Say where values seem to lie after the first round.

        Args:
            first: The tally of the first round.

        Returns:
            Points, and their weights.

        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        if first.digest != self.first.digest:
            raise DataError("first must be a tally of the first round's mechanism", argument="first")
        bins = min(_BINS, max(2, self.first.cells))
        shape = distribution(first.required(), bins=bins, band=False)
        even = np.full(bins, 1 / bins)
        middle = (shape.edges[1:] + shape.edges[:-1]) / 2
        return middle, (1 - self.caution) * np.asarray(shape.probabilities) + self.caution * even

    def second(self, first: Tally) -> Mechanism:
        """Design the mechanism for everyone else: unbiased, of least expected variance under the guess.

        Args:
            first: The tally of the first round.

        Returns:
            The mechanism of the second round.

        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        return optimal(self.epsilon, self.domain, prior=self.guess(first))

    def shares(self, first: Tally, second: Number, people: int) -> FloatArray:
        """Say how much each round counts: as much as it is worth under the guess.

        Args:
            first: The tally of the first round.
            second: The mechanism of the second round.
            people: How many report in the second round.

        Returns:
            Two weights that add up to 1.

        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        points, weights = self.guess(first)
        spread = float(weights @ (points - weights @ points) ** 2)
        noise = np.array([weights @ m.variance(points) for m in (self.first, second)])
        worth = np.array([first.n, people]) / (noise + spread)
        return np.asarray(worth / worth.sum())

    def mean(self, first: Tally, second: Tally, *, confidence: float = 0.95) -> Estimate:
        """Estimate the mean of all, both rounds weighted by their `shares`.

        Args:
            first: The tally of the first round.
            second: The tally of the second round.
            confidence: How often the interval should hold.

        Returns:
            The mean of the population, in the units of the domain.

        Raises:
            DataError: If a round has fewer than two reports or another domain.
            NoDataError: If nobody reported.
        """
        if first.n < 2 or second.required(2).law.as_number().domain != self.domain:
            raise DataError("both rounds need at least two reports, on the same domain", argument="second")
        z = normal_quantile((1 - check_confidence(confidence)) / 2)
        parts = [_moments(tally) for tally in (first, second)]
        share = self.shares(first, second.law.as_number(), second.n)
        value = float(sum(s * mean for s, (mean, _) in zip(share, parts, strict=True)))
        error = math.sqrt(sum(s**2 * square for s, (_, square) in zip(share, parts, strict=True)))
        ends = np.clip([value - z * error, value + z * error], self.domain.low, self.domain.high)
        low, high = float(ends[0]), float(ends[1])
        value = float(np.clip(value, low, high))
        n = first.n + second.n
        return Estimate(value, low, high, error, confidence, n, "mean", "population", "two rounds")

    #: The answer of these rounds, by the name that all plans in rounds have.
    estimate = mean


def two_rounds(epsilon: float, domain: DomainLike = (0, 1), *, caution: float = 0.1) -> TwoRounds:
    """Plan two rounds of one ε per person; ask a tenth of the people first.

    Args:
        epsilon: What one person's report may cost; everybody reports in one round only.
        domain: The interval that values lie in.
        caution: The weight of an even spread in what the first round says, at most 1: how much the second
            allows for a first one that misled.

    Returns:
        The plan: `first`, then `second(tally)`, then `mean(first, second)`.

    Raises:
        ValueError: If an argument is out of range or the domain is a circle.

    Example:
        >>> plan = two_rounds(epsilon=2.0, domain=(0, 24))
        >>> plan.first.name
        'optimal (mean)'
    """
    caution = real_number(caution, "caution")
    if not 0 < caution <= 1:
        raise ArgumentError(f"caution must lie in (0, 1], got caution={caution!r}", argument="caution")
    line = as_domain(domain)
    if line.is_circle:
        sentence = "two rounds are for the mean on an interval; a circle has no mean on the line"
        raise ArgumentError(sentence, argument="domain")
    return TwoRounds(check_epsilon(epsilon), line, caution)


def _moments(tally: Tally) -> tuple[float, float]:
    """The mean report, and the squared standard error of it."""
    decoded = tally.law.as_number().decode(np.arange(tally.law.as_number().cells))
    mean = float(tally.counts @ decoded / tally.n)
    return mean, float(tally.counts @ (decoded - mean) ** 2 / (tally.n - 1) / tally.n)
