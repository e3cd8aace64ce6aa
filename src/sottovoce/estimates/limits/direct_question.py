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
    circle = law.domain.is_circle
    first, last = law.domain.to_unit(law.range).tolist()
    rest = (last, first) if circle else (0.0, first) if last == 1.0 else (last, 1.0)
    middles = [(a + b + (a > b)) / 2 % 1.0 for a, b in ((first, last), rest)]
    yes, no = law.unit_table(np.array(middles), np.arange(2))[:, 1].tolist()
    if _same((low, high), (first, last)):
        return yes, no
    everybody_else = circle or first == 0.0 or last == 1.0
    return (no, yes) if everybody_else and _same((low, high), rest) else None


def _same(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= _SAME
