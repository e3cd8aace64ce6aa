"""A disk that is full again and again: what is acknowledged is stored, the rest refused, and it recovers.

Batches of 1,000 reports are sent one after the other. Every round the disk is full for three of them: no file
of the collector (SQLite) or of the database's processes (PostgreSQL) may grow, as RLIMIT_FSIZE does it. Then
there is room again, and batches are sent until one is stored. Both this version and 0.1.0 are run, on each
store; at the end the collector's own total must be that of the acknowledged batches. Results are written to
benchmarks/results/collector_disk.json.

    python -m benchmarks.collector_disk [--rounds 20]
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from tests.collector.cluster import Cluster
from tests.collector.service import new_key
from tests.collector.test_durability import no_file_grows

from benchmarks._machine import describe_machine
from benchmarks.collector_load import STORES, body
from benchmarks.collector_rates import BEFORE, HERE, Version, checkout, running

TAKES = "4 min"
RESULTS = Path(__file__).parent / "results" / "collector_disk.json"
BATCH, WHILE_FULL = 1000, 3


def backends(url: str) -> list[int]:
    """The processes of PostgreSQL that serve the collector."""
    with psycopg.connect(url) as connection:
        query = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return [pid for (pid,) in connection.execute(query)]


def post(version: Version, rng: np.random.Generator) -> int:
    """The status of one batch, on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", version.port, timeout=60)
    headers = {
        "Content-Type": "application/vnd.sottovoce.cells",
        "Idempotency-Key": new_key(),
        "Authorization": f"Bearer {version.token}",
    }
    with contextlib.closing(connection):
        connection.request("POST", "/v1/campaigns/trial/reports", body(BATCH, "binary", rng), headers)
        return connection.getresponse().status


def fill(kind: str, tree: Path, rounds: int) -> dict[str, Any]:
    """A version on a new store, and a disk that is full so many times."""
    rng = np.random.default_rng(1)
    statuses: Counter[int] = Counter()
    waits = []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        url, owner = f"{name}/store.db", dict[str, Any]()
        if kind == "postgresql":
            cluster = Cluster()
            stack.callback(cluster.remove)
            url, owner = cluster.database(), cluster.owner
        version = stack.enter_context(running(tree, url, Path(name) / "collector"))
        statuses[post(version, rng)] += 1
        for _ in range(rounds):
            processes = [version.pid] if kind == "sqlite" else backends(url)
            with no_file_grows(owner, *processes):
                statuses.update(post(version, rng) for _ in range(WHILE_FULL))
            begun, status = time.perf_counter(), 0
            while status != 200:
                status = post(version, rng)
                statuses[status] += 1
            waits.append(time.perf_counter() - begun)
        answer = urllib.request.urlopen(f"http://127.0.0.1:{version.port}/v1/campaigns/trial/summary").read()
        stored = json.loads(answer)["n"]
    assert stored == BATCH * statuses[200], (stored, statuses)
    return {
        "full": rounds,
        "acknowledged": statuses[200],
        "refused": statuses[503],
        "other": statuses.total() - statuses[200] - statuses[503],
        "stored": stored,
        "recovery_ms": round(1000 * float(np.median(waits))),
    }


def table(known: dict[str, Any]) -> str:
    """The results as the Markdown that docs/measurements/collector.md shows."""
    lines = [
        "| store | version | full | acknowledged | refused | reports stored | next one stored after, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, name in STORES.items():
        for version, row in known[kind].items():
            figures = [row[key] for key in ("full", "acknowledged", "refused", "stored", "recovery_ms")]
            lines.append(f"| {name} | {version} | {' | '.join(f'{number:,}' for number in figures)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    chosen = parser.parse_args(arguments or [])
    with tempfile.TemporaryDirectory() as name:
        trees = {"0.1.0": checkout(BEFORE, Path(name) / "tree"), "now": HERE}
        known: dict[str, Any] = {"machine": describe_machine()}
        for kind in STORES:
            known[kind] = {version: fill(kind, tree, chosen.rounds) for version, tree in trees.items()}
            print(kind, known[kind], flush=True)
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
