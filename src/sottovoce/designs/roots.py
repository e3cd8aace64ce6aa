"""A root of a function, by Brent's method: so that the classic designs need no scipy.

The steps are those of `scipy.optimize.brentq`, one by one, so that a design has the digest it always had.
R. P. Brent, Algorithms for Minimization Without Derivatives, 1973, chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_RELATIVE = 4 * math.ulp(1.0)


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
