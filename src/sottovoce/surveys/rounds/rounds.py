"""Campaigns in which the reports of some people choose the mechanism of the others: a plan for each question.

    plan = sottovoce.rounds("quantile", epsilon=1.0, domain=(0, 24), p=0.9)

Everybody answers in one round only and spends ε once.
"""

from __future__ import annotations

from sottovoce.errors import ArgumentError, check_epsilon, one_of, proper_fraction, real_number, refuse_others
from sottovoce.surveys.rounds.direction_rounds import DirectionRounds
from sottovoce.surveys.rounds.mean_rounds import TwoRounds, two_rounds
from sottovoce.surveys.rounds.quantile_rounds import QuantileRounds
from sottovoce.surveys.rounds.range_rounds import RangeRounds
from sottovoce.values.interval import DomainLike, as_domain

#: What each question takes beside ε.
_TAKEN = {
    "mean": "domain caution", "quantile": "domain p first", "direction": "domain",
    "range": "largest unit signed",
}  # fmt: skip


def rounds(
    question: str,
    epsilon: float,
    domain: DomainLike = (0, 1),
    *,
    p: float | None = None,
    first: float = 0.3,
    caution: float = 0.1,
    largest: float | None = None,
    unit: float = 1.0,
    signed: bool = True,
) -> TwoRounds | QuantileRounds | RangeRounds | DirectionRounds:
    """Plan a campaign in which the reports of some people choose the mechanism of the others.

    Everybody answers in one round only and spends ε once: what is chosen depends on public reports.

    Args:
        question: "mean", "quantile", "direction" (of a circle), or "range" where nobody knows how large
            values are.
        epsilon: What one person's report may cost.
        domain: The interval that values lie in, or the circle.
        p: Which quantile.
        first: Of a quantile: the part of the people to ask first.
        caution: Of a mean: as in `two_rounds`.
        largest: Of a range: what no value exceeds, whatever its sign; 10^6 times too much costs little.
        unit: Of a range: what is small.
        signed: Of a range: False if no value is negative.

    Returns:
        The plan: `first`, then `second(…)`, then `estimate(first, second)`; of a range `first`, then `range`.

    Raises:
        ValueError: If an argument is out of range or the question does not suit the domain.

    Example:
        >>> from sottovoce.estimates.tally import Tally
        >>> plan = rounds("quantile", epsilon=1.0, domain=(0, 24), p=0.9)
        >>> plan.second(Tally(plan.first, plan.first.report([8.0] * 500, rng=1)), people=1000).cells
        24
    """
    one_of(question, "question", tuple(_TAKEN))
    refuse_others(rounds, f"question={question!r}", locals(), _TAKEN[question])
    if question == "range":
        ends = real_number(largest, "largest"), real_number(unit, "unit")
        if not 0 < ends[1] < ends[0] or (signed and ends[1] < 1e-14 * ends[0]):
            rule = "unit must be positive and below largest, with signs at least 1e-14 of it"
            raise ArgumentError(f"{rule}, got unit={unit!r}, largest={largest!r}", argument="unit")
        return RangeRounds(check_epsilon(epsilon), *ends, signed)
    if question == "mean":
        return two_rounds(epsilon, domain, caution=caution)
    line = as_domain(domain)
    if question == "direction":
        if not line.is_circle:
            raise ArgumentError("an interval has no direction", code="domain", argument="domain")
        return DirectionRounds(check_epsilon(epsilon), line)
    if line.is_circle:
        raise ArgumentError("a circle has no quantiles", code="domain", argument="domain")
    level, part = proper_fraction(p, "p"), proper_fraction(first, "first")
    return QuantileRounds(check_epsilon(epsilon), line, level, part)
