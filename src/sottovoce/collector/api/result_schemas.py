"""What is known about a campaign: reports by day, and the answers to its questions."""

from __future__ import annotations

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


class SureShape(BaseModel):
    """At least `share` of 100 people are surely between two values."""

    share: int
    low: float
    high: float


class DistributionShape(BaseModel):
    """Shares of people in bins with the ribbon around them; limits of the share of people up to each edge.

    `n` people were asked this. `most_common` are the ranges where values appear to be most common, if the
    reports tell, and `shaped` is whether they tell the curve from an even one.
    """

    n: int
    edges: list[float]
    probabilities: list[float]
    ribbon_low: list[float]
    ribbon_high: list[float]
    cdf_low: list[float]
    cdf_high: list[float]
    shaped: bool
    most_common: list[tuple[float, float]]
    sure: SureShape | None


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
