"""The pool instead of a mixing row for every day, and facts about the store.

The reports of the mixing rows go to the counters: the pool needs the secret, which a migration has not.
PostgreSQL's tokens and counts are written anew, all by one transaction, so that none of them tells when.
"""

import struct
from collections import Counter

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_COUNTS = sa.table("counts", *map(sa.column, ("campaign", "day", "cell", "count")))
_PENDING = sa.table("pending", *map(sa.column, ("campaign", "day", "cells")))


def upgrade() -> None:
    connection = op.get_bind()
    places = _COUNTS.c
    for campaign, day, content in connection.execute(sa.select(_PENDING)).all():
        cells = Counter(struct.unpack(f"<{len(content) // 4}I", content))
        for cell, number in sorted(cells.items()):
            at = (places.campaign == campaign) & (places.day == day) & (places.cell == cell)
            raised = sa.update(_COUNTS).where(at).values(count=places.count + number)
            if not connection.execute(raised).rowcount:
                row = {"campaign": campaign, "day": day, "cell": cell, "count": number}
                connection.execute(sa.insert(_COUNTS), row)
    op.drop_table("pending")
    if connection.dialect.name == "postgresql":
        for name in ("counts", "tokens"):
            with op.batch_alter_table(name, recreate="always"):
                pass
    op.create_table(
        "pool",
        sa.Column("campaign", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 20},
    )
    op.create_table(
        "facts",
        sa.Column("name", sa.String(16), primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
