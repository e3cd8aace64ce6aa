"""Exact arithmetic: rational bounds of e^ε and its logarithm, and ε as a rational number.

Privacy is a statement about integers: a cell's largest count over its smallest is at most q, and q is
a fraction proved to be at most e^ε. Every rounding here goes down (or up, where the name says so).
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

from sottovoce.errors import ArgumentError
from sottovoce.exact.exponential import BITS, exp_fixed, exp_units, written


def rational_epsilon(epsilon: float | Fraction) -> Fraction:
    """The smaller of the double and the decimal it prints as: 0.1 means no more than one tenth.

    >>> rational_epsilon(0.1)
    Fraction(1, 10)
    """
    if isinstance(epsilon, Fraction):
        return epsilon
    return Fraction(*written(epsilon))


def exp_lower(epsilon: float | Fraction) -> Fraction:
    """A rational q ≤ e^ε for ε ≥ 0, within 2^−150 of it relatively.

    >>> 0 <= math.e - float(exp_lower(1.0)) < 1e-15
    True
    """
    exponent = rational_epsilon(epsilon)
    if exponent < 0:
        raise ArgumentError(
            f"epsilon must not be negative, got epsilon={float(exponent)!r}", argument="epsilon"
        )
    return Fraction(exp_units(*exponent.as_integer_ratio()), 1 << BITS)


def exp_bounds(exponent: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals below and above e^exponent, of either sign, whose ratio is at most 1 + 2^−bits.

    >>> low, high = exp_bounds(Fraction(-1), 64)
    >>> low < high and high - low < Fraction(1, 2**64) and abs(float(low) - math.exp(-1)) < 1e-16
    True
    """
    places = bits + 16
    low = Fraction(exp_fixed(*abs(exponent).as_integer_ratio(), places, places + 96), 1 << places)
    high = low * (1 + Fraction(1, 1 << bits + 1))
    return (low, high) if exponent >= 0 else (1 / high, 1 / low)


def exp_upper(epsilon: float | Fraction) -> Fraction:
    """A rational upper bound of e^ε, for statements in the other direction."""
    return exp_lower(epsilon) * (1 + Fraction(1, 1 << 128))


def log_upper(ratio: Fraction) -> float:
    """The least double ε with ratio ≤ e^ε, for a ratio of at least 1.

    So comparing it with another double decides as the integers do: log_upper(ratio) ≤ ε exactly when
    ratio ≤ `exp_lower(ε)`. The double nearest to the logarithm is at most a step or two below.

    >>> log_upper(Fraction(1))
    0.0
    """
    context = Context(prec=60)
    numerator, denominator = Decimal(ratio.numerator), Decimal(ratio.denominator)
    epsilon = float(context.ln(context.divide(numerator, denominator)))
    while ratio > exp_lower(epsilon):
        epsilon = math.nextafter(epsilon, math.inf)
    return epsilon
