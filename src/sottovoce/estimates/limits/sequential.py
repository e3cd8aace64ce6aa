"""Intervals that may be watched while reports come in: they hold at every look, all looks together."""

from __future__ import annotations

import numpy as np

from sottovoce.errors import ArgumentError
from sottovoce.estimates.answer.units import Query
from sottovoce.estimates.limits.envelope import BINS, CrossFit, Envelope, Target
from sottovoce.estimates.limits.every_n import betting_limit
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Statistic

EVERY_LOOK = "holds at every look"
_SIZES = (100, 10_000, 1_000_000)  # people, for weights that are fixed before there are any


def sequential_average(fit: CrossFit, target: Target, query: Query) -> tuple[float, float]:
    """Limits of the average of a target, of any mechanism, by betting on weights fixed beforehand."""
    if query.estimand == "respondents":
        raise ArgumentError(
            "sequential=True for respondents needs the mean of an unbiased mechanism; use "
            "estimand='population'",
            code="sequential",
            argument="estimand",
        )
    # Weightings that depend on nothing, not even on n: each suits so many people, spread evenly.
    even = fit.law.mix(np.full(BINS, 1 / BINS))
    problems = [Envelope(fit.nodes, even, n) for n in _SIZES]
    below, above = (
        betting_limit(
            [
                problem.part(problem.weights(target, side, 2.0), fit.binned.counts, query.estimand, fit.fakes)
                for problem in problems
            ],
            side,
            query.tail,
            sequential=True,
        )
        for side in (-1, 1)
    )
    return below, above


def cost(width: float, alone: float) -> str:
    """How much wider limits are than those for this n alone, in words."""
    ratio = width / max(alone, 1e-300)
    return f"{EVERY_LOOK}, at {ratio:.2f} times the width of an interval for this n alone"


def sequential_cost(
    query: Query, limits: tuple[float, float], lower: Statistic, upper: Statistic
) -> tuple[str, ...]:
    """The note about the width of limits in the unit coordinate."""
    alone = float(limit(upper, 1, query.tail) - limit(lower, -1, query.tail))
    return (cost(limits[1] - limits[0], alone),)
