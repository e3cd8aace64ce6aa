"""Rules, not settings, and in them `outside`, not `out_of_range`: the words of the rest of the library."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("ALTER TABLE campaigns RENAME COLUMN settings TO rules")
    table = sa.table("campaigns", sa.column("id", sa.Integer), sa.column("rules", sa.Text))
    connection = op.get_bind()
    for number, text in connection.execute(sa.select(table)).all():
        settings = json.loads(text).items()
        rules = {"outside" if key == "out_of_range" else key: value for key, value in settings}
        changed = sa.update(table).where(table.c.id == number).values(rules=json.dumps(rules))
        connection.execute(changed)
