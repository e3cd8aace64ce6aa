"""A store: what the collector asks of a database, the same for SQLite and PostgreSQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, delete, func, insert, select, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import ingest, postgres, schema, sqlite
from sottovoce.collector.store.ingest import Batch, Outcome
from sottovoce.collector.store.migrations import upgrade

_ATTEMPTS = 5


class Unavailable(Refusal):
    """The database could not do it now: full, gone, locked. Nothing was written."""

    def __init__(self) -> None:
        super().__init__("store_unavailable", retry_after=5)


class Collision(Unavailable):
    """Two transactions met on a row, and this one lost; it may succeed at once."""


@dataclass(frozen=True)
class Stored:
    """A campaign as it lies in the store."""

    id: int
    name: str
    digest: str
    spec: str
    rules: str


class Store:
    """Campaigns, tokens, counts. Methods block: the service calls them from threads."""

    def __init__(self, engine: Engine, backend: ModuleType) -> None:
        self.engine, self.backend = engine, backend

    @property
    def kind(self) -> str:
        """ "sqlite" or "postgresql"."""
        return self.engine.dialect.name

    @contextmanager
    def connected(self, **options: Any) -> Iterator[Connection]:
        """A connection; what the database itself raises while it is used becomes `Unavailable`."""
        # COPY speaks to the driver itself, whose errors SQLAlchemy does not see.
        driver: type[Exception] = self.engine.dialect.loaded_dbapi.Error
        try:
            with self.engine.connect().execution_options(**options) as connection:
                yield connection
        except (DBAPIError, PoolTimeout, driver) as error:
            raise (Collision if _collided(error) else Unavailable) from error

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of everything."""
        with self.connected(**self.backend.SNAPSHOT) as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, durably committed when the block ends."""
        with self.connected(writes=True) as connection, connection.begin():
            yield connection

    # -- reports ----------------------------------------------------------------------------------------

    def ingest(self, batches: Sequence[Batch]) -> list[Outcome]:
        """Store a group of batches in one transaction; returns after the commit is on disk.

        Two collectors on one PostgreSQL may meet on a key or a counter; the one that loses starts again
        and finds what the other wrote.
        """
        for _ in range(_ATTEMPTS - 1):
            with suppress(Collision):
                return self._ingest(batches)
        return self._ingest(batches)

    def _ingest(self, batches: Sequence[Batch]) -> list[Outcome]:
        with self.writing() as connection:
            return ingest.ingest(connection, self.backend, batches)

    def counts(self, campaign: int, cells: int) -> NDArray[np.int64]:
        """How often each cell was reported, over all days."""
        table = schema.counts.c
        query = (
            select(table.cell, func.sum(table.count)).where(table.campaign == campaign).group_by(table.cell)
        )
        out = np.zeros(cells, dtype=np.int64)
        with self.reading() as connection:
            for cell, number in connection.execute(query):
                out[cell] = number
            for content in connection.execute(self._pending(campaign)).all():
                np.add.at(out, ingest.unpack(content.cells), 1)
        return out

    def daily_counts(self, campaign: int) -> list[tuple[int, int, int]]:
        """(day, cell, count), in order: everything that is stored about the reports."""
        table = schema.counts.c
        query = select(table.day, table.cell, table.count).where(table.campaign == campaign)
        with self.reading() as connection:
            counts = Counter({(day, cell): number for day, cell, number in connection.execute(query)})
            for row in connection.execute(self._pending(campaign)).all():
                counts.update((row.day, cell) for cell in ingest.unpack(row.cells).tolist())
        return [(*place, number) for place, number in sorted(counts.items())]

    def _pending(self, campaign: int) -> Any:
        table = schema.pending.c
        return select(table.day, table.cells).where(table.campaign == campaign)

    def days(self, campaign: int) -> list[tuple[int, int]]:
        """(day, reports), in order."""
        table = schema.days.c
        query = select(table.day, table.reports).where(table.campaign == campaign).order_by(table.day)
        with self.reading() as connection:
            return [(row.day, row.reports) for row in connection.execute(query)]

    # -- campaigns --------------------------------------------------------------------------------------

    def campaigns(self) -> list[Stored]:
        """All campaigns, newest first."""
        query = select(schema.campaigns).order_by(schema.campaigns.c.id.desc())
        with self.reading() as connection:
            return [Stored(**row) for row in connection.execute(query).mappings()]

    def campaign(self, name: str) -> Stored:
        """The campaign of a name; refused if there is none."""
        query = select(schema.campaigns).where(schema.campaigns.c.name == name)
        with self.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
        if row is None:
            raise Refusal("unknown_campaign", f"there is no campaign {name!r}")
        return Stored(**row)

    def create_campaign(self, name: str, digest: str, spec: str, rules: str) -> Stored:
        """A new campaign; refused if the name is taken."""
        row = {"name": name, "digest": digest, "spec": spec, "rules": rules}
        try:
            with self.writing() as connection:
                connection.execute(insert(schema.campaigns), row)
        except Collision:
            raise Refusal("name_taken", argument="name") from None
        return self.campaign(name)

    def change_rules(self, campaign: Stored, rules: str) -> Stored:
        """The campaign with other rules."""
        table = schema.campaigns
        with self.writing() as connection:
            connection.execute(update(table).where(table.c.id == campaign.id).values(rules=rules))
        return replace(campaign, rules=rules)

    def purge(self, campaign: int) -> None:
        """Delete a campaign and everything stored about it."""
        with self.writing() as connection:
            ingest.forget_campaign(connection, campaign)
        self.tidy()

    # -- tokens -----------------------------------------------------------------------------------------

    def add_tokens(self, campaign: int, kind: str, hashes: Sequence[bytes]) -> None:
        """Remember hashes of tokens, in their own order rather than that of making."""
        rows = [{"hash": h, "campaign": campaign, "kind": kind, "spent": False} for h in sorted(hashes)]
        with self.writing() as connection:
            connection.execute(insert(schema.tokens), rows)

    def token(self, digest: bytes) -> tuple[int, str] | None:
        """(campaign, kind) of a token's hash; campaign 0 is the whole collector."""
        table = schema.tokens.c
        with self.reading() as connection:
            row = connection.execute(
                select(table.campaign, table.kind).where(table.hash == digest)
            ).one_or_none()
        return None if row is None else (row.campaign, row.kind)

    # -- refusals ---------------------------------------------------------------------------------------

    def add_refusals(self, numbers: Mapping[tuple[int, int, str], int]) -> None:
        """Raise the counters of (campaign, day, code); nothing is written about purged campaigns."""
        with self.writing() as connection:
            alive = ingest.alive(connection, {campaign for campaign, _, _ in numbers})
            rows = [
                {"campaign": campaign, "day": day, "code": code, "count": number}
                for (campaign, day, code), number in numbers.items()
                if campaign in alive
            ]
            if rows:
                ingest.raise_counters(connection, schema.refusals, rows)

    def refusals(self, campaign: int) -> dict[str, int]:
        """How often each code was the reason of a refusal."""
        table = schema.refusals.c
        query = (
            select(table.code, func.sum(table.count)).where(table.campaign == campaign).group_by(table.code)
        )
        with self.reading() as connection:
            return {code: int(number) for code, number in connection.execute(query)}

    # -- upkeep -----------------------------------------------------------------------------------------

    def expire(self, today: int, retention: Mapping[int, int]) -> None:
        """Forget idempotency keys whose time is over, and days that are as old as people were told."""
        with self.writing() as connection:
            connection.execute(delete(schema.keys).where(schema.keys.c.expires <= today))
            for campaign, days in retention.items():
                for table in (schema.counts, schema.pending, schema.days, schema.refusals):
                    old = (table.c.campaign == campaign) & (table.c.day <= today - days)
                    connection.execute(delete(table).where(old))

    def tidy(self) -> None:
        """Remove traces of the order in which things came."""
        with self.connected(isolation_level="AUTOCOMMIT") as connection:
            self.backend.tidy(connection)

    def check(self) -> None:
        """Raises unless the database answers and commits durably."""
        with self.reading() as connection:
            connection.execute(select(func.count()).select_from(schema.campaigns)).scalar_one()
            self.backend.check(connection)

    def close(self) -> None:
        """Give back the connections."""
        self.engine.dispose()


def _collided(error: Exception) -> bool:
    """A key that the other one wrote first, a lock that each wanted of the other."""
    state = getattr(getattr(error, "orig", error), "sqlstate", None)
    return isinstance(error, IntegrityError) or state in ("40001", "40P01")


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


def open_store(where: str | Path) -> Store:
    """Open the store at a path or URL; one of an earlier version is brought up to date.

    Args:
        where: A SQLite file, made if absent, or a `postgresql://` URL.

    Returns:
        The store, to be closed in the end.

    Raises:
        ValueError: If it is neither, or the PostgreSQL server may lose what it acknowledged.
        OSError: If the database cannot be opened.
        MissingExtra: If PostgreSQL's driver is not installed.
    """
    url = as_url(where)
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise ValueError("store must be a file: a collector keeps what it acknowledged")
        store = Store(sqlite.engine(url), sqlite)
    else:
        store = Store(postgres.engine(url), postgres)
    try:
        upgrade(store.engine)
        store.check()
    except (DBAPIError, Unavailable) as error:
        store.close()
        reason = error.__cause__ if isinstance(error, Unavailable) else error
        original = str(getattr(reason, "orig", reason)).splitlines()[0]
        raise OSError(f"the store cannot be opened: {original}") from None
    return store
