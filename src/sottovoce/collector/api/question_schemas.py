"""What is asked, as pages show it: which kind of answer fits, and how the question is put."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from sottovoce.collector.campaigns.declaration import Wording
from sottovoce.reporters.contract import Reporter
from sottovoce.values.area import Area
from sottovoce.values.disc import Disc
from sottovoce.values.domain import Domain
from sottovoce.values.options import Options
from sottovoce.values.space import Space

Kind = Literal["number", "clock", "circle", "options", "rating", "place", "other"]


class DomainShape(BaseModel):
    """Where numbers lie; `scale` is "log" where noise is a factor."""

    low: float
    high: float
    circle: bool
    scale: str


class AreaShape(BaseModel):
    """Where places lie: a box, or if it is round the disc that fills it."""

    x: tuple[float, float]
    y: tuple[float, float]
    round: bool
    degrees: bool


class SpaceShape(BaseModel):
    """Which values there are. Of `domain`, `options` and `area` the one that fits the kind is not null.

    A clock is a circle of 24 from 0 on; a rating has whole numbers as options.
    """

    kind: Kind
    domain: DomainShape | None = None
    options: list[str | int] | None = None
    area: AreaShape | None = None


def shape_of(space: Space | object) -> SpaceShape:
    """A set of values as pages show it."""
    if isinstance(space, Domain):
        ends = {"low": space.low, "high": space.high}
        domain = DomainShape(**ends, circle=space.is_circle, scale="log" if space.is_log else "linear")
        clock = space.is_circle and ends == {"low": 0.0, "high": 24.0}
        return SpaceShape(kind="clock" if clock else "circle" if space.is_circle else "number", domain=domain)
    if isinstance(space, Options):
        rating = all(isinstance(name, int) for name in space.names)
        return SpaceShape(kind="rating" if rating else "options", options=list(space.names))
    if isinstance(space, Disc):
        ends_of = (-space.radius, space.radius)
        return SpaceShape(kind="place", area=AreaShape(x=ends_of, y=ends_of, round=True, degrees=False))
    if isinstance(space, Area):
        area = AreaShape(x=space.x, y=space.y, round=space.round, degrees=space.degrees)
        return SpaceShape(kind="place", area=area)
    return SpaceShape(kind="other")


class AskedShape(SpaceShape, Wording):
    """Something that a person is asked for."""

    @staticmethod
    def of(space: Space, wording: Wording) -> AskedShape:
        """A set of values with the question that asks for one of them."""
        return AskedShape(**shape_of(space).model_dump(), **wording.model_dump())


class QuestionShape(SpaceShape):
    """A question of a campaign, which results are about."""

    cells: int

    @staticmethod
    def of(question: Reporter) -> QuestionShape:
        """A reporter as a question."""
        return QuestionShape(**shape_of(question.domain).model_dump(), cells=question.cells)
