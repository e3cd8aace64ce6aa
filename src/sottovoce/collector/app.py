"""The application: routers, one error shape, and what starts and stops with the process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from sottovoce import __version__
from sottovoce.collector import logs
from sottovoce.collector.api import admin, intake, public, reading
from sottovoce.collector.http import problems
from sottovoce.collector.http.guard import Guard
from sottovoce.collector.pages import routes
from sottovoce.collector.refusals import Refusal, broken_rule
from sottovoce.collector.service import Service
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import Store

_ABOUT = "Collects reports of ε-locally-private mechanisms and answers with estimates."


def create_app(store: Store, settings: Settings | None = None, *, secret: bytes) -> FastAPI:
    """The ASGI application on an open store; it closes the store when it stops.

    Args:
        store: What `open_store` returned.
        settings: The limits of the service; the usual ones if not given.
        secret: Keys the hashes of idempotency keys: keep the same one for the same store.

    Returns:
        The application, for an ASGI server to run.
    """
    service = Service(store, settings or Settings(), secret)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        upkeep = asyncio.create_task(service.run())
        logs.event("started", {"version": __version__, "store": store.kind})
        try:
            yield
        finally:
            service.stopping.set()  # not cancelled: its thread would go on beside the closing of the store
            await upkeep
            await asyncio.to_thread(service.close)
            logs.event("stopped")

    app = FastAPI(
        title="sottovoce collector",
        description=_ABOUT,
        version=__version__,
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        responses={"default": {"model": problems.ErrorShape, "description": "Refused."}},
        middleware=[Middleware(Guard, service=service), *_cors(service.settings)],
    )
    app.state.service = service
    for module in (intake, public, reading, admin):  # routes are tried in this order
        app.include_router(module.router, prefix="/v1")
    app.include_router(routes.router)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    return app


def _cors(settings: Settings) -> list[Middleware]:
    """Other sites' pages may post reports only if the operator names them."""
    if not settings.allow_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(settings.allow_origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "content-encoding", "idempotency-key"],
            expose_headers=["idempotent-replay", "retry-after"],
        )
    ]


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    service: Service = request.app.state.service
    request.state.code = error.code
    service.refused(getattr(request.state, "campaign", None), error.code)
    return problems.answer(error)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "malformed")
    if code == "not_found" and (page := routes.nowhere(request)) is not None:
        return page
    response = await _refused(request, Refusal(code))
    response.headers.update(error.headers or {})
    return response


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return await _refused(request, broken_rule(error.errors()[0]))
