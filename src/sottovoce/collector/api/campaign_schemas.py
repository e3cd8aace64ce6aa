"""Campaigns as clients, lists and administrators see them, and surveys that might be one."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sottovoce.collector.api.question_schemas import AskedShape, QuestionShape
from sottovoce.collector.campaigns.campaign import Campaign, Status
from sottovoce.collector.campaigns.clock import now
from sottovoce.collector.campaigns.declaration import Rules


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
        "questions": {name: QuestionShape.of(one) for name, one in reporter.items.items()},
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


class PurgedShape(BaseModel):
    """What was deleted with a campaign."""

    purged: bool
    reports: int


class PlanRequest(BaseModel):
    """A survey that might be: ε, questions as a survey's file has them, and how many people would answer."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    epsilon: float
    people: int = Field(ge=1, le=10**9)
    questions: dict[str, Any] = Field(max_length=256)
    relations: list[Any] = Field(default=[], max_length=256)


class PlanShape(BaseModel):
    """How many questions a person would answer, within what (±) the answers would be known, or why not."""

    answered: int
    of: int
    within: dict[str, float | None]
    problems: dict[str, str]
