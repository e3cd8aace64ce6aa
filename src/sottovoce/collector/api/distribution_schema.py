"""What `/estimates` says of a distribution."""

from __future__ import annotations

from pydantic import BaseModel


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
    low: list[float]
    high: list[float]
    shaped: bool
    most_common: list[tuple[float, float]]
    sure: SureShape | None
