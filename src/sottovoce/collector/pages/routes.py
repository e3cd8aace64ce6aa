"""Routes of the pages, and the headers that keep them to themselves; /v1/planner is documented."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request, Response

from sottovoce.collector.pages.assets import Asset, assets
from sottovoce.collector.refusals import Refusal

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


router = APIRouter()
_page = partial(router.api_route, methods=["GET", "HEAD"], include_in_schema=False, response_class=Response)


# Plain functions run in a thread: reading and compressing plotly.js the first time takes a moment.


@_page("/")
def dashboard(request: Request) -> Response:
    """The dashboard."""
    return _serve(request, "dashboard.html")


@_page("/admin")
def admin(request: Request) -> Response:
    """Administration; everything that it shows or does needs an admin token."""
    return _serve(request, "admin.html")


@_page("/survey/{name}")
def survey(request: Request, name: str) -> Response:
    """The page where a person answers; which campaign, its script reads from the address."""
    return _serve(request, "survey.html")


@_page("/static/{name:path}")
def static(request: Request, name: str) -> Response:
    """A file that pages load."""
    return _serve(request, name)


@router.get("/v1/planner", tags=["public"])
def planner(request: Request) -> Response:
    """What one person's report is worth, by ε: standard deviations on a domain of width 1."""
    return _serve(request, "planner.json")


def nowhere(request: Request) -> Response | None:
    """A page for a person who came to an address that is none; None for programs."""
    if request.url.path.startswith("/v1/") or "text/html" not in request.headers.get("accept", ""):
        return None
    page = assets()["nowhere.html"]
    return Response(page.content, 404, _HEADERS, page.media_type)


def _serve(request: Request, name: str) -> Response:
    asset = assets().get(name)
    if asset is None:
        raise Refusal("not_found")
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
