"""What anybody may ask: which campaigns there are, what a device needs of one, how the service does."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from sottovoce import __version__
from sottovoce.collector.api.campaign_schemas import CampaignList, CampaignShape, described, summarised
from sottovoce.collector.api.dependencies import ADMIN, CampaignDep, ServiceDep, scope_of
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.tokens import Scope

router = APIRouter(tags=["public"])


@router.get("/campaigns")
async def list_campaigns(request: Request, service: ServiceDep) -> CampaignList:
    """Campaigns with public results, and those that the token may read; newest first."""
    scope = await scope_of(request)

    def listed() -> CampaignList:
        every = map(Campaign.of, service.store.campaigns())
        mine = [c for c in every if c.rules.results == "public" or scope in (ADMIN, Scope(c.id, "read"))]
        return CampaignList(campaigns=[summarised(campaign) for campaign in mine])

    return await service.ask(listed)


@router.get("/campaigns/{name}")
async def get_campaign(campaign: CampaignDep) -> CampaignShape:
    """The campaign with its mechanism's spec."""
    return described(campaign)


@router.get("/campaigns/{name}/spec", response_class=Response)
async def get_spec(campaign: CampaignDep, request: Request) -> Response:
    """The canonical text that the digest names."""
    headers = {"ETag": f'"{campaign.stored.digest}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(campaign.stored.spec, media_type="application/json", headers=headers)


@router.get("/health")
async def health(service: ServiceDep) -> dict[str, str]:
    """Does the store answer, and can it write? Tried once in a few seconds, however many ask.

    Of the counts it says whether they added up, when the collector last looked.
    """
    await service.healthy()
    wrong = service.wrong_days
    counts = "unchecked" if wrong is None else "wrong" if wrong else "right"
    status = "wrong" if wrong else "ok"
    return {"status": status, "version": __version__, "store": service.store.kind, "counts": counts}


@router.get("/metrics", response_class=Response)
async def metrics(service: ServiceDep) -> Response:
    """Prometheus text: totals, no campaign names."""
    return Response(service.counters.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
