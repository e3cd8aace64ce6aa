"""Campaigns in rounds: which round a campaign is, and the plan that both of its rounds follow.

A round is a campaign like any other: clients audit its spec, record it and spend ε once. What the second
round asks is decided by the counts that the first one has published, and by nothing else. Where nobody
knows how large values are there may be more rounds: each asks on the range where the one before sees people.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

import sottovoce as sv
from sottovoce.collector.refusals import Refusal
from sottovoce.estimates.estimate import Estimate
from sottovoce.reporters.contract import Reporter
from sottovoce.surveys.rounds.direction_rounds import DirectionRounds
from sottovoce.surveys.rounds.mean_rounds import TwoRounds
from sottovoce.surveys.rounds.quantile_rounds import QuantileRounds
from sottovoce.surveys.rounds.range_rounds import RangeRounds

#: What each task takes of what can be said.
_TAKEN = {"mean": (), "quantile": ("p",), "direction": (), "range": ("unit", "largest", "signed")}


class Round(BaseModel):
    """One of two rounds or more, and what they are for."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    task: Literal["mean", "quantile", "direction", "range"]
    p: float | None = Field(None, gt=0, lt=1, description="Which quantile.")
    unit: float = Field(1.0, gt=0, description="Of a range: what is small.")
    largest: float | None = Field(None, gt=0, description="Of a range: what no value exceeds.")
    signed: bool = Field(False, description="Of a range: whether values may be negative.")
    number: int = Field(1, ge=1, le=9)
    first: str = Field("", max_length=63, description="Of a later round: the campaign of the first.")

    @property
    def last(self) -> bool:
        """True if no other round follows."""
        return self.number == (9 if self.task == "range" else 2)

    def check(self) -> None:
        """Refuse what the task does not take. For new campaigns only: older ones may say it.

        Raises:
            Refusal: If something was said that would be ignored.
        """
        for name in {name for taken in _TAKEN.values() for name in taken} - set(_TAKEN[self.task]):
            if getattr(self, name) != type(self).model_fields[name].default:
                raise Refusal("invalid", f"rounds: {name} does not belong to task={self.task!r}", "rounds")

    def plan(self, reporter: Reporter) -> TwoRounds | QuantileRounds | RangeRounds | DirectionRounds:
        """The plan, from the reporter of either round.

        Raises:
            Refusal: If there is none for what is asked.
        """
        asked: dict[str, Any] = {name: getattr(self, name) for name in _TAKEN[self.task]}
        if self.task != "range":
            asked["domain"] = reporter.domain
        try:
            return sv.rounds(self.task, reporter.epsilon, **asked)
        except (ValueError, TypeError) as error:
            raise Refusal("invalid", f"rounds: {error}", "rounds") from None

    def next(self, tally: sv.Tally, people: int) -> Reporter:
        """What the next round asks, after what this one has published."""
        plan = self.plan(tally.reporter)
        if isinstance(plan, QuantileRounds):
            return plan.second(tally, people)
        return plan.next(tally) if isinstance(plan, RangeRounds) else plan.second(tally)

    def estimate(self, first: sv.Tally, second: sv.Tally, confidence: float) -> Estimate:
        """The answer of both rounds.

        Raises:
            Refusal: If the rounds looked for a range: what they saw is in the last one alone.
        """
        plan = self.plan(first.reporter)
        if isinstance(plan, RangeRounds):
            raise Refusal("invalid", "rounds: a range is answered by its last round alone", "rounds")
        return plan.estimate(first, second, confidence=confidence)
