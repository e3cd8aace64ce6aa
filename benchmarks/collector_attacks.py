"""The collector's memory and its answering time while anybody attacks it: flat, and short.

`sottovoce serve` runs as a process of its own on the embedded store, behind nginx with the documented
configuration. Each attack of tests/collector that costs memory or time is run against both for some seconds,
from sockets without a token, while a client at another address asks for the health of the service every tenth
of a second. The table has the collector's resident memory before and after, and the longest wait for health.
Results are written to benchmarks/results/collector_attacks.json, beside those of 0.1.0.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import os
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.collector.proxy import nginx
from tests.collector.service import Server, create

import sottovoce as sv
from benchmarks._machine import describe_machine
from sottovoce.collector import open_store

TAKES = "30 s"
MECHANISM = sv.sw(epsilon=1.0, cells=1000)
RESULTS = Path(__file__).parent / "results" / "collector_attacks.json"
SECONDS = 2.0
TLS = ssl.create_default_context()


def connect(port: int) -> socket.socket:
    """A connection to nginx."""
    return TLS.wrap_socket(socket.create_connection(("127.0.0.1", port), 5), server_hostname="localhost")


def post(path: str, body: bytes, *headers: str) -> bytes:
    lines = [f"POST /v1/campaigns/trial/{path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers]
    lines.append(f"Idempotency-Key: {os.urandom(16).hex()}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def bombs(port: int) -> None:
    """A kilobyte of gzip that is half a million cells."""
    cells = gzip.compress(b'{"digest":"%s","cells":[%s0]}' % (MECHANISM.digest.encode(), b"0," * 524_000))
    repeat(port, lambda: post("reports", cells, "Content-Type: application/json", "Content-Encoding: gzip"))


def bodies(port: int) -> None:
    """A megabyte of JSON, sent to an open campaign."""
    cells = b'{"digest":"%s","cells":[%s0]}' % (MECHANISM.digest.encode(), b"0," * 500_000)
    repeat(port, lambda: post("reports", cells, "Content-Type: application/json"))


def trailers(port: int) -> None:
    """Trailers without end."""
    head = b"POST /v1/campaigns/trial/reports HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    repeat(port, lambda: head + (b"X: " + b"a" * 1000 + b"\r\n") * 2000)


def heads(port: int) -> None:
    """Heads of two megabytes."""
    repeat(port, lambda: b"GET / HTTP/1.1\r\n" + (b"X: " + b"a" * 1000 + b"\r\n") * 2000)


def counts(port: int) -> None:
    """Sixteen at once ask for all counts."""
    repeat(port, lambda: b"GET /v1/campaigns/trial/counts HTTP/1.1\r\nHost: x\r\n\r\n", at_once=16)


def questions(port: int) -> None:
    """Estimates, each with other bins, from sockets that close at once."""
    number = iter(range(10**9))
    request = "GET /v1/campaigns/trial/estimates?bins=%d HTTP/1.1\r\nHost: x\r\n\r\n"
    repeat(port, lambda: (request % (4 + next(number) % 1000)).encode(), listen=False)


def silent(port: int) -> None:
    """Two thousand sockets that say nothing, or stop in the middle of a body."""
    with contextlib.ExitStack() as stack:
        for number in range(2000):
            with contextlib.suppress(OSError):
                if number % 2:
                    stack.enter_context(connect(port)).sendall(post("reports", bytes(1000))[:-500])
                else:
                    stack.enter_context(socket.create_connection(("127.0.0.1", port), 5))
        time.sleep(SECONDS)


ATTACKS = (bombs, bodies, trailers, heads, counts, questions, silent)


def repeat(port: int, make: Callable[[], bytes], at_once: int = 4, *, listen: bool = True) -> None:
    """Send requests on new connections for some seconds."""
    until = time.monotonic() + SECONDS

    def work() -> None:
        while time.monotonic() < until:
            with contextlib.suppress(OSError), connect(port) as connection:
                connection.sendall(make())
                if listen:
                    connection.recv(4096)
            time.sleep(0.01)

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextlib.contextmanager
def watched(port: int) -> Iterator[list[float]]:
    """The waits for health, in seconds, while something else goes on."""
    waits, stop = [0.0], threading.Event()

    def ask() -> None:
        while not stop.wait(0.1):
            begun = time.monotonic()
            connection = http.client.HTTPSConnection(
                "localhost", port, timeout=120, source_address=("127.0.0.2", 0), context=TLS
            )
            connection.request("GET", "/v1/health")
            assert connection.getresponse().status == 200
            connection.close()
            waits.append(time.monotonic() - begun)

    thread = threading.Thread(target=ask)
    thread.start()
    yield waits
    stop.set()
    thread.join()


def table() -> str:
    """The results as the Markdown that docs/measurements/collector.md shows."""
    known = json.loads(RESULTS.read_text())
    lines = [
        "| attack | memory before, after, MB | longest wait for health, s | of 0.1.0 |",
        "|---|---|---|---|",
    ]
    for about, (before, after, wait) in known["now"].items():
        old = "{}, {}; {:.2f}".format(*known["0.1.0"][about])
        lines.append(f"| {about} | {before}, {after} | {wait:.2f} | {old} |")
    return "\n".join(lines)


def main() -> None:
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        store = open_store(f"{name}/store.db")
        create(store, MECHANISM, collection="open")
        store.close()
        server = Server(f"{name}/store.db", Path(name))
        with nginx(Path(name), server.url) as url:
            TLS.load_verify_locations(f"{name}/fullchain.pem")
            port = int(url.rsplit(":", 1)[1])
            for attack in ATTACKS:
                before = server.memory
                with watched(port) as waits:
                    attack(port)
                rows[(attack.__doc__ or "").strip(".")] = [before, server.memory, round(max(waits), 2)]
                print(attack.__name__, *rows.values(), flush=True)
        assert server.stop() == 0
    known = json.loads(RESULTS.read_text()) | {"now": rows, "machine": describe_machine()}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
