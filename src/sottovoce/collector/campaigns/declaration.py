"""What a campaign declares: words and rules, told to people before they answer and stored with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sottovoce.collector.campaigns.campaign_round import Round
from sottovoce.collector.campaigns.clock import Moment
from sottovoce.collector.refusals import broken_rule
from sottovoce.errors import ArgumentError

NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
#: Control characters but the end of a line, and those that turn the direction in which others are read.
_CONTROL = frozenset(map(chr, (*range(10), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F))))
_CONTROL |= frozenset(map(chr, range(0x2066, 0x206A)))
StandIn = float | Literal["uniform"]


def _plain(text: str) -> str:
    if not _CONTROL.isdisjoint(text) or any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        raise ArgumentError("must be plain text without control characters", code="text")
    return text


Plain = Annotated[str, AfterValidator(_plain)]


class Wording(BaseModel):
    """How one question of a survey is put."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    text: Plain = Field(default="", max_length=2000)
    unit: Plain = Field(default="", max_length=40)


class Declaration(BaseModel):
    """What people are told before they answer."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)

    title: Plain = Field("", max_length=200)
    question: Plain = Field(
        "", max_length=2000, description="The question of a campaign with one; of others, what comes first."
    )
    operator: Plain = Field("", max_length=200)
    unit: Plain = Field("", max_length=40)
    texts: dict[str, Wording] = Field({}, max_length=256, description="Of a survey, by what is asked.")
    language: str = Field(
        "", max_length=35, pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$", description="Of the texts."
    )
    collection: Literal["open", "enrolment", "write"] = "open"
    outside: Literal["clip", "missing"] = "clip"
    opens: Moment | None = Field(None, description="UTC, ISO 8601.")
    closes: Moment | None = Field(None, description="UTC, ISO 8601.")
    results: Literal["public", "token"] = "token"
    min_n: int = Field(100, ge=1, le=10**9)
    retention_days: int | None = Field(None, ge=1, le=36500)
    family: str = Field(
        "",
        pattern=r"^([a-z0-9][a-z0-9-]{0,62})?$",
        description="Campaigns of one family are public groups, a link each: the dashboard compares them.",
    )
    rounds: Round | None = Field(None, description="Which of several rounds this is, and what they are for.")


class NewCampaign(Declaration):
    """What an administrator says to create a campaign; everything else follows from the spec."""

    name: str = Field(pattern=NAME)
    spec: str = Field(max_length=1 << 22, description="The mechanism's canonical JSON, as text.")
    missing: StandIn | dict[str, StandIn] | None = Field(
        None, description="Stands for a missing value, of all questions or by name; else the middle."
    )

    @classmethod
    def of(cls, content: Mapping[str, object]) -> NewCampaign:
        """The same from named fields; a refusal names the one that breaks its rule."""
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise broken_rule(error.errors()[0]) from None


class Rules(Declaration):
    """A declaration in full, as it is stored."""

    missing: StandIn | dict[str, StandIn]
    created: Moment
