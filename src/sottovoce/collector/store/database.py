"""A database: its connections and transactions, and the two ways in which it can fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import schema


class Unavailable(Refusal):
    """The database could not do it now: full, gone, locked. Nothing was written."""

    def __init__(self) -> None:
        super().__init__("store_unavailable", retry_after=5)


class Collision(Unavailable):
    """Two transactions met on a row, and this one lost; it may succeed at once."""


class Database:
    """SQLite or PostgreSQL. Methods block: the service calls them from threads."""

    def __init__(self, engine: Engine, backend: ModuleType) -> None:
        self.engine, self.backend = engine, backend

    @property
    def kind(self) -> str:
        """ "sqlite" or "postgresql"."""
        return self.engine.dialect.name

    @contextmanager
    def connected(self, **options: Any) -> Iterator[Connection]:
        """A connection; what the database itself raises while it is used becomes `Unavailable`.

        Not where it objects to what it was asked: that is a fault of this code, or of one batch.
        """
        try:
            with self.engine.connect().execution_options(**options) as connection:
                yield connection
        except (DataError, ProgrammingError):
            raise
        except (DBAPIError, PoolTimeout) as error:
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
