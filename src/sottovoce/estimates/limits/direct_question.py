"""The share of a range that was asked directly: every report is a yes or a no, and yeses are binomial.

With P the chance of a yes inside the range and Q outside, n reports hold Binomial(n, Q + (P − Q)·share)
yeses, whoever the people are. Inverting that count exactly (Clopper and Pearson) gives limits that hold
at every n.
"""

from __future__ import annotations

import numpy as np

from sottovoce.estimates.limits.every_n import binomial_limits
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.number import Number

_SAME = 2.0**-38  # ends so near, in units of the domain, are one


def direct_share(
    tally: Tally, low: float, high: float, tail: float
) -> tuple[tuple[float, float], float, float] | None:
    """Limits, value and standard error of the share of a range, if the reports are answers to just that.

    Args:
        tally: Counts of reports about a number.
        low: Where the range begins, in the unit coordinate.
        high: Where it ends; before `low` if it goes across the seam of a circle.
        tail: The error of each limit.

    Returns:
        None if the mechanism does not ask whether a value is in this range.
    """
    chances = yes_chances(tally.law.as_number(), low, high)
    if chances is None:
        return None
    inside, outside = chances
    n, yes = tally.n, int(tally.counts[1])
    least, most = (float(limit) for limit in binomial_limits(yes, n, tail))
    share, lower, upper = ((chance - outside) / (inside - outside) for chance in (yes / n, least, most))
    error = np.sqrt(yes / n * (1 - yes / n) / max(n - 1, 1)) / abs(inside - outside)
    return (min(lower, upper), max(lower, upper)), float(share), float(error)


def yes_chances(law: Number, low: float, high: float) -> tuple[float, float] | None:
    """The chance of a yes inside a range and outside of it.

    Args:
        law: That of the reports.
        low: Where the range begins, in the unit coordinate.
        high: Where it ends; before `low` if it goes across the seam of a circle.

    Returns:
        The two chances; None if reports are no answers to whether a value is in this range.
    """
    if law.range is None:
        return None
    first, last = law.domain.to_unit(law.range).tolist()
    if max(abs(low - first), abs(high - last)) > _SAME:
        return None  # nor the range of all others: it has the same ends, and who is at one answers yes
    inside = (first + last + (first > last)) / 2 % 1.0
    beside = (inside + 0.5) % 1.0  # opposite, around a circle
    if not law.domain.is_circle:
        beside = first / 2 if first > 0 else (last + 1) / 2
    yes, no = law.unit_table(np.array([inside, beside]), np.arange(2))[:, 1].tolist()
    return yes, no
