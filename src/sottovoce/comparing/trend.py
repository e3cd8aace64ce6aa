"""How a quantity changes over time: a slope with its interval, and what changed between two moments.

    t = sottovoce.trend({"2026-03-01": monday, "2026-03-02": tuesday, …}, per="week")
    t.slope; t.change("2026-03-01", "2026-03-14"); t.plot()

The slope is that of the line with the least squared distance from the moments' true values, each counted
as often as it has people. It is a sum Σ factor·quantity with factors that depend on times and numbers of
people only, so its interval holds whether or not the truth lies on a line.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sottovoce.comparing.quantity import Quantity, checked_groups
from sottovoce.errors import ArgumentError, check_confidence, one_of, refuse_others
from sottovoce.estimates.answer.arithmetic import combined, share_of
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular, label
from sottovoce.plots.forest_plot import draw_series
from sottovoce.reporters.question import Question

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "year": 365.25}  # in days

_YEAR_OR_MONTH = re.compile(r"\d{4}(-\d\d)?", re.ASCII)
_WRITTEN = (
    "a number, a date or a time, written as '2026', '2026-03', '2026-W09', '2026-03-01' "
    "or '2026-03-01 14:30+01:00'"
)

When = float | str | dt.date | dt.datetime
W = TypeVar("W", bound=When)


@dataclass(frozen=True, repr=False)
class Trend(Tabular):
    """A quantity at several moments.

    Attributes:
        slope: By how much it rises per unit of time.
        points: The estimate of each moment, in order of time; their intervals hold all together.
        confidence: That of the slope, and that of all points together.
        per: The unit of time; empty where times are plain numbers.
    """

    slope: Estimate
    points: dict[When, Estimate]
    confidence: float
    per: str

    def change(self, first: When, last: When) -> Estimate:
        """The value at one moment minus that at an earlier one.

        Args:
            first: One of the moments.
            last: Another.

        Returns:
            The change with its interval and p-value, for this one pair of moments.

        Raises:
            ValueError: If there is no such moment.
        """
        points = {_moment(when): point for when, point in self.points.items()}
        ends = []
        for name, when in (("last", last), ("first", first)):
            if (moment := _moment(when, name)) not in points:
                raise ArgumentError(f"{name} must be one of the moments", argument=name)
            ends.append(points[moment])
        confidence = self.confidence if all(end.sides is not None for end in ends) else None
        terms = list(zip((1.0, -1.0), ends, strict=True))
        gap: Estimate = combined(terms, what=f"change of the {ends[0].what}", confidence=confidence)
        return gap

    @property
    def rows(self) -> list[Row]:
        """The moments as rows of a table."""
        return [
            {"time": label(when), "n": e.n, "value": e.value, "low": e.low, "high": e.high}
            for when, e in self.points.items()
        ]

    def to_dict(self) -> dict[str, object]:
        """Plain values, as JSON takes them.

        Returns:
            The slope, its unit, and the moments.
        """
        return {"slope": self.slope.to_dict(), "per": self.per, "points": self.rows}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the moments with their intervals, and the line.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        times = [_moment(when) for when in self.points]
        days = np.array([_days(when) for when in times])
        people = np.array([e.n for e in self.points.values()])
        values = np.array([e.value for e in self.points.values()])
        rise = self.slope.value / UNITS.get(self.per, 1.0)
        centre, level = np.average(days, weights=people), np.average(values, weights=people)
        line = [float(level + rise * (end - centre)) for end in (days[0], days[-1])]
        title = f"{len(times)} intervals together: {self.confidence:.10g}"
        return draw_series(times, list(self.points.values()), (line[0], line[1]), title, ax)

    def __str__(self) -> str:
        return f"{self.slope}\n  {len(self.points)} moments, {self.slope.n} reports"


def trend(
    series: Mapping[W, Tally],
    question: str | Question = "mean",
    *,
    per: str = "day",
    p: float | None = None,
    between: tuple[float, float] | None = None,
    option: str | int | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
    fakes: int = 0,
) -> Trend:
    """Estimate how fast a quantity rises or falls over time.

    Args:
        series: Tallies of different people by the moment they reported: plain numbers, dates, or texts such
            as "2026" (its first day), "2026-03", "2026-W09", "2026-03-01" or "2026-03-01 14:30+01:00".
        question: As in `difference`, but no direction.
        per: For dates the unit of the slope: "hour", "day", "week" or "year".
        p: Which quantile; the median by default.
        between: The range of a probability.
        option: The option of a share.
        estimand: Of the "population" that these people stand for, or of the "respondents".
        confidence: How often the slope's interval should hold, and how often those of all moments together.
        fakes: For means and probabilities: how many reports of each moment may be fakes.

    Returns:
        The slope, the moments, and `change(first, last)` between two of them.

    Raises:
        ValueError: If there are fewer than two different moments, numbers beside dates, a text that is not
            such a date, or two share reports.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import pm
        >>> m = pm(epsilon=4.0)
        >>> days = {day: Tally(m, m.report(np.full(5_000, 0.3 + day / 50), rng=day)) for day in range(10)}
        >>> slope = trend(days).slope
        >>> bool(slope.low < 0.02 < slope.high), bool(slope.p_value < 0.001)
        (True, True)
    """
    check_confidence(confidence)
    one_of(per, "per", tuple(UNITS))
    quantity = Quantity.of(question, p, between, option, estimand=estimand, fakes=fakes)
    if quantity.is_direction:
        raise ArgumentError("a direction has no slope; compare two with difference", argument="question")
    tallies = checked_groups(series, least=2)
    moments = {when: _moment(when) for when in tallies}
    plain = any(isinstance(moment, float) for moment in moments.values())
    if plain and not all(isinstance(moment, float) for moment in moments.values()):
        raise ArgumentError("series must have numbers or dates as its moments, not both", argument="series")
    order = sorted(tallies, key=moments.__getitem__)
    days = np.array([_days(moments[when]) for when in order])
    if len(set(days)) < len(days):
        raise ArgumentError("two tallies have the same moment: add them up", argument="series")
    if plain:
        refuse_others(trend, "times that are plain numbers", {"per": per})
    unit = "" if plain else per
    people = np.array([tallies[when].required().n for when in order], dtype=np.float64)
    away = days - np.average(days, weights=people)
    factors = people * away / (people * away**2).sum() * (1.0 if plain else UNITS[per])
    what = "slope of the {}" + (f" per {unit}" if unit else "")
    terms = [(float(factor), tallies[when]) for factor, when in zip(factors, order, strict=True)]
    points: dict[When, Estimate] = {
        when: quantity(tallies[when], share_of(confidence, len(order))) for when in order
    }
    if all(point.sides is not None for point in points.values()):
        pairs = list(zip(factors.tolist(), points.values(), strict=True))
        slope = combined(pairs, what=what.format(points[order[0]].what), confidence=confidence)
    else:
        slope = quantity.total(terms, confidence, what)
    return Trend(slope, points, confidence, unit)


def _moment(when: object, argument: str = "series") -> float | dt.datetime:
    """A moment as a number, or as a time with a zone: that of Greenwich where none is given."""
    if isinstance(when, tuple) and len(when) == 1:  # the key of a group
        return _moment(when[0], argument)
    moment: object = when
    if isinstance(when, str):
        text = when + "-01-01"[len(when) - 4 :] if _YEAR_OR_MONTH.fullmatch(when) else when
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError:
            moment = None
    elif isinstance(when, np.datetime64):
        moment = when.astype("datetime64[us]").item()
    elif isinstance(when, int | float | np.number) and not isinstance(when, bool) and math.isfinite(when):
        return float(when)
    elif isinstance(when, dt.date) and not isinstance(when, dt.datetime):
        moment = dt.datetime.combine(when, dt.time())
    if not isinstance(moment, dt.datetime) or moment != moment:  # what pandas has for no time is one
        raise ArgumentError(f"{argument}: a moment must be {_WRITTEN}", argument=argument)
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _days(moment: float | dt.datetime) -> float:
    return moment.timestamp() / 86400 if isinstance(moment, dt.datetime) else moment
