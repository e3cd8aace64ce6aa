"""Two rounds: a few people say roughly where values lie, the others get a mechanism made for that.

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

from sottovoce.core.domains import Domain, DomainLike, as_domain
from sottovoce.core.errors import DataError, check_confidence, check_epsilon, real_number
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.reporter import NumberReporter
from sottovoce.designs.optimal import optimal
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.tally import Tally

_BINS = 32


@dataclass(frozen=True)
class TwoRounds:
    """A first mechanism that knows nothing, and a way to make the second from its reports.

    `caution` is the weight of an even spread in the guess: how much the second round allows for a first one
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
        """Where values seem to lie after the first round: points and weights."""
        if first.digest != self.first.digest:
            raise DataError("first must be a tally of the first round's mechanism")
        bins = min(_BINS, max(2, self.first.cells))
        found = distribution(first.required(), bins=bins, band=False)
        even = np.full(bins, 1 / bins)
        middle = (found.edges[1:] + found.edges[:-1]) / 2
        return middle, (1 - self.caution) * np.asarray(found.probabilities) + self.caution * even

    def second(self, first: Tally) -> Mechanism:
        """For everyone else: unbiased, of least expected variance under the guess.

        `first` is the tally of the first round.
        """
        return optimal(self.epsilon, self.domain, prior=self.guess(first))

    def shares(self, first: Tally, second: NumberReporter, people: int) -> FloatArray:
        """How much each round counts when `people` report in the second: what it is worth under the guess.

        `first` is the tally of the first round.
        """
        points, weights = self.guess(first)
        spread = float(weights @ (points - weights @ points) ** 2)
        noise = [float(weights @ _variance(m, points)) for m in (self.first, second)]
        worth = np.array([first.n, people]) / (np.array(noise) + spread)
        return np.asarray(worth / worth.sum())

    def mean(self, first: Tally, second: Tally, *, confidence: float = 0.95) -> Estimate:
        """The mean of all, both rounds weighted by their `shares`.

        `first` and `second` are the tallies of the two rounds.
        """
        from scipy.special import ndtri

        if first.n < 2 or second.required(2).mechanism.domain != self.domain:
            raise DataError("both rounds need at least two reports, on the same domain")
        z = float(ndtri((1 + check_confidence(confidence)) / 2))
        parts = [_moments(tally) for tally in (first, second)]
        share = self.shares(first, second.mechanism, second.n)
        value = float(sum(s * mean for s, (mean, _) in zip(share, parts, strict=True)))
        error = math.sqrt(sum(s**2 * square for s, (_, square) in zip(share, parts, strict=True)))
        ends = np.clip([value - z * error, value + z * error], self.domain.low, self.domain.high)
        low, high = float(ends[0]), float(ends[1])
        value = float(np.clip(value, low, high))
        n = first.n + second.n
        return Estimate(value, low, high, error, confidence, n, "mean", "population", "two rounds")


def two_rounds(epsilon: float, domain: DomainLike = (0, 1), *, caution: float = 0.1) -> TwoRounds:
    """Plan two rounds of one ε per person; ask a tenth of the people first.

    `caution` is the weight of an even spread in what the first round says: how much the second allows for a
    first one that misled.
    """
    caution = real_number(caution, "caution")
    if not 0 < caution <= 1:
        raise ValueError(f"caution must lie in (0, 1], got caution={caution!r}")
    place = as_domain(domain)
    if place.is_circle:
        raise ValueError("two rounds are for the mean on an interval; a circle has no mean on the line")
    return TwoRounds(check_epsilon(epsilon), place, caution)


def _moments(tally: Tally) -> tuple[float, float]:
    """The mean report, and the squared standard error of it."""
    decoded = tally.mechanism.decode(np.arange(tally.mechanism.cells))
    mean = float(tally.counts @ decoded / tally.n)
    return mean, float(tally.counts @ (decoded - mean) ** 2 / (tally.n - 1) / tally.n)


def _variance(mechanism: NumberReporter, x: FloatArray) -> FloatArray:
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"a round needs a mechanism of one part, got {type(mechanism).__name__}")
    return np.asarray(mechanism.variance(x))
