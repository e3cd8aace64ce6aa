"""A root of a function by bisection, and where it is lowest by Brent's method: classic designs need no scipy.

Loading `scipy.optimize` takes longer than most designs. The steps of `lowest` are those of its bounded
`minimize_scalar`, one by one, so that a design has the digest it always had.
R. P. Brent, Algorithms for Minimization Without Derivatives, 1973, chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sottovoce.errors import ArgumentError

_GOLDEN = (3 - math.sqrt(5)) / 2
_FLAT = math.sqrt(2.2e-16)  # closer together, values of a function do not tell places of its valley apart


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """A place between low and high where a continuous function changes its sign, to the last double.

    Args:
        f: The function.
        low: Where it has one sign.
        high: Where it has the other.

    Returns:
        The place.

    Raises:
        ArgumentError: If the signs are the same.

    Example:
        >>> root(lambda x: x * x - 2, 0.0, 2.0)
        1.4142135623730951
    """
    first, last = f(low), f(high)
    if first * last > 0:
        raise ArgumentError("f must have different signs at low and high", argument="f")
    if first == 0:
        return low
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if f(middle) * first > 0 else (low, middle)
    return low if abs(f(low)) < abs(f(high)) else high


def lowest(
    f: Callable[[float], float], low: float, high: float, tolerance: float = 1e-12
) -> tuple[float, float]:
    """Where a function with one valley between low and high is lowest, and how low.

    Args:
        f: The function.
        low: The least place.
        high: The largest place.
        tolerance: How far the place may be off.

    Returns:
        The lowest place that was looked at, and its value.

    Example:
        >>> x, value = lowest(lambda x: (x - 2) ** 2 + 1, 0.0, 5.0)
        >>> round(x, 9), value
        (2.0, 1.0)
    """
    best = second = third = low + _GOLDEN * (high - low)
    f_best = f_second = f_third = f(best)
    step = last = 0.0
    for _ in range(499):
        middle, close = 0.5 * (low + high), _FLAT * abs(best) + tolerance / 3
        if abs(best - middle) <= 2 * close - 0.5 * (high - low):
            break
        good = False
        if abs(last) > close:  # a parabola through the three lowest
            one = (best - second) * (f_best - f_third)
            two = (best - third) * (f_best - f_second)
            above, below = (best - third) * two - (best - second) * one, 2 * (two - one)
            above, below = (-above if below > 0 else above), abs(below)
            inside = below * (low - best) < above < below * (high - best)
            good = inside and abs(above) < abs(0.5 * below * last)
            last = step
            if good:
                step = above / below
                if best + step - low < 2 * close or high - (best + step) < 2 * close:
                    step = close if middle >= best else -close
        if not good:
            last = low - best if best >= middle else high - best
            step = _GOLDEN * last
        here = best + (max(abs(step), close) if step >= 0 else -max(abs(step), close))
        f_here = f(here)
        if f_here <= f_best:
            low, high = (best, high) if here >= best else (low, best)
            third, f_third, second, f_second, best, f_best = second, f_second, best, f_best, here, f_here
            continue
        low, high = (here, high) if here < best else (low, here)
        if f_here <= f_second or second == best:
            third, f_third, second, f_second = second, f_second, here, f_here
        elif f_here <= f_third or third in (best, second):
            third, f_third = here, f_here
    return best, f_best
