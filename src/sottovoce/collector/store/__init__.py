"""Stores: SQLite by default, PostgreSQL by URL; one schema, one behaviour."""

from __future__ import annotations

from sottovoce.collector.store.database import Unavailable
from sottovoce.collector.store.ingest import Accepted, Batch, Outcome
from sottovoce.collector.store.opening import open_store
from sottovoce.collector.store.store import Store, Stored

__all__ = ["Accepted", "Batch", "Outcome", "Store", "Stored", "Unavailable", "open_store"]
