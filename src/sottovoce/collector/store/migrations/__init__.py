"""Migrations: the history of the schema, applied when a store is opened."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from sottovoce.errors import ArgumentError


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the schema up to date, in one transaction."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            # Two collectors that start at once must not both create the tables.
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7354210)")
        _refuse_newer(ScriptDirectory.from_config(config), connection)
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def present(engine: Engine) -> str | None:
    """The revision that a database has; None if it holds no store."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _refuse_newer(script: ScriptDirectory, connection: Connection) -> None:
    revision = MigrationContext.configure(connection).get_current_revision()
    known = {one.revision for one in script.walk_revisions()}
    if revision is not None and revision not in known:
        raise ArgumentError(
            f"the store has schema {revision}, written by a newer version of sottovoce; "
            f"this one knows up to {max(known)}",
            code="schema",
            argument="store",
        )
