"""The share of a range that was asked directly: every report is a yes or a no, and yeses are binomial.

With P the chance of a yes inside the range and Q outside, n reports hold Binomial(n, Q + (P − Q)·share)
yeses, whoever the people are. Inverting that count exactly (Clopper and Pearson) gives limits that hold
at every n.
"""

from __future__ import annotations

import numpy as np

from sottovoce.estimates.limits.every_n import binomial_limits
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.rows import Rows

_SAME = 2.0**-38  # two inputs so near, in units of the domain, are the two sides of one border


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
    chances = yes_chances(tally.mechanism, low, high)
    if chances is None:
        return None
    inside, outside = chances
    n, yes = tally.n, int(tally.counts[1])
    least, most = (float(limit) for limit in binomial_limits(yes, n, tail))
    share, lower, upper = ((chance - outside) / (inside - outside) for chance in (yes / n, least, most))
    error = np.sqrt(yes / n * (1 - yes / n) / max(n - 1, 1)) / abs(inside - outside)
    return (min(lower, upper), max(lower, upper)), float(share), float(error)


def yes_chances(m: object, low: float, high: float) -> tuple[float, float] | None:
    """The chance of a yes inside a range and outside of it.

    Args:
        m: A mechanism of one number.
        low: Where the range begins, in the unit coordinate.
        high: Where it ends; before `low` if it goes across the seam of a circle.

    Returns:
        The two chances; None if reports are no answers to whether a value is in this range.
    """
    if not isinstance(m, Rows) or m.cells != 2:
        return None
    t = m.inputs
    inside = (t >= low) & (t <= high) if low <= high else (t >= low) | (t <= high)
    chance = m.rows[:, 1] / m.total
    gap, turn = np.diff(t), inside[1:] != inside[:-1]
    if m.domain.is_circle:
        gap, turn = np.append(gap, t[0] + 1 - t[-1]), np.append(turn, inside[0] != inside[-1])
    plain = all(len(np.unique(chance[side])) == 1 for side in (inside, ~inside))
    if not plain or (gap[turn] > _SAME).any() or chance[inside][0] == chance[~inside][0]:
        return None
    return float(chance[inside][0]), float(chance[~inside][0])
