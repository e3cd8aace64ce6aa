"""What commands about campaigns share: the store, and the campaign that is meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sottovoce.collector.campaigns import Campaign
    from sottovoce.collector.store import Store

Name = Annotated[str, typer.Argument(help="The campaign's name.", metavar="NAME")]


def open_store(store: str) -> Store:
    """The store that a command names."""
    from sottovoce import collector

    return collector.open_store(store)


def unlocked(store: str, secret_file: Path | None) -> Store:
    """The same, with its secret: for what changes what is published."""
    from sottovoce.collector import secret
    from sottovoce.collector.run import secret_path

    return open_store(store).unlock(secret.load(secret_path(store, secret_file)))


def find_campaign(store: Store, name: str) -> Campaign:
    """The campaign of a name."""
    from sottovoce.collector.campaigns import Campaign

    return Campaign.of(store.campaign(name))
