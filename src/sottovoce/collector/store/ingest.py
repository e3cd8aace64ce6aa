"""One transaction for a group of batches: look up the key, spend the token, count.

A batch of many reports goes to the counters at once. Fewer wait in the pool of their campaign, whoever sent
them, and leave it in groups: the counters never change by ones.
"""

from __future__ import annotations

import hmac
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, Connection, Row, Table, bindparam, delete, insert, select, text, update

from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import last_day, schema
from sottovoce.collector.store.pool import KEEP, Pool, Rows

Cells = NDArray[np.int64]
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
# Built once: building a statement takes longer than running it.
_KNOWN = select(schema.keys.c.id, schema.keys.c.body, schema.keys.c.accepted).where(
    schema.keys.c.id.in_(_IDS)
)
_ALIVE = (
    select(schema.campaigns.c.id)
    .where(schema.campaigns.c.id.in_(_IDS))
    .with_for_update(read=True, key_share=True)
)
_KEEP_KEYS = insert(schema.keys)
_TOKEN = schema.tokens.c.hash == bindparam("token")
_SPEND = (
    update(schema.tokens)
    .where(_TOKEN, schema.tokens.c.campaign == bindparam("owner"))
    .where(schema.tokens.c.kind == "enrolment", ~schema.tokens.c.spent)
    .values(spent=True)
)


@dataclass(frozen=True)
class Batch:
    """Reports of one request, checked against the campaign's reporter: a cell each, or a row of them.

    `day` is the clock's, and `expires` counts from it; the store goes by its own (see `last_day`). `key` and
    `body` are hashes of the idempotency key and of what came with it; `token` that of the enrolment token to
    spend. `refuse` is the code with which the batch is refused unless it is a replay. `held` reports are
    published by `Store.settle` only.
    """

    campaign: int
    day: int
    cells: Cells
    key: bytes
    body: bytes
    expires: int
    token: bytes | None = None
    refuse: str | None = None
    held: bool = False


@dataclass(frozen=True)
class Accepted:
    """The batch is stored, now or by an earlier request with the same key."""

    count: int
    replay: bool


Outcome = Accepted | Refusal


class Miscount(Exception):
    """The database has not counted exactly what it was sent; the transaction must not be committed."""


@dataclass
class _Group:
    """What a transaction is going to write."""

    counted: dict[tuple[int, int], list[Cells]] = field(default_factory=lambda: defaultdict(list))
    pooled: dict[int, list[Rows]] = field(default_factory=lambda: defaultdict(list))
    places: dict[int, int] = field(default_factory=dict)
    keys: list[dict[str, Any]] = field(default_factory=list)


def ingest(
    connection: Connection, backend: ModuleType, pool: Pool, batches: Sequence[Batch]
) -> list[Outcome]:
    """Store a group of batches inside the caller's transaction; each succeeds or is refused by itself."""
    begun = last = last_day.read(connection, max(batch.day for batch in batches))
    known = _known_keys(connection, [batch.key for batch in batches])
    living = alive(connection, {batch.campaign for batch in batches})
    group, outcomes = _Group(), list[Outcome]()
    for batch in batches:
        outcome = _decide(connection, batch, known, living, last)
        outcomes.append(outcome)
        if isinstance(outcome, Accepted) and not outcome.replay:
            known[batch.key] = (batch.body, len(batch.cells))
            last = last_day.following(last, batch.day)
            place = held(batch.campaign) if batch.held else batch.campaign
            group.places[batch.campaign] = place
            if len(batch.cells) < KEEP:
                group.pooled[batch.campaign].append(_dated(batch, last))
            else:
                group.counted[place, last].append(batch.cells)
            group.keys.append(
                {
                    "id": batch.key,
                    "body": batch.body,
                    "campaign": batch.campaign,
                    "accepted": len(batch.cells),
                    "expires": batch.expires + last - batch.day,
                }
            )
    if last is not None and last != begun:
        last_day.write(connection, last)
    _write(connection, backend, pool, group)
    return outcomes


def _known_keys(connection: Connection, ids: list[bytes]) -> dict[bytes, tuple[bytes, int]]:
    rows = connection.execute(_KNOWN, {"ids": ids})
    return {bytes(key): (bytes(body), accepted) for key, body, accepted in rows}


def alive(connection: Connection, ids: set[int]) -> set[int]:
    """Campaigns that still exist; held against being purged until this transaction ends."""
    return set(connection.execute(_ALIVE, {"ids": sorted(ids)}).scalars())


def _decide(
    connection: Connection,
    batch: Batch,
    known: dict[bytes, tuple[bytes, int]],
    living: set[int],
    last: int | None,
) -> Outcome:
    if batch.key in known:
        body, accepted = known[batch.key]
        if hmac.compare_digest(body, batch.body):
            return Accepted(accepted, replay=True)
        return Refusal("key_reused", argument="key")
    if batch.campaign not in living:
        return Refusal("unknown_campaign")
    try:
        last_day.following(last, batch.day)
    except last_day.Unconfirmed as doubt:  # before the rest: such a clock may not say that it is too late
        return doubt
    if batch.refuse is not None:
        return Refusal(batch.refuse)
    if batch.token is not None:
        refusal = _spend(connection, batch.token, batch.campaign)
        if refusal is not None:
            return refusal
    return Accepted(len(batch.cells), replay=False)


def _spend(connection: Connection, token: bytes, campaign: int) -> Refusal | None:
    if connection.execute(_SPEND, {"token": token, "owner": campaign}).rowcount == 1:
        return None
    row = connection.execute(select(schema.tokens).where(_TOKEN), {"token": token}).one_or_none()
    return not_an_invitation(row, campaign) or Refusal("token_spent", argument="token")


def not_an_invitation(row: Row[Any] | None, campaign: int) -> Refusal | None:
    """Why a token brings no report to a campaign; None if it does.

    Args:
        row: What the store knows of the token; None if it is unknown.
        campaign: The campaign's number.

    Returns:
        The refusal that its report would get.
    """
    if row is None:
        return Refusal("bad_token", argument="token")
    if row.campaign != campaign or row.kind != "enrolment":
        return Refusal("wrong_scope", argument="token")
    return Refusal("token_spent", argument="token") if row.spent else None


def _dated(batch: Batch, day: int) -> Rows:
    """The batch as the pool keeps it: a report per row, its day first."""
    cells = batch.cells.reshape(len(batch.cells), -1)
    rows = np.empty((len(cells), 1 + cells.shape[1]), dtype=np.int64)  # three times faster than np.insert
    rows[:, 0], rows[:, 1:] = day, cells
    return rows


def _write(connection: Connection, backend: ModuleType, pool: Pool, group: _Group) -> None:
    if group.keys:
        connection.execute(_KEEP_KEYS, sorted(group.keys, key=lambda row: row["id"]))
    for campaign in sorted(group.pooled):
        leaving = pool.mix(connection, campaign, np.concatenate(group.pooled[campaign]))
        if len(leaving):
            day, cells = undated(leaving)
            group.counted[group.places[campaign], day].append(cells)
    count(connection, backend, group.counted)


def held(campaign: int) -> int:
    """The number under which reports are counted that have left a campaign's pool and are not published."""
    return -campaign


def undated(rows: Rows) -> tuple[int, Cells]:
    """Reports that leave a pool: one day for all of them, the first, and the cells of each."""
    return int(rows[:, 0].min()), rows[:, 1:]


def count(
    connection: Connection, backend: ModuleType, reports: Mapping[tuple[int, int], Sequence[Cells]]
) -> None:
    """Add reports of (campaign, day) to the counters; nothing tells any more which integers came together."""
    if not reports:
        return
    days = [
        {"campaign": campaign, "day": day, "reports": sum(map(len, parts))}
        for (campaign, day), parts in reports.items()
    ]
    raise_counters(connection, schema.days, days)
    for place in sorted(reports):
        integers = np.concatenate(reports[place], axis=None)
        cells, numbers = np.unique(integers, return_counts=True)
        if backend.add_counts(connection, *place, cells, numbers) != (len(cells), len(integers)):
            raise Miscount


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


def forget_campaign(connection: Connection, campaign: int) -> None:
    """Delete everything about a campaign."""
    for table in schema.metadata.tables.values():
        column = table.c.id if table is schema.campaigns else table.c.get("campaign")
        if column is not None:
            connection.execute(delete(table).where(column.in_((campaign, held(campaign)))))
