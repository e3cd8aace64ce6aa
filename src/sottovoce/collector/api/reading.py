"""Results: how many reports there are, the estimates, and the counts themselves; as far as published."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from sottovoce.collector.api.dependencies import CountsDep, ReadableDep, ServiceDep
from sottovoce.collector.api.result_schemas import DayShape, ResultsShape, SummaryShape
from sottovoce.collector.campaigns.clock import day_text, now
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.results.counts_export import Form, export
from sottovoce.collector.results.results import View
from sottovoce.errors import MissingExtra

router = APIRouter(tags=["results"])
Content = TypeVar("Content")
_MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


@router.get("/campaigns/{name}/summary")
async def get_summary(campaign: ReadableDep, service: ServiceDep) -> SummaryShape:
    """How many reports are published, per day, and what was refused. Cheap."""
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
    request: Request,
    confidence: Annotated[float, Query(ge=0.5, le=0.999, allow_inf_nan=False)] = 0.95,
    quantiles: Annotated[str, Query(max_length=400, pattern=r"^[0-9.,]*$")] = "0.1,0.25,0.5,0.75,0.9",
    bins: Annotated[int | None, Query(ge=4, le=1024)] = None,
    watched: bool = False,
) -> Any:
    """Everything that the reports answer, each with its uncertainty."""
    view = View(round(confidence, 3), _quantiles(quantiles), bins, watched)
    return await _unless_gone(request, service.results.get(campaign, view))


async def _unless_gone(request: Request, answer: Coroutine[Any, Any, Content]) -> Content:
    """The answer; cancelled when whoever asked has closed the connection."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    tasks = asyncio.create_task(answer), asyncio.create_task(gone())
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    if not tasks[0].done():
        raise ClientDisconnect
    return tasks[0].result()


def _quantiles(text: str) -> tuple[float, ...]:
    rule = "quantiles must be up to 20 numbers strictly between 0 and 1, separated by commas"
    try:
        levels = tuple(round(float(part), 4) for part in text.split(",")) if text else ()
    except ValueError:
        raise Refusal("invalid", rule, "quantiles") from None
    if len(levels) > 20 or not all(0 < p < 1 for p in levels):
        raise Refusal("invalid", rule, "quantiles")
    return levels


@router.get("/campaigns/{name}/counts", response_class=Response)
async def get_counts(campaign: CountsDep, service: ServiceDep, format: Form = "csv") -> Response:
    """What is published, exactly: day, cell, count. One export at a time."""
    if service.exporting.locked():
        raise Refusal("busy", "another export is being read", retry_after=5)
    days = await service.ask(service.store.days, campaign.id)
    counts = (service.day_counts(campaign.id, day, reports) for day, reports in days)
    try:
        pieces = export(counts, format)
    except MissingExtra as missing:
        raise Refusal("invalid", str(missing), "format") from None
    return _Export(
        pieces,
        service.exporting,
        media_type=_MEDIA[format],
        headers={"Content-Disposition": f'attachment; filename="{campaign.name}-counts.{format}"'},
    )


class _Export(StreamingResponse):
    """A file that is made while it is sent."""

    def __init__(self, pieces: Iterator[bytes], lock: asyncio.Lock, **options: Any) -> None:
        super().__init__(pieces, **options)
        self._lock = lock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._lock:
            await super().__call__(scope, receive, send)
