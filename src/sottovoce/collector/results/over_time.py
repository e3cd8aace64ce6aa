"""What is shown about several tallies at once: the days of a campaign, and the groups of a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sottovoce as sv
from sottovoce.comparing.quantity import Quantity, common_question
from sottovoce.estimates.summary import TABLE, Failed
from sottovoce.reporters.question import Question

MOST_DAYS = 60  # the latest
_MOST_OPTIONS = 12  # each of which is a number of its own

Tallies = Mapping[str, sv.Tally]
Compared = Callable[[Tallies, Question, float], dict[str, Any]]


def over_days(days: Tallies, confidence: float, failed: Failed) -> list[dict[str, Any]]:
    """The first number of each item day by day, all intervals together, and the slope per day.

    There is none for an item that was asked on fewer than two days.
    """
    asked = [question.item for tally in days.values() for question in tally.law.questions]
    series = []
    for item in dict.fromkeys(filter(None, asked)) or ("",):  # what is about several items is no series
        parts = {day: tally[item] if item else tally for day, tally in days.items()}
        series += [{**one, "item": item} for one in _compared(parts, confidence, failed, _day_by_day)]
    return series


def over_groups(groups: Tallies, confidence: float, failed: Failed) -> list[dict[str, Any]]:
    """The groups of a family by the first number that all of them tell, with the ranks that are supported."""
    return _compared(groups, confidence, failed, _side_by_side)


def _compared(tallies: Tallies, confidence: float, failed: Failed, compare: Compared) -> list[dict[str, Any]]:
    """A comparison; of shares one for each option, and the error is shared among them."""
    question = common_question(tallies.values()) if tallies else None
    if question is None:
        return []
    item = question.item
    parts = {name: tally[item] if item else tally for name, tally in tallies.items()}
    parts = {name: part for name, part in parts.items() if part.n}
    if len(parts) < 2:
        return []
    each = [question._replace(item="")]
    if not TABLE[question.name].number:
        options = [tuple(map(str, sv.shares(part))) for part in parts.values()]
        each = [Question("share", option=one) for one in options[0] if all(one in own for own in options)]
    law, found = next(iter(parts.values())).law, []
    for one in each if len(each) <= _MOST_OPTIONS else ():
        content: dict[str, Any] = {"points": [], "problem": ""}
        try:
            content |= compare(parts, one, 1 - (1 - confidence) / len(each))
        except ValueError as error:
            content["problem"] = str(error)
        except Exception as error:
            content["problem"] = failed(error)
        label = TABLE[one.name].label(one, law)
        found.append({"item": item, "question": one.name, "label": label, **content})
    return found


def _day_by_day(days: Tallies, question: Question, confidence: float) -> dict[str, Any]:
    if Quantity.of(question).is_direction:  # which has no slope
        rows = sv.compare(days, question, confidence=confidence).rows
        return {"points": [{"day": row.pop("group"), **row} for row in rows], "slope": None}
    trend = sv.trend(days, question, confidence=confidence)
    points = [{"day": row.pop("time"), **row} for row in trend.rows]
    return {"points": points, "slope": {end: getattr(trend.slope, end) for end in ("value", "low", "high")}}


def _side_by_side(groups: Tallies, question: Question, confidence: float) -> dict[str, Any]:
    rows = sv.compare(groups, question, confidence=confidence).rows
    return {"points": [{"campaign": row.pop("group"), **row} for row in rows]}
