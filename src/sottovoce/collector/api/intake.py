"""POST reports: the one thing that devices do."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
from fastapi import APIRouter, Request, Response
from numpy.typing import NDArray

from sottovoce.collector import secret
from sottovoce.collector.api.dependencies import CampaignDep, bearer, require, service_of
from sottovoce.collector.api.report_schemas import AcceptedShape, ReportsShape
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.clock import day_number, now
from sottovoce.collector.campaigns.tokens import Scope
from sottovoce.collector.http import bodies
from sottovoce.collector.http.bodies import Room
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import Batch

router = APIRouter(tags=["reports"])
_KEY = r"^[A-Za-z0-9_-]{22,64}$"
_INTERFACE = {
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": True,
            "schema": {"type": "string", "pattern": _KEY},
        }
    ],
    "requestBody": {
        "required": True,
        "content": {
            bodies.JSON: {"schema": ReportsShape.model_json_schema()},
            bodies.BINARY: {"schema": {"type": "string", "format": "binary", "minLength": 33}},
        },
    },
}
#: Bytes of a body that is read at once, and of a single report beside its integers.
_SMALL, _SINGLE = 4096, 1024
_is_key = re.compile(_KEY.strip("^$")).fullmatch


async def _admitted(name: str, request: Request) -> tuple[Campaign, bytes | None]:
    """The campaign, and the hash of the enrolment token to spend, or None where none is needed."""
    campaign = await service_of(request).campaign(name)
    request.state.campaign = campaign.id  # a refusal from here on is counted as one of its own
    token, collection = bearer(request), campaign.rules.collection
    if token is None and collection == "open":
        return campaign, None
    if token is not None and collection == "enrolment" and tokens.kind_of(token) == "enrolment":
        return campaign, tokens.token_hash(token)  # looked up by the transaction that spends it
    await require(request, *() if collection == "enrolment" else (Scope(campaign.id, "write"),))
    return campaign, None


@router.post(
    "/campaigns/{name}/reports",
    openapi_extra=_INTERFACE,
    summary="Send one report or a batch",
    response_model=AcceptedShape,
)
async def post_reports(name: str, request: Request) -> Response:
    """Answered once the whole batch is durably stored; a repeated request changes nothing."""
    # Neither dependencies nor a validated answer: each would cost as much as reading the report.
    (campaign, token), service = await _admitted(name, request), service_of(request)
    key = request.headers.get("idempotency-key", "")
    if not _is_key(key):
        raise Refusal("key_missing", argument="key")
    kind, packed = bodies.content_type(request, bodies.JSON, bodies.BINARY), bodies.encoding(request)
    room = _room(campaign, service.settings)
    sent = await bodies.read(request, room.bytes)
    small = not packed and len(sent) <= _SMALL  # quicker read than handed to a thread
    read = partial(_read, kind, packed, sent, campaign, room)
    body, cells = read() if small else await service.ask(read)
    moment = now()
    clock = day_number(moment)
    prints = secret.fingerprints(service.secret, campaign.id, key, body)
    expires = clock + service.settings.key_days + 2  # a day more: the clock may be a day ahead from tomorrow
    group = await service.group(campaign)
    refuses = campaign.refuses(service.not_before(moment))
    batch = Batch(campaign.id, clock, cells, *prints, expires, token, refuses, group is not None)
    outcome = await service.writer.store(batch)
    if group is not None and not outcome.replay:
        group.add((request.scope.get("client") or ("", 0))[0])
    request.state.stored = True
    service.counters.accepted(outcome.count, replay=outcome.replay)
    headers = {"Idempotent-Replay": "true"} if outcome.replay else None
    return Response(b'{"accepted":%d}' % outcome.count, headers=headers, media_type="application/json")


@router.get(
    "/campaigns/{name}/invitation",
    summary="See whether an enrolment token can still report",
    status_code=204,
    response_class=Response,
)
async def get_invitation(campaign: CampaignDep, request: Request) -> Response:
    """Refused as the token's report would be; nothing is spent. Only who has the token can ask."""
    token = bearer(request)
    if token is None:
        raise Refusal("bad_token", argument="token")
    service = service_of(request)
    await service.ask(tokens.check_invitation, service.store, campaign.id, token)
    return Response(status_code=204)


def _room(campaign: Campaign, settings: Settings) -> Room:
    """Without a write token no more than one report needs, even as JSON."""
    collection, most = campaign.rules.collection, settings.max_batch
    if collection == "write":
        excess = Refusal("too_large", f"a batch must have at most {most} reports", "cells")
        return Room(settings.max_body, most, excess)
    code = "one_report_per_token" if collection == "enrolment" else "one_report_per_request"
    size = min(settings.max_body, _SINGLE + 32 * campaign.reporter.width)
    return Room(size, 1, Refusal(code, argument="cells"))


def _read(
    kind: str, packed: str, sent: bytes, campaign: Campaign, room: Room
) -> tuple[bytes, NDArray[np.int64]]:
    body = bodies.unpacked(sent, packed, room.bytes)
    return body, bodies.reports(kind, body, campaign.reporter, room)
