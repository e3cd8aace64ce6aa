"""The first schema, written out: a migration must not change when `schema` does."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _place() -> list["sa.Column[int]"]:
    """The key that most tables share."""
    return [
        sa.Column("campaign", sa.Integer, primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True),
    ]


def upgrade() -> None:
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(63), nullable=False, unique=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
    )
    op.create_table(
        "counts",
        *_place(),
        sa.Column("cell", sa.Integer, primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 70},
    )
    op.create_table(
        "pending",
        *_place(),
        sa.Column("cells", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 20},
    )
    op.create_table(
        "days",
        *_place(),
        sa.Column("reports", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 20},
    )
    op.create_table(
        "tokens",
        sa.Column("hash", sa.LargeBinary(32), primary_key=True),
        sa.Column("campaign", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(9), nullable=False),
        sa.Column("spent", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("tokens_campaign", "tokens", ["campaign"])
    op.create_table(
        "keys",
        sa.Column("id", sa.LargeBinary(16), primary_key=True),
        sa.Column("body", sa.LargeBinary(16), nullable=False),
        sa.Column("campaign", sa.Integer, nullable=False),
        sa.Column("accepted", sa.Integer, nullable=False),
        sa.Column("expires", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("keys_expires", "keys", ["expires"])
    op.create_table(
        "refusals",
        *_place(),
        sa.Column("code", sa.String(32), primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
