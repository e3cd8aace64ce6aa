"""Moments and days as the collector writes them: UTC, whole seconds; a day is the number since 1970-01-01."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from pydantic import BeforeValidator

from sottovoce.errors import ArgumentError

_EPOCH = dt.date(1970, 1, 1)


def as_moment(text: object) -> object:
    """ISO 8601 text as a moment in UTC and whole seconds; what is no text is left for others to judge.

    >>> as_moment("2027-01-31T02:00:00+02:00")
    datetime.datetime(2027, 1, 31, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if not isinstance(text, str):
        return text
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentError("must be ISO 8601, for example 2027-01-31T00:00:00Z", code="moment") from None
    if moment.tzinfo is None:
        raise ArgumentError("must name its time zone, for example end in Z", code="moment")
    try:
        return moment.astimezone(dt.UTC).replace(microsecond=0)
    except OverflowError:
        raise ArgumentError("must be between the years 1 and 9999", code="moment") from None


Moment = Annotated[dt.datetime, BeforeValidator(as_moment)]


def now() -> dt.datetime:
    """This moment, in whole seconds."""
    return dt.datetime.now(dt.UTC).replace(microsecond=0)


def day_number(when: dt.datetime | dt.date) -> int:
    """Days since 1970-01-01, of a day or of a moment in UTC.

    >>> day_number(dt.date(1970, 1, 11))
    10
    """
    date = when.date() if isinstance(when, dt.datetime) else when
    return (date - _EPOCH).days


def day_text(number: int) -> str:
    """The ISO date of a day number."""
    return (_EPOCH + dt.timedelta(days=number)).isoformat()


def beginning(number: int) -> dt.datetime:
    """The first moment of a day."""
    return dt.datetime.combine(_EPOCH, dt.time(), dt.UTC) + dt.timedelta(days=number)
