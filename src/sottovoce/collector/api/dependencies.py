"""What endpoints take beside their own parameters: the service, a campaign, the right to see it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.tokens import Scope, kind_of
from sottovoce.collector.http import bodies
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.service import Service

_SPEC_ROOM = 1 << 22


def service_of(request: Request) -> Service:
    """What all requests share."""
    service: Service = request.app.state.service
    return service


async def _service(request: Request) -> Service:  # async: a plain function would run in a thread
    return service_of(request)


ServiceDep = Annotated[Service, Depends(_service)]


async def _campaign(name: str, service: ServiceDep) -> Campaign:
    return await service.campaign(name)


#: The campaign that the path names.
CampaignDep = Annotated[Campaign, Depends(_campaign)]


def bearer(request: Request) -> str | None:
    """The token of the Authorization header; None without one."""
    header = request.headers.get("authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise Refusal("bad_token", argument="token")
    kind_of(token)
    return token


async def scope_of(request: Request) -> Scope | None:
    """What the request's token is good for; None without one."""
    token = bearer(request)
    return None if token is None else await service_of(request).scope(token)


async def require(request: Request, *scopes: Scope) -> None:
    """Refuse a request whose token has none of some scopes."""
    scope = await scope_of(request)
    if scope not in scopes:
        raise Refusal("bad_token" if scope is None else "wrong_scope", argument="token")


ADMIN = Scope(0, "admin")


async def _readable(request: Request, campaign: CampaignDep) -> Campaign:
    """Public results are for everybody, others for a read token of the campaign or an administrator."""
    if campaign.rules.results != "public":
        await require(request, ADMIN, Scope(campaign.id, "read"))
    return campaign


async def _read_token(request: Request, campaign: CampaignDep) -> Campaign:
    """The counts themselves are for read tokens, also where results are public: they take work."""
    await require(request, ADMIN, Scope(campaign.id, "read"))
    return campaign


#: The campaign that the path names, whose counts the request may fetch.
CountsDep = Annotated[Campaign, Depends(_read_token)]
#: The campaign that the path names, whose results the request may see.
ReadableDep = Annotated[Campaign, Depends(_readable)]


class AdminRoute(APIRoute):
    """A route for administrators: nothing of the body is read before the token is seen to be theirs.

    FastAPI then finds the body where Starlette keeps one that was read: capped, and parsed with suspicion.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            await require(request, ADMIN)
            if self.body_field is not None:
                bodies.content_type(request, bodies.JSON)
                packed, body = bodies.encoding(request), await bodies.read(request, _SPEC_ROOM)
                ask = service_of(request).ask
                request._body = await ask(bodies.unpacked, body, packed, _SPEC_ROOM)
                request._json = await ask(bodies.strict_json, request._body)
            return await handle(request)

        return checked
