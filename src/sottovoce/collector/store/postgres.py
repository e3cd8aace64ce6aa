"""PostgreSQL: for a collector whose store lives elsewhere. Batches come in as binary arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL

from sottovoce.errors import ArgumentError, MissingExtra

#: Options of a connection whose transactions see one state of everything.
SNAPSHOT = {"isolation_level": "REPEATABLE READ"}
# What is added comes with the statement that adds it: a table that staged it would have to be emptied between
# two days of one transaction. The server tells how many counters it changed, and the sum of what it received.
_ADD = """
    WITH sent AS MATERIALIZED (SELECT * FROM unnest(%s, %s) AS sent (cell, number)),
    added AS (
        INSERT INTO counts (campaign, day, cell, count) SELECT %s, %s, cell, number FROM sent
        ON CONFLICT (campaign, day, cell) DO UPDATE SET count = counts.count + excluded.count RETURNING 1
    )
    SELECT (SELECT count(*) FROM added), (SELECT sum(number) FROM sent)
"""
_BIGINT, _BIGINTS = 20, 1016  # numbers of PostgreSQL's types
_ELEMENT = np.dtype([("length", ">i4"), ("value", ">i8")])


def engine(url: URL) -> Engine:
    """Connections to the server."""
    try:
        pool = create_engine(
            url.set(drivername="postgresql+psycopg"), pool_size=8, max_overflow=8, pool_pre_ping=True
        )
    except ModuleNotFoundError as error:
        raise MissingExtra("PostgreSQL", "postgres") from error
    from psycopg.adapt import Dumper
    from psycopg.pq import Format

    class Integers(Dumper):
        """An array as bigint[] in the server's binary form."""

        oid, format = _BIGINTS, Format.BINARY

        def dump(self, obj: NDArray[np.int64]) -> bytes:
            elements = np.empty(len(obj), dtype=_ELEMENT)
            elements["length"], elements["value"] = 8, obj
            dimensions, nulls, first = 1, 0, 1
            head = np.array([dimensions, nulls, _BIGINT, len(obj), first], dtype=">i4")
            return head.tobytes() + elements.tobytes()

    @event.listens_for(pool, "connect")
    def _configure(connection: Any, _: Any) -> None:
        connection.adapters.register_dumper(np.ndarray, Integers)

    return pool


def add_counts(
    connection: Connection, campaign: int, day: int, cells: NDArray[np.int64], numbers: NDArray[np.int64]
) -> tuple[int, int]:
    """Add to the counters; cells in increasing order, so that two writers cannot lock each other out.

    Returns:
        How many counters the server changed, and the sum of the numbers that it received.
    """
    rows, total = connection.exec_driver_sql(_ADD, (cells, numbers, campaign, day)).one()
    return rows, int(total)


def tidy(connection: Connection) -> None:
    """Autovacuum does it."""


def check(connection: Connection) -> None:
    """An acknowledgement must mean that the batch is on disk."""
    for name in ("fsync", "synchronous_commit"):
        value = connection.exec_driver_sql(f"SHOW {name}").scalar_one()
        if value == "off":
            raise ArgumentError(
                f"the PostgreSQL server has {name}=off: an acknowledged report could be lost",
                code="durability",
                argument="store",
            )
