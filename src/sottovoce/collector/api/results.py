"""Results: the live count, the estimates, and the counts themselves."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sottovoce.collector.answers import Question
from sottovoce.collector.api.shapes import EstimatesShape, SummaryShape, answers
from sottovoce.collector.campaigns import Campaign, now
from sottovoce.collector.estimator import Broken
from sottovoce.collector.problems import Refusal, json_response
from sottovoce.collector.service import Service
from sottovoce.collector.store import Unavailable
from sottovoce.collector.store.schema import day_text

router = APIRouter(tags=["results"])
_CODES = ("bad_token", "wrong_scope", "unknown_campaign")
_MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


async def _readable(name: str, request: Request) -> tuple[Service, Campaign]:
    service: Service = request.app.state.service
    campaign = await service.campaign(name)
    await service.require_reader(request, campaign)
    return service, campaign


@router.get("/campaigns/{name}/summary", responses=answers(SummaryShape, *_CODES))
async def get_summary(name: str, request: Request) -> Response:
    """How many reports there are, per day, and what was refused. Cheap."""
    service, campaign = await _readable(name, request)
    days = await service.ask(service.data.days, campaign.id)
    return json_response(
        {
            "campaign": name,
            "status": campaign.status(now()),
            "n": sum(number for _, number in days),
            "min_n": campaign.settings["min_n"],
            "days": [{"day": day_text(day), "n": number} for day, number in days],
            "refusals": await service.ask(service.refusals, campaign.id),
        }
    )


@router.get("/campaigns/{name}/estimates", responses=answers(EstimatesShape, *_CODES))
async def get_estimates(
    name: str,
    request: Request,
    confidence: Annotated[float, Query(ge=0.5, le=0.999, allow_inf_nan=False)] = 0.95,
    quantiles: Annotated[str, Query(max_length=400, pattern=r"^[0-9.,]*$")] = "0.1,0.25,0.5,0.75,0.9",
    bins: Annotated[int, Query(ge=4, le=1024)] = 64,
) -> Response:
    """Mean, quantiles, distribution and the honesty check, each with its uncertainty."""
    service, campaign = await _readable(name, request)
    question = Question(confidence, _quantiles(quantiles), bins)
    try:
        return json_response(await service.estimates.answer(campaign, question))
    except Unavailable:
        raise Refusal("store_unavailable", retry_after=5) from None
    except Broken:
        raise Refusal("estimates_unavailable", retry_after=5) from None


def _quantiles(text: str) -> tuple[float, ...]:
    rule = "quantiles must be up to 20 numbers strictly between 0 and 1, separated by commas"
    try:
        found = tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise Refusal("invalid", rule, "quantiles") from None
    if len(found) > 20 or not all(0 < q < 1 for q in found):
        raise Refusal("invalid", rule, "quantiles")
    return found


@router.get("/campaigns/{name}/counts", responses=answers(None, *_CODES))
async def get_counts(name: str, request: Request, format: Literal["csv", "parquet"] = "csv") -> Response:
    """What is stored, exactly: day, cell, count."""
    service, campaign = await _readable(name, request)
    rows = await service.ask(service.data.daily_counts, campaign.id)
    content = await service.ask(export, rows, format)
    return Response(
        content,
        media_type=_MEDIA[format],
        headers={"Content-Disposition": f'attachment; filename="{name}-counts.{format}"'},
    )


def export(rows: list[tuple[int, int, int]], form: str) -> bytes:
    """Rows of (day, cell, count) as CSV or Parquet."""
    days, cells, counts = ([row[i] for row in rows] for i in range(3))
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["day", "cell", "count"])
        writer.writerows(zip(map(day_text, days), cells, counts, strict=True))
        return text.getvalue().encode()
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "day": pa.array(days, pa.int32()).cast(pa.date32()),
            "cell": pa.array(cells, pa.uint32()),
            "count": pa.array(counts, pa.int64()),
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()
