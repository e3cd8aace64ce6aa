"""The collector: an HTTP service that stores counts of reports and answers with estimates.

    sottovoce serve --store campaign.db

The HTTP interface and the pages stand in front, campaigns and results behind them, and under all a store
(SQLite or PostgreSQL). Operators look after it with what is in `upkeep`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sottovoce.errors import MissingExtra

if TYPE_CHECKING:
    from sottovoce.collector.app import create_app as create_app
    from sottovoce.collector.settings import Settings as Settings
    from sottovoce.collector.store import open_store as open_store

_HOME = {"Settings": "settings", "create_app": "app", "open_store": "store"}


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _HOME:
        raise AttributeError(f"module 'sottovoce.collector' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"sottovoce.collector.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("sottovoce"):
            raise
        raise MissingExtra("the collector", "server") from error
