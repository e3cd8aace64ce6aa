"""Which store a command is about, its secret, and which of its campaigns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.storage.folders import data_folder

if TYPE_CHECKING:
    from sottovoce.collector.campaigns.campaign import Campaign
    from sottovoce.collector.store import Store

Name = Annotated[str, typer.Argument(help="The campaign's name.", metavar="NAME")]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="A SQLite file, or postgresql://user@host/database. Default: collector.db in the data folder.",
    ),
]
SecretOption = Annotated[
    Path | None,
    typer.Option(help="The collector's secret, made if absent. Default: beside the store."),
]


def located(store: str | None, *, create: bool = False) -> str:
    """The store that a command names, by default a file in the data folder, which is made if need be."""
    if store is not None:
        return store
    folder = data_folder()
    if create:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return str(folder / "collector.db")


def open_store(store: str | None, *, create: bool = False) -> Store:
    """Open the store that a command names; only one that fills it makes it."""
    from sottovoce import collector

    return collector.open_store(located(store, create=create), create=create)


def unlocked(store: str | None, secret_file: Path | None) -> Store:
    """The same, with its secret: for what changes what is published."""
    from sottovoce.collector import secret
    from sottovoce.collector.process import secret_path

    return open_store(store).unlock(secret.load(secret_path(located(store), secret_file)))


def find_campaign(store: Store, name: str) -> Campaign:
    """The campaign of a name."""
    from sottovoce.collector.campaigns.campaign import Campaign

    return Campaign.of(store.campaign(name))
