"""What administrators do: create, close and purge campaigns, issue and revoke tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from sottovoce.collector.api.campaign_schemas import (
    CampaignShape,
    PlanRequest,
    PlanShape,
    PurgedShape,
    described,
)
from sottovoce.collector.api.dependencies import AdminRoute, CampaignDep, ServiceDep
from sottovoce.collector.api.token_schemas import (
    InvitationRequest,
    RevokedShape,
    TokenList,
    TokenRequest,
    TokenShape,
    TokensShape,
)
from sottovoce.collector.campaigns import invitations, tokens, written_survey
from sottovoce.collector.campaigns.campaign import close, create, edit
from sottovoce.collector.campaigns.clock import now
from sottovoce.collector.campaigns.declaration import NewCampaign
from sottovoce.collector.store.pool import KEEP
from sottovoce.planning import survey_plan

_ID = "^[0-9a-f]{12}$"
router = APIRouter(tags=["administration"], route_class=AdminRoute)


@router.post("/campaigns", status_code=201)
async def create_campaign(new: NewCampaign, service: ServiceDep) -> CampaignShape:
    """Administrators: a new campaign."""
    return described(await service.ask(create, service.store, new))


@router.post("/surveys", status_code=201)
async def create_survey(content: dict[str, Any], service: ServiceDep) -> CampaignShape:
    """Administrators: a new campaign from questions in words, as a survey's file has them."""
    new = NewCampaign.of(await service.ask(written_survey.declared, content))
    return described(await service.ask(create, service.store, new))


@router.post("/surveys/plan")
async def plan_survey(wanted: PlanRequest, service: ServiceDep) -> PlanShape:
    """Administrators: what a survey would tell, before it is created."""
    survey = await service.ask(written_survey.designed, wanted.epsilon, wanted.questions, wanted.relations)
    plan = await service.ask(survey_plan.plan_survey, survey, wanted.people)
    return PlanShape(answered=survey.sampled, of=len(survey.items), **plan._asdict())


@router.patch("/campaigns/{name}")
async def edit_campaign(changes: dict[str, Any], campaign: CampaignDep, service: ServiceDep) -> CampaignShape:
    """Administrators: other words for the same questions; nothing else can change."""
    edited = await service.ask(edit, service.store, campaign, changes)
    service.forget(campaign)
    return described(edited)


@router.post("/campaigns/{name}/invitations", response_class=Response)
async def invite(wanted: InvitationRequest, campaign: CampaignDep, service: ServiceDep) -> Response:
    """Administrators: links for people, each good for one answer: CSV, or a sheet of QR codes to print."""
    issued = await service.ask(tokens.issue, service.store, campaign.id, "enrolment", wanted.count)
    addresses = invitations.links(wanted.url, campaign.name, issued)
    if wanted.form == "csv":
        return Response(invitations.listed(addresses), media_type="text/csv")
    title = campaign.rules.title or campaign.name
    return Response(await service.ask(invitations.sheet, title, addresses), media_type="text/html")


@router.post("/campaigns/{name}/close")
async def close_campaign(campaign: CampaignDep, service: ServiceDep) -> CampaignShape:
    """Administrators: no new reports from now on."""
    closed = await service.ask(close, service.store, campaign, now())
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
    """Administrators: revoke a token; it is refused within a second."""
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
