"""Opening a store: which database, its schema brought up to date, and words for what can go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError as NoURL
from sqlalchemy.exc import DBAPIError

from sottovoce.collector.store import migrations, postgres, sqlite
from sottovoce.collector.store.database import Unavailable
from sottovoce.collector.store.store import Store
from sottovoce.errors import ArgumentError, FileError


def as_url(where: str | Path) -> URL:
    """A database URL; a plain path is a SQLite file."""
    if isinstance(where, Path) or "://" not in where:
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except NoURL:
        raise ArgumentError(
            "store must be a file or a URL like postgresql://user@host/database", argument="store"
        ) from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise ArgumentError(
            f"store must be sqlite or postgresql, got {url.get_backend_name()!r}", argument="store"
        )
    return url


def open_store(where: str | Path, *, create: bool = True) -> Store:
    """Open the store at a path or URL; one of an earlier version is brought up to date.

    Args:
        where: A SQLite file, or a `postgresql://` URL.
        create: Whether to make the store if there is none.

    Returns:
        The store, to be unlocked with its secret, and closed in the end.

    Raises:
        ValueError: If it is neither, if a newer version of sottovoce has written it, or if the PostgreSQL
            server may lose what it acknowledged.
        OSError: If the database cannot be opened, or holds no store and none is to be made.
        MissingExtra: If PostgreSQL's driver is not installed.
    """
    url = as_url(where)
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise ArgumentError("store must be a file: a collector keeps what it acknowledged", argument="store")
    backend = sqlite if url.get_backend_name() == "sqlite" else postgres
    if not create and backend is sqlite and not Path(str(url.database)).exists():
        raise _no_store(url)
    with _explained():
        store = Store(backend.engine(url), backend)
    try:
        with _explained():
            holds_store = create or migrations.present(store.engine) is not None
        if not holds_store:
            raise _no_store(url)
        with _explained():
            migrations.upgrade(store.engine)
            store.check()
    except BaseException:
        store.close()
        raise
    return store


def _no_store(url: URL) -> OSError:
    return FileNotFoundError(
        f"there is no store at {url.database if url.get_backend_name() == 'sqlite' else url}: "
        "`sottovoce campaign create` and `sottovoce serve` make one, --store names another"
    )


@contextmanager
def _explained() -> Iterator[None]:
    """The database's own words, without SQLAlchemy's around them."""
    try:
        yield
    except (DBAPIError, Unavailable, OSError) as error:
        reason = error.__cause__ if isinstance(error, Unavailable) else error
        original = str(getattr(reason, "orig", reason)).splitlines()[0]
        raise FileError(f"the store cannot be opened: {original}", argument="store") from None
