"""The ways of repeating by name: terms from arguments, and from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from sottovoce.core.errors import ArgumentError, one_of
from sottovoce.core.formats import from_json
from sottovoce.core.journal import Entry
from sottovoce.core.reporter import Reporter
from sottovoce.device.terms import Bins, Fresh, Once, Terms

WAYS: dict[str, type[Terms]] = {way.repeat: way for way in (Fresh, Once, Bins)}


def agree(reporter: Reporter, repeat: str, options: Mapping[str, object]) -> Terms:
    """Terms from the arguments of `Ledger.enrol`.

    Args:
        reporter: What randomises.
        repeat: The way of repeating.
        options: The other arguments; None where one was not given.

    Raises:
        ArgumentError: If an argument is not one of this way, or has a value that it must not have.
    """
    way = WAYS[one_of(repeat, "repeat", tuple(WAYS))]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in {field.name for field in fields(way)}:
            raise ArgumentError(f"{name} does not belong to repeat={repeat!r}", code="unknown", argument=name)
    return way(reporter, **given)  # type: ignore[arg-type]


def read_terms(entry: Entry) -> Terms:
    """Terms that a journal holds.

    Args:
        entry: What `Terms.to_entry` gave.

    Raises:
        ValueError, TypeError or KeyError: If it is something else.
    """
    options = {name: value for name, value in entry.items() if name not in ("repeat", "spec")}
    return WAYS[entry["repeat"]](from_json(entry["spec"]), **options)
