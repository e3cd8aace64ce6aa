"""What administrators do: create, close and purge campaigns, issue tokens."""

from __future__ import annotations

from fastapi import APIRouter

from sottovoce.collector import campaigns, tokens
from sottovoce.collector.api.dependencies import AdminRoute, CampaignDep, ServiceDep
from sottovoce.collector.api.shapes import CampaignShape, PurgedShape, TokenRequest, TokensShape, described
from sottovoce.collector.campaigns import NewCampaign
from sottovoce.collector.moments import now

router = APIRouter(tags=["administration"], route_class=AdminRoute)


@router.post("/campaigns", status_code=201)
async def create_campaign(new: NewCampaign, service: ServiceDep) -> CampaignShape:
    """Administrators: a new campaign."""
    return described(await service.ask(campaigns.create, service.store, new))


@router.post("/campaigns/{name}/close")
async def close_campaign(campaign: CampaignDep, service: ServiceDep) -> CampaignShape:
    """Administrators: no new reports from now on."""
    closed = await service.ask(campaigns.close, service.store, campaign, now())
    service.forget(campaign)
    return described(closed)


@router.post("/campaigns/{name}/tokens", status_code=201)
async def issue_tokens(wanted: TokenRequest, campaign: CampaignDep, service: ServiceDep) -> TokensShape:
    """Administrators: new tokens, shown this once."""
    issued = await service.ask(tokens.issue, service.store, campaign.id, wanted.kind, wanted.count)
    return TokensShape(kind=wanted.kind, tokens=issued)


@router.delete("/campaigns/{name}")
async def purge_campaign(campaign: CampaignDep, service: ServiceDep) -> PurgedShape:
    """Administrators: delete the campaign and everything stored about it."""
    days = await service.ask(service.store.days, campaign.id)
    await service.ask(service.store.purge, campaign.id)
    service.forget(campaign)
    return PurgedShape(purged=True, reports=sum(number for _, number in days))
