"""The canonical text of a spec and its digest, and JSON that somebody else wrote, read with suspicion.

Canonical: keys sorted, no spaces, shortest round-trip floats. The text holds resolved numbers only:
nothing in it names code.

A spec of one number may have one more key, "task": the question that it was made for, such as "mean". It is
there for people and estimates, changes nothing, and is no part of the digest.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Any

from sottovoce.core.errors import ArgumentTypeError, SpecError

FORMAT = "window/1"
MIXTURE = "mixture/1"
ROWS = "rows/1"
TRANSLATES = "translates/1"
POLAR = "polar/1"
SURVEY = "survey/1"
MAX_BYTES = 1 << 22
_LARGEST = 1 << 53
_TASK = "[a-z][a-z ]{0,30}"
#: A task in a canonical text. It is never the first key, and no string of valid JSON holds a bare quote.
_WRITTEN_TASK = f',"task":"{_TASK}"'


def canonical(content: dict[str, Any], task: str | None = None) -> str:
    """The canonical text of a spec: keys sorted, no spaces, shortest round-trip floats."""
    if task is not None:
        content = {**content, "task": _as_task(task)}
    import json

    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def untasked(text: str) -> str:
    """The canonical text without the tasks in it: what identifies a mechanism."""
    return re.sub(_WRITTEN_TASK, "", text)


def read_task(content: dict[str, Any]) -> str | None:
    """The question that a spec says it was made for: words, nothing depends on them."""
    return _as_task(content["task"]) if "task" in content else None


def _as_task(task: Any) -> str:
    if not isinstance(task, str) or not re.fullmatch(_TASK, task):
        raise SpecError(f"task must be a few lowercase letters, got {excerpt(task)}", argument="task")
    return task


def digest(text: str) -> str:
    """SHA-256 of the canonical text without its tasks, in hexadecimal."""
    import hashlib  # it loads OpenSSL, 4 MB that drawing a report does not need

    return hashlib.sha256(untasked(text).encode()).hexdigest()


def parse_json(text: str | bytes, name: str = "a spec", most: int = MAX_BYTES) -> Any:
    """JSON without its loopholes: no duplicate keys, no NaN, no surprise sizes."""
    if not isinstance(text, str | bytes):
        raise ArgumentTypeError(f"{name} must be JSON text, got {type(text).__name__}", argument=name)
    if len(text) > most:
        raise SpecError(f"{name} must be at most {most} bytes, got {len(text)}")
    import json  # two milliseconds that a device which makes its mechanism itself does not need

    try:
        return json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"not valid JSON: {error}") from None
    except RecursionError:
        raise SpecError("not valid JSON: nested too deeply", code="too_deep") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise SpecError("an object has the same key twice", code="duplicate_key")
    return content


def _no_constant(name: str) -> float:
    raise SpecError(f"numbers must be finite, got {name}")


def _finite(digits: str) -> float:
    number = float(digits)
    if not abs(number) < float("inf"):
        raise SpecError("numbers must be finite, got one beyond the range of doubles")
    return number


def _bounded(digits: str) -> int:
    if len(digits) > 20:
        raise SpecError("an integer has more than 20 digits")
    return int(digits)


def check_keys(content: Any, expected: set[str], where: str, optional: Set[str] = frozenset()) -> None:
    if not isinstance(content, dict):
        raise SpecError(f"{where} must be an object, got {excerpt(content)}")
    if unknown := sorted(set(content) - expected - optional):
        raise SpecError(f"{where} has an unknown key {excerpt(unknown[0])}")
    if missing := sorted(expected - set(content)):
        raise SpecError(f"{where} lacks the key {missing[0]!r}")


def as_list(content: Any, where: str, item: Any, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or (length is not None and len(content) != length):
        raise SpecError(
            f"{where} must be a list{'' if length is None else f' of {length}'}, got {excerpt(content)}"
        )
    return [item(entry, where) for entry in content]


def as_int(content: Any, where: str) -> int:
    if type(content) is not int or abs(content) > _LARGEST:
        raise SpecError(f"{where} must hold integers up to 2^53, got {excerpt(content)}")
    return content


def as_float(content: Any, where: str) -> float:
    if type(content) not in (int, float) or not abs(content) < float("inf"):
        raise SpecError(f"{where} must hold finite numbers, got {excerpt(content)}")
    return float(content)


def as_bool(content: Any, where: str) -> bool:
    if type(content) is not bool:
        raise SpecError(f"{where} must be true or false, got {excerpt(content)}")
    return content


def excerpt(content: Any) -> str:
    """What is wrong, in at most 40 characters."""
    text = repr(content)
    return text if len(text) <= 40 else text[:37] + "..."
