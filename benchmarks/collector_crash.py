"""Kill −9 of the collector under load, 200 times on each store: nothing is lost, halved or doubled.

Six clients send batches of twenty reports; the collector is killed at a random moment after at least three
new acknowledgements, and started again. On PostgreSQL every fifth kill hits the database server itself. Half
of the clients repeat a request whose answer was lost, with its key; the others give up. Afterwards the
counters tell of each batch whether it was stored, not stored, stored in part or stored twice. Slow: ten
minutes and more.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.collector.cluster import Cluster
from tests.collector.crash import crash

from benchmarks._machine import describe_machine

TAKES = "10 min"
KILLS = 200
RESULTS = Path(__file__).parent / "results" / "collector_crash.md"


def main(kills: int = KILLS) -> None:
    lines, cluster = list[str](), Cluster()
    try:
        for kind in ("sqlite", "postgresql"):
            with tempfile.TemporaryDirectory() as name:
                store = f"{name}/store.db" if kind == "sqlite" else cluster.database()
                result = crash(store, Path(name), kills, cluster=cluster if kind == "postgresql" else None)
            found = asdict(result)
            if not lines:
                lines = [
                    f"| store | {' | '.join(found).replace('_', ' ')} |",
                    "|---" * (len(found) + 1) + "|",
                ]
            lines.append(f"| {kind} | {' | '.join(f'{number:,}' for number in found.values())} |")
            print("\n".join(lines[-1:]), flush=True)
            assert result.faults == 0
    finally:
        cluster.remove()
    if kills >= KILLS:
        about = (__doc__ or "").split("\n\n")[1].partition(" Slow:")[0]
        text = "\n".join(lines)
        RESULTS.write_text(f"# Kill −9 under load\n\n{about}\n\n{text}\n\n{describe_machine()}.\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
