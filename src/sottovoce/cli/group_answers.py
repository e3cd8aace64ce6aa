"""What `sottovoce summary` says of groups: each by itself, or together (--compare, --pairs, --trend)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import sottovoce as sv
from sottovoce.cli import Answers, counting
from sottovoce.comparing.quantity import common_question
from sottovoce.comparing.trend import UNITS
from sottovoce.errors import UsageError
from sottovoce.plots.forest_plot import draw_forest
from sottovoce.reporters.contract import described
from sottovoce.reporters.question import Question

if TYPE_CHECKING:
    from sottovoce.bulk.grouped_tally import GroupedTally


def compared(
    groups: Mapping[Any, sv.Tally],
    items: Sequence[str],
    named: Sequence[Question],
    confidence: float,
    options: Mapping[str, Any],
    *,
    pairs: bool,
    trend: str | None,
) -> Answers:
    """Compare groups by one number, or see its trend over the column that they are grouped by.

    Args:
        groups: Tallies by the key of their group.
        items: Of a survey: the items that were asked for.
        named: The numbers that were asked for; by default the first that all groups tell.
        confidence: Of all intervals together.
        options: What else was asked for.
        pairs: Whether every difference of two is meant, and not every group.
        trend: The column of moments, if the groups are moments.

    Returns:
        What is known of all of them together.

    Raises:
        UsageError: If several numbers are asked for, there is none, or an option does not go with it.
    """
    if len(named) > 1 or len(items) > 1:
        raise UsageError("groups are compared by one number of one --item: one --quantile, --range, --option")
    if odd := set(options) - ({"estimand"} if trend else {"estimand", "sequential"}):
        how = "trend" if trend else "pairs" if pairs else "compare"
        raise UsageError(f"--{min(odd)} does not go with --{how}")
    item = named[0].item if named else "".join(items)
    parts = {key: groups[key][item] if item else groups[key] for key in groups}
    question = named[0] if named else common_question(parts.values())
    law: sv.Reporter = next(iter(parts.values())).law
    if question is None or question.name == "shares":
        hint = "" if question is None else ": say which share, --option NAME"
        raise UsageError(f"reports about {described(law)} have no one number to compare groups by{hint}")
    if not item and (item := question.item):
        parts, law = {key: tally[item] for key, tally in parts.items()}, law.items[item]
    asked: dict[str, Any] = {"question": question._replace(item=""), "confidence": confidence, **options}
    answer: sv.Comparison | sv.Trend
    if trend is None:
        answer = sv.compare(parts, **asked, over="pairs" if pairs else "groups")
    else:
        dates = not all(isinstance(moment, int | float) for (moment,) in parts)
        answer = sv.trend(parts, **asked, per=trend if dates and trend in UNITS else "day")
    lines = [f"{item}: {described(law)}", str(answer)][not item :]
    return Answers(lambda: {"item": item, **answer.to_dict()}, answer.rows, lines, answer.plot)


def by_group(groups: GroupedTally, asked: Mapping[str, Any]) -> Answers:
    """The numbers that the summary of each group holds.

    Args:
        groups: The tallies.
        asked: What `sottovoce.summary` takes beside each.

    Returns:
        A row for each number of each group.
    """
    from sottovoce.bulk.group_estimates import summaries

    with counting("summarised", len(groups), "groups") as progress:
        rows = summaries(groups, progress=progress, **asked).to_pylist()
    m = groups.reporter
    content = {"n": groups.n, "epsilon": m.epsilon, "digest": m.digest, "by": list(groups.by), "groups": rows}

    def lines() -> Iterator[str]:
        about = f"{described(m)}, digest {m.digest[:12]}"
        yield f"{groups.n:,} people in {len(groups)} groups, ε = {m.epsilon:g}, {about}"
        yield "\t".join(rows[0])
        for row in rows:
            yield "\t".join(
                f"{x:.6g}" if isinstance(x, float) else "" if x is None else str(x) for x in row.values()
            )

    return Answers(lambda: content, rows, lines(), lambda: _picture(rows, groups))


def _picture(rows: Sequence[dict[str, Any]], groups: GroupedTally) -> Any:
    """The first number of each group with its interval, one below the other."""
    about = ("question", "item", "of")
    first = [rows[0].get(name) for name in about]
    shown = [row for row in rows if [row.get(name) for name in about] == first and row["value"] is not None]
    names = [", ".join(str(row[name]) for name in groups.by) for row in shown]
    bars: Any = [SimpleNamespace(what=row["of"], **row) for row in shown]
    return draw_forest(names, bars, f"{groups.n:,} reports, ε = {groups.reporter.epsilon:g}", None)
