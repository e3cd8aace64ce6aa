"""What can go wrong, in words.

Bad parameters raise ValueError or TypeError with the argument, the rule and the value. Bad *data* is
different: an error about people's values ends up in logs, so it names the count and the first
position, never a value.
"""

from __future__ import annotations

import math
from numbers import Real


class SpecError(ValueError):
    """A mechanism's JSON spec is malformed or its numbers contradict each other."""


class PrivacyError(ValueError):
    """The integer counts of a mechanism do not give the ε it claims, or more than was agreed to."""


class BudgetError(ValueError):
    """Spending would exceed the privacy budget; nothing was spent."""


class LedgerError(ValueError):
    """A ledger that cannot be trusted or written: no answer is given and nothing may be sent."""


class DataError(ValueError):
    """Values that a mechanism or an estimate cannot take: described by count and first index only."""


class NoDataError(ValueError):
    """An estimate was asked of nothing."""


class MissingExtra(ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional part: pip install 'sottovoce[{extra}]'")


#: ε outside this range is refused. Above, 2^16 cells of a 52-bit draw cannot express the ratio without
#: visible loss; below, the difference between the two weights of a cell would itself be rounding.
MIN_EPSILON, MAX_EPSILON = 1e-6, 16.0


def real_number(value: object, name: str) -> float:
    """A finite real number, or a sentence that says what was wrong with `name`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a real number, got {name}={value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {name}={number!r}")
    return number


def positive_number(value: object, name: str) -> float:
    number = real_number(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {name}={number!r}")
    return number


def whole_number(value: object, name: str, least: int = 0, most: int | None = None) -> int:
    """An integer in [least, most]; numpy integers are welcome, booleans and floats are not."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, got {name}={value!r}")
    number = int(value.__index__())
    if number < least or (most is not None and number > most):
        rule = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {rule}, got {name}={number}")
    return number


def check_epsilon(epsilon: object) -> float:
    number = positive_number(epsilon, "epsilon")
    if not MIN_EPSILON <= number <= MAX_EPSILON:
        raise ValueError(f"epsilon must be between {MIN_EPSILON} and {MAX_EPSILON}, got epsilon={number!r}")
    return number


def check_confidence(confidence: object) -> float:
    number = real_number(confidence, "confidence")
    if not 0 < number < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got confidence={number!r}")
    return number


def loss_exponent(loss: object) -> float:
    """The k of |y − x|^k: "l1" is 1, "l2" is 2, or any number k ≥ 1.

    >>> loss_exponent("l2"), loss_exponent(1.5)
    (2.0, 1.5)
    """
    if isinstance(loss, str):
        named = {"l1": 1.0, "l2": 2.0}
        if loss.lower() not in named:
            raise ValueError(f"loss must be 'l1', 'l2' or a number k >= 1, got loss={loss!r}")
        return named[loss.lower()]
    k = real_number(loss, "loss")
    if not 1 <= k <= 64:
        raise ValueError(f"loss must be 'l1', 'l2' or a number 1 <= k <= 64, got loss={k!r}")
    return k
