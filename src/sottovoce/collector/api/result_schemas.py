"""What is known about a campaign: reports by day, and the answers to its questions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from sottovoce.collector.campaigns.campaign import Status
from sottovoce.collector.campaigns.clock import Moment


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
    """A value with its limits; an open end is null."""

    value: float | None
    low: float | None
    high: float | None


class NumberShape(IntervalShape):
    """A number of an answer: what it is of, and how many people it rests on."""

    of: str
    n: int


class HonestyShape(BaseModel):
    """Whether the reports can come from honest use of the mechanism; at least a share `fakes` does not."""

    alarm: bool
    p_value: float | None
    fakes: float


class DistributionShape(BaseModel):
    """Shares of people in bins with the ribbon around them; limits of the share of people up to each edge.

    `most_common` are the ranges where values appear to be most common, if the reports tell, and `shaped` is
    whether they tell the curve from an even one. Of `sure`, the first of 100 people at least are surely
    between the other two.
    """

    edges: list[float]
    probability: list[float]
    ribbon_low: list[float]
    ribbon_high: list[float]
    cdf_low: list[float]
    cdf_high: list[float]
    shaped: bool
    most_common: list[tuple[float, float]]
    sure: tuple[int, float, float] | None


class MapShape(BaseModel):
    """Shares of people around the points of a grid, a row for each y; null outside the area."""

    x: list[float]
    y: list[float]
    shares: list[list[float | None]]
    aspect: float
    degrees: bool


class AnswerShape(BaseModel):
    """The answer to a question, or the problem why there is none.

    It is drawn as `picture` says: "none" is said only. `data` is what the picture shows beside the numbers.
    """

    question: str
    item: str
    about: list[str]
    p: float | None
    label: str
    n: int
    sentence: str
    picture: Literal["interval", "ribbon", "rose", "bars", "map", "forest", "none"]
    numbers: list[NumberShape]
    data: DistributionShape | MapShape | HonestyShape | None
    notes: list[str]
    problem: str


class DayNumberShape(IntervalShape):
    """The number of those who are published under one day."""

    day: str
    n: int


class GroupShape(IntervalShape):
    """A campaign of the same family; intervals of all of them hold together, ranks too."""

    campaign: str
    n: int
    first_rank: int
    last_rank: int


class ComparedShape(BaseModel):
    """A number of an item that is compared, or the problem why it cannot be."""

    item: str
    question: str
    label: str
    problem: str


class DaysShape(ComparedShape):
    """A number day by day, intervals of all days together, and the slope per day."""

    points: list[DayNumberShape]
    slope: IntervalShape | None = None


class GroupsShape(ComparedShape):
    """The campaigns of a family side by side."""

    points: list[GroupShape]


class CentralShape(BaseModel):
    """What whoever sees only these counts can learn about one person, if so many answered honestly."""

    epsilon: float
    delta: float
    people: int
    sentence: str


class ResultsShape(BaseModel):
    """What is known about a campaign; the item of a campaign that asks one thing is ""."""

    campaign: str
    n: int
    min_n: int
    shown: bool
    confidence: float
    epsilon: float
    as_of: Moment
    central: CentralShape | None
    answers: list[AnswerShape]
    days: list[DaysShape]
    groups: list[GroupsShape]
