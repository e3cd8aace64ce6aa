"""Kill −9 of the collector under load, hundreds of times: nothing is lost, halved, doubled or misplaced.

Twelve clients send batches to seven campaigns: public and private, numbers, choices and a survey, some so
small that they wait in pools, some all of the same cells; the clock changes between two days. The collector
is killed at a random moment after at least three new acknowledgements, and started again. On PostgreSQL
every fifth kill hits the database server itself. Half of the clients repeat a request whose answer was lost,
with its key; the others give up. Afterwards the counters tell of each batch whether it was stored, not
stored, stored in part, stored twice, or counted for another campaign; and on each day the counts have to add
up.

The kills are many parts, each on a new store; every part is kept in
benchmarks/results/collector_crash.json as soon as it is done, so that a run can be continued:

    python -m benchmarks.collector_crash [--store sqlite] [--kills 300] [--part 50]
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.collector.cluster import Cluster
from tests.collector.crash import crash

from benchmarks._machine import describe_machine
from benchmarks._parts import Parts
from benchmarks.collector_load import STORES

TAKES = "20 min"
RESULTS = Parts(Path(__file__).parent / "results" / "collector_crash.json")


def part(kind: str, kills: int) -> dict[str, int]:
    """So many kills on a new store."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        cluster = None
        store = f"{name}/store.db"
        if kind == "postgresql":
            cluster = Cluster()
            stack.callback(cluster.remove)
            store = cluster.database()
        result = crash(store, Path(name), kills, cluster=cluster)
    assert result.faults == 0, result
    return asdict(result)


def table() -> str:
    """The sums of all parts as the Markdown that docs/measurements/collector.md shows."""
    columns = (
        "kills",
        "of_the_server",
        "acknowledged",
        "lost",
        "partial",
        "twice",
        "of_another_campaign",
    )
    lines = [f"| store | {' | '.join(columns).replace('_', ' ')} |", "|---" * (len(columns) + 1) + "|"]
    for kind, name in STORES.items():
        total = RESULTS.total(kind)
        lines.append(f"| {name} | {' | '.join(f'{total[column]:,}' for column in columns)} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=STORES, action="append")
    parser.add_argument("--kills", type=int, default=300, help="stop when so many are kept")
    parser.add_argument("--part", type=int, default=50, help="so many on each new store")
    chosen = parser.parse_args(arguments or [])
    for kind in chosen.store or STORES:
        while (left := chosen.kills - RESULTS.total(kind)["kills"]) > 0:
            RESULTS.add(kind, part(kind, min(left, chosen.part)), describe_machine())
            print(kind, RESULTS.total(kind), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
