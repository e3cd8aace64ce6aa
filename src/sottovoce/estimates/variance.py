"""The variance of the people behind a tally, with an interval that holds for every truth.

It is the average square around a centre less the square of the mean's distance from it. Both averages have
envelope limits; the lower limit spends a part of its error on the mean.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sottovoce.estimates.answer.units import Query
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.envelope import IDENTITY, CrossFit, Target
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import between, moments
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
    query = Query(tally, "variance", estimand, confidence).on_interval(instead="circular_mean")
    query.on_linear_scale(instead="quantile, such as 0.25 and 0.75")
    fit, tail = CrossFit(tally), query.tail
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
    return query.answer(
        limits,
        value,
        float(error + middle.error**2),
        ends=(0.0, 0.25),
        power=2,
        sides=(replace(lower, value=lower.value - away**2), upper),
        spent=_OF_THE_MEAN * tail,
    )
