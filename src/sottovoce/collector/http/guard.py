"""What every request passes: the limit of requests on the way in; headers, log and metrics on the way out."""

from __future__ import annotations

import re
import time
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.collector import logs
from sottovoce.collector.http import problems
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.service import Service

#: Sent with every answer; a page that needs more brings its own policy.
HEADERS = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}

_REPORTS = re.compile(r"/v1/campaigns/([^/]{1,63})/reports")
_METHODS = ("GET", "POST", "DELETE", "HEAD", "OPTIONS")


class Guard:
    """ASGI middleware, the outermost layer."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0
        state: dict[str, Any] = scope.setdefault("state", {})

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name for name, _ in message["headers"]}
                more = [(name, value) for name, value in HEADERS.items() if name not in present]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        try:
            wait = self._service.limit.wait((scope.get("client") or ("", 0))[0])
            if wait:
                refusal = Refusal("rate_limited", retry_after=wait)
                state["code"] = refusal.code
                self._service.refused(self._reported_to(scope["path"]), refusal.code)
                await problems.answer(refusal)(scope, receive, sending)
            else:
                await self._app(scope, receive, sending)
        except ClientDisconnect:
            state["code"] = "gone"
        except Exception:
            logs.logger.exception("failed")
            state["code"] = "internal"
            if status == 0:
                await problems.answer(Refusal("internal"))(scope, receive, sending)
        finally:
            self._record(scope, status, time.perf_counter() - begun, state)

    def _reported_to(self, path: str) -> int | None:
        """The campaign whose reports a path names, if it is in memory."""
        match = _REPORTS.fullmatch(path)
        return self._service.number(match[1]) if match else None

    def _record(self, scope: Scope, status: int, seconds: float, state: dict[str, Any]) -> None:
        method, code = scope["method"] if scope["method"] in _METHODS else "other", state.get("code")
        counters = self._service.counters
        histogram = counters.stored if "stored" in state else counters.requests.labels(method, str(status))
        histogram.observe(seconds)
        route = getattr(scope.get("route"), "path", None)
        fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1000, 2)}
        logs.event("request", fields if code is None else {**fields, "code": code})
