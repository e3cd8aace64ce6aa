"""Options and pairs of numbers, as they are written on the command line."""

from __future__ import annotations

from typing import Any

import sottovoce as sv


def reporter(epsilon: float, options: str | None, pair: list[str] | None) -> Any:
    """What --options or --pair names, or None.

    Args:
        epsilon: Privacy parameter ε.
        options: Options between commas; whole numbers are ratings.
        pair: NAME=LOW:HIGH of each number.

    Returns:
        A choice or a pair.

    Raises:
        ValueError: If they are not written so.
    """
    if options is not None and pair:
        raise ValueError("give either --options or --pair, not both")
    if options is not None:
        return sv.choice(epsilon, options_in(options))
    return sv.pair(epsilon, domains_in(pair)) if pair else None


def options_in(text: str) -> list[str] | list[int]:
    """Options between commas; whole numbers are ratings."""
    names = [name.strip() for name in text.split(",")]
    whole = all(name.removeprefix("-").isdigit() for name in names)
    return [int(name) for name in names] if whole else names


def domains_in(pair: list[str]) -> dict[str, tuple[float, float]]:
    """The intervals of numbers, written NAME=LOW:HIGH each.

    Raises:
        ValueError: If they are not written so.
    """
    domains = {}
    for text in pair:
        name, equals, ends = text.rpartition("=")
        low, colon, high = ends.partition(":")
        try:
            domains[name] = (float(low), float(high))
        except ValueError:
            equals = ""
        if not (name and equals and colon):
            raise ValueError(f"--pair must be NAME=LOW:HIGH, got {text}")
    return domains
