"""A million broken requests to the collector over real sockets: no 500, exact counts, memory flat.

`sottovoce serve` runs as a process of its own on the embedded store; this process makes the requests of
tests/collector/fuzz.py and sends them over 16 connections, sixteen at a time before it reads the answers.
Every answer is judged (below 500, the one error shape), every tenth of the way the stored reports are
compared with the acknowledged ones, and at the end the log must not hold an exception. The campaign shows
nothing below 10^9 reports, so no solver runs: this is about requests.

A million requests are many parts, each with a seed and a collector of its own; every part is kept in
benchmarks/results/collector_fuzz.json as soon as it is done, so that a run can be continued:

    python -m benchmarks.collector_fuzz [--requests 1000000] [--part 200000]
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.collector.fuzz import Fuzzer, Request
from tests.collector.service import Server, create
from tests.collector.test_fuzz import judge

import sottovoce as sv
from benchmarks._machine import describe_machine
from benchmarks._parts import Parts
from sottovoce.collector import open_store
from sottovoce.collector.campaigns import tokens

TAKES = "20 min"
CONNECTIONS, AT_ONCE = 16, 16
MECHANISM = sv.sw(epsilon=1.0, cells=1000)
RESULTS = Parts(Path(__file__).parent / "results" / "collector_fuzz.json")


def wire(request: Request) -> bytes:
    """The request as bytes; header values may hold what a well-behaved client would not send.

    It is always HTTP: what is not never reaches a collector, whose proxy answers it.
    """
    lines = [
        f"{request.method} {quote(request.path, safe='/%')} HTTP/1.1",
        "Host: x",
        f"Content-Length: {len(request.body)}",
    ]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + request.body


async def exchange(port: int, requests: list[Request]) -> list[tuple[int, bytes]]:
    """(status, body) of each request, all sent at once; those behind an answer that closes are sent again."""
    answers: list[tuple[int, bytes]] = []
    while len(answers) < len(requests):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        begun = len(answers)
        try:
            writer.write(b"".join(map(wire, requests[begun:])))
            for request in requests[begun:]:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"\r\ncontent-length: ")[1].split(b"\r\n")[0])
                has_body = request.method != "HEAD" and head[9:12] not in (b"204", b"304")
                answers.append((int(head[9:12]), await reader.readexactly(length) if has_body else b""))
        except (asyncio.IncompleteReadError, ConnectionError):
            assert len(answers) > begun, f"no answer: {requests[begun]}"
        finally:
            writer.close()
    return answers


async def send(port: int, fuzzer: Fuzzer, count: int, statuses: Counter[str]) -> int:
    """Reports accepted of so many requests."""
    accepted = 0
    for _ in range(count // AT_ONCE):
        requests = [fuzzer.request() for _ in range(AT_ONCE)]
        for request, (status, body) in zip(requests, await exchange(port, requests), strict=True):
            statuses[str(status)] += 1
            accepted += judge(request, status, json.loads(body) if body.startswith(b"{") else None)
    return accepted


async def part(folder: Path, seed: int, requests: int) -> dict[str, Any]:
    """So many requests of one seed to a new collector."""
    store = open_store(folder / "store.db")
    campaign = create(store, MECHANISM, min_n=10**9, collection="write")
    [token] = tokens.issue(store, campaign.id, "write", 1)
    server = Server(str(folder / "store.db"), folder)
    atexit.register(server.kill)  # also if an answer is wrong
    store.unlock((folder / "secret").read_bytes())
    port = int(server.url.rsplit(":", 1)[1])
    fuzzer = Fuzzer(MECHANISM.digest, MECHANISM.cells, seed=seed, token=token)
    statuses: Counter[str] = Counter()
    memory, accepted, begun = list[int](), 0, time.perf_counter()
    share = -(-requests // (10 * CONNECTIONS * AT_ONCE)) * AT_ONCE
    for _ in range(10):
        accepted += sum(
            await asyncio.gather(*(send(port, fuzzer, share, statuses) for _ in range(CONNECTIONS)))
        )
        assert store.reports(campaign.id) == accepted
        memory.append(server.memory)
        print(statuses.total(), accepted, memory[-1], flush=True)
    seconds = time.perf_counter() - begun
    assert server.stop() == 0
    assert '"failed"' not in server.log.read_text()
    return {
        "seed": str(seed),
        "requests": statuses.total(),
        "stored": accepted,
        "seconds": round(seconds),
        "statuses": dict(sorted(statuses.items())),
        "memory_mb": memory,
    }


def table() -> str:
    """The parts as the Markdown that docs/measurements/collector.md shows."""
    lines = ["| seed | requests | reports stored | memory, MB, after each tenth |", "|---|---|---|---|"]
    for one in RESULTS.read("parts"):
        memory = ", ".join(map(str, one["memory_mb"]))
        lines.append(f"| {one['seed']} | {one['requests']:,} | {one['stored']:,} | {memory} |")
    total = RESULTS.total("parts")
    lines.append(f"| all | {total['requests']:,} | {total['stored']:,} | |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=1_000_000, help="stop when so many are kept")
    parser.add_argument("--part", type=int, default=200_000, help="so many to each new collector")
    chosen = parser.parse_args(arguments or [])
    while (left := chosen.requests - RESULTS.total("parts")["requests"]) > 0:
        seed = 1 + len(RESULTS.read("parts"))
        with tempfile.TemporaryDirectory() as folder:
            result = asyncio.run(part(Path(folder), seed, min(left, chosen.part)))
        RESULTS.add("parts", result, describe_machine())


if __name__ == "__main__":
    main(sys.argv[1:])
