"""The probability of a range, one or several, with intervals that hold for every truth.

It is the average of 1[low ≤ x ≤ high], so it has envelope limits; whether a range was asked for directly is
looked at first. The value is that of a smooth fit, as a quantile's is.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from sottovoce.errors import ArgumentError, check_confidence, real_number, whole_number
from sottovoce.estimates.answer.better_design import advice
from sottovoce.estimates.answer.undecided_ends import in_doubt
from sottovoce.estimates.answer.units import Query, check_tally
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.declared_shape import UNDECLARED, declaration, declared_average
from sottovoce.estimates.limits.direct_question import direct_share
from sottovoce.estimates.limits.envelope import BINS, CrossFit, Target
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.sequential import sequential_average, sequential_cost
from sottovoce.estimates.limits.weighted_counts import between, moments
from sottovoce.estimates.quantile import smooth_density
from sottovoce.estimates.tally import Tally

_SEQUENTIAL = "envelope, sequential"


def probability(
    tally: Tally,
    low: float,
    high: float,
    *,
    shape: str | None = None,
    density: float | None = None,
    steepness: float | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
    sequential: bool = False,
    fakes: int = 0,
) -> Estimate:
    """Estimate the share of the people with low ≤ x ≤ high; on a circle from low forwards to high.

    The value is that of a smooth fit, moved into the limits, so values of one tally do not contradict each
    other; the limits do not rest on it. Nobody is beyond an end of the domain: who is at an end of the range
    that is one of the domain counts for sure. At another end of the range it is in doubt on which side of it
    people are: put it between two possible answers, such as 4.5.

    Args:
        tally: Counts of reports about a number.
        low: Where the range begins.
        high: Where it ends.
        shape: What you know beforehand, as in `quantile`.
        density: The same.
        steepness: The same.
        estimand: The share of the "population" that these people stand for, or of the "respondents".
        confidence: How often the interval should hold.
        sequential: Limits that hold at every look while reports come in, as in `mean`.
        fakes: How many reports may be fakes: the limits hold whatever those are.

    Returns:
        The share and its limits.

    Raises:
        ValueError: If the range is not in the domain or the tally is empty.
        DataError: If the reports contradict what was declared.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0, domain=(0, 24))
        >>> e = probability(Tally(m, m.report(np.linspace(0, 24, 20_000), rng=1)), 6, 12)
        >>> bool(e.low < 0.25 < e.high)
        True
    """
    begin, end = real_number(low, "low"), real_number(high, "high")
    query = Query(tally, f"probability of {begin:.12g} to {end:.12g}", estimand, confidence, fakes)
    for at, name in ((begin, "low"), (end, "high")):
        if not query.domain.contains(at):
            raise ArgumentError(f"{name} must lie in the domain, got {name}={at!r}", argument=name)
    if begin > end and not query.domain.is_circle:
        raise ArgumentError(f"low must not exceed high, got low={begin!r}, high={end!r}", argument="low")
    first, last = query.domain.to_unit([begin, end]).tolist()
    ends = (float((first, last) == (0.0, 1.0)), 1.0)  # everybody is somewhere
    if (shape, density, steepness) != UNDECLARED:
        declared = declaration(query, shape, density, steepness, plain=not sequential)
        value = smooth_share(CrossFit(tally), first, last)
        return declared_average(query, declared, Target.within(first, last), 0, value=value, ends=ends)
    asked = None if sequential or fakes else direct_share(tally, first, last, query.tail)
    if asked is not None:
        return query.answer(*asked, power=0, method="asked directly", at_every_n=True)
    fit, target = CrossFit(tally, fakes=fakes), Target.within(first, last)
    lower, upper = (fit.statistic(target, side, query.tail, estimand) for side in (-1, 1))
    sides = moments(lower), moments(upper)
    middle, error, bias = between(*sides)
    value = smooth_share(fit, first, last)
    open_ends = in_doubt(fit, query, (begin, end), 2 * bias) if bias**2 > error**2 / 2 else ()
    error += abs(value - middle)
    if sequential:
        limits = sequential_average(fit, target, query)
        notes = (*open_ends, *sequential_cost(query, limits, lower, upper))
        return query.answer(
            limits, value, error, ends=ends, power=0, notes=notes, at_every_n=True, method=_SEQUENTIAL
        )
    limits = float(limit(lower, -1, query.tail)), float(limit(upper, 1, query.tail))
    hint = None if fakes else query.advised(advice, "probability", binned=fit.binned, between=(first, last))
    return query.answer(limits, value, error, ends=ends, power=0, notes=open_ends, sides=sides, advice=hint)


def smooth_share(fit: CrossFit, first: float, last: float) -> float:
    """The share of a range in that fit, in the unit coordinate; across the seam where first > last."""
    total = np.concatenate(([0.0], np.cumsum(smooth_density(fit))))
    below, up_to = np.interp([first, last], np.arange(BINS + 1) / BINS, total / total[-1])
    return float(up_to - below + (first > last))


def probabilities(
    tally: Tally, bins: int = 8, *, estimand: str = "population", confidence: float = 0.95
) -> list[Estimate]:
    """Estimate the shares of the people in equal bins: intervals that hold for every truth, all together.

    Few bins: each costs a share of the error, and what the mechanism blurs is not resolved by asking.

    Args:
        tally: Counts of reports about a number.
        bins: How many. A bin has both of its ends: people exactly between two count in both.
        estimand: Of the "population" that these people stand for, or of the "respondents".
        confidence: How often all intervals should hold together.

    Returns:
        One share for each bin, from the lowest.

    Raises:
        ValueError: If there are more than 64 bins, or the tally is empty.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import sw
        >>> m = sw(epsilon=4.0)
        >>> shares = probabilities(Tally(m, m.report(np.linspace(0, 1, 20_000), rng=1)), bins=4)
        >>> all(e.low < 0.25 < e.high for e in shares)
        True
    """
    check_confidence(confidence)
    count = whole_number(bins, "bins", least=2, most=64)
    domain = check_tally(tally).law.as_number().domain
    edges = np.clip(domain.from_unit(np.arange(count + 1) / count), domain.low, domain.high)
    level = 1 - (1 - confidence) / count
    shares = [
        probability(tally, low, high, estimand=estimand, confidence=level)
        for low, high in pairwise(edges.tolist())
    ]
    return [replace(share, confidence=confidence) for share in shares]
