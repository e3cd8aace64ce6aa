"""Tokens and invitations: what administrators want, and what they get."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TokenRequest(BaseModel):
    """Which tokens an administrator wants."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    kind: Literal["enrolment", "write", "read"]
    count: int = Field(1, ge=1, le=10_000)


class InvitationRequest(BaseModel):
    """How many people are invited, and to which collector."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

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
