"""PostgreSQL: for a collector whose store lives elsewhere. Batches come in by binary COPY."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL

from sottovoce.core.errors import MissingExtra

#: Options of a connection whose transactions see one state of everything.
SNAPSHOT = {"isolation_level": "REPEATABLE READ"}
_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"
#: One row of binary COPY: the number of fields, then length and value of each, big-endian.
_ROW = np.dtype([("fields", ">i2"), ("l1", ">i4"), ("cell", ">i4"), ("l2", ">i4"), ("number", ">i8")])
_FEW = 16
_ADD = (
    "INSERT INTO counts (campaign, day, cell, count) SELECT %s, %s, cell, number FROM {source} "
    "ON CONFLICT (campaign, day, cell) DO UPDATE SET count = counts.count + excluded.count"
)
_STAGE = "CREATE TEMPORARY TABLE IF NOT EXISTS incoming (cell integer, number bigint) ON COMMIT DELETE ROWS"


def engine(url: URL) -> Engine:
    """Connections to the server."""
    try:
        return create_engine(
            url.set(drivername="postgresql+psycopg"), pool_size=8, max_overflow=8, pool_pre_ping=True
        )
    except ModuleNotFoundError as error:
        raise MissingExtra("PostgreSQL", "postgres") from error


def add_counts(
    connection: Connection, campaign: int, day: int, cells: NDArray[np.int64], numbers: NDArray[np.int64]
) -> None:
    """Add to the counters; cells in increasing order, so that two writers cannot lock each other out."""
    if len(cells) <= _FEW:
        source = "unnest(%s::integer[], %s::bigint[]) AS incoming (cell, number)"
        parameters = (campaign, day, cells.tolist(), numbers.tolist())
        connection.exec_driver_sql(_ADD.format(source=source), parameters)
        return
    rows = np.empty(len(cells), dtype=_ROW)
    rows["fields"], rows["l1"], rows["l2"], rows["cell"], rows["number"] = 2, 4, 8, cells, numbers
    connection.exec_driver_sql(_STAGE)
    cursor = connection.connection.cursor()
    try:
        with cursor.copy("COPY incoming FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(_HEADER + rows.tobytes() + _TRAILER)
    finally:
        cursor.close()
    connection.exec_driver_sql(_ADD.format(source="incoming"), (campaign, day))


def tidy(connection: Connection) -> None:
    """Autovacuum does it."""


def check(connection: Connection) -> None:
    """An acknowledgement must mean that the batch is on disk."""
    for name in ("fsync", "synchronous_commit"):
        value = connection.exec_driver_sql(f"SHOW {name}").scalar_one()
        if value == "off":
            raise ValueError(f"the PostgreSQL server has {name}=off: an acknowledged report could be lost")
