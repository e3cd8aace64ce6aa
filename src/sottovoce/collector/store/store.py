"""A store: what the collector asks of a database, the same for SQLite and PostgreSQL."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from sottovoce.collector.store import ingest, postgres, schema, sqlite

_ATTEMPTS = 5
Result = TypeVar("Result")


class Unavailable(Exception):
    """The database could not do it now: full, gone, locked. Nothing was written."""


@dataclass(frozen=True)
class Stored:
    """A campaign as it lies in the store."""

    id: int
    name: str
    digest: str
    spec: str
    settings: str


def _translated(method: Callable[..., Result]) -> Callable[..., Result]:
    """A database's own exceptions become one."""

    @functools.wraps(method)
    def call(self: Store, *arguments: Any, **keywords: Any) -> Result:
        # COPY speaks to the driver itself, whose errors SQLAlchemy does not see.
        driver: type[Exception] = self.engine.dialect.loaded_dbapi.Error
        try:
            return method(self, *arguments, **keywords)
        except (DBAPIError, PoolTimeout, driver) as error:
            raise Unavailable(type(error).__name__) from error

    return call


class Store:
    """Campaigns, tokens, counts. Methods block: the service calls them from threads."""

    def __init__(self, engine: Engine, backend: ModuleType) -> None:
        self.engine, self.backend = engine, backend

    @property
    def kind(self) -> str:
        return self.engine.dialect.name

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, durably committed when the block ends."""
        with self.engine.connect().execution_options(writes=True) as connection, connection.begin():
            yield connection

    # -- reports ----------------------------------------------------------------------------------------

    @_translated
    def ingest(self, batches: Sequence[ingest.Batch]) -> list[ingest.Outcome]:
        """Store a group of batches in one transaction; returns after the commit is on disk.

        Two collectors on one PostgreSQL may meet on a key or a counter; the one that loses starts again
        and finds what the other wrote.
        """
        for attempt in range(_ATTEMPTS):
            try:
                with self.writing() as connection:
                    return ingest.ingest(connection, self.backend, batches)
            except IntegrityError:
                if attempt == _ATTEMPTS - 1:
                    raise
            except OperationalError as error:
                if not _deadlock(error) or attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("unreachable")

    @_translated
    def counts(self, campaign: int, cells: int) -> NDArray[np.int64]:
        """How often each cell was reported, over all days."""
        table = schema.counts.c
        query = (
            select(table.cell, func.sum(table.count)).where(table.campaign == campaign).group_by(table.cell)
        )
        out = np.zeros(cells, dtype=np.int64)
        with self.reading() as connection, connection.begin():
            for cell, number in connection.execute(query):
                out[cell] = number
            for content in connection.execute(self._pending(campaign)).all():
                np.add.at(out, ingest.unpack(content.cells), 1)
        return out

    @_translated
    def daily_counts(self, campaign: int) -> list[tuple[int, int, int]]:
        """(day, cell, count), in order: everything that is stored about the reports."""
        table = schema.counts.c
        query = select(table.day, table.cell, table.count).where(table.campaign == campaign)
        with self.reading() as connection, connection.begin():
            found = {(day, cell): number for day, cell, number in connection.execute(query)}
            for row in connection.execute(self._pending(campaign)).all():
                for cell in ingest.unpack(row.cells).tolist():
                    found[row.day, cell] = found.get((row.day, cell), 0) + 1
        return [(day, cell, found[day, cell]) for day, cell in sorted(found)]

    def _pending(self, campaign: int) -> Any:
        table = schema.pending.c
        return select(table.day, table.cells).where(table.campaign == campaign)

    @_translated
    def days(self, campaign: int) -> list[tuple[int, int]]:
        """(day, reports), in order."""
        table = schema.days.c
        query = select(table.day, table.reports).where(table.campaign == campaign).order_by(table.day)
        with self.reading() as connection:
            return [(row.day, row.reports) for row in connection.execute(query)]

    # -- campaigns --------------------------------------------------------------------------------------

    @_translated
    def campaigns(self) -> list[Stored]:
        """All campaigns, newest first."""
        query = select(schema.campaigns).order_by(schema.campaigns.c.id.desc())
        with self.reading() as connection:
            return [Stored(**row) for row in connection.execute(query).mappings()]

    @_translated
    def campaign(self, name: str) -> Stored | None:
        query = select(schema.campaigns).where(schema.campaigns.c.name == name)
        with self.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else Stored(**row)

    @_translated
    def create_campaign(self, name: str, digest: str, spec: str, settings: str) -> Stored | None:
        """None when the name is taken."""
        row = {"name": name, "digest": digest, "spec": spec, "settings": settings}
        try:
            with self.writing() as connection:
                connection.execute(insert(schema.campaigns), row)
        except IntegrityError:
            return None
        return self.campaign(name)

    @_translated
    def change_campaign(self, campaign: int, settings: str) -> None:
        with self.writing() as connection:
            connection.execute(
                update(schema.campaigns).where(schema.campaigns.c.id == campaign).values(settings=settings)
            )

    @_translated
    def purge(self, campaign: int) -> None:
        """Delete a campaign and everything stored about it."""
        with self.writing() as connection:
            ingest.forget_campaign(connection, campaign)
        self.tidy()

    # -- tokens -----------------------------------------------------------------------------------------

    @_translated
    def add_tokens(self, campaign: int, kind: str, hashes: Sequence[bytes]) -> None:
        """Remember hashes of tokens, in their own order rather than that of making."""
        rows = [{"hash": h, "campaign": campaign, "kind": kind, "spent": False} for h in sorted(hashes)]
        with self.writing() as connection:
            connection.execute(insert(schema.tokens), rows)

    @_translated
    def token(self, digest: bytes) -> tuple[int, str] | None:
        """(campaign, kind) of a token's hash; campaign 0 is the whole collector."""
        table = schema.tokens.c
        with self.reading() as connection:
            row = connection.execute(
                select(table.campaign, table.kind).where(table.hash == digest)
            ).one_or_none()
        return None if row is None else (row.campaign, row.kind)

    # -- refusals ---------------------------------------------------------------------------------------

    @_translated
    def add_refusals(self, numbers: Mapping[tuple[int, int, str], int]) -> None:
        """Raise the counters of (campaign, day, code); nothing is written about purged campaigns."""
        table = schema.refusals
        with self.writing() as connection:
            alive = ingest.alive(connection, {campaign for campaign, _, _ in numbers})
            for (campaign, day, code), number in sorted(numbers.items()):
                if campaign not in alive:
                    continue
                row = {"campaign": campaign, "day": day, "code": code}
                where = [table.c[name] == value for name, value in row.items()]
                raised = update(table).where(*where).values(count=table.c.count + number)
                if connection.execute(raised).rowcount == 0:
                    connection.execute(insert(table).values(**row, count=number))

    @_translated
    def refusals(self, campaign: int) -> dict[str, int]:
        table = schema.refusals.c
        query = (
            select(table.code, func.sum(table.count)).where(table.campaign == campaign).group_by(table.code)
        )
        with self.reading() as connection:
            return {code: int(number) for code, number in connection.execute(query)}

    # -- upkeep -----------------------------------------------------------------------------------------

    @_translated
    def expire(self, today: int, retention: Mapping[int, int]) -> None:
        """Forget idempotency keys whose time is over, and days that are as old as people were told."""
        with self.writing() as connection:
            connection.execute(delete(schema.keys).where(schema.keys.c.expires <= today))
            for campaign, kept in retention.items():
                for table in (schema.counts, schema.pending, schema.days, schema.refusals):
                    old = (table.c.campaign == campaign) & (table.c.day <= today - kept)
                    connection.execute(delete(table).where(old))

    @_translated
    def tidy(self) -> None:
        """Remove traces of the order in which things came."""
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            self.backend.tidy(connection)

    @_translated
    def check(self) -> None:
        """Raises unless the database answers and commits durably."""
        with self.reading() as connection:
            connection.execute(select(func.count()).select_from(schema.campaigns)).scalar_one()
            self.backend.check(connection)

    def close(self) -> None:
        self.engine.dispose()


def _deadlock(error: OperationalError) -> bool:
    return getattr(error.orig, "sqlstate", None) in ("40001", "40P01")


def as_url(where: str | Path) -> URL:
    """A database URL; a plain path is a SQLite file."""
    if isinstance(where, Path) or "://" not in where:
        return URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except ArgumentError:
        raise ValueError("store must be a file or a URL like postgresql://user@host/database") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise ValueError(f"store must be sqlite or postgresql, got {url.get_backend_name()!r}")
    return url


def open_store(where: str | Path, *, migrate: bool = True) -> Store:
    """Open (and by default bring up to date) the store at a path or URL.

    `where` is a SQLite file or a `postgresql://` URL; `migrate=False` leaves its tables as they are.
    """
    from sottovoce.collector.store.migrations import upgrade

    url = as_url(where)
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise ValueError("store must be a file: a collector keeps what it acknowledged")
        store = Store(sqlite.engine(url), sqlite)
    else:
        store = Store(postgres.engine(url), postgres)
    try:
        if migrate:
            upgrade(store.engine)
        store.check()
    except (DBAPIError, Unavailable) as error:
        store.close()
        reason = error.__cause__ if isinstance(error, Unavailable) else error
        original = str(getattr(reason, "orig", reason)).splitlines()[0]
        raise OSError(f"the store cannot be opened: {original}") from None
    return store
