"""A campaign: one question, one mechanism, and the rules that were fixed before anyone answered."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from sottovoce.collector.problems import Refusal, broken_rule
from sottovoce.collector.store.store import Store, Stored
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.mixture import Mixture, from_json
from sottovoce.core.spec import digest

NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
Moment = dt.datetime


class NewCampaign(BaseModel):
    """What an administrator says to create a campaign; everything else follows from the spec."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    name: str = Field(pattern=NAME)
    spec: str = Field(max_length=1 << 22, description="The mechanism's canonical JSON, as text.")
    title: str = Field("", max_length=200)
    question: str = Field("", max_length=2000)
    operator: str = Field("", max_length=200)
    unit: str = Field("", max_length=40)
    collection: Literal["open", "enrolment", "write"] = "open"
    missing: float | None = Field(None, description="Stands for a missing value; the middle if not given.")
    out_of_range: Literal["clip", "missing"] = "clip"
    opens: str | None = Field(None, description="UTC, ISO 8601.")
    closes: str | None = Field(None, description="UTC, ISO 8601.")
    results: Literal["public", "token"] = "token"
    min_n: int = Field(100, ge=1, le=10**9)
    retention_days: int | None = Field(None, ge=1, le=36500)

    @field_validator("title", "question", "operator", "unit")
    @classmethod
    def _plain_text(cls, text: str) -> str:
        if any((ord(letter) < 32 and letter != "\n") or 0xD800 <= ord(letter) < 0xE000 for letter in text):
            raise ValueError("must be plain text without control characters")
        return text

    @field_validator("opens", "closes")
    @classmethod
    def _moment(cls, text: str | None) -> str | None:
        return None if text is None else moment_text(parse_moment(text))


def parse_moment(text: str) -> Moment:
    """A moment with a time zone, in UTC and whole seconds."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be ISO 8601, for example 2027-01-31T00:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("must name its time zone, for example end in Z")
    try:
        return moment.astimezone(dt.UTC).replace(microsecond=0)
    except OverflowError:
        raise ValueError("must be between the years 1 and 9999") from None


def moment_text(moment: Moment) -> str:
    """ISO 8601 with a Z.

    >>> moment_text(parse_moment("2027-01-31T02:00:00+02:00"))
    '2027-01-31T00:00:00Z'
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def now() -> Moment:
    return dt.datetime.now(dt.UTC).replace(microsecond=0)


@lru_cache(maxsize=64)
def read_mechanism(spec: str) -> Mechanism | Mixture:
    """The mechanism of a spec, read once."""
    return from_json(spec)


@dataclass(frozen=True)
class Campaign:
    """A campaign of the store with its settings read."""

    stored: Stored
    settings: dict[str, Any]

    @staticmethod
    def of(stored: Stored) -> Campaign:
        return Campaign(stored, json.loads(stored.settings))

    @property
    def id(self) -> int:
        return self.stored.id

    @property
    def mechanism(self) -> Mechanism | Mixture:
        return read_mechanism(self.stored.spec)

    def _moment(self, name: str) -> Moment | None:
        text = self.settings[name]
        return None if text is None else parse_moment(text)

    def status(self, moment: Moment) -> str:
        opens, closes = self._moment("opens"), self._moment("closes")
        if closes is not None and moment >= closes:
            return "closed"
        return "scheduled" if opens is not None and moment < opens else "open"

    def refuses(self, moment: Moment) -> str | None:
        """The code with which new reports are refused now."""
        return {"open": None, "scheduled": "not_open_yet", "closed": "closed"}[self.status(moment)]

    def describe(self, moment: Moment, *, spec: bool = True) -> dict[str, Any]:
        """The campaign as clients see it."""
        mechanism = self.mechanism
        domain = mechanism.domain
        content = {
            "name": self.stored.name,
            **self.settings,
            "epsilon": mechanism.epsilon,
            "domain": {"low": domain.low, "high": domain.high, "circle": domain.is_circle},
            "cells": mechanism.cells,
            "digest": self.stored.digest,
            "status": self.status(moment),
        }
        return {**content, "spec": self.stored.spec} if spec else content


def create(store: Store, content: Any) -> Campaign:
    """Check a new campaign and store it."""
    try:
        new = NewCampaign.model_validate(content)
    except ValidationError as error:
        raise broken_rule(error.errors(include_url=False, include_input=False)[0]) from None
    mechanism = _checked_mechanism(new.spec)
    settings = new.model_dump(exclude={"name", "spec"})
    settings["missing"] = _missing(new.missing, mechanism)
    settings["created"] = moment_text(now().replace(hour=0, minute=0, second=0))
    if new.opens is not None and new.closes is not None and new.opens >= new.closes:
        raise Refusal("invalid", "closes must be later than opens", "closes")
    stored = store.create_campaign(new.name, digest(new.spec), new.spec, _text(settings))
    if stored is None:
        raise Refusal("name_taken", field="name")
    return Campaign.of(stored)


def _checked_mechanism(spec: str) -> Mechanism | Mixture:
    try:
        mechanism = read_mechanism(spec)
    except (ValueError, TypeError) as error:
        raise Refusal("invalid", f"spec: {error}", "spec") from None
    if mechanism.to_json() != spec:
        raise Refusal("invalid", "spec: must be the canonical text of the mechanism", "spec")
    return mechanism


def _missing(value: float | None, mechanism: Mechanism | Mixture) -> float:
    if value is None:
        return float(mechanism.domain.from_unit(0.5))
    if not mechanism.domain.contains(value):
        raise Refusal("invalid", "missing must be a number inside the domain", "missing")
    return value


def close(store: Store, campaign: Campaign, moment: Moment) -> Campaign:
    """No new reports from this moment on; an earlier closing stays."""
    if campaign.status(moment) == "closed":
        return campaign
    settings = {**campaign.settings, "closes": moment_text(moment)}
    opens = campaign._moment("opens")
    if opens is not None and opens > moment:
        settings["opens"] = moment_text(moment)
    text = _text(settings)
    store.change_campaign(campaign.id, text)
    return Campaign.of(replace(campaign.stored, settings=text))


def _text(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)
