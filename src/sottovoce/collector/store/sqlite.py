"""SQLite: the embedded store. Write-ahead log, a sync to disk at every commit, deleted rows overwritten."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

#: Options of a connection whose transactions see one state of everything: those of SQLite always do.
SNAPSHOT: dict[str, str] = {}
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "secure_delete=ON",
    "busy_timeout=10000",
    "cache_size=-65536",
)
_MODE = 0o600  # of a new file: only its owner may read it
_ADD = (
    "INSERT INTO counts (campaign, day, cell, count) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (campaign, day, cell) DO UPDATE SET count = count + excluded.count"
)


def engine(url: URL) -> Engine:
    """Connections to the file; SQLite gives the files beside it the same mode."""
    os.close(os.open(str(url.database), os.O_RDWR | os.O_CREAT, _MODE))
    pool = create_engine(url, pool_size=8, max_overflow=32)

    @event.listens_for(pool, "connect")
    def _configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where this code says
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").fetchall()

    @event.listens_for(pool, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return pool


def add_counts(
    connection: Connection, campaign: int, day: int, cells: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[int, int]:
    """Add to the counters, cells in increasing order (neighbouring pages).

    Returns:
        How many counters were changed, and the sum of the numbers that were bound.
    """
    rows = [
        (campaign, day, cell, number) for cell, number in zip(cells.tolist(), numbers.tolist(), strict=True)
    ]
    changed = connection.exec_driver_sql(_ADD, rows).rowcount
    return changed, sum(number for *_, number in rows)


def tidy(connection: Connection) -> None:
    """Empty the write-ahead log: its frames are in the order in which reports came."""
    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def check(connection: Connection) -> None:
    """Nothing to ask of a file that could be opened."""
