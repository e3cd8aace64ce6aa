"""Reports as they arrive, and what is answered."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_Cell = Annotated[int, Field(ge=0)]


class ReportsShape(BaseModel):
    """A batch of reports as JSON."""

    model_config = ConfigDict(extra="forbid")

    digest: str = Field(pattern="^[0-9a-f]{64}$")
    cells: list[_Cell] | list[list[_Cell]] = Field(min_length=1)


class AcceptedShape(BaseModel):
    """How many reports of a batch are stored: all of them."""

    accepted: int
