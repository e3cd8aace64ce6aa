"""Several groups against each other, with intervals that hold for all of them together.

    c = sottovoce.compare({"north": a, "south": b, "west": d})    # each group, simultaneously
    c = sottovoce.compare(groups, over="pairs")                    # each difference of two, simultaneously
    c.ranks; c.plot(); c.to_frame()

The family (all groups or all pairs) is chosen beforehand. Groups are independent, so each gets the confidence
c^(1/k); pairs are not, and share the error evenly.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.comparing.quantity import K, Quantity, at_level, checked_groups
from sottovoce.errors import ArgumentError, check_confidence, one_of
from sottovoce.estimates.answer.arithmetic import combined, share_of
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import MOST_SHOWN, Row, Tabular, label
from sottovoce.plots.forest_plot import draw_forest
from sottovoce.reporters.question import Question

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILIES = ("groups", "pairs")
MOST_PAIRS = 20_000

Key = Hashable


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """Estimates of several groups.

    Attributes:
        what: The quantity.
        over: The family whose intervals hold together: "groups" or "pairs".
        confidence: How often all of them hold.
        groups: The estimate of each group. With `over="pairs"` each interval holds by itself only.
        differences: With `over="pairs"` the first group minus the second, for every pair. Its p-value is
            adjusted for their number.
    """

    what: str
    over: str
    confidence: float
    groups: dict[Key, Estimate]
    differences: dict[tuple[Key, Key], Estimate]

    @cached_property
    def ranks(self) -> dict[Key, tuple[int, int]]:
        """The ranks that the data support: from which to which place each group can be, 1 for the highest.

        All of them hold together with the comparison's confidence.
        """
        names = list(self.groups)
        if self.over == "groups":
            low, high = (np.array([getattr(e, s) for e in self.groups.values()]) for s in ("low", "high"))
            above = len(names) - np.searchsorted(np.sort(low), high, side="right")
            below = np.searchsorted(np.sort(high), low, side="left")
        else:
            above, below = (np.zeros(len(names), dtype=np.int64) for _ in range(2))
            place = {name: i for i, name in enumerate(names)}
            for (one, other), gap in self.differences.items():
                if gap.low > 0 or gap.high < 0:
                    winner, loser = (one, other) if gap.low > 0 else (other, one)
                    below[place[winner]] += 1
                    above[place[loser]] += 1
        last = len(names) - below
        return {name: (int(a) + 1, int(b)) for name, a, b in zip(names, above, last, strict=True)}

    @property
    def rows(self) -> list[Row]:
        """The family as rows of a table, one for each of its intervals."""
        if self.over == "pairs":
            return [
                {"first": label(one), "second": label(other), **_numbers(e), "p_value": e.p_value}
                for (one, other), e in self.differences.items()
            ]
        return [
            {"group": label(name), **_numbers(e), "first_rank": ranks[0], "last_rank": ranks[1]}
            for (name, e), ranks in zip(self.groups.items(), self.ranks.values(), strict=True)
        ]

    def to_dict(self) -> dict[str, str | float | list[Row]]:
        """Plain values, as JSON takes them.

        Returns:
            What was compared, over which family, with which confidence, and its rows.
        """
        return {"what": self.what, "over": self.over, "confidence": self.confidence, self.over: self.rows}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a forest plot: a row for each group, or for each pair, the highest on top.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
            ValueError: If there are more than 100 rows.
        """
        pairs = self.over == "pairs"
        items: list[tuple[str, Estimate]]
        if pairs:
            items = [(f"{label(a)} − {label(b)}", e) for (a, b), e in self.differences.items()]
        else:
            items = [(label(name), e) for name, e in self.groups.items()]
        items.sort(key=lambda item: -item[1].value)
        title = f"all {len(items)} intervals together: {self.confidence:.10g}"
        return draw_forest([name for name, _ in items], [e for _, e in items], title, ax, zero=pairs)

    def __str__(self) -> str:
        rows = self.rows
        family = "groups" if self.over == "groups" else "differences of two groups"
        head = f"{self.what} of {len(self.groups)} groups: {len(rows)} {family}, "
        lines = [f"{head}all intervals together {100 * self.confidence:.10g} %"]
        for row in rows[:MOST_SHOWN]:
            names = row["group"] if self.over == "groups" else f"{row['first']} − {row['second']}"
            lines.append(f"  {names}: {row['value']:.4g}, {row['low']:.4g} to {row['high']:.4g}{_last(row)}")
        if len(rows) > MOST_SHOWN:
            lines.append(f"  … and {len(rows) - MOST_SHOWN} more")
        return "\n".join(lines)


def compare(
    groups: Mapping[K, Tally],
    question: str | Question = "mean",
    *,
    over: str = "groups",
    p: float | None = None,
    between: tuple[float, float] | None = None,
    option: str | int | None = None,
    estimand: str = "population",
    confidence: float = 0.95,
    sequential: bool = False,
    fakes: int = 0,
) -> Comparison:
    """Compare groups of different people, with intervals that hold for all of them together.

    Args:
        groups: Tallies by name, also those that `bulk.tally(…, by=…)` and Spark's count.
        question: As in `difference`.
        over: What the confidence is for, to be chosen before looking: all "groups" or all "pairs".
        p: Which quantile; the median by default.
        between: The range of a probability.
        option: The option of a share.
        estimand: Of the "population" that these people stand for, or of the "respondents".
        confidence: How often all intervals should hold together.
        sequential: For means and probabilities: limits that hold at every look while reports come in.
        fakes: For means and probabilities: how many reports of each group may be fakes.

    Returns:
        The estimates of the groups or of all differences, and the ranks that they support.

    Raises:
        ValueError: If a group is empty, two share reports, or there are more than 20,000 pairs.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.classic import pm
        >>> m = pm(epsilon=4.0)
        >>> groups = {x: Tally(m, m.report(np.full(5_000, x), rng=int(10 * x))) for x in (0.2, 0.5, 0.8)}
        >>> compare(groups).ranks
        {0.2: (3, 3), 0.5: (2, 2), 0.8: (1, 1)}
    """
    check_confidence(confidence)
    one_of(over, "over", FAMILIES)
    quantity = Quantity.of(
        question, p, between, option, estimand=estimand, sequential=sequential, fakes=fakes
    )
    tallies = checked_groups(groups, least=2)
    if over == "groups":
        level = share_of(confidence, len(tallies))
        answers: dict[Key, Estimate] = {name: quantity(tally, level) for name, tally in tallies.items()}
        return Comparison(_what(answers), over, confidence, answers, {})
    pairs = len(tallies) * (len(tallies) - 1) // 2
    if pairs > MOST_PAIRS or quantity.is_direction:
        rule = f"over='pairs' is for at most {MOST_PAIRS} pairs and for no directions, got {pairs} pairs"
        raise ArgumentError(rule, argument="over")
    level = 1 - (1 - confidence) / pairs
    answers = {name: quantity(tally, level) for name, tally in tallies.items()}
    if any(e.sides is None or not e.sides.allows((1 - level) / 4) for e in answers.values()):
        answers = {
            name: replace(quantity(tally, share_of(level, 2)), sides=None) for name, tally in tallies.items()
        }
    differences: dict[tuple[Key, Key], Estimate] = {}
    for one, other in combinations(tallies, 2):
        gap = combined([(1.0, answers[one]), (-1.0, answers[other])], what="difference", confidence=level)
        adjusted = None if gap.p_value is None else min(1.0, pairs * gap.p_value)
        differences[one, other] = replace(gap, p_value=adjusted)
    alone: dict[Key, Estimate] = {
        name: quantity(tally, confidence) if e.sides is None else at_level(e, confidence)
        for (name, tally), e in zip(tallies.items(), answers.values(), strict=True)
    }
    return Comparison(_what(alone), over, confidence, alone, differences)


def _what(answers: dict[Key, Estimate]) -> str:
    return next(iter(answers.values())).what


def _numbers(e: Estimate) -> Row:
    return {"n": e.n, "value": e.value, "low": e.low, "high": e.high}


def _last(row: Row) -> str:
    if "group" in row:
        first, last = row["first_rank"], row["last_rank"]
        return f", rank {first}" if first == last else f", rank {first} to {last}"
    return "" if row["p_value"] is None else f", p = {row['p_value']:.2g}"
