"""What can go wrong, in words for people and in codes for programs.

Every error here carries a `code`, a short word for what is wrong, and the `argument` it is about, so that
nothing has to read a sentence to decide. Bad parameters name the argument, the rule and the value. Bad
*data* is different: an error about people's values ends up in logs, so it names the count and the first
position, never a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from sottovoce._version import __version__


class Coded(Exception):
    """An error that a program can tell apart from others.

    Attributes:
        code: What is wrong, such as "range", "type" or "missing".
        argument: The parameter or field that it is about, or None.
    """

    code = "invalid"
    argument: str | None = None

    def __init__(self, sentence: str, *, code: str | None = None, argument: str | None = None) -> None:
        super().__init__(sentence)
        if code is not None:
            self.code = code
        self.argument = argument


class ArgumentError(Coded, ValueError):
    """A parameter has a value that it must not have."""

    code = "range"


class UsageError(ArgumentError):
    """Options of a command contradict each other; the first that the sentence names is the argument."""

    code = "usage"

    def __init__(self, sentence: str) -> None:
        _, _, rest = sentence.partition("--")
        super().__init__(sentence, argument=rest.split(" ")[0].rstrip(":,").replace("-", "_") or None)


class ArgumentTypeError(Coded, TypeError):
    """A parameter has the wrong type."""

    code = "type"


class SpecError(Coded, ValueError):
    """A mechanism's JSON spec is malformed or its numbers contradict each other."""

    code = "spec"


class PrivacyError(Coded, ValueError):
    """The integer counts of a mechanism do not give the ε it claims, or more than was agreed to."""

    code = "privacy"


class BudgetError(Coded, ValueError):
    """Spending would exceed the privacy budget; nothing was spent."""

    code = "budget"


class LedgerError(Coded, ValueError):
    """A ledger that cannot be trusted or written: no answer is given and nothing may be sent."""

    code = "ledger"


class EntryError(Coded, ValueError):
    """An entry of a journal or an outbox contradicts what is written before it."""

    code = "entry"


class SolverError(Coded, ArithmeticError):
    """A solver failed, or what it found proves less than it claims."""

    code = "solver"


class ProcessError(Coded, RuntimeError):
    """The processes that work was shared among could not start, or were killed."""

    code = "processes"


class UnknownKey(Coded, KeyError):
    """There is no question, group or key of that name."""

    code = "unknown"


class FileError(Coded, OSError):
    """A file, a store or a program that is needed cannot be used."""

    code = "file"


class MissingFile(FileError, FileNotFoundError):
    """There is no such file or folder."""

    code = "missing_file"


class ExistingFile(FileError, FileExistsError):
    """What would be written is there already, and stays."""

    code = "exists"


class ContractError(Coded, ValueError):
    """A reporter breaks a rule of the contract; `code` names the rule."""

    code = "contract"


class DataError(Coded, ValueError):
    """Values that a mechanism or an estimate cannot take: described by count and first index only.

    Attributes:
        row: The first index, where whoever read the values can say which line of a file it is.
    """

    code = "data"
    row: int | None = None


class NoDataError(Coded, ValueError):
    """An estimate was asked of nothing."""

    code = "no_data"


class MissingExtra(Coded, ImportError):
    """An optional dependency is not installed."""

    code = "missing_extra"

    def __init__(self, feature: str, extra: str) -> None:
        wheel = f"sottovoce-{__version__}-py3-none-any.whl"
        super().__init__(
            f"{feature} needs the extra {extra!r}: pip install '.[{extra}]' in a clone, "
            f"or pip install '{wheel}[{extra}]' with a wheel file",
            argument=extra,
        )


#: What all that an extra is for has to import. The command line, pictures and frames ask for more.
EXTRAS = {
    "analysis": ("platformdirs", "scipy", "threadpoolctl"),
    "files": ("pyarrow",),
    "postgres": ("psycopg",),
    "server": (
        "alembic", "cachetools", "fastapi", "httptools", "plotly", "prometheus_client", "rich", "segno",
        "sqlalchemy", "typer", "uvicorn",
    ),
}  # fmt: skip


def require_extra(extra: str, feature: str, *modules: str) -> None:
    """Refuse before any work is done what could not be finished.

    Args:
        extra: One of `EXTRAS`.
        feature: What is wanted, the first words of the sentence.
        modules: What this feature imports beyond them.

    Raises:
        MissingExtra: If something of the extra is not installed.
    """
    from importlib.util import find_spec

    if any(find_spec(module) is None for module in (*EXTRAS[extra], *modules)):
        raise MissingExtra(feature, extra)


#: ε outside this range is refused. Above, 2^16 cells of a 52-bit draw cannot express the ratio without
#: visible loss; below, the difference between the two weights of a cell would itself be rounding.
MIN_EPSILON, MAX_EPSILON = 1e-6, 16.0


def real_number(value: object, name: str) -> float:
    """A finite real number, or a sentence that says what was wrong with `name`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentTypeError(f"{name} must be a real number, got {name}={value!r}", argument=name)
    number = float(value)
    if not math.isfinite(number):
        raise ArgumentError(f"{name} must be finite, got {name}={number!r}", argument=name)
    return number


def positive_number(value: object, name: str) -> float:
    """A finite real number above zero."""
    number = real_number(value, name)
    if number <= 0:
        raise ArgumentError(f"{name} must be positive, got {name}={number!r}", argument=name)
    return number


def whole_number(value: object, name: str, least: int = 0, most: int | None = None) -> int:
    """An integer in [least, most]; numpy integers are welcome, booleans and floats are not."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(f"{name} must be a whole number, got {name}={value!r}", argument=name)
    number = int(value.__index__())
    if number < least or (most is not None and number > most):
        rule = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ArgumentError(f"{name} must be {rule}, got {name}={number}", argument=name)
    return number


def one_of(value: object, name: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        words = ", ".join(map(repr, choices))
        raise ArgumentError(
            f"{name} must be one of {words}, got {name}={value!r}", code="choice", argument=name
        )
    return value


def refuse_others(function: Callable[..., Any], what: str, given: Mapping[str, Any], taken: str = "") -> None:
    """Refuse options of `function` that were given, are not `taken`, and would be ignored.

    What equals its default was not given; of names without a default nothing is said.
    """
    from inspect import signature

    for name, parameter in signature(function).parameters.items():
        if parameter.default is parameter.empty or name not in given or name in taken.split():
            continue
        value, default = given[name], parameter.default
        if not (value is default or (isinstance(value, type(default)) and value == default)):
            raise ArgumentError(f"{name} does not belong to {what}", code="unknown", argument=name)


def check_epsilon(epsilon: object) -> float:
    """An ε in the range that the integers can express."""
    number = positive_number(epsilon, "epsilon")
    if not MIN_EPSILON <= number <= MAX_EPSILON:
        raise ArgumentError(
            f"epsilon must be between {MIN_EPSILON} and {MAX_EPSILON}, got epsilon={number!r}",
            argument="epsilon",
        )
    return number


def proper_fraction(value: object, name: str) -> float:
    """A real number strictly between 0 and 1."""
    number = real_number(value, name)
    if not 0 < number < 1:
        raise ArgumentError(f"{name} must lie strictly between 0 and 1, got {name}={number!r}", argument=name)
    return number


def check_confidence(confidence: object) -> float:
    """A confidence level."""
    return proper_fraction(confidence, "confidence")


def loss_exponent(loss: object) -> float:
    """The k of |y − x|^k: "l1" is 1, "l2" is 2, or any number k ≥ 1.

    >>> loss_exponent("l2"), loss_exponent(1.5)
    (2.0, 1.5)
    """
    if isinstance(loss, str):
        named = {"l1": 1.0, "l2": 2.0}
        if loss.lower() not in named:
            raise ArgumentError(
                f"loss must be 'l1', 'l2' or a number k >= 1, got loss={loss!r}",
                code="choice",
                argument="loss",
            )
        return named[loss.lower()]
    k = real_number(loss, "loss")
    if not 1 <= k <= 64:
        raise ArgumentError(
            f"loss must be 'l1', 'l2' or a number 1 <= k <= 64, got loss={k!r}", argument="loss"
        )
    return k
