"""e^ε from below in integers alone: all that counting a claim takes.

A device that reads a spec checks it with this and loads neither fractions nor decimals; `rational_bounds` has
the same bounds as fractions. Every rounding goes down.
"""

from __future__ import annotations

from functools import lru_cache

MAX_BITS = 52  # of a draw: it is an exact double
MIN_BITS = 33  # of one that ships: more than the 32 of a JavaScript word (tests count smaller ones out)
BITS = 160  # denominators of the bounds are 2^160
_WORK = 256  # bits carried while computing them


def counts_keep(most: int, least: int, epsilon: float) -> bool:
    """True if most / least is at most e^ε, within 2^−150 of it relatively.

    >>> counts_keep(27182818, 10_000_000, 1.0), counts_keep(27182819, 10_000_000, 1.0)
    (True, False)
    """
    return most << BITS <= least * exp_units(*written(epsilon))


def written(epsilon: float) -> tuple[int, int]:
    """The smaller of the double and the decimal it prints as, as numerator and denominator.

    >>> written(0.1)
    (1, 10)
    """
    digits, _, exponent = repr(float(epsilon)).partition("e")
    whole, _, part = digits.partition(".")
    power = int(exponent or 0) - len(part)
    top, bottom = int(whole + part) * 10 ** max(power, 0), 10 ** max(-power, 0)
    numerator, denominator = float(epsilon).as_integer_ratio()
    return (top, bottom) if top * denominator <= numerator * bottom else (numerator, denominator)


@lru_cache(maxsize=1024)
def exp_units(numerator: int, denominator: int) -> int:
    """At most e^(numerator / denominator) · 2^160, and less by at most one part in 2^150."""
    return exp_fixed(numerator, denominator, BITS, _WORK)


def exp_fixed(numerator: int, denominator: int, bits: int, work: int) -> int:
    """At most e^x · 2^bits for a rational x ≥ 0, and less by at most one part in 2^(bits − 10).

    Taylor's series in fixed point at x/2^k, squared k times; all terms are positive and each operation
    rounds down.
    """
    halvings = (-(-numerator // denominator)).bit_length() + 4
    work += 2 * halvings
    x = ((numerator << work) // denominator) >> halvings
    total = term = 1 << work
    n = 0
    while term:
        n += 1
        term = (term * x >> work) // n
        total += term
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - bits)
