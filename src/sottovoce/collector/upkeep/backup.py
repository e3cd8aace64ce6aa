"""Backup: the whole store in one SQLite file, from either store and into either.

The copy is taken in one read transaction while the collector runs. Rows are written in the order of their
keys, so the file says less than the store about when something came. What waits in the pools stays encrypted.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from sqlalchemy import Connection, delete, func, insert, select

from sottovoce.collector.store import schema
from sottovoce.collector.store.opening import open_store
from sottovoce.collector.store.store import Store
from sottovoce.errors import ArgumentError

_CHUNK = 10_000


def backup(store: Store, path: Path) -> int:
    """Copy a store, also while a collector runs on it, into a new file; returns the number of rows."""
    if path.exists():
        raise ArgumentError(f"output must be a new file, {path} exists", argument="output")
    target = open_store(path)
    try:
        return _copy(store, target)
    finally:
        target.tidy()
        target.close()


def restore(path: Path, store: Store) -> int:
    """Fill an empty store from a file that `backup` wrote; returns the number of rows."""
    with store.reading() as connection:
        tables = [table for table in schema.metadata.sorted_tables if table is not schema.facts]
        if any(connection.execute(select(func.count()).select_from(t)).scalar_one() for t in tables):
            raise ArgumentError("a backup can only be restored into an empty store", argument="output")
    with tempfile.TemporaryDirectory() as folder:
        # A copy is brought up to date, so that the version that wrote the backup can still read it.
        for part in (path, path.with_name(f"{path.name}-wal")):
            if part.exists():
                shutil.copy(part, folder)
        source = open_store(Path(folder) / path.name)
        try:
            return _copy(source, store)
        finally:
            source.close()


def _copy(source: Store, target: Store) -> int:
    rows = 0
    with source.reading() as reading, target.writing() as writing:
        writing.execute(delete(schema.facts))
        for table in schema.metadata.sorted_tables:
            query = select(table).order_by(*table.primary_key)
            for part in (
                reading.execution_options(yield_per=_CHUNK).execute(query).mappings().partitions(_CHUNK)
            ):
                writing.execute(insert(table), [dict(row) for row in part])
                rows += len(part)
        _advance(writing)
    return rows


def _advance(connection: Connection) -> None:
    """PostgreSQL numbers new campaigns by a sequence, which copied rows do not move."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "SELECT setval(pg_get_serial_sequence('campaigns', 'id'), "
            "GREATEST((SELECT MAX(id) FROM campaigns), 1), (SELECT COUNT(*) > 0 FROM campaigns))"
        )
