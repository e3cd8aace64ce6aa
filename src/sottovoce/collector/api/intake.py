"""POST reports: the one thing that devices do."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request, Response

from sottovoce.collector import secret, tokens
from sottovoce.collector.api import bodies
from sottovoce.collector.api.dependencies import bearer, require, service_of
from sottovoce.collector.api.shapes import AcceptedShape, ReportsShape
from sottovoce.collector.campaigns import Campaign
from sottovoce.collector.moments import day_number, now
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import Batch
from sottovoce.collector.tokens import Scope

router = APIRouter(tags=["reports"])
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            bodies.JSON: {"schema": ReportsShape.model_json_schema()},
            bodies.BINARY: {"schema": {"type": "string", "format": "binary", "minLength": 33}},
        },
    }
}
Key = Annotated[str, Header(alias="Idempotency-Key", pattern=r"^[A-Za-z0-9_-]{22,64}$")]


async def _admitted(name: str, request: Request) -> tuple[Campaign, bytes | None]:
    """The campaign, and the hash of the enrolment token to spend, or None where none is needed.

    One dependency rather than a chain of them: each costs as much as reading the report.
    """
    campaign = await service_of(request).campaign(name)
    request.state.campaign = campaign.id  # a refusal from here on is counted as one of its own
    token, collection = bearer(request), campaign.rules.collection
    if token is None and collection == "open":
        return campaign, None
    if token is not None and collection == "enrolment" and tokens.kind_of(token) == "enrolment":
        return campaign, tokens.token_hash(token)  # looked up by the transaction that spends it
    await require(request, *() if collection == "enrolment" else (Scope(campaign.id, "write"),))
    return campaign, None


@router.post("/campaigns/{name}/reports", openapi_extra=_BODY, summary="Send one report or a batch")
async def post_reports(
    admitted: Annotated[tuple[Campaign, bytes | None], Depends(_admitted)],
    key: Key,
    request: Request,
    response: Response,
) -> AcceptedShape:
    """Answered once the whole batch is durably stored; a repeated request changes nothing."""
    (campaign, token), service = admitted, service_of(request)
    kind = bodies.content_type(request, bodies.JSON, bodies.BINARY)
    body = await bodies.read(request, service.settings.max_body)
    cells = bodies.reports(kind, body, campaign.reporter, service.settings.max_batch)
    if token is not None and len(cells) > 1:
        raise Refusal("one_report_per_token", argument="cells")
    moment = now()
    today = day_number(moment)
    prints = secret.fingerprints(service.secret, campaign.id, key, body)
    expires = today + service.settings.key_days + 1
    outcome = await service.writer.store(
        Batch(campaign.id, today, cells, *prints, expires, token, campaign.refuses(moment))
    )
    if outcome.replay:
        service.counters.replays.inc()
        response.headers["Idempotent-Replay"] = "true"
    else:
        service.counters.batches.inc()
        service.counters.reports.inc(outcome.count)
    return AcceptedShape(accepted=outcome.count)
