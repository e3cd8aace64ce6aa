"""Rules, not settings, and in them `outside`, not `out_of_range`: the words of the rest of the library."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def _rename(columns: tuple[str, str], words: tuple[str, str]) -> None:
    """Another name for the column, and for one word in each of its texts."""
    op.execute(f"ALTER TABLE campaigns RENAME COLUMN {columns[0]} TO {columns[1]}")
    table = sa.table("campaigns", sa.column("id", sa.Integer), sa.column(columns[1], sa.Text))
    connection = op.get_bind()
    for number, text in connection.execute(sa.select(table)).all():
        content = {words[1] if key == words[0] else key: value for key, value in json.loads(text).items()}
        changed = sa.update(table).where(table.c.id == number).values({columns[1]: json.dumps(content)})
        connection.execute(changed)


def upgrade() -> None:
    _rename(("settings", "rules"), ("out_of_range", "outside"))


def downgrade() -> None:
    _rename(("rules", "settings"), ("outside", "out_of_range"))
