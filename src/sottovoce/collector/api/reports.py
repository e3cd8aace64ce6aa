"""POST reports: the one thing that devices do."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sottovoce.collector import bodies, secret, tokens
from sottovoce.collector.api.shapes import AcceptedShape, answers
from sottovoce.collector.campaigns import Campaign, now
from sottovoce.collector.problems import Refusal, json_response
from sottovoce.collector.service import Service
from sottovoce.collector.store import Batch
from sottovoce.collector.store.schema import day_number

router = APIRouter(tags=["reports"])
_KEY = re.compile(r"^[A-Za-z0-9_-]{22,64}$")
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["digest", "cells"],
    "additionalProperties": False,
    "properties": {
        "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "cells": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
    },
}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            bodies.JSON: {"schema": _SCHEMA},
            bodies.BINARY: {"schema": {"type": "string", "format": "binary", "minLength": 33}},
        },
    },
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": True,
            "schema": {"type": "string", "pattern": _KEY.pattern},
        }
    ],
}
_CODES = (
    "malformed",
    "bad_token",
    "wrong_scope",
    "unknown_campaign",
    "digest_differs",
    "closed",
    "too_large",
    "unsupported_type",
)


@router.post(
    "/campaigns/{name}/reports",
    responses=answers(AcceptedShape, *_CODES),
    openapi_extra=_BODY,
    summary="Send one report or a batch",
)
async def post_reports(name: str, request: Request) -> Response:
    """Answered once the whole batch is durably stored; a repeated request changes nothing."""
    service: Service = request.app.state.service
    campaign = await service.campaign(name)
    request.state.campaign = campaign.id
    token = await _authorised(service, request, campaign)
    key = request.headers.get("idempotency-key", "")
    if not _KEY.match(key):
        raise Refusal("key_missing", field="Idempotency-Key")
    kind = bodies.content_type(request, bodies.JSON, bodies.BINARY)
    body = await bodies.read(request, service.settings.max_body)
    cells = bodies.reports(kind, body, campaign.mechanism, service.settings.max_batch)
    if token is not None and len(cells) > 1:
        raise Refusal("one_report_per_token", field="cells")
    moment = now()
    today = day_number(moment)
    prints = secret.fingerprints(service.secret, campaign.id, key, body)
    expires = today + service.settings.key_days + 1
    outcome = await service.writer.store(
        Batch(campaign.id, today, cells, *prints, expires, token, campaign.refuses(moment))
    )
    if outcome.replay:
        service.metrics.replays.inc()
        return json_response({"accepted": outcome.count}, headers={"Idempotent-Replay": "true"})
    service.metrics.batches.inc()
    service.metrics.reports.inc(outcome.count)
    return json_response({"accepted": outcome.count})


async def _authorised(service: Service, request: Request, campaign: Campaign) -> bytes | None:
    """The hash of the enrolment token to spend, or None where none is needed."""
    token = tokens.from_header(request.headers.get("authorization"))
    collection = campaign.settings["collection"]
    if collection == "enrolment":
        if token is None:
            raise Refusal("bad_token", field="Authorization")
        if tokens.kind_of(token) == "enrolment":
            return tokens.token_hash(token)  # looked up by the transaction that spends it
    if token is None:
        if collection == "open":
            return None
        raise Refusal("bad_token", field="Authorization")
    found = await service.scope(request)
    if collection == "enrolment" or found != (campaign.id, "write"):
        raise Refusal("wrong_scope", field="Authorization")
    return None
