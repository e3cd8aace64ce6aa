"""A collector for tests of clients: it describes one campaign and remembers what it was sent."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from sottovoce.reporters.contract import Reporter


class Collector:
    """A server on loopback.

    Attributes:
        sent: Token, key and body of every report.
        statuses: What to answer to the next reports; 200 when there is nothing left.
        drip: Where to answer for ever, a byte now and then: "head", "body", or nowhere.
    """

    def __init__(self, reporter: Reporter, **rules: Any) -> None:
        self.sent: list[tuple[str | None, str, bytes]] = []
        self.statuses: list[int] = []
        self.drip = ""
        self.over = threading.Event()
        self.description = {"missing": "uniform", "outside": "clip", **rules}
        self.description |= {"spec": reporter.to_json(), "digest": reporter.digest}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.answer(200, collector.description)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                token = self.headers["Authorization"]
                collector.sent.append((token, self.headers["Idempotency-Key"], body))
                status = collector.statuses.pop(0) if collector.statuses else 200
                self.answer(status, {"code": "no", "message": "", "field": None})

            def answer(self, status: int, content: Any) -> None:
                body = json.dumps(content).encode()
                if collector.drip == "head":
                    self.drip(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                    return
                self.send_response(status)
                self.send_header("Content-Length", str(1 << 20 if collector.drip else len(body)))
                if collector.drip:
                    self.send_header("Connection", "close")
                self.end_headers()
                if collector.drip:
                    self.drip(b"{")
                else:
                    self.wfile.write(body)

            def drip(self, first: bytes) -> None:
                self.close_connection = True
                try:
                    self.wfile.write(first)
                    while not collector.over.is_set():
                        self.wfile.write(b" ")
                        time.sleep(0.01)
                except OSError:
                    return

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def __enter__(self) -> Collector:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
