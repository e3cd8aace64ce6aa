"""A million broken requests to the collector over real sockets: no 500, exact counts, memory flat.

`sottovoce serve` runs as a process of its own on the embedded store; this process makes the requests of
tests/collector/fuzz.py and sends them over 64 connections that are kept open for as long as the collector
keeps them. Every answer is judged (below 500, the one error shape), every tenth of the way the stored
reports are compared with the acknowledged ones, and at the end the log must not hold an exception. The
campaign shows nothing below 10^9 reports, so no solver runs: this is about requests. Results are written to
benchmarks/results/collector_fuzz.md unless another number of requests is given:

    python -m benchmarks.collector_fuzz 100000
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.collector.fuzz import Fuzzer, Request
from tests.collector.service import Server, create
from tests.collector.test_fuzz import judge

import sottovoce as sv
from benchmarks._machine import describe_machine
from sottovoce.collector import open_store, tokens

TAKES = "20 min"

CONNECTIONS = 64
MECHANISM = sv.sw(epsilon=1.0, cells=1000)
RESULTS = Path(__file__).parent / "results" / "collector_fuzz.md"


def resident(server: Server) -> float:
    """Megabytes of the collector."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def wire(request: Request) -> bytes:
    """The request as bytes; header values may hold what a well-behaved client would not send."""
    lines = [f"{request.method} {request.path} HTTP/1.1", "Host: x", f"Content-Length: {len(request.body)}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + request.body


class Connection:
    """Sends requests one after the other; opened again when the collector closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: Request) -> tuple[int, bytes]:
        """(status, body). A request that met a connection which was being closed is sent again."""
        for _ in range(3):
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            try:
                writer.write(wire(request))
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
            except (asyncio.IncompleteReadError, ConnectionError):
                self.close()
                continue
            length = int(head.split(b"\r\ncontent-length: ")[1].split(b"\r\n")[0])
            has_body = request.method != "HEAD" and head[9:12] not in (b"204", b"304")
            body = await reader.readexactly(length) if has_body else b""
            if b"\r\nconnection: close" in head:
                self.close()
            return int(head[9:12]), body
        raise AssertionError(f"no answer: {request}")

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


async def send(port: int, fuzzer: Fuzzer, count: int, statuses: Counter[int]) -> int:
    """Reports accepted of so many requests over one connection."""
    connection, accepted = Connection(port), 0
    for _ in range(count):
        request = fuzzer.request()
        status, body = await connection.ask(request)
        statuses[status] += 1
        content = json.loads(body) if body.startswith(b"{") else None
        accepted += judge(request, status, content)
    connection.close()
    return accepted


async def run(folder: Path, requests: int) -> str:
    store = open_store(folder / "store.db")
    campaign = create(store, MECHANISM, min_n=10**9, collection="write")
    [token] = tokens.issue(store, campaign.id, "write", 1)
    server = Server(str(folder / "store.db"), folder)
    store.unlock((folder / "secret").read_bytes())
    port = int(server.url.rsplit(":", 1)[1])
    fuzzer = Fuzzer(MECHANISM.digest, MECHANISM.cells, seed=2, token=token)
    statuses: Counter[int] = Counter()
    lines = ["| requests | reports stored | requests/s | collector's memory, MB |", "|---|---|---|---|"]
    accepted, begun, share = 0, time.perf_counter(), -(-requests // (10 * CONNECTIONS))
    for tenth in range(1, 11):
        accepted += sum(
            await asyncio.gather(*(send(port, fuzzer, share, statuses) for _ in range(CONNECTIONS)))
        )
        stored = store.reports(campaign.id)
        assert stored == accepted
        done = tenth * share * CONNECTIONS
        rate = done / (time.perf_counter() - begun)
        lines.append(f"| {done:,} | {stored:,} | {rate:,.0f} | {resident(server):.0f} |")
        print(lines[-1], flush=True)
    taken = time.perf_counter() - begun
    assert server.stop() == 0
    assert '"failed"' not in server.log.read_text()
    found = ", ".join(f"{status}: {number:,}" for status, number in sorted(statuses.items()))
    lines += ["", f"Statuses: {found}.", "", f"{taken:.0f} s; {describe_machine()}."]
    return "\n".join(lines)


def main(requests: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = asyncio.run(run(Path(folder), requests))
    print(text)
    if requests == 1_000_000:
        head = "# Broken requests to the collector\n\n" + (__doc__ or "").split("\n\n")[1]
        RESULTS.write_text(f"{head.rpartition(' Results are')[0]}\n\n{text}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
