"""The variance of the people behind a tally and its root, with intervals that hold for every truth.

A variance is the average square around a centre less the square of the mean's distance from it. Both averages
have envelope limits; the lower limit spends a part of its error on the mean. A standard deviation and its
limits are the roots.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sottovoce.estimates.answer.units import Query
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.envelope import IDENTITY, CrossFit, Target
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Moments, between, moments
from sottovoce.estimates.tally import Tally

_OF_THE_MEAN = 0.2  # the share of the lower limit's error that the mean's own interval takes


def variance(tally: Tally, *, estimand: str = "population", confidence: float = 0.95) -> Estimate:
    """Estimate the variance of the people's values, with an interval that holds for every truth.

    Args:
        tally: Counts of reports about a number.
        estimand: The variance of the "population" that these people stand for, or of the "respondents"
            themselves (divided by n).
        confidence: How often the interval should hold.

    Returns:
        The value and its limits in squared units of the domain.

    Raises:
        ValueError: If the domain is a circle or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0, domain=(0, 24))
        >>> e = variance(Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1)))
        >>> bool(e.low < 48 < e.high)
        True
    """
    query = Query(tally, "variance", estimand, confidence)
    limits, value, error, sides = _squares(query)
    spent = _OF_THE_MEAN * query.tail
    return query.answer(limits, value, error, ends=(0.0, 0.25), power=2, sides=sides, spent=spent)


def standard_deviation(tally: Tally, *, estimand: str = "population", confidence: float = 0.95) -> Estimate:
    """Estimate the standard deviation of the people's values: the root of their variance.

    Args:
        tally: Counts of reports about a number.
        estimand: That of the "population" that these people stand for, or of the "respondents" themselves.
        confidence: How often the interval should hold.

    Returns:
        The value and its limits in the units of the domain. Those of different people are subtracted by
        their limits alone.

    Raises:
        ValueError: If the domain is a circle or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0, domain=(0, 24))
        >>> e = standard_deviation(Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1)))
        >>> bool(e.low < 48**0.5 < e.high)
        True
    """
    query = Query(tally, "standard deviation", estimand, confidence)
    limits, square, error, _ = _squares(query)
    low, value, high = np.sqrt(np.maximum((limits[0], square, limits[1]), 0.0)).tolist()
    root = math.sqrt(error)  # |√a − √b| is at most √|a − b|, also near zero
    error = min(error / (2 * value), root) if value else root
    answer = query.answer((low, high), value, error, ends=(0.0, 0.5), power=0)
    numbers = np.array([answer.value, answer.low, answer.high, answer.error])
    value, low, high, error = query.domain.stretched(numbers).tolist()
    return replace(answer, value=value, low=low, high=high, error=error)


def _squares(query: Query) -> tuple[tuple[float, float], float, float, tuple[Moments, Moments]]:
    """Limits, value and error of the variance on a domain of width 1, and what bounds it."""
    query.on_interval(instead="circular_mean").on_linear_scale(instead="quantile, such as 0.25 and 0.75")
    fit, tail, estimand = CrossFit(query.tally), query.tail, query.estimand
    middle = between(*(moments(fit.statistic(IDENTITY, side, tail)) for side in (-1, 1)))
    # Var ≤ E(x − c)² for every c, and Var = E(x − c)² − (mean − c)²: both averages have envelopes.
    centre = float(np.clip(middle.value, 0.0, 1.0))
    square = Target(lambda t: (t - centre) ** 2, curvature=(2.0, 2.0))
    rest = (1 - _OF_THE_MEAN) * tail
    errors = ((-1, rest), (1, tail))
    below, above = (fit.statistic(square, *one, estimand) for one in errors)
    ends = fit.limits([(IDENTITY, -1), (IDENTITY, 1)], _OF_THE_MEAN / 2 * tail, estimand)
    away = max(abs(end - centre) for end in ends)
    limits = float(limit(below, -1, rest)) - away**2, float(limit(above, 1, tail))
    lower, upper = moments(below), moments(above)
    value, error, _ = between(lower, upper)
    # The middle estimates E(x − c)²: the squared error of c is a bias of its own.
    sides = replace(lower, value=lower.value - away**2), upper
    return limits, value, float(error + middle.error**2), sides
