"""One transaction for a group of batches: look up the key, spend the token, count.

Whoever reads the tables later must not be able to put a token and a cell together. Counters alone do not
say who; but PostgreSQL marks every row with the transaction that wrote it (xmin), and a token marked as
spent and a counter raised by the same transaction would be a pair. So the single reports of an enrolment
campaign wait in one row, sorted: it always keeps the last few, and moves a *random* part of the rest to
the counters, many at a time. Until a campaign has `KEEP` reports they are all in that row.
"""

from __future__ import annotations

import hmac
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, delete, insert, select, text, update

from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import schema
from sottovoce.core.randomness import random_below, secure_stream

#: Single reports that stay in the mixing row, and the number at which the others leave it.
KEEP, FULL = 64, 256
Cells = NDArray[np.int64]


@dataclass(frozen=True)
class Batch:
    """Reports of one request, checked against the campaign's reporter: a cell each, or a row of them.

    `key` and `body` are hashes of the idempotency key and of what came with it; `token` that of the enrolment
    token to spend. `refuse` is the code with which the batch is refused unless it is a replay.
    """

    campaign: int
    day: int
    cells: Cells
    key: bytes
    body: bytes
    expires: int
    token: bytes | None = None
    refuse: str | None = None


@dataclass(frozen=True)
class Accepted:
    """The batch is stored, now or by an earlier request with the same key."""

    count: int
    replay: bool


Outcome = Accepted | Refusal


@dataclass
class _Group:
    """What a transaction is going to write."""

    cells: dict[tuple[int, int], list[Cells]] = field(default_factory=lambda: defaultdict(list))
    mixed: dict[tuple[int, int], list[Cells]] = field(default_factory=lambda: defaultdict(list))
    days: Counter[tuple[int, int]] = field(default_factory=Counter)
    keys: list[dict[str, Any]] = field(default_factory=list)


def ingest(connection: Connection, backend: ModuleType, batches: Sequence[Batch]) -> list[Outcome]:
    """Store a group of batches inside the caller's transaction; each succeeds or is refused by itself."""
    known = _known_keys(connection, [batch.key for batch in batches])
    living = alive(connection, {batch.campaign for batch in batches})
    group, outcomes = _Group(), list[Outcome]()
    for batch in batches:
        outcome = _decide(connection, batch, known, living)
        outcomes.append(outcome)
        if isinstance(outcome, Accepted) and not outcome.replay:
            known[batch.key] = (batch.body, len(batch.cells))
            target = group.cells if batch.token is None else group.mixed
            target[batch.campaign, batch.day].append(batch.cells)
            group.days[batch.campaign, batch.day] += len(batch.cells)
            group.keys.append(
                {
                    "id": batch.key,
                    "body": batch.body,
                    "campaign": batch.campaign,
                    "accepted": len(batch.cells),
                    "expires": batch.expires,
                }
            )
    _write(connection, backend, group)
    return outcomes


def _known_keys(connection: Connection, ids: list[bytes]) -> dict[bytes, tuple[bytes, int]]:
    table = schema.keys.c
    query = select(table.id, table.body, table.accepted).where(table.id.in_(ids))
    return {bytes(row.id): (bytes(row.body), row.accepted) for row in connection.execute(query)}


def alive(connection: Connection, ids: set[int]) -> set[int]:
    """Campaigns that still exist; held against being purged until this transaction ends."""
    query = select(schema.campaigns.c.id).where(schema.campaigns.c.id.in_(sorted(ids)))
    return set(connection.execute(query.with_for_update(read=True, key_share=True)).scalars())


def _decide(
    connection: Connection, batch: Batch, known: dict[bytes, tuple[bytes, int]], living: set[int]
) -> Outcome:
    if batch.key in known:
        body, accepted = known[batch.key]
        if hmac.compare_digest(body, batch.body):
            return Accepted(accepted, replay=True)
        return Refusal("key_reused", argument="key")
    if batch.campaign not in living:
        return Refusal("unknown_campaign")
    if batch.refuse is not None:
        return Refusal(batch.refuse)
    if batch.token is not None:
        refusal = _spend(connection, batch.token, batch.campaign)
        if refusal is not None:
            return refusal
    return Accepted(len(batch.cells), replay=False)


def _spend(connection: Connection, token: bytes, campaign: int) -> Refusal | None:
    table = schema.tokens.c
    mark = (
        update(schema.tokens)
        .where(table.hash == token, table.campaign == campaign, table.kind == "enrolment", ~table.spent)
        .values(spent=True)
    )
    if connection.execute(mark).rowcount == 1:
        return None
    query = select(table.campaign, table.kind, table.spent).where(table.hash == token)
    row = connection.execute(query).one_or_none()
    if row is None:
        return Refusal("bad_token", argument="token")
    if row.campaign != campaign or row.kind != "enrolment":
        return Refusal("wrong_scope", argument="token")
    return Refusal("token_spent", argument="token")


def _write(connection: Connection, backend: ModuleType, group: _Group) -> None:
    if group.keys:
        connection.execute(insert(schema.keys), sorted(group.keys, key=lambda row: row["id"]))
        days = [{"campaign": c, "day": day, "reports": number} for (c, day), number in group.days.items()]
        raise_counters(connection, schema.days, days)
    for place in sorted(group.mixed):
        group.cells[place].append(_mix(connection, place, np.concatenate(group.mixed[place])))
    for place in sorted(group.cells):
        cells, numbers = np.unique(np.concatenate(group.cells[place], axis=None), return_counts=True)
        if len(cells):
            backend.add_counts(connection, *place, cells, numbers)


def raise_counters(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Add to counters, in the order of their keys; one that is not there yet begins at 0."""
    key = [column.name for column in table.primary_key]
    [counter] = [column.name for column in table.c if not column.primary_key]
    columns, values = ", ".join([*key, counter]), ", ".join(f":{name}" for name in [*key, counter])
    command = (
        f"INSERT INTO {table.name} ({columns}) VALUES ({values}) ON CONFLICT ({', '.join(key)}) "
        f"DO UPDATE SET {counter} = {table.name}.{counter} + excluded.{counter}"
    )
    connection.execute(text(command), sorted(rows, key=lambda row: [row[name] for name in key]))


def _mix(connection: Connection, place: tuple[int, int], arrived: Cells) -> Cells:
    """Put single reports into the mixing row; the cells that come back go to the counters.

    The integers of a report part here: nothing of what is stored tells which ones came together.
    """
    width = arrived[0].size
    table = schema.pending
    where = (table.c.campaign == place[0]) & (table.c.day == place[1])
    old = connection.execute(select(table.c.cells).where(where).with_for_update()).scalar_one_or_none()
    together = np.concatenate([unpack(old or b""), arrived.reshape(-1)])
    leaving = together[:0]
    if len(together) >= FULL * width:
        _shuffle(together)
        together, leaving = together[: KEEP * width], together[KEEP * width :]
    content = pack(np.sort(together))
    if old is None:
        connection.execute(insert(table).values(campaign=place[0], day=place[1], cells=content))
    else:
        connection.execute(update(table).where(where).values(cells=content))
    return leaving


def _shuffle(cells: Cells) -> None:
    """Fisher–Yates with the secure stream."""
    source = secure_stream()
    for last in range(len(cells) - 1, 0, -1):
        other = random_below(last + 1, source)
        cells[[last, other]] = cells[[other, last]]


def pack(cells: Cells) -> bytes:
    return cells.astype("<u4").tobytes()


def unpack(content: bytes) -> Cells:
    return np.frombuffer(content, dtype="<u4").astype(np.int64)


def forget_campaign(connection: Connection, campaign: int) -> None:
    """Delete everything about a campaign."""
    for name, table in schema.metadata.tables.items():
        column = table.c.id if name == "campaigns" else table.c.campaign
        connection.execute(delete(table).where(column == campaign))
