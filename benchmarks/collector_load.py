"""The collector's rate over HTTP next to its bare store's, by batch size, form and store, in one run.

The load generator is a process of its own with several connections on loopback (raw HTTP/1.1 over asyncio
streams). "bare" is the store alone: one batch per durable transaction, no HTTP. While the last row of each
store runs, a reader polls the summary and the estimates as a dashboard does. `--long` stores 10^7 reports.

    python -m benchmarks.collector_load [--long] [--seconds S]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from tests.collector.cluster import Cluster
from tests.collector.service import Server, create

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.store import Batch

TAKES = "3 min"

MECHANISM = sv.sw(epsilon=1.0, domain=(0, 24))
CONNECTIONS = 16
QUESTIONS = ("summary", "estimates?quantiles=0.5")


def body(size: int, form: str, rng: np.random.Generator) -> bytes:
    cells = rng.integers(0, MECHANISM.cells, size)
    if form == "json":
        return json.dumps({"digest": MECHANISM.digest, "cells": cells.tolist()}).encode()
    return bytes.fromhex(MECHANISM.digest) + cells.astype("<u2").tobytes()


async def _connection(port: int, size: int, form: str, until: float, seed: int, times: list[float]) -> None:
    kind = "application/json" if form == "json" else "application/vnd.sottovoce.cells"
    rng = np.random.default_rng(seed)
    bodies = [body(size, form, rng) for _ in range(8)]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while time.perf_counter() < until:
        content = bodies[number % len(bodies)]
        number += 1
        begun = time.perf_counter()
        writer.write(
            b"POST /v1/campaigns/trial/reports HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
            b"Idempotency-Key: %s\r\nContent-Length: %d\r\n\r\n"
            % (kind.encode(), os.urandom(16).hex().encode(), len(content))
            + content
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        answer = await reader.readexactly(length)
        assert head.startswith(b"HTTP/1.1 200"), head + answer
        times.append(time.perf_counter() - begun)
    writer.close()


def generate(port: int, size: int, form: str, seconds: float, out: Any) -> None:
    """Runs in a process of its own; sends back the time of each request."""

    async def work() -> list[float]:
        times: list[float] = []
        until = time.perf_counter() + seconds
        await asyncio.gather(*(_connection(port, size, form, until, s, times) for s in range(CONNECTIONS)))
        return times

    begun = time.perf_counter()
    times = asyncio.run(work())
    out.put((times, time.perf_counter() - begun))


def poll(url: str, until: float) -> list[float]:
    """A dashboard: summary and estimates, again and again."""
    import urllib.request

    times = []
    while time.perf_counter() < until:
        for what in QUESTIONS:
            begun = time.perf_counter()
            urllib.request.urlopen(f"{url}/v1/campaigns/trial/{what}", timeout=120).read()
            times.append(time.perf_counter() - begun)
        time.sleep(0.25)
    return times


def bare(url: str, size: int, seconds: float) -> float:
    """Reports per second of the store alone."""
    store = open_store(url)
    found = store.campaign("bare")
    campaign = found.id if found else create(store, MECHANISM, name="bare").id
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, MECHANISM.cells, size) for _ in range(8)]
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        cells = batches[done % len(batches)]
        store.ingest([Batch(campaign, 20_000, cells, os.urandom(16), os.urandom(16), 20_008)])
        done += 1
    rate = done * size / (time.perf_counter() - begun)
    store.close()
    return rate


def measure(url: str, size: int, form: str, seconds: float) -> tuple[float, np.ndarray]:
    queue = multiprocessing.get_context("spawn").SimpleQueue()
    arguments = (int(url.rsplit(":", 1)[1]), size, form, seconds, queue)
    process = multiprocessing.get_context("spawn").Process(target=generate, args=arguments)
    process.start()
    times, taken = queue.get()
    process.join()
    return len(times) * size / taken, np.array(times) * 1000


def memory(server: Server) -> float:
    """Resident megabytes of the collector."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def run(kind: str, url: str, folder: Path, seconds: float, long: bool) -> None:
    store = open_store(url)
    create(store, MECHANISM)
    store.close()
    server = Server(url, folder)
    names = ("reports/s", "bare", "ratio", "p50 ms", "p99 ms")
    print(f"{kind:<11}{'batch':>6} {'form':<7}" + "".join(f"{name:>11}" for name in names))
    for size in (1, 100, 1000):
        alone = bare(url, size, seconds)
        for form in ("json", "binary"):
            rate, times = measure(server.url, size, form, seconds)
            p50, p99 = np.percentile(times, [50, 99])
            ratio = rate / alone
            print(
                f"{'':<11}{size:>6} {form:<7}{rate:>11,.0f}{alone:>11,.0f}{ratio:>11.2f}"
                f"{p50:>11.1f}{p99:>11.1f}"
            )
    reading(server, seconds)
    print(f"{'':<11}memory {memory(server):.0f} MB")
    if long:
        hold(server)
    server.stop()


def reading(server: Server, seconds: float) -> None:
    """A dashboard's waiting time while batches of 1000 come in."""
    import threading

    found: list[float] = []
    poll(server.url, time.perf_counter() + 0.1)  # the first estimate has nothing to fall back on
    until = time.perf_counter() + 2 * seconds
    thread = threading.Thread(target=lambda: found.extend(poll(server.url, until)))
    thread.start()
    rate, _ = measure(server.url, 1000, "binary", 2 * seconds)
    thread.join()
    p50, p99 = np.percentile(np.array(found) * 1000, [50, 99])
    print(
        f"{'':<11}{len(found)} dashboard reads at {rate:,.0f} reports/s: p50 {p50:.0f} ms, p99 {p99:.0f} ms"
    )


def hold(server: Server, reports: int = 10**7) -> None:
    """Ten million reports: the last part's times and the memory before and after."""
    before, sent, last = memory(server), 0, np.zeros(1)
    begun = time.perf_counter()
    while sent < reports:
        rate, last = measure(server.url, 1000, "binary", 20.0)
        sent += len(last) * 1000
    taken = time.perf_counter() - begun
    print(
        f"{'':<11}{sent:,} reports in {taken:.0f} s; at the end p99 {np.percentile(last, 99):.1f} ms, "
        f"{rate:,.0f}/s; memory {before:.0f} → {memory(server):.0f} MB"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], action="append")
    chosen = parser.parse_args(arguments or [])
    for kind in chosen.store or ["sqlite", "postgresql"]:
        with tempfile.TemporaryDirectory() as name:
            cluster = Cluster() if kind == "postgresql" else None
            url = cluster.database() if cluster else f"{name}/store.db"
            try:
                run(kind, url, Path(name), chosen.seconds, chosen.long)
            finally:
                if cluster:
                    cluster.remove()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
