"""Routes of the pages, and the headers that keep them to themselves."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sottovoce.collector.pages.assets import Asset, assets
from sottovoce.collector.pages.planner import planner_table

#: Scripts, styles and requests of this origin only; no frames, no forms, nothing inline.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def routes(app: FastAPI) -> None:
    """Pages and their files; /v1/planner is part of the documented interface."""
    for path, handler in (("/", _dashboard), ("/survey/{name}", _survey), ("/static/{name:path}", _static)):
        app.add_api_route(path, handler, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/v1/planner", _planner, methods=["GET"], tags=["planner"])


# Plain functions run in a thread: reading and compressing plotly.js the first time takes a moment.


def _dashboard(request: Request) -> Response:
    return _serve(request, "dashboard.html")


def _survey(request: Request) -> Response:
    return _serve(request, "survey.html")


def _static(request: Request) -> Response:
    return _serve(request, request.path_params["name"])


def _planner() -> JSONResponse:
    """What one person's report is worth, by ε: standard deviations on a domain of width 1."""
    return JSONResponse(planner_table())


def _serve(request: Request, name: str) -> Response:
    asset = assets().get(name)
    if asset is None:
        raise HTTPException(404)
    headers = {**_HEADERS, "ETag": asset.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if asset.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    content = _encoded(asset, request, headers)
    return Response(content, media_type=asset.media_type, headers=headers)


def _encoded(asset: Asset, request: Request, headers: dict[str, str]) -> bytes:
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return asset.content
    headers["Content-Encoding"] = "gzip"
    return asset.compressed
