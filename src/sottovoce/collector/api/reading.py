"""Results: the live count, the estimates, and the counts themselves."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from sottovoce.collector.api.dependencies import ReadableDep, ServiceDep
from sottovoce.collector.api.shapes import DayShape, ResultsShape, SummaryShape
from sottovoce.collector.exports import Form, export
from sottovoce.collector.moments import day_text, now
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.results import View

router = APIRouter(tags=["results"])
_MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


@router.get("/campaigns/{name}/summary")
async def get_summary(campaign: ReadableDep, service: ServiceDep) -> SummaryShape:
    """How many reports there are, per day, and what was refused. Cheap."""
    days = await service.ask(service.store.days, campaign.id)
    return SummaryShape(
        campaign=campaign.name,
        status=campaign.status(now()),
        n=sum(number for _, number in days),
        min_n=campaign.rules.min_n,
        days=[DayShape(day=day_text(day), n=number) for day, number in days],
        refusals=await service.ask(service.refusals, campaign.id),
    )


@router.get("/campaigns/{name}/estimates", response_model=ResultsShape)
async def get_estimates(
    campaign: ReadableDep,
    service: ServiceDep,
    confidence: Annotated[float, Query(ge=0.5, le=0.999, allow_inf_nan=False)] = 0.95,
    quantiles: Annotated[str, Query(max_length=400, pattern=r"^[0-9.,]*$")] = "0.1,0.25,0.5,0.75,0.9",
    bins: Annotated[int, Query(ge=4, le=1024)] = 64,
) -> Any:
    """Mean, quantiles, distribution and the honesty check, each with its uncertainty."""
    return await service.results.get(campaign, View(confidence, _quantiles(quantiles), bins))


def _quantiles(text: str) -> tuple[float, ...]:
    rule = "quantiles must be up to 20 numbers strictly between 0 and 1, separated by commas"
    try:
        levels = tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise Refusal("invalid", rule, "quantiles") from None
    if len(levels) > 20 or not all(0 < p < 1 for p in levels):
        raise Refusal("invalid", rule, "quantiles")
    return levels


@router.get("/campaigns/{name}/counts", response_class=Response)
async def get_counts(campaign: ReadableDep, service: ServiceDep, format: Form = "csv") -> Response:
    """What is stored, exactly: day, cell, count."""
    rows = await service.ask(service.store.daily_counts, campaign.id)
    return Response(
        await service.ask(export, rows, format),
        media_type=_MEDIA[format],
        headers={"Content-Disposition": f'attachment; filename="{campaign.name}-counts.{format}"'},
    )
