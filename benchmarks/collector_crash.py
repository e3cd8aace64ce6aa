"""Kill −9 of the collector under load, 200 times on each store: nothing is lost, halved or doubled.

On PostgreSQL every fifth kill hits the database server itself. Slow: about ten minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.collector.cluster import Cluster
from tests.collector.crash import crash

TAKES = "10 min"

KILLS = 200


def main(kills: int = KILLS) -> None:
    cluster = Cluster()
    try:
        for kind in ("sqlite", "postgresql"):
            with tempfile.TemporaryDirectory() as name:
                store = f"{name}/store.db" if kind == "sqlite" else cluster.database()
                result = crash(store, Path(name), kills, cluster=cluster if kind == "postgresql" else None)
            print(f"{kind:<11} {result}")
            assert result.faults == 0
    finally:
        cluster.remove()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
