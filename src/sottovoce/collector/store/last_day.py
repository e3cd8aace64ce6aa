"""The store's own days: they never go back by themselves, and a clock alone takes them one day further.

A report is stored under the store's last day, or the day after it if the clock says so: then that is the last
day. A clock that is behind changes nothing. One that is further ahead stores and deletes nothing until an
operator confirms the day: retention and the expiry of keys would take reports for old that are not.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, select, text

from sottovoce.collector.campaigns.clock import day_text
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import schema

_NAME = "day"
_LOOK = select(schema.facts.c.content).where(schema.facts.c.name == _NAME)
# While somebody stores under the last day, nobody takes it back. SQLite has one writer anyway.
_SHARE = _LOOK.with_for_update(read=True)
_OWN = _LOOK.with_for_update()
NOTE = text(
    "INSERT INTO facts (name, content) VALUES (:name, :content) "
    "ON CONFLICT (name) DO UPDATE SET content = excluded.content"
)


class Unconfirmed(Refusal):
    """The clock is more than a day beyond the last day that the store has seen. Nothing was written."""

    def __init__(self, last: int, clock: int) -> None:
        clock_text, last_text = day_text(clock), day_text(last)
        sentence = (
            f"the clock says {clock_text}, but the last day that the store has seen is {last_text}: nothing "
            "is stored until an operator sets the clock, or confirms the day with "
            f"`sottovoce campaign check --last-day {clock_text}`"
        )
        super().__init__("clock_unconfirmed", sentence, retry_after=60)
        self.last = last


def read(connection: Connection, clock: int) -> int | None:
    """The last day that the store has seen, which stays so until this transaction ends; None in a new one.

    Whoever may write the day of the clock holds it alone from the first: two who shared it at the change of
    day, and both wanted to write, would wait for each other.
    """
    last = _day(connection, _LOOK)
    return _day(connection, _SHARE if last is None or clock <= last else _OWN)


def _day(connection: Connection, query: Select[Any]) -> int | None:
    content = connection.execute(query).scalar_one_or_none()
    return None if content is None else int(content)


def following(last: int | None, clock: int) -> int:
    """The day under which something is stored when the clock says a day.

    Raises:
        Unconfirmed: If that is more than a day beyond the last one.
    """
    if last is not None and clock > last + 1:
        raise Unconfirmed(last, clock)
    return clock if last is None else max(last, clock)


def write(connection: Connection, day: int) -> None:
    """Note the last day."""
    connection.execute(NOTE, {"name": _NAME, "content": str(day)})


def today(connection: Connection, clock: int) -> int:
    """The store's day when the clock says one, from now on its last.

    Raises:
        Unconfirmed: If the clock is more than a day beyond the last one.
    """
    last = read(connection, clock)
    day = following(last, clock)
    if day != last:
        write(connection, day)
    return day
