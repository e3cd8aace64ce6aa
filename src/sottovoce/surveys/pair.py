"""Two numbers of one person, or a few: how they vary together.

    p = sottovoce.pair(1.0, {"age": (0, 120), "commute": (0, 3)})
    t = sottovoce.Tally(p, p.report({"age": ages, "commute": hours}))
    sottovoce.correlation(t), sottovoce.slope(t)

A lot names one function of the numbers, which is reported with the whole ε by the unbiased mechanism of least
variance. (p + q)²/4 and (p − q)²/4 cost as little as p·q would, and their sum tells the variances too.

Noise is as wide as the domain, so a domain that is twice as wide as it must be costs four times the error.
`pair_rounds` asks some people first where values lie, and the others on a domain cut to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from sottovoce.errors import ArgumentError, DataError, check_epsilon
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.mean_products import Relation
from sottovoce.estimates.tally import Tally
from sottovoce.frozen import Compact
from sottovoce.notebook import Shown
from sottovoce.reporters.composites.functions_by_lot import Function
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.sampling.coin import MAX_COIN_BITS
from sottovoce.surveys.lot import by_lot, check_numbers, products
from sottovoce.surveys.survey import by_name
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, Interval, as_domain

MOST = 16  # numbers, whose functions are the most questions that a survey can have
_VALUES = 0.19  # the share of people who are asked for a number itself; the others for functions of two
_SQUARES = 0.06
_CUT = 2.0  # standard deviations on either side that the second round's domain has


def pair(epsilon: float, domains: Sequence[DomainLike] | Mapping[str, DomainLike]) -> Survey:
    """Design a survey of how numbers of one person vary together.

    Args:
        epsilon: What one person's report may cost.
        domains: The interval of each number, by name; a list names two of them "x" and "y". 2 to 16.

    Returns:
        A survey of functions, of which each person answers one, drawn by lot: for `sottovoce.correlation`,
        `slope`, `covariance` and `covariances`.

    Raises:
        ArgumentError: If there is one domain or more than 16, one is no plain interval, or a name is long.

    Example:
        >>> p = pair(1.0, [(0, 120), (0, 10)])
        >>> list(p.questions)
        ['x', 'y', 'x + y', 'x - y', 'x² - y²']
        >>> p.report({"x": [30.0, 40.0], "y": [2.5, 3.0]}).shape
        (2, 1)
    """
    inputs = _inputs(domains)
    both = list(combinations(inputs, 2))
    questions = {name: Function("value", (name,)) for name in inputs}
    for one in both:
        questions |= products(*one)
    weights = _shares(len(inputs), 2 * len(both))
    if len(inputs) > 2:  # of more numbers, sums tell the square of each
        questions = {name: one for name, one in questions.items() if one.name != "squares"}
    else:
        weights = [*weights[:2], *(w - round(_SQUARES * sum(weights) / 2) for w in weights[2:])]
        weights.append(_power_above(sum(weights)) - sum(weights))
    return by_lot(check_epsilon(epsilon), inputs, questions, weights, "pair")


def _shares(values: int, others: int) -> list[int]:
    """Whole numbers that add up to a power of two: a fifth of it for values, the rest for the others."""
    total = min(max(64, _power_above(4 * (values + others))), 1 << MAX_COIN_BITS)
    each = max(1, round(_VALUES * total / values))
    rest = total - values * each
    return [each] * values + [rest // others + (i < rest % others) for i in range(others)]


def _power_above(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _inputs(domains: Sequence[DomainLike] | Mapping[str, DomainLike]) -> dict[str, Domain]:
    inputs = {name: as_domain(domain) for name, domain in by_name(domains, "domains").items()}
    if not isinstance(domains, Mapping) and len(inputs) == 2:
        inputs = dict(zip("xy", inputs.values(), strict=True))
    if not 2 <= len(inputs) <= MOST:
        raise ArgumentError(f"domains must be 2 to {MOST}, got {len(inputs)}", argument="domains")
    check_numbers(inputs, "domains")
    return inputs


@dataclass(frozen=True, repr=False)
class PairRounds(Shown, Compact):
    """Some people say where values lie and how far they spread; the others answer a pair on that part.

    Everybody answers in one round and spends ε once.

    Attributes:
        epsilon: What one person's report may cost, in either round.
        domains: The intervals that values lie in.
        share: The part of the people to ask first.
    """

    epsilon: float
    domains: Mapping[str, Domain]
    share: float = 0.3

    @cached_property
    def first(self) -> Survey:
        """For the people of the first round: each number and its square, alike."""
        questions = {name: Function("value", (name,)) for name in self.domains}
        questions |= {f"{name}²": Function("square", (name,)) for name in self.domains}
        weights = _even(len(questions))
        return by_lot(self.epsilon, self.domains, questions, weights, "first round of a pair")

    def second(self, first: Tally) -> Survey:
        """The pair for everybody else, on domains two standard deviations to either side.

        A number keeps its whole domain where the first round puts nearly nobody on it, which only forged
        reports do. Values outside are to be clipped: what is estimated is the relation of the clipped values.

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
            told = ends[1] - ends[0] >= spread > 0  # else such reports are of no people: some are forged
            domains[name] = Interval(*domain.from_unit(ends).tolist()) if told else domain
        return pair(self.epsilon, domains)

    def estimate(self, second: Tally, of: str = "correlation", *, confidence: float = 0.95) -> Estimate:
        """The relation of the clipped values, from the second round.

        Args:
            second: The tally of the second round.
            of: "correlation", "slope" or "covariance".
            confidence: How often the interval should hold.

        Returns:
            The estimate, with a note about what was clipped.
        """
        x, y = self.domains
        relation = Relation.of(second)
        answer = relation.estimate(of, x, y, confidence)
        cut = "; ".join(f"{name} {one.low:.4g} to {one.high:.4g}" for name, one in relation.domains.items())
        whole = [name for name, one in self.domains.items() if relation.domains[name] == one]
        why = [
            f"the first round did not tell where {name} lies: its whole domain was asked" for name in whole
        ]
        return replace(answer, notes=(*answer.notes, f"of values clipped to {cut}", *why))


def _even(count: int) -> list[int]:
    total = _power_above(max(count, 8))
    return [total // count + (i < total % count) for i in range(count)]


def pair_rounds(
    epsilon: float, domains: Sequence[DomainLike] | Mapping[str, DomainLike], *, share: float = 0.3
) -> PairRounds:
    """Plan a pair in two rounds, for domains that are much wider than the values spread.

    Args:
        epsilon: What one person's report may cost.
        domains: The intervals of two numbers, as in `pair`.
        share: The part of the people to ask first.

    Returns:
        The plan: `first`, then `second(tally)`, then `estimate(second, of="correlation")`.

    Raises:
        ArgumentError: If an argument is out of range.

    Example:
        >>> plan = pair_rounds(1.0, {"age": (0, 120), "commute": (0, 10)})
        >>> plan.first.sampled
        1
    """
    inputs = _inputs(domains)
    if len(inputs) != 2:
        raise ArgumentError(f"two rounds are for two numbers, got {len(inputs)}", argument="domains")
    if not 0 < share < 1:
        raise ArgumentError(f"share must lie strictly between 0 and 1, got share={share!r}", argument="share")
    return PairRounds(check_epsilon(epsilon), inputs, share)
