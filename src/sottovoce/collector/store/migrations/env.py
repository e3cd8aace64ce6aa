"""Alembic's entry point: it runs on the connection that `upgrade` hands over."""

from alembic import context

from sottovoce.collector.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
