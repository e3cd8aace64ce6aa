"""What goes over the wire: the OpenAPI document describes it from here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sottovoce.collector.api.distribution_schema import DistributionShape
from sottovoce.collector.api.question_schemas import AskedShape, QuestionShape
from sottovoce.collector.campaigns.campaign import Campaign, Rules, Status
from sottovoce.collector.campaigns.clock import Moment, now

_Cell = Annotated[int, Field(ge=0)]


class ErrorShape(BaseModel):
    """Every answer that is not a success."""

    code: str
    message: str
    field: str | None


class ReportsShape(BaseModel):
    """A batch of reports as JSON."""

    model_config = ConfigDict(extra="forbid")

    digest: str = Field(pattern="^[0-9a-f]{64}$")
    cells: list[_Cell] | list[list[_Cell]] = Field(min_length=1)


class AcceptedShape(BaseModel):
    """How many reports of a batch are stored: all of them."""

    accepted: int


class CampaignSummary(Rules):
    """A campaign without its spec: what people are asked for, and the questions that results are about."""

    name: str
    epsilon: float
    asked: dict[str, AskedShape]
    questions: dict[str, QuestionShape]
    cells: int
    width: int
    digest: str
    status: Status


class CampaignShape(CampaignSummary):
    """A campaign."""

    spec: str


class CampaignList(BaseModel):
    """Campaigns without their specs."""

    campaigns: list[CampaignSummary]


def _fields(campaign: Campaign) -> dict[str, Any]:
    reporter = campaign.reporter
    return {
        **campaign.rules.model_dump(),
        "name": campaign.name,
        "epsilon": reporter.epsilon,
        "asked": {name: AskedShape.of(one, campaign.wording(name)) for name, one in campaign.asked.items()},
        "questions": {name: QuestionShape.of(one) for name, one in reporter.questions.items()},
        "cells": reporter.cells,
        "width": reporter.width,
        "digest": campaign.stored.digest,
        "status": campaign.status(now()),
    }


def summarised(campaign: Campaign) -> CampaignSummary:
    """A campaign as lists show it."""
    return CampaignSummary(**_fields(campaign))


def described(campaign: Campaign) -> CampaignShape:
    """A campaign as clients see it."""
    return CampaignShape(**_fields(campaign), spec=campaign.stored.spec)


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class TokenRequest(_Request):
    """Which tokens an administrator wants."""

    kind: Literal["enrolment", "write", "read"]
    count: int = Field(1, ge=1, le=10_000)


class PlanRequest(_Request):
    """A survey that might be: ε, questions as a survey's file has them, and how many people would answer."""

    epsilon: float
    people: int = Field(ge=1, le=10**9)
    questions: dict[str, Any] = Field(max_length=256)
    relations: list[Any] = Field(default=[], max_length=256)


class PlanShape(BaseModel):
    """How many questions a person would answer, and within what (±) the answers would be known."""

    answered: int
    of: int
    within: dict[str, float | None]


class InvitationRequest(_Request):
    """How many people are invited, and to which collector."""

    count: int = Field(1, ge=1, le=10_000)
    url: str = Field(max_length=300, pattern="^https?://")
    form: Literal["csv", "html"] = "csv"


class TokensShape(BaseModel):
    """New tokens."""

    kind: str
    tokens: list[str]


class TokenShape(BaseModel):
    """A token by the first 12 hexadecimal digits of its SHA-256."""

    id: str
    kind: str
    spent: bool


class TokenList(BaseModel):
    """Tokens of a campaign, in the order of their ids."""

    tokens: list[TokenShape]


class RevokedShape(BaseModel):
    """The token that is no longer one."""

    revoked: str


class PurgedShape(BaseModel):
    """What was deleted with a campaign."""

    purged: bool
    reports: int


class DayShape(BaseModel):
    """Reports of a day."""

    day: str
    n: int


class SummaryShape(BaseModel):
    """How many reports of a campaign are published."""

    campaign: str
    status: Status
    n: int
    min_n: int
    days: list[DayShape]
    refusals: dict[str, int]


class IntervalShape(BaseModel):
    """An estimate, and what to know about it; an open end is null."""

    value: float | None
    low: float | None
    high: float | None
    notes: list[str] = []


class QuantileShape(IntervalShape):
    """The value that a share p of people do not exceed."""

    p: float


class HonestyShape(BaseModel):
    """Whether the reports can come from honest use of the mechanism."""

    alarm: bool
    p_value: float | None
    message: str


class ShareShape(IntervalShape):
    """The share of an option."""

    option: str | int


class MapShape(BaseModel):
    """Shares of people around the points of a grid, a row for each y; null outside the area."""

    x: list[float]
    y: list[float]
    shares: list[list[float | None]]
    aspect: float
    degrees: bool


class RelationShape(BaseModel):
    """How two numbers of one person vary together; the slope is that of y over x."""

    x: str
    y: str
    correlation: IntervalShape
    slope: IntervalShape


class DayMeanShape(DayShape):
    """The mean of those who are published under one day."""

    value: float
    low: float
    high: float


class DaysShape(BaseModel):
    """The mean day by day, intervals of all days together, and the slope per day."""

    points: list[DayMeanShape]
    slope: IntervalShape | None


class GroupShape(BaseModel):
    """A campaign of the same family; intervals of all of them hold together, ranks too."""

    campaign: str
    n: int
    value: float
    low: float
    high: float
    first_rank: int
    last_rank: int


class AnswersShape(BaseModel):
    """What is known about the answers to a question; `position` is the mean of x and that of y."""

    mean: IntervalShape | None
    circular_mean: IntervalShape | None
    quantiles: list[QuantileShape]
    distribution: DistributionShape | None
    shares: list[ShareShape]
    map: MapShape | None
    position: list[IntervalShape]
    days: DaysShape | None
    honesty: HonestyShape | None
    problems: dict[str, str]


class CentralShape(BaseModel):
    """What whoever sees only these counts can learn about one person, if so many answered honestly."""

    epsilon: float
    delta: float
    people: int
    sentence: str


class ResultsShape(BaseModel):
    """What is known about a campaign; the question of a campaign with only one is called "value"."""

    campaign: str
    n: int
    min_n: int
    shown: bool
    confidence: float
    epsilon: float
    as_of: Moment
    central: CentralShape | None
    questions: dict[str, AnswersShape]
    groups: list[GroupShape]
    relations: list[RelationShape]
