"""Publishing: what is stored of a campaign goes where it is read from, all of it together.

Reports of open campaigns that leave a pool are counted under another number first (`ingest.held`): anybody
can make a pool overflow, and would see who left it.
"""

from __future__ import annotations

from types import ModuleType

from sqlalchemy import Connection, bindparam, delete, func, select, text

from sottovoce.collector.store import schema
from sottovoce.collector.store.ingest import count, held, undated
from sottovoce.collector.store.pool import Pool

# While it is held nobody else stores reports of the campaign, or publishes them.
_HOLD = select(schema.campaigns.c.id).where(schema.campaigns.c.id == bindparam("owner")).with_for_update()
_NUMBER = select(func.coalesce(func.sum(schema.days.c.reports), 0)).where(
    schema.days.c.campaign == bindparam("owner")
)
_MOVE = [
    text(
        f"INSERT INTO {table} (campaign, day, {key}{counter}) SELECT :campaign, "
        f"(SELECT min(day) FROM days WHERE campaign = :held), {key}sum({counter}) FROM {table} "
        f"WHERE campaign = :held GROUP BY {key}campaign ON CONFLICT (campaign, day{key and ', cell'}) "
        f"DO UPDATE SET {counter} = {table}.{counter} + excluded.{counter}"
    )
    for table, key, counter in (("counts", "cell, ", "count"), ("days", "", "reports"))
]


def publish(
    connection: Connection, backend: ModuleType, pool: Pool, campaign: int, least: int, published: int | None
) -> None:
    """Publish what is stored of a campaign, as `Store.settle` says."""
    if connection.execute(_HOLD, {"owner": campaign}).scalar_one_or_none() is None:
        return
    if published not in (None, int(connection.execute(_NUMBER, {"owner": campaign}).scalar_one())):
        return
    number = int(connection.execute(_NUMBER, {"owner": held(campaign)}).scalar_one())
    rows = pool.drain(connection, campaign, least - number)
    if rows is not None:
        day, cells = undated(rows)
        count(connection, backend, {(held(campaign), day): [cells]})
    if rows is not None or number >= least:
        for statement in _MOVE:
            connection.execute(statement, {"campaign": campaign, "held": held(campaign)})
        for table in (schema.counts, schema.days):
            connection.execute(delete(table).where(table.c.campaign == held(campaign)))
