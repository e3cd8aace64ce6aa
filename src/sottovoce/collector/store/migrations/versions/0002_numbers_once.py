"""A campaign's number is never given again, in SQLite as in PostgreSQL.

Otherwise a campaign created after another was purged would get its number, and with it whatever a running
collector still remembers under that number.
"""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        kept = {"sqlite_autoincrement": True}
        with op.batch_alter_table("campaigns", recreate="always", table_kwargs=kept):
            pass
