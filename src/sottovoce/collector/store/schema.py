"""The tables. What is *not* in them matters most: no row per report, no address, no time finer than a day.

`campaigns`  name, spec and rules (JSON, see `campaigns.declaration.Rules`)
`counts`     how often each cell was reported, per campaign and day: what is published, and under the negative
             number of an open campaign what will be published together (see `publishing`)
`days`       reports per campaign and day that are in the counts
`pool`       the last few reports of a campaign, encrypted, which are not in the counts yet (see `pool`)
`tokens`     hashes of tokens; an enrolment token is marked when spent
`keys`       idempotency records: keyed hashes, which expire
`refusals`   how often each reason of refusal occurred
`facts`      about the store itself: the check value of its secret, the last day it saw

A day is the number of days since 1970-01-01. Tables that tell who did something are WITHOUT ROWID in
SQLite: rows lie in the order of a hash, not of arrival.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

metadata = MetaData()

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(63), nullable=False, unique=True),
    Column("digest", String(64), nullable=False),
    Column("spec", Text, nullable=False),
    Column("rules", Text, nullable=False),
    sqlite_autoincrement=True,  # a number is never given twice, as by PostgreSQL's sequence
)
counts = Table(
    "counts",
    metadata,
    Column("campaign", Integer, primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("cell", Integer, primary_key=True),
    Column("count", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    postgresql_with={"fillfactor": 70},
)
days = Table(
    "days",
    metadata,
    Column("campaign", Integer, primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("reports", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    postgresql_with={"fillfactor": 20},
)
pool = Table(
    "pool",
    metadata,
    Column("campaign", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
    postgresql_with={"fillfactor": 20},
)
tokens = Table(
    "tokens",
    metadata,
    Column("hash", LargeBinary(32), primary_key=True),
    Column("campaign", Integer, nullable=False),  # 0: of the whole collector
    Column("kind", String(9), nullable=False),
    Column("spent", Boolean, nullable=False),
    Index("tokens_campaign", "campaign"),
    sqlite_with_rowid=False,
)
keys = Table(
    "keys",
    metadata,
    Column("id", LargeBinary(16), primary_key=True),
    Column("body", LargeBinary(16), nullable=False),
    Column("campaign", Integer, nullable=False),
    Column("accepted", Integer, nullable=False),
    Column("expires", Integer, nullable=False),
    Index("keys_expires", "expires"),
    sqlite_with_rowid=False,
)
refusals = Table(
    "refusals",
    metadata,
    Column("campaign", Integer, primary_key=True),
    Column("day", Integer, primary_key=True),
    Column("code", String(32), primary_key=True),
    Column("count", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
facts = Table(
    "facts",
    metadata,
    Column("name", String(16), primary_key=True),
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)
