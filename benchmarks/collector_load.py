"""The collector's rate over HTTP next to its bare store's, by batch size, form and store, in one run.

The load generator is a process of its own with 16 connections on loopback (raw HTTP/1.1 over asyncio
streams). "Bare" is the store alone, without HTTP, in the same run: one batch per durable transaction; "bare,
grouped" puts as many batches into each transaction as there are connections, which is the most that the
collector's own grouping could reach. While batches of 1,000 come in, a dashboard polls the summary and the
estimates. At last 10^7 reports are sent (not with `--short`). Results are written to
benchmarks/results/collector_load_*.md.

    python -m benchmarks.collector_load [--short] [--seconds S] [--store sqlite|postgresql]
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
from benchmarks.__main__ import describe_machine
from sottovoce.collector import open_store
from sottovoce.collector.store import Batch

TAKES = "3 min"

MECHANISM = sv.sw(epsilon=1.0, domain=(0, 24))
CONNECTIONS = 16
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
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


def poll(url: str, until: float) -> dict[str, list[float]]:
    """A dashboard: summary and estimates, again and again; milliseconds by question."""
    import urllib.request

    times: dict[str, list[float]] = {what: [] for what in QUESTIONS}
    while time.perf_counter() < until:
        for what in QUESTIONS:
            begun = time.perf_counter()
            urllib.request.urlopen(f"{url}/v1/campaigns/trial/{what}", timeout=120).read()
            times[what].append(1000 * (time.perf_counter() - begun))
        time.sleep(0.25)
    return times


def bare(url: str, size: int, seconds: float, together: int = 1) -> float:
    """Reports per second of the store alone, so many batches in each transaction."""
    store = open_store(url)
    found = store.campaign("bare")
    campaign = found.id if found else create(store, MECHANISM, name="bare").id
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, MECHANISM.cells, size) for _ in range(8)]
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        group = [
            Batch(campaign, 20_000, batches[i % 8], os.urandom(16), os.urandom(16), 20_008)
            for i in range(together)
        ]
        store.ingest(group)
        done += together
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


def run(kind: str, url: str, folder: Path, seconds: float, long: bool) -> str:
    """Everything about one store, as Markdown."""
    store = open_store(url)
    create(store, MECHANISM)
    store.close()
    server = Server(url, folder)
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    say("| store | batch | form | reports/s | bare | bare, grouped | ratio to bare | p50 ms | p99 ms |")
    say("|---|---|---|---|---|---|---|---|---|")
    for size in (1, 100, 1000):
        alone, grouped = bare(url, size, seconds), bare(url, size, seconds, CONNECTIONS)
        for form in ("json", "binary"):
            rate, times = measure(server.url, size, form, seconds)
            p50, p99 = np.percentile(times, [50, 99])
            say(
                f"| {NAMES[kind]} | {size:,} | {form} | {rate:,.0f} | {alone:,.0f} | {grouped:,.0f} "
                f"| {rate / alone:.2f} | {p50:.1f} | {p99:.1f} |"
            )
    say("")
    say(reading(server, seconds))
    if long:
        say("")
        say(hold(server))
    server.stop()
    return "\n".join(lines)


def reading(server: Server, seconds: float) -> str:
    """A dashboard's waiting time while batches of 1000 come in."""
    import threading

    found: dict[str, list[float]] = {}
    poll(server.url, time.perf_counter() + 0.1)  # the first estimate has nothing to fall back on
    until = time.perf_counter() + 3 * seconds
    thread = threading.Thread(target=lambda: found.update(poll(server.url, until)))
    thread.start()
    rate, _ = measure(server.url, 1000, "binary", 3 * seconds)
    thread.join()
    waits = [
        f"{name} p50 {np.percentile(found[what], 50):.0f} ms, p99 {np.percentile(found[what], 99):.0f} ms "
        f"({len(found[what])} reads)"
        for name, what in zip(("summary", "estimates"), QUESTIONS, strict=True)
    ]
    return f"A dashboard that polled while {rate:,.0f} reports/s came in: {'; '.join(waits)}."


def hold(server: Server, reports: int = 10**7) -> str:
    """Ten million reports: the times of all requests and of the last, and the memory before and after."""
    before, times = memory(server), list[np.ndarray]()
    begun = time.perf_counter()
    while sum(map(len, times)) * 1000 < reports:
        rate, last = measure(server.url, 1000, "binary", 20.0)
        times.append(last)
    taken = time.perf_counter() - begun
    every = np.concatenate(times)
    after = memory(server)
    return (
        f"{len(every) * 1000:,} reports in batches of 1,000, binary, in {taken:.0f} s: p50 "
        f"{np.percentile(every, 50):.1f} ms, p99 {np.percentile(every, 99):.1f} ms; in the last 20 s "
        f"{rate:,.0f} reports/s, p99 {np.percentile(times[-1], 99):.1f} ms; memory of the collector "
        f"{before:.0f} MB before, {after:.0f} MB after."
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--store", choices=list(NAMES), action="append")
    chosen = parser.parse_args(arguments or [])
    for kind in chosen.store or list(NAMES):
        with tempfile.TemporaryDirectory() as name:
            cluster = Cluster() if kind == "postgresql" else None
            url = cluster.database() if cluster else f"{name}/store.db"
            try:
                text = run(kind, url, Path(name), chosen.seconds, not chosen.short)
            finally:
                if cluster:
                    cluster.remove()
        if not chosen.short:
            about = (__doc__ or "").split("\n\n")[1].rpartition(" Results are")[0]
            head = f"# The collector under load: {NAMES[kind]}\n\n{about}"
            path = Path(__file__).parent / "results" / f"collector_load_{kind}.md"
            path.write_text(f"{head}\n\n{text}\n\n{describe_machine()}, {os.cpu_count()} cores.\n")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
