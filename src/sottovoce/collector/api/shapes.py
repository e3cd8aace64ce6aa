"""What goes over the wire, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from sottovoce.collector.problems import CODES


class ErrorShape(BaseModel):
    """Every answer that is not a success."""

    code: str
    message: str
    field: str | None


class DomainShape(BaseModel):
    low: float
    high: float
    circle: bool


class CampaignSummary(BaseModel):
    """A campaign without its spec."""

    name: str
    title: str
    question: str
    operator: str
    unit: str
    epsilon: float
    domain: DomainShape
    cells: int
    digest: str
    collection: Literal["open", "enrolment", "write"]
    missing: float
    out_of_range: Literal["clip", "missing"]
    opens: str | None
    closes: str | None
    status: Literal["scheduled", "open", "closed"]
    results: Literal["public", "token"]
    min_n: int
    retention_days: int | None
    created: str


class CampaignShape(CampaignSummary):
    spec: str


class CampaignList(BaseModel):
    campaigns: list[CampaignSummary]


class AcceptedShape(BaseModel):
    accepted: int


class TokensShape(BaseModel):
    kind: str
    tokens: list[str]


class PurgedShape(BaseModel):
    purged: bool
    reports: int


class DayShape(BaseModel):
    day: str
    n: int


class SummaryShape(BaseModel):
    campaign: str
    status: str
    n: int
    min_n: int
    days: list[DayShape]
    refusals: dict[str, int]


class IntervalShape(BaseModel):
    value: float | None
    low: float | None
    high: float | None


class QuantileShape(IntervalShape):
    q: float


class DistributionShape(BaseModel):
    edges: list[float]
    probabilities: list[float]
    low: list[float]
    high: list[float]


class HonestyShape(BaseModel):
    alarm: bool
    p_value: float | None
    message: str


class EstimatesShape(BaseModel):
    campaign: str
    n: int
    min_n: int
    shown: bool
    confidence: float
    epsilon: float
    as_of: str
    mean: IntervalShape | None
    circular_mean: IntervalShape | None
    quantiles: list[QuantileShape]
    distribution: DistributionShape | None
    honesty: HonestyShape | None
    problems: dict[str, str]


class HealthShape(BaseModel):
    status: str
    version: str
    store: str


def answers(shape: type[BaseModel] | None, *codes: str, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an endpoint: its success, and the statuses of the codes it may refuse with."""
    found: dict[int | str, dict[str, Any]] = {} if shape is None else {status: {"model": shape}}
    for code in (*codes, "rate_limited", "store_unavailable", "invalid"):
        found[CODES[code][0]] = {"model": ErrorShape, "description": "Refused."}
    return found


def body(schema: dict[str, Any], **other: dict[str, Any]) -> dict[str, Any]:
    """`openapi_extra` for an endpoint that reads its body itself."""
    content = {"application/json": {"schema": schema}, **{name: {"schema": s} for name, s in other.items()}}
    return {"requestBody": {"required": True, "content": content}}
