"""What is shown about several tallies at once: the days of a campaign, and the groups of a family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sottovoce as sv

MOST_DAYS = 60  # the latest


def over_days(days: Mapping[str, sv.Tally], confidence: float) -> dict[str, Any] | None:
    """The mean of every day, all intervals together, and the slope per day; None below two days."""
    if len(days) < 2:
        return None
    domain = next(iter(days.values())).reporter.domain
    if isinstance(domain, sv.Circle):
        rows = sv.compare(days, "direction", confidence=confidence).rows
        return {"points": [_point(row, "group") for row in rows], "slope": None}
    trend = sv.trend(days, confidence=confidence)
    slope = {name: getattr(trend.slope, name) for name in ("value", "low", "high")}
    return {"points": [_point(row, "time") for row in trend.rows], "slope": slope}


def _point(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {"day": row[name], **{key: row[key] for key in ("n", "value", "low", "high")}}


def over_groups(groups: Mapping[str, sv.Tally], confidence: float) -> list[dict[str, Any]]:
    """The groups of a family, with intervals that hold together and the ranks that they support.

    They are compared by the mean of their first question, on a circle by its direction.
    """
    if len(groups) < 2:
        return []
    tallies = {name: tally[next(iter(tally.reporter.items))] for name, tally in groups.items()}
    circle = any(isinstance(tally.reporter.domain, sv.Circle) for tally in tallies.values())
    try:
        rows = sv.compare(tallies, "direction" if circle else "mean", confidence=confidence).rows
    except ValueError:  # of kinds that have no such thing in common
        return []
    return [{"campaign": row.pop("group"), **row} for row in rows]
