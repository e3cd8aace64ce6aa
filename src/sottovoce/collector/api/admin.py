"""What administrators do: create, close and purge campaigns, issue and revoke tokens."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from sottovoce.collector import campaigns, tokens
from sottovoce.collector.api.dependencies import AdminRoute, CampaignDep, ServiceDep
from sottovoce.collector.api.shapes import (
    CampaignShape,
    PurgedShape,
    RevokedShape,
    TokenList,
    TokenRequest,
    TokenShape,
    TokensShape,
    described,
)
from sottovoce.collector.campaigns import NewCampaign
from sottovoce.collector.moments import now
from sottovoce.collector.store.pool import KEEP

_ID = "^[0-9a-f]{12}$"
router = APIRouter(tags=["administration"], route_class=AdminRoute)


@router.post("/campaigns", status_code=201)
async def create_campaign(new: NewCampaign, service: ServiceDep) -> CampaignShape:
    """Administrators: a new campaign."""
    return described(await service.ask(campaigns.create, service.store, new))


@router.post("/campaigns/{name}/close")
async def close_campaign(campaign: CampaignDep, service: ServiceDep) -> CampaignShape:
    """Administrators: no new reports from now on."""
    closed = await service.ask(campaigns.close, service.store, campaign, now())
    await service.ask(service.store.settle, campaign.id, KEEP)
    service.forget(campaign)
    return described(closed)


@router.post("/campaigns/{name}/tokens", status_code=201)
async def issue_tokens(wanted: TokenRequest, campaign: CampaignDep, service: ServiceDep) -> TokensShape:
    """Administrators: new tokens, shown this once."""
    issued = await service.ask(tokens.issue, service.store, campaign.id, wanted.kind, wanted.count)
    return TokensShape(kind=wanted.kind, tokens=issued)


@router.get("/campaigns/{name}/tokens")
async def list_tokens(
    campaign: CampaignDep, service: ServiceDep, after: Annotated[str, Query(pattern=_ID)] = "0" * 12
) -> TokenList:
    """Administrators: which tokens there are, a thousand at a time in the order of their ids."""
    page = await service.ask(tokens.listed, service.store, campaign.id, after)
    return TokenList(tokens=[TokenShape(**token._asdict()) for token in page])


@router.delete("/campaigns/{name}/tokens/{token}")
async def revoke_token(
    campaign: CampaignDep, service: ServiceDep, token: Annotated[str, Path(pattern=_ID)]
) -> RevokedShape:
    """Administrators: a token that is good for nothing any more, from the next second on."""
    await service.ask(service.store.revoke, campaign.id, bytes.fromhex(token))
    service.forget_tokens()
    return RevokedShape(revoked=token)


@router.delete("/campaigns/{name}")
async def purge_campaign(campaign: CampaignDep, service: ServiceDep) -> PurgedShape:
    """Administrators: delete the campaign and everything stored about it."""
    reports = await service.ask(service.store.reports, campaign.id)
    await service.ask(service.store.purge, campaign.id)
    service.forget(campaign)
    return PurgedShape(purged=True, reports=reports)
