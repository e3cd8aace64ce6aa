"""HTTP/1.1 by uvicorn, with deadlines, limits per address, and the one error shape before the application."""

from __future__ import annotations

import asyncio
import ipaddress
import sys
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sottovoce.collector.api import problems
from sottovoce.collector.guard import HEADERS
from sottovoce.collector.rates import origin
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.service import Service

#: The most bytes of a request beside its body: line, headers, chunks' frames, trailers.
MOST_HEAD = 1 << 16
#: How long a refused client may take to read why. To close while it still sends would reset the connection
#: and lose the answer; at most `MOST_HEAD` bytes of what it sends are thrown away.
_LINGER_SECONDS = 1.0


class Protocol(HttpToolsProtocol):
    """One connection.

    It tells the application how many connections there are, and the guard refuses beyond its limit: uvicorn's
    own limit would answer in plain text, past logs and metrics.
    """

    def __init__(self, config: Config, *arguments: Any, **options: Any) -> None:
        super().__init__(config, *arguments, **options)
        self._service: Service = config.app.state.service  # type: ignore[union-attr]
        self._seconds: float | None = None
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._origin: str | None = None
        self._refusal: Refusal | None = None  # for when earlier requests have their answers
        self._refused = False  # answered and done: what still arrives is thrown away
        self._beside = self._head = 0  # bytes that are no body: as they arrive, and as the parser names them

    # -- connections ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect(self._service.settings.head_seconds)
        address = self.client[0] if self.client else ""
        if _is_among(address, self.config.forwarded_allow_ips):  # a proxy speaks for many
            return
        self._origin = origin(address)
        self._service.connections[self._origin] += 1
        if self._service.connections[self._origin] > self._service.settings.max_per_address:
            self._refuse(Refusal("busy", "too many connections from this address", retry_after=1))

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._timer, self._stalled):
            if timer is not None:
                timer.cancel()
        if self._origin is not None:
            self._service.connections[self._origin] -= 1
            if not self._service.connections[self._origin]:
                del self._service.connections[self._origin]
        super().connection_lost(exc)

    # -- deadlines --------------------------------------------------------------------------------------

    def _expect(self, seconds: float | None) -> None:
        """Something is to arrive within so many seconds; None: nothing is.

        A timer looks at the deadline when it goes off: one for each part of a request would cost more.
        """
        self._seconds, self._deadline = seconds, None if seconds is None else self.loop.time() + seconds
        if seconds is not None and self._timer is None:
            self._timer = self.loop.call_later(seconds, self._look)

    @property
    def _answering(self) -> bool:
        """Whether a request that arrived whole, before what arrives now, has no answer yet."""
        cycle = self.cycle
        return bool(self.pipeline) or (
            cycle is not None and not cycle.response_complete and not cycle.more_body
        )

    def _look(self) -> None:
        self._timer = None
        if self._deadline is None or self._refused or self.transport.is_closing():
            return
        left = self._deadline - self.loop.time()
        if left <= 0 and not self._answering:
            self._refuse(Refusal("too_slow", retry_after=1))
        else:
            self._timer = self.loop.call_later(max(left, 1), self._look)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self._service.settings.body_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    # -- requests ---------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._refusal is not None:
            return
        self._beside += len(data)
        if self._refused:
            if self._beside > MOST_HEAD:
                self.transport.close()
            return
        if self._deadline is None:
            self._expect(self._service.settings.head_seconds)
        super().data_received(data)
        if self._beside > MOST_HEAD and not self._refused and not self.transport.is_closing():
            self._refuse(_too_much())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self._expect(self._service.settings.head_seconds)
        self.scope["state"]["connections"] = len(self.connections)

    def on_url(self, url: bytes) -> None:
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(name, value)
        super().on_header(name, value)

    def _count(self, *parts: bytes) -> None:
        """Trailers, too: the parser names them like headers. What is raised here ends the request."""
        self._head += 4 + sum(map(len, parts))
        if self._head > MOST_HEAD:
            raise _too_much()

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():  # what follows would be read as another protocol
            raise Refusal("malformed", "the collector speaks HTTP/1.1 and nothing else: no upgrade")
        self._expect(self._service.settings.body_seconds)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._beside -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._beside = 0
        self._expect(None)

    def send_400_response(self, msg: str) -> None:
        reason = getattr(sys.exception(), "__context__", None)  # what a callback above has raised
        if not isinstance(reason, Refusal):
            reason = Refusal("malformed", "the request is not valid HTTP")
        self._refuse(reason)

    def _refuse(self, refusal: Refusal) -> None:
        """Answer what arrives with a refusal, and close; not before the requests that came earlier."""
        if self._answering:
            self._refusal = refusal
            return
        answer = problems.answer(refusal)
        lines = [b"HTTP/1.1 %d Refused" % answer.status_code, b"connection: close"]
        lines += [name + b": " + value for name, value in [*answer.raw_headers, *HEADERS.items()]]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self._refused, self._refusal, self._beside = True, None, 0
        self.connections.discard(self)  # takes no place of those who are served
        if self.cycle is not None:  # whoever waits for the rest of a request waits in vain
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self._may_linger and self.transport.can_write_eof():
            self.transport.write_eof()
            self.loop.call_later(_LINGER_SECONDS, self.transport.close)
        else:
            self.transport.close()

    @property
    def _may_linger(self) -> bool:
        """Not for an address that keeps connecting: it would hold ever more sockets."""
        most = 2 * self._service.settings.max_per_address
        return self._origin is None or self._service.connections[self._origin] <= most

    def on_response_complete(self) -> None:
        self._expect(self._seconds)  # nothing was read meanwhile: the time was not the client's
        super().on_response_complete()
        if self._refusal is not None and not self.transport.is_closing():
            self._refuse(self._refusal)


def _too_much() -> Refusal:
    rule = f"a request's line, headers, chunk sizes and trailers must have at most {MOST_HEAD} bytes"
    return Refusal("malformed", rule)


def _is_among(address: str, proxies: list[str] | str) -> bool:
    """Whether an address is one of some addresses and networks; "*" is every one."""
    parts = proxies.split(",") if isinstance(proxies, str) else proxies
    for part in filter(None, map(str.strip, parts)):
        try:
            if part == "*" or ipaddress.ip_address(address) in ipaddress.ip_network(part, strict=False):
                return True
        except ValueError:  # the name of a socket
            if part == address:
                return True
    return False
