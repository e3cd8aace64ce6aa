"""The collector's rate over HTTP next to its bare store's, by batch size, form and store, in one run.

The load generator is a process of its own with 16 connections on loopback (raw HTTP/1.1 over asyncio
streams). "Bare" is the store alone, without HTTP, in the same run: one batch per durable transaction; "bare,
grouped" puts as many batches into each transaction as there are connections, which is the most that the
collector's own grouping could reach. While batches of 1,000 come in, a dashboard polls the summary and the
estimates. `ten_million` sends as many reports. `survey` sends answers to five questions and to one in turns.
Results are written to benchmarks/results/collector_load.json, beside those of 0.1.0; from there
docs/measurements/collector.md takes its tables.

    python -m benchmarks.collector_load [--store sqlite] [--seconds S]
        [--part rates|dashboard|ten_million|survey]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
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
from benchmarks._machine import describe_machine
from sottovoce.collector import open_store, secret
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.store import Batch

TAKES = "6 min"

MECHANISM = sv.sw(epsilon=1.0, domain=(0, 24))
SURVEY = sv.Survey(5.0, dict.fromkeys("abcde", MECHANISM), sampled=5)
CONNECTIONS = 16
STORES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
FORMS = {"binary": "binary", "json": "JSON"}
RESULTS = Path(__file__).parent / "results" / "collector_load.json"
QUESTIONS = ("summary", "estimates?quantiles=0.5")


def body(size: int, form: str, rng: np.random.Generator) -> bytes:
    if form == "survey":
        rows = rng.integers(0, MECHANISM.cells, (size, SURVEY.width))
        rows += MECHANISM.cells * np.arange(SURVEY.width)
        return bytes.fromhex(SURVEY.digest) + rows.astype("<u4").tobytes()
    cells = rng.integers(0, MECHANISM.cells, size)
    if form == "json":
        return json.dumps({"digest": MECHANISM.digest, "cells": cells.tolist()}).encode()
    return bytes.fromhex(MECHANISM.digest) + cells.astype("<u2").tobytes()


async def _connection(
    port: int, token: str, size: int, form: str, until: float, seed: int, times: list[float]
) -> None:
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
            b"POST /v1/campaigns/%s/reports HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\n"
            b"Idempotency-Key: %s\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n"
            % (
                b"survey" if form == "survey" else b"trial",
                kind.encode(),
                os.urandom(16).hex().encode(),
                token.encode(),
                len(content),
            )
            + content
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        answer = await reader.readexactly(length)
        assert head.startswith(b"HTTP/1.1 200"), head + answer
        times.append(time.perf_counter() - begun)
    writer.close()


async def load(port: int, token: str, size: int, form: str, seconds: float) -> tuple[list[float], float]:
    """The time of each request, and of all together."""
    times: list[float] = []
    begun = time.perf_counter()
    connections = (
        _connection(port, token, size, form, begun + seconds, seed, times) for seed in range(CONNECTIONS)
    )
    await asyncio.gather(*connections)
    return times, time.perf_counter() - begun


def generate(port: int, token: str, size: int, form: str, seconds: float, out: Any) -> None:
    """Runs in a process of its own; sends back the time of each request."""
    out.put(asyncio.run(load(port, token, size, form, seconds)))


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


def bare(url: str, folder: Path, size: int, seconds: float, together: int = 1) -> float:
    """Reports per second of the store alone, so many batches in each transaction."""
    store = open_store(url).unlock(secret.load(Path(folder) / "secret"))
    names = {stored.name: stored.id for stored in store.campaigns()}
    campaign = names.get("bare") or create(store, MECHANISM, name="bare").id
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, MECHANISM.cells, size) for _ in range(8 * CONNECTIONS)]  # as many as over HTTP
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        group = [
            Batch(campaign, 20_000, batches[i % len(batches)], os.urandom(16), os.urandom(16), 20_008)
            for i in range(done, done + together)
        ]
        store.ingest(group)
        done += together
    rate = done * size / (time.perf_counter() - begun)
    store.close()
    return rate


def measure(server: Loaded, size: int, form: str, seconds: float) -> tuple[float, np.ndarray]:
    queue = multiprocessing.get_context("spawn").SimpleQueue()
    token = server.survey_token if form == "survey" else server.token
    arguments = (int(server.url.rsplit(":", 1)[1]), token, size, form, seconds, queue)
    process = multiprocessing.get_context("spawn").Process(target=generate, args=arguments)
    process.start()
    times, taken = queue.get()
    process.join()
    return len(times) * size / taken, np.array(times) * 1000


class Loaded(Server):
    """A collector with a number and a survey, and a token that writes to each."""

    def __init__(self, store: str, folder: Path) -> None:
        opened = open_store(store)
        campaign = create(opened, MECHANISM, collection="write")
        [self.token] = tokens.issue(opened, campaign.id, "write", 1)
        survey = create(opened, SURVEY, name="survey", collection="write")
        [self.survey_token] = tokens.issue(opened, survey.id, "write", 1)
        opened.close()
        super().__init__(store, folder)


def percentiles(times: np.ndarray) -> tuple[float, float]:
    """The median and the 99th percentile."""
    p50, p99 = np.percentile(times, [50, 99])
    return round(float(p50), 1), round(float(p99), 1)


def rates(url: str, server: Loaded, seconds: float) -> dict[str, Any]:
    """Reports per second and waiting times by batch and form, next to the bare store."""
    rows = []
    for size in (1, 100, 1000):
        folder = server.log.parent
        alone, grouped = bare(url, folder, size, seconds), bare(url, folder, size, seconds, CONNECTIONS)
        for form in ("json", "binary"):
            rate, times = measure(server, size, form, seconds)
            p50, p99 = percentiles(times)
            rows.append(
                {
                    "batch": size,
                    "form": form,
                    "reports_per_second": round(rate),
                    "bare": round(alone),
                    "bare_grouped": round(grouped),
                    "p50_ms": p50,
                    "p99_ms": p99,
                }
            )
            print(rows[-1], flush=True)
    return {"rows": rows}


def dashboard(url: str, server: Loaded, seconds: float) -> dict[str, Any]:
    """A dashboard's waiting time while batches of 1000 come in."""
    import threading

    found: dict[str, list[float]] = {}
    measure(server, 1000, "binary", 1.0)
    poll(server.url, time.perf_counter() + 0.1)  # the first estimate has nothing to fall back on
    until = time.perf_counter() + 3 * seconds
    thread = threading.Thread(target=lambda: found.update(poll(server.url, until)))
    thread.start()
    rate, _ = measure(server, 1000, "binary", 3 * seconds)
    thread.join()
    out: dict[str, Any] = {"reports_per_second": round(rate)}
    for name, what in zip(("summary", "estimates"), QUESTIONS, strict=True):
        p50, p99 = percentiles(np.array(found[what]))
        out[name] = {"reads": len(found[what]), "p50_ms": p50, "p99_ms": p99}
    print(out, flush=True)
    return out


def ten_million(url: str, server: Loaded, seconds: float) -> dict[str, Any]:
    """The times of all requests and of the last ones, and the collector's memory before and after."""
    measure(server, 1000, "binary", 1.0)
    before, times = server.memory, list[np.ndarray]()
    begun = time.perf_counter()
    while sum(map(len, times)) * 1000 < 10**7:
        rate, last = measure(server, 1000, "binary", 4 * seconds)
        times.append(last)
        print(f"{sum(map(len, times)) * 1000:,} reports, {rate:,.0f}/s", flush=True)
    every = np.concatenate(times)
    p50, p99 = percentiles(every)
    return {
        "reports": len(every) * 1000,
        "seconds": round(time.perf_counter() - begun),
        "p50_ms": p50,
        "p99_ms": p99,
        "last": {"reports_per_second": round(rate), "p99_ms": percentiles(times[-1])[1]},
        "memory_mb": {"before": before, "after": server.memory},
    }


def survey(url: str, server: Loaded, seconds: float) -> dict[str, Any]:
    """Answers per second to five questions beside those to one, by batch, in turns; medians of five."""
    rows = []
    for size in (1, 100, 1000):
        pairs = np.array(
            [[measure(server, size, form, seconds / 3)[0] for form in ("binary", "survey")] for _ in range(5)]
        )
        number, reports = np.median(pairs, axis=0)
        ratios = SURVEY.width * pairs[:, 1] / pairs[:, 0]
        row = {"batch": size, "number_per_second": round(number), "surveys_per_second": round(reports)}
        rows.append({**row, "answers_ratio": round(float(np.median(ratios)), 2)})
        print(rows[-1], np.sort(ratios).round(2).tolist(), flush=True)
    return {"questions": SURVEY.width, "rows": rows}


PARTS = {"rates": rates, "dashboard": dashboard, "ten_million": ten_million, "survey": survey}


def run(kind: str, part: str, seconds: float) -> dict[str, Any]:
    """One part on a new store of one kind."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        url = f"{name}/store.db"
        if kind == "postgresql":
            cluster = Cluster()
            stack.callback(cluster.remove)
            url = cluster.database()
        server = Loaded(url, Path(name))
        stack.callback(server.stop)
        return PARTS[part](url, server, seconds)


def tables(known: dict[str, Any]) -> list[str]:
    """The results as the Markdown that docs/measurements/collector.md shows, beside those of 0.1.0."""

    def measured(kind: str, part: str) -> list[tuple[str, Any]]:
        """The versions of which a part was measured, and the results."""
        every = ((version, known[version].get(kind, {})) for version in ("0.1.0", "now"))
        return [(version, parts[part]) for version, parts in every if part in parts]

    head = "| batch | store | version | HTTP | p50, p99 ms | bare | bare, grouped | HTTP / bare |"
    first = [head, "|---" * 8 + "|"]
    for place in range(6):
        for kind, name in STORES.items():
            for version, rates in measured(kind, "rates"):
                row = rates["rows"][place]
                ratio = row["reports_per_second"] / row["bare"]
                first.append(
                    f"| {row['batch']:,}, {FORMS[row['form']]} | {name} | {version} "
                    f"| {row['reports_per_second']:,} | {row['p50_ms']:g}, {row['p99_ms']:g} "
                    f"| {row['bare']:,} | {row['bare_grouped']:,} | {ratio:.1f} |"
                )
    head = "| store | version | reports | rate at the end | p50, p99 ms | memory before, after |"
    second = [head, "|---" * 6 + "|"]
    head = "| store | version | while storing | summary p50, p99 ms | estimates p50, p99 ms |"
    third = [head, "|---" * 5 + "|"]
    for kind, name in STORES.items():
        for version, row in measured(kind, "ten_million"):
            second.append(
                f"| {name} | {version} | {row['reports']:,} | {row['last']['reports_per_second']:,} "
                f"| {row['p50_ms']:g}, {row['p99_ms']:g} "
                f"| {row['memory_mb']['before']}, {row['memory_mb']['after']} MB |"
            )
        for version, row in measured(kind, "dashboard"):
            waits = [f"{row[what]['p50_ms']:g}, {row[what]['p99_ms']:g}" for what in ("summary", "estimates")]
            third.append(f"| {name} | {version} | {row['reports_per_second']:,} | {' | '.join(waits)} |")
    head = "| store | batch | numbers a second | surveys of five a second | answers, as a multiple |"
    fourth = [head, "|---" * 5 + "|"]
    for kind, name in STORES.items():
        for _, part in measured(kind, "survey"):
            fourth += [
                f"| {name} | {row['batch']:,} | {row['number_per_second']:,} | {row['surveys_per_second']:,} "
                f"| {row['answers_ratio']:g} |"
                for row in part["rows"]
            ]
    return ["\n".join(lines) for lines in (first, second, third, fourth)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--store", choices=STORES, action="append")
    parser.add_argument("--part", choices=list(PARTS), action="append")
    chosen = parser.parse_args(arguments or [])
    for kind in chosen.store or STORES:
        for part in chosen.part or PARTS:
            print(f"{kind}, {part}", flush=True)
            found = run(kind, part, chosen.seconds)
            print(found)
            known = json.loads(RESULTS.read_text())
            now = known.setdefault("now", {})
            now.setdefault(kind, {})[part] = found
            now["machine"] = f"{describe_machine()}, {os.cpu_count()} cores"
            RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
