"""The least x at which a decreasing error meets a goal, with few evaluations: straight lines in log–log."""

from __future__ import annotations

import math
from collections.abc import Callable


def meeting(
    error: Callable[[float], float], goal: float, low: float, high: float, tolerance: float, most: int = 40
) -> float | None:
    """x in [low, high] with error(x) ≤ goal, at most a factor 1 + tolerance above the least such x.

    None if even `high` misses the goal. `error` should fall roughly like a power of x; a simulated error that
    is not quite monotone gives a point where it crosses the goal.

    >>> round(meeting(lambda n: 3 / n**0.5, 0.03, 1, 1e9, 0.001))
    10000
    """
    left, right = math.log(low), math.log(high)
    f_left = math.log(error(low) / goal)
    if f_left <= 0:
        return low
    # Walk up from the low end along the slope seen so far: high ends can be costly and far.
    slope, x, f = -0.5, left, f_left
    for _ in range(most):
        x = min(right, x + max(f / -slope, math.log(1 + tolerance)) * 1.05)
        before, f = f, math.log(error(math.exp(x)) / goal)
        if f <= 0:
            break
        if x >= right:
            return None
        slope = min((f - before) / max(x - left, 1e-12), -0.1)
        left, f_left = x, f
    else:
        return None
    right, f_right = x, f
    for _ in range(most):
        if right - left <= math.log(1 + tolerance):
            break
        # False position, kept off the ends so that both of them move.
        share = min(max(f_left / (f_left - f_right), 0.1), 0.9)
        x = left + share * (right - left)
        f = math.log(error(math.exp(x)) / goal)
        if f <= 0:
            right, f_right = x, f
        else:
            left, f_left = x, f
    return math.exp(right)
