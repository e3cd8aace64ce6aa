"""Campaigns in rounds: which round a campaign is, and the plan that both of its rounds follow.

A round is a campaign like any other: clients audit its spec, record it and spend ε once. What the second
round asks is decided by the counts that the first one has published, and by nothing else.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

import sottovoce as sv
from sottovoce.collector.refusals import Refusal
from sottovoce.compose.quantile_rounds import QuantileRounds
from sottovoce.compose.rounds import TwoRounds
from sottovoce.core.reporter import Reporter
from sottovoce.estimates.estimate import Estimate


class Round(BaseModel):
    """One of two rounds, and what both are for."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    task: Literal["mean", "quantile"]
    p: float | None = Field(None, gt=0, lt=1, description="Which quantile.")
    number: int = Field(1, ge=1, le=2)
    first: str = Field("", max_length=63, description="Of the second round: the campaign of the first.")

    def plan(self, reporter: Reporter) -> TwoRounds | QuantileRounds:
        """The plan, from the reporter of either round.

        Raises:
            Refusal: If there is none for what is asked.
        """
        try:
            plan = sv.rounds(self.task, reporter.epsilon, reporter.domain, p=self.p)  # type: ignore[arg-type]
        except (ValueError, TypeError) as error:
            raise Refusal("invalid", f"rounds: {error}", "rounds") from None
        assert isinstance(plan, TwoRounds | QuantileRounds)
        return plan

    def second(self, first: sv.Tally, people: int) -> Reporter:
        """What the second round asks, after what the first has published."""
        plan = self.plan(first.reporter)
        return plan.second(first) if isinstance(plan, TwoRounds) else plan.second(first, people)

    def estimate(self, first: sv.Tally, second: sv.Tally, confidence: float) -> Estimate:
        """The answer of both rounds."""
        return self.plan(first.reporter).estimate(first, second, confidence=confidence)
