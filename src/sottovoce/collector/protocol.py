"""HTTP/1.1 by uvicorn, with the one error shape also for what never reaches the application."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sottovoce.collector.api import problems
from sottovoce.collector.guard import HEADERS
from sottovoce.collector.refusals import Refusal

MOST_HEAD = 1 << 16  # bytes before a body; the parser would keep headers without end


class Protocol(HttpToolsProtocol):
    """One connection.

    It tells the application how many connections there are, and the guard refuses beyond its limit: uvicorn's
    own limit would answer in plain text, past logs and metrics.
    """

    _in_head, _head = True, 0

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if not self._in_head:
            self._head = 0
        elif self._head > MOST_HEAD and not self.transport.is_closing():
            self._refuse(f"a request's line and headers must have at most {MOST_HEAD} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["state"]["connections"] = len(self.connections)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self._in_head = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head, self._head = True, 0

    def send_400_response(self, msg: str) -> None:
        self._refuse("the request is not valid HTTP")

    def _refuse(self, words: str) -> None:
        answer = problems.answer(Refusal("malformed", words))
        lines = [b"HTTP/1.1 400 Bad Request", b"connection: close"]
        lines += [name + b": " + value for name, value in [*answer.raw_headers, *HEADERS.items()]]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """No advice to install more: the request is answered as if it had not asked for another protocol."""
