"""Ends of a range that many people gave: on which side they are no report tells.

Somebody at 5 reports like somebody just below 5. So the share of 5 to 10 is open by the share of people at 5,
rightly and however many report; the share of 4.5 to 10 is not.
"""

from __future__ import annotations

from decimal import Decimal

from sottovoce.estimates.answer.units import Query
from sottovoce.estimates.limits.envelope import CrossFit, Target
from sottovoce.values.domain import Domain

_MANY = 0.25  # of what an interval leaves open whatever n: as many people at an end of the range are a reason


def in_doubt(fit: CrossFit, query: Query, limits: tuple[float, float], gap: float) -> tuple[str, ...]:
    """What to say of a range with an end that many people seem to be at.

    Args:
        fit: The reports.
        query: What is asked of them.
        limits: Where the range begins and ends.
        gap: How much of its share stays open however many report.

    Returns:
        At most one sentence, with ends to ask for instead.
    """
    domain, last = query.domain, (query.domain.low, query.domain.high)
    ends = [one for one in zip(limits, (-1, 1), last, strict=True) if one[0] != one[2] or domain.is_circle]
    wider = [beside(domain, limit, side) for limit, side in zip(limits, (-1, 1), strict=True)]
    target = Target.within(*domain.to_unit(wider).tolist())
    low, high = fit.limits([(target, -1), (target, 1)], query.tail, query.estimand)
    if high - low > gap / 2:  # no heap, but people everywhere around
        return ()
    around = [domain.to_unit([beside(domain, limit, way) for way in (-1, 1)]).tolist() for limit, *_ in ends]
    least = fit.limits([(Target.within(*pair), -1) for pair in around], query.tail, query.estimand)
    instead = {
        f"{beside(domain, limit, side):.12g}": f"{limit:.12g}"
        for (limit, side, _), share in zip(ends, least, strict=True)
        if share > _MANY * gap
    }
    if not instead:
        return ()
    here, there = (" and ".join(dict.fromkeys(names)) for names in (instead.values(), instead))
    return (
        f"many people seem to be at or next to {here}, and reports do not show on which side: "
        f"ask for a range that ends between two possible answers, such as {there}",
    )


def beside(domain: Domain, limit: float, side: int) -> float:
    """A place between a number and the next that people may give, if it has as many digits.

    Args:
        domain: Where people's values lie.
        limit: The number.
        side: Where the next one is: above (1) or below (−1).

    Returns:
        Half a unit of its last digit further, or halfway to the end of the domain or its opposite.

    Example:
        >>> from sottovoce.values.interval import Interval
        >>> beside(Interval(0, 10), 5.0, -1), beside(Interval(0, 1), 0.4, 1)
        (4.5, 0.45)
    """
    unit = 10.0 ** min(int(Decimal(f"{limit:.12g}").as_tuple().exponent), 0)
    if domain.is_circle:
        return domain.low + (limit + side * min(unit, domain.width / 2) / 2 - domain.low) % domain.width
    return limit + side * min(unit, abs((domain.high if side > 0 else domain.low) - limit)) / 2
