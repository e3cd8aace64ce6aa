"""Intervals that may be watched while reports come in: they hold at every look, all looks together."""

from __future__ import annotations

from sottovoce.core.errors import ArgumentError
from sottovoce.estimates.envelope import CrossFit, Target
from sottovoce.estimates.finite import betting_limit
from sottovoce.estimates.query import Query
from sottovoce.estimates.statistic import Moments

EVERY_LOOK = "holds at every look"


def watched_average(fit: CrossFit, target: Target, query: Query) -> tuple[float, float]:
    """Limits of the average of a target, of any mechanism, by betting on weights fixed beforehand."""
    if query.estimand == "respondents":
        raise ArgumentError(
            "sequential=True for respondents needs the mean of an unbiased mechanism; use "
            "estimand='population'",
            code="sequential",
            argument="estimand",
        )
    below, above = (
        betting_limit(fit.beforehand(target, side), side, query.tail, sequential=True) for side in (-1, 1)
    )
    return below, above


def cost(width: float, alone: float) -> str:
    """How much wider limits are than those for this n alone, in words."""
    ratio = width / max(alone, 1e-300)
    return f"{EVERY_LOOK}, at {ratio:.2f} times the width of an interval for this n alone"


def watching_cost(
    query: Query, limits: tuple[float, float], lower: Moments, upper: Moments
) -> tuple[str, ...]:
    """The note about the width of limits in the unit coordinate."""
    alone = float(upper.limit(1, query.tail)) - float(lower.limit(-1, query.tail))
    return (cost(limits[1] - limits[0], alone),)
