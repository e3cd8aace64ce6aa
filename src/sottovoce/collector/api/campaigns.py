"""Campaigns: what clients read, and what administrators do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from sottovoce.collector import bodies, campaigns, tokens
from sottovoce.collector.api.shapes import (
    CampaignList,
    CampaignShape,
    PurgedShape,
    TokensShape,
    answers,
    body,
)
from sottovoce.collector.campaigns import Campaign, NewCampaign, now
from sottovoce.collector.problems import Refusal, json_response
from sottovoce.collector.service import Service

router = APIRouter(tags=["campaigns"])
_TOKENS: dict[str, Any] = {
    "type": "object",
    "required": ["kind"],
    "additionalProperties": False,
    "properties": {
        "kind": {"enum": ["enrolment", "write", "read"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1},
    },
}
_WRITE = ("malformed", "bad_token", "wrong_scope", "too_large", "unsupported_type")
_SPEC_ROOM = 1 << 22


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


@router.get("/campaigns", responses=answers(CampaignList, "bad_token", "wrong_scope"))
async def list_campaigns(request: Request) -> Response:
    """Campaigns with public results, and those that the token may read; newest first."""
    service = _service(request)
    scope = await service.scope(request)
    found = [Campaign.of(stored) for stored in await service.ask(service.data.campaigns)]
    moment = now()

    def visible(campaign: Campaign) -> bool:
        may = scope is not None and (scope[1] == "admin" or scope == (campaign.id, "read"))
        return may or campaign.settings["results"] == "public"

    def describe() -> list[dict[str, Any]]:
        return [campaign.describe(moment, spec=False) for campaign in found if visible(campaign)]

    return json_response({"campaigns": await service.ask(describe)})


@router.get("/campaigns/{name}", responses=answers(CampaignShape, "unknown_campaign"))
async def get_campaign(name: str, request: Request) -> Response:
    """The campaign with its mechanism's spec."""
    campaign = await _service(request).campaign(name)
    return json_response(campaign.describe(now()))


@router.get("/campaigns/{name}/spec", responses=answers(None, "unknown_campaign"))
async def get_spec(name: str, request: Request) -> Response:
    """The bytes whose SHA-256 is the digest."""
    campaign = await _service(request).campaign(name)
    tag = f'"{campaign.stored.digest}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(campaign.stored.spec, media_type="application/json", headers={"ETag": tag})


@router.post(
    "/campaigns",
    status_code=201,
    responses=answers(CampaignShape, *_WRITE, "name_taken", status=201),
    openapi_extra=body(NewCampaign.model_json_schema()),
)
async def create_campaign(request: Request) -> Response:
    """Administrators: a new campaign."""
    service = _service(request)
    content = await _admin_json(service, request, _SPEC_ROOM)
    campaign = await service.ask(campaigns.create, service.data, content)
    return json_response(campaign.describe(now()), 201)


@router.post(
    "/campaigns/{name}/close",
    responses=answers(CampaignShape, "bad_token", "wrong_scope", "unknown_campaign"),
)
async def close_campaign(name: str, request: Request) -> Response:
    """Administrators: no new reports from now on."""
    service = _service(request)
    await service.require_admin(request)
    campaign = await service.campaign(name)
    closed = await service.ask(campaigns.close, service.data, campaign, now())
    service.forget(name)
    return json_response(closed.describe(now()))


@router.post(
    "/campaigns/{name}/tokens",
    status_code=201,
    responses=answers(TokensShape, *_WRITE, "unknown_campaign", status=201),
    openapi_extra=body(_TOKENS),
)
async def issue_tokens(name: str, request: Request) -> Response:
    """Administrators: new tokens, shown this once."""
    service = _service(request)
    content = await _admin_json(service, request, service.settings.max_body)
    campaign = await service.campaign(name)
    if not isinstance(content, dict) or not set(content) <= {"kind", "count"}:
        raise Refusal("malformed", "the body must be an object with the keys kind and count", "body")
    kind, count = content.get("kind"), content.get("count", 1)
    if kind not in ("enrolment", "write", "read"):
        raise Refusal("invalid", "kind must be enrolment, write or read", "kind")
    if type(count) is not int or not 1 <= count <= 10_000:
        raise Refusal("invalid", "count must be an integer between 1 and 10000", "count")
    made = await service.ask(tokens.issue, service.data, campaign.id, kind, count)
    return json_response({"kind": kind, "tokens": made}, 201)


@router.delete(
    "/campaigns/{name}", responses=answers(PurgedShape, "bad_token", "wrong_scope", "unknown_campaign")
)
async def purge_campaign(name: str, request: Request) -> Response:
    """Administrators: delete the campaign and everything stored about it."""
    service = _service(request)
    await service.require_admin(request)
    campaign = await service.campaign(name)
    reports = sum(number for _, number in await service.ask(service.data.days, campaign.id))
    await service.ask(service.data.purge, campaign.id)
    service.forget(name)
    service.estimates.forget(campaign.id)
    return json_response({"purged": True, "reports": reports})


async def _admin_json(service: Service, request: Request, limit: int) -> Any:
    await service.require_admin(request)
    bodies.content_type(request, bodies.JSON)
    return bodies.strict_json(await bodies.read(request, limit))
