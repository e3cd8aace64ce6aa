"""A root of a function, and where it is lowest, by Brent's methods: so that classic designs need no scipy.

Loading `scipy.optimize` takes longer than most designs. The steps are those of its `brentq` and of its
bounded `minimize_scalar`, one by one, so that a design has the digest it always had.
R. P. Brent, Algorithms for Minimization Without Derivatives, 1973, chapters 4 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_RELATIVE = 4 * math.ulp(1.0)
_GOLDEN = (3 - math.sqrt(5)) / 2
_FLAT = math.sqrt(2.2e-16)  # closer together, values of a function do not tell places of its valley apart


def root(f: Callable[[float], float], low: float, high: float, tolerance: float = 2e-12) -> float:
    """A place between low and high where a continuous function changes its sign.

    Args:
        f: The function.
        low: Where it has one sign.
        high: Where it has the other.
        tolerance: How far the answer may be off.

    Returns:
        The place.

    Raises:
        ValueError: If the signs are the same.

    Example:
        >>> round(root(lambda x: x * x - 2, 0.0, 2.0), 11)
        1.41421356237
    """
    before, here = low, high
    f_before, f_here = f(before), f(here)
    if f_before == 0 or f_here == 0:
        return before if f_before == 0 else here
    if (f_before < 0) == (f_here < 0):
        raise ValueError("f must have different signs at low and high")
    other = f_other = step = last = 0.0
    for _ in range(100):
        if f_before != 0 and f_here != 0 and (f_before < 0) != (f_here < 0):
            other, f_other = before, f_before
            last = step = here - before
        if abs(f_other) < abs(f_here):
            before, here, other = here, other, here
            f_before, f_here, f_other = f_here, f_other, f_here
        least = (tolerance + _RELATIVE * abs(here)) / 2
        half = (other - here) / 2
        if f_here == 0 or abs(half) < least:
            return here
        guess = math.inf
        if abs(last) > least and abs(f_here) < abs(f_before):
            if before == other:  # a line
                guess = -f_here * (here - before) / (f_here - f_before)
            else:  # a parabola on its side
                one = (f_before - f_here) / (before - here)
                two = (f_other - f_here) / (other - here)
                guess = -f_here * (f_other * two - f_before * one) / (two * one * (f_other - f_before))
        good = 2 * abs(guess) < min(abs(last), 3 * abs(half) - least)
        last, step = (step, guess) if good else (half, half)
        before, f_before = here, f_here
        here += step if abs(step) > least else math.copysign(least, half)
        f_here = f(here)
    return here


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
