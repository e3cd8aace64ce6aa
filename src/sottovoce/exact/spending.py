"""ε as money: exact rationals, so that three times 0.1 is 0.3 and nothing is ever charged too little."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from sottovoce.errors import MAX_EPSILON, ArgumentError, BudgetError, real_number

_MOST = 1_000_000 * int(MAX_EPSILON)  # of a budget
_SHORT = re.compile(r"[^eE]{1,99}([eE][-+]?[0-9]{1,3})?")  # 1e999999999 as a fraction would fill the memory

#: What a budget may be given as.
Amount = Fraction | float | str


def as_written(epsilon: float) -> Fraction:
    """The decimal that a double prints as, which is what people agree to.

    Mechanisms keep the smaller of this and the double itself (`rational_bounds.rational_epsilon`), so a
    charge of this much is never too little.

    Args:
        epsilon: A finite number.

    Example:
        >>> as_written(0.3)
        Fraction(3, 10)
    """
    return Fraction(Decimal(repr(float(epsilon))))


def exact_budget(budget: object) -> Fraction:
    """A budget as an exact rational.

    Args:
        budget: A Fraction or a whole number, a text such as "1.5" or "1/3", or a float, which means the
            decimal that it prints as.

    Raises:
        ArgumentError: If it is not a positive number, or beyond all reason.
        ArgumentTypeError: If it is no number.

    Example:
        >>> exact_budget("1/3"), exact_budget(0.9)
        (Fraction(1, 3), Fraction(9, 10))
    """
    if isinstance(budget, Fraction | int) and not isinstance(budget, bool):
        number = Fraction(budget)
    elif isinstance(budget, str):
        try:
            number = Fraction(budget if _SHORT.fullmatch(budget) else "")
        except (ValueError, ZeroDivisionError):
            raise ArgumentError(
                f"budget must be a number such as '1.5' or '3/2', got budget={budget!r}",
                code="form",
                argument="budget",
            ) from None
    else:
        number = as_written(real_number(budget, "budget"))
    if not 0 < number <= _MOST:
        raise ArgumentError(
            f"budget must be positive and at most {_MOST}, got budget={budget!r}", argument="budget"
        )
    return number


def plain(number: Fraction) -> str:
    """A rational in decimals where they end, as a fraction where they do not.

    Args:
        number: What to write.

    Example:
        >>> plain(Fraction(3, 2)), plain(Fraction(1, 3))
        ('1.5', '1/3')
    """
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1 or number.denominator > 10**12:
        return str(number)
    text = f"{float(number):.12f}".rstrip("0").rstrip(".")
    return text if Fraction(text) == number else str(number)


def afford(price: Fraction, spent: Fraction, budget: Fraction, what: str) -> None:
    """Refuse what a budget does not hold.

    Args:
        price: What it costs.
        spent: What is spent or set aside already.
        budget: The most that may be.
        what: What it is for, in words.

    Raises:
        BudgetError: If the price is more than what is left.
    """
    if spent + price > budget:
        raise BudgetError(
            f"{what} needs epsilon={plain(price)}, but {plain(budget - spent)} is left of the budget of "
            f"{plain(budget)}; nothing was spent"
        )
