"""Two rounds for a pair: some people say where two numbers lie, the others answer on domains cut to that.

    plan = sottovoce.pair_rounds(2.0, {"age": (0, 150), "sleep": (0, 24)})
    first = Tally(plan.first, plan.first.report(people))             # 30 % of the people
    second = plan.second(first)
    plan.estimate(Tally(second, second.report(others)))              # values outside are to be clipped

Noise is as wide as the domain, so a domain that is twice as wide as it must be costs four times the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sottovoce.errors import ArgumentError, DataError, check_epsilon, proper_fraction
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.mean_products import Relation
from sottovoce.estimates.tally import Tally
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.reporters.composites.functions_by_lot import Function
from sottovoce.reporters.composites.survey import Survey
from sottovoce.surveys.lot import by_lot
from sottovoce.surveys.pair import numbers_by_name, pair
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, Interval

_CUT = 2.0  # standard deviations on either side that the second round's domain has


@dataclass(frozen=True, repr=False)
class PairRounds(Shown, Compact):
    """Some people say where values lie and how far they spread; the others answer a pair on that part.

    Everybody answers in one round and spends ε once.

    Attributes:
        epsilon: What one person's report may cost, in either round.
        domains: The intervals that values lie in.
        asked_first: The part of the people to ask first.
    """

    epsilon: float
    domains: Mapping[str, Domain]
    asked_first: float = 0.3

    @cached_property
    def first(self) -> Survey:
        """For the people of the first round: each number and its square, alike."""
        items = {name: Function("value", (name,)) for name in self.domains}
        items |= {f"{name}²": Function("square", (name,)) for name in self.domains}
        weights = [2] * len(items)  # of four: a power of two in all
        return by_lot(self.epsilon, self.domains, items, weights, "first round of a pair")

    def second(self, first: Tally) -> Survey:
        """The pair for everybody else, on domains two standard deviations to either side.

        A number keeps its whole domain where the first round puts nearly nobody on it, which only fakes
        do. Values outside are to be clipped: what is estimated is the relation of the clipped values.

        Args:
            first: The tally of the first round.

        Returns:
            A pair; no domain is wider than before.

        Raises:
            DataError: If it is not a tally of `first`.
            NoDataError: If nobody reported.
        """
        if first.digest != self.first.digest:
            raise DataError("first must be a tally of the first round's survey", argument="first")
        relation = Relation.of(first)
        domains = {}
        for i, (name, domain) in enumerate(self.domains.items()):
            centre, spread = relation.centre_and_spread(i)
            ends = np.clip([centre - _CUT * spread, centre + _CUT * spread], 0, 1)
            told = ends[1] - ends[0] >= spread > 0  # else such reports are of no people: some are fakes
            domains[name] = Interval(*domain.from_unit(ends).tolist()) if told else domain
        return pair(self.epsilon, domains)

    def estimate(self, second: Tally, question: str = "correlation", *, confidence: float = 0.95) -> Estimate:
        """The relation of the clipped values, from the second round.

        Args:
            second: The tally of the second round.
            question: "correlation", "slope" or "covariance".
            confidence: How often the interval should hold.

        Returns:
            The estimate, with a note about what was clipped.
        """
        x, y = self.domains
        relation = Relation.of(second)
        answer = relation.estimate(question, x, y, confidence)
        cut = "; ".join(f"{name} {one.low:.4g} to {one.high:.4g}" for name, one in relation.domains.items())
        whole = [name for name, one in self.domains.items() if relation.domains[name] == one]
        why = [
            f"the first round did not tell where {name} lies: its whole domain was asked" for name in whole
        ]
        return replace(answer, notes=(*answer.notes, f"of values clipped to {cut}", *why))


def pair_rounds(
    epsilon: float, domains: Sequence[DomainLike] | Mapping[str, DomainLike], *, first: float = 0.3
) -> PairRounds:
    """Plan a pair in two rounds, for domains that are much wider than the values spread.

    Args:
        epsilon: What one person's report may cost.
        domains: The intervals of two numbers, as in `pair`.
        first: The part of the people to ask first.

    Returns:
        The plan: `first`, then `second(tally)`, then `estimate(second, question="correlation")`.

    Raises:
        ArgumentError: If an argument is out of range.

    Example:
        >>> plan = pair_rounds(1.0, {"age": (0, 120), "commute": (0, 10)})
        >>> plan.first.sampled
        1
    """
    inputs = numbers_by_name(domains)
    if len(inputs) != 2:
        raise ArgumentError(f"two rounds are for two numbers, got {len(inputs)}", argument="domains")
    return PairRounds(check_epsilon(epsilon), inputs, proper_fraction(first, "first"))
