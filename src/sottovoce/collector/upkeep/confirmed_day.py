"""Confirming the day: what an operator does when the clock was wrong, or nothing ran for more than a day."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select, update

from sottovoce.collector.store import last_day, schema
from sottovoce.collector.store.ingest import raise_counters
from sottovoce.collector.store.store import Store

_LONGEST = 365 + 2  # days for which any key is kept (`Settings.key_days`), see `api.intake`


def confirm(store: Store, day: int) -> int:
    """Take a day as the last one, also if the store has seen later ones, and also while collectors run.

    What was stored under later days is counted under this one: it came until now, so retention deletes it no
    sooner than was said, and hardly later. No key is forgotten, and none is kept longer than any may be.

    Returns:
        How many reports there were under later days.
    """
    with store.writing() as connection:
        last_day.write(connection, day)  # first: from here on nobody stores under a later one
        campaigns = connection.execute(select(schema.pool.c.campaign)).scalars().all()
        reports = sum(store.pool.redate(connection, campaign, day) for campaign in campaigns)
        late = schema.days.c.day > day
        published = select(func.coalesce(func.sum(schema.days.c.reports), 0)).where(late)
        reports += int(connection.execute(published).scalar_one())
        _redate(connection, day)
        until = schema.keys.c.expires
        connection.execute(update(schema.keys).where(until > day + _LONGEST).values(expires=day + _LONGEST))
    return reports


def _redate(connection: Connection, day: int) -> None:
    """Add what every counter has under later days to the same counter of this one."""
    for table in (schema.counts, schema.days, schema.refusals):
        late, names = table.c.day > day, [column.name for column in table.primary_key if column.name != "day"]
        [counter] = [column for column in table.c if not column.primary_key]
        same = [table.c[name] for name in names]
        query = select(*same, func.sum(counter).label(counter.name)).where(late).group_by(*same)
        rows = [{**row, "day": day} for row in connection.execute(query).mappings()]
        if rows:
            raise_counters(connection, table, rows)
        connection.execute(delete(table).where(late))
