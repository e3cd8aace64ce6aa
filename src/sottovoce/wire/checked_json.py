"""JSON that somebody else wrote, read with suspicion: every key and type is checked."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from sottovoce.errors import ArgumentTypeError, SpecError

MAX_BYTES = 1 << 22
_LARGEST = 1 << 53


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
