"""A store: what the collector asks of a database, the same for SQLite and PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from types import ModuleType
from typing import Any

import numpy as np
from sqlalchemy import Engine, Row, Select, delete, func, insert, select, text, update

from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import ingest, last_day, publishing, schema
from sottovoce.collector.store.database import Collision, Database
from sottovoce.collector.store.ingest import Batch, Cells, Outcome
from sottovoce.collector.store.pool import Pool
from sottovoce.errors import ArgumentError

_ATTEMPTS = 5


@dataclass(frozen=True)
class Stored:
    """A campaign as it lies in the store."""

    id: int
    name: str
    digest: str
    spec: str
    rules: str


class Store(Database):
    """Campaigns, tokens, counts. Methods block: the service calls them from threads."""

    def __init__(self, engine: Engine, backend: ModuleType) -> None:
        super().__init__(engine, backend)
        self._pool: Pool | None = None

    # -- the secret -------------------------------------------------------------------------------------

    def unlock(self, secret: bytes) -> Store:
        """Give the store its secret, without which no report can be stored; the first one given is its own.

        Returns:
            The store itself.

        Raises:
            ValueError: If the store has had another secret: it could read neither its pool nor its keys.
        """
        pool = Pool(secret)
        self._take_place_of("", pool.check)  # of one that was given up
        if self.fact("secret", pool.check) != pool.check:
            self.close()
            rule = "take the same secret file, or give the secret up with `sottovoce campaign forget-secret`"
            raise ArgumentError(f"the store was used with another secret: {rule}", argument="store")
        self._pool = pool
        return self

    @property
    def pool(self) -> Pool:
        """Where reports wait; only with the secret."""
        if self._pool is None:
            raise ArgumentError("the store must be unlocked with its secret first", argument="store")
        return self._pool

    def forget_secret(self) -> None:
        """Take another secret next time; what only the old one could read is deleted: pools and keys."""
        self._pool = None
        self._take_place_of(self.fact("secret", ""), "")

    def _take_place_of(self, old: str, new: str) -> None:
        """Note another secret, if the store has the old one; what only that could read is deleted.

        A secret that was given up is the empty one. A collector that still ran with the old secret may have
        stored reports since: they are deleted when the next one takes its place.
        """
        facts = schema.facts.c
        with self.writing() as connection:
            known = update(schema.facts).where(facts.name == "secret", facts.content == old)
            if connection.execute(known.values(content=new)).rowcount:
                for table in (schema.pool, schema.keys):
                    connection.execute(delete(table))

    def fact(self, name: str, default: str) -> str:
        """What is noted under a name; the default is, if nothing was."""
        table = schema.facts.c
        with self.writing() as connection:
            connection.execute(
                text("INSERT INTO facts (name, content) VALUES (:name, :content) ON CONFLICT DO NOTHING"),
                {"name": name, "content": default},
            )
            return connection.execute(select(table.content).where(table.name == name)).scalar_one()

    # -- reports ----------------------------------------------------------------------------------------

    def ingest(self, batches: Sequence[Batch]) -> list[Outcome]:
        """Store a group of batches in one transaction; returns after the commit is on disk.

        Two collectors on one PostgreSQL may meet on a key or a counter; the one that loses starts again
        and finds what the other wrote.
        """
        for _ in range(_ATTEMPTS - 1):
            with suppress(Collision):
                return self._ingest(batches)
        return self._ingest(batches)

    def _ingest(self, batches: Sequence[Batch]) -> list[Outcome]:
        with self.writing() as connection:
            return ingest.ingest(connection, self.backend, self.pool, batches)

    def settle(self, campaign: int, least: int, published: int | None = None) -> None:
        """Publish all that is stored of a campaign, under one day, if that is at least so many reports.

        If `published` is given and another number is published by now, nothing happens.
        """
        with self.writing() as connection:
            publishing.publish(connection, self.backend, self.pool, campaign, least, published)

    def waiting(self, campaign: int) -> Cells:
        """The reports in the pool, each with its day first."""
        with self.writing() as connection:
            rows = self.pool.read(connection, campaign)
        return np.empty((0, 2), dtype=np.int64) if rows is None else rows

    def reports(self, campaign: int) -> int:
        """How many reports are stored, published or not."""
        counted = chain(self.days(campaign), self.days(ingest.held(campaign)))
        return sum(number for _, number in counted) + len(self.waiting(campaign))

    def counts(self, campaign: int, cells: int) -> Cells:
        """How often each cell was reported, over all days, as far as it is published."""
        table = schema.counts.c
        query = (
            select(table.cell, func.sum(table.count)).where(table.campaign == campaign).group_by(table.cell)
        )
        out = np.zeros(cells, dtype=np.int64)
        places, numbers = self._columns(query)
        out[places] = numbers
        return out

    def day_counts(self, campaign: int, day: int) -> tuple[Cells, Cells]:
        """The cells of a day, in order, and how often each was reported."""
        table = schema.counts.c
        query = select(table.cell, table.count).where(table.campaign == campaign, table.day == day)
        return self._columns(query.order_by(table.cell))

    def _columns(self, query: Select[tuple[int, int]]) -> tuple[Cells, Cells]:
        """Both columns of what a query finds, number by number: of SQLAlchemy's rows numpy takes seconds."""
        with self.reading() as connection:
            numbers = np.fromiter(chain.from_iterable(connection.execute(query)), dtype=np.int64)
        first, second = numbers.reshape(-1, 2).T.copy()
        return first, second

    def days(self, campaign: int) -> list[tuple[int, int]]:
        """(day, reports) of what is published, in order."""
        table = schema.days.c
        query = select(table.day, table.reports).where(table.campaign == campaign).order_by(table.day)
        with self.reading() as connection:
            return [(row.day, row.reports) for row in connection.execute(query)]

    # -- campaigns --------------------------------------------------------------------------------------

    def campaigns(self) -> list[Stored]:
        """All campaigns, newest first."""
        query = select(schema.campaigns).order_by(schema.campaigns.c.id.desc())
        with self.reading() as connection:
            return [Stored(**row) for row in connection.execute(query).mappings()]

    def campaign(self, name: str) -> Stored:
        """The campaign of a name; refused if there is none."""
        query = select(schema.campaigns).where(schema.campaigns.c.name == name)
        with self.reading() as connection:
            row = connection.execute(query).mappings().one_or_none()
        if row is None:
            raise Refusal("unknown_campaign", f"there is no campaign {name!r}")
        return Stored(**row)

    def create_campaign(self, name: str, digest: str, spec: str, rules: str) -> Stored:
        """A new campaign; refused if the name is taken."""
        row = {"name": name, "digest": digest, "spec": spec, "rules": rules}
        try:
            with self.writing() as connection:
                connection.execute(insert(schema.campaigns), row)
        except Collision:
            raise Refusal("name_taken", argument="name") from None
        return self.campaign(name)

    def change_rules(self, campaign: Stored, rules: str) -> Stored:
        """The campaign with other rules."""
        table = schema.campaigns
        with self.writing() as connection:
            connection.execute(update(table).where(table.c.id == campaign.id).values(rules=rules))
        return replace(campaign, rules=rules)

    def purge(self, campaign: int) -> None:
        """Delete a campaign and everything stored about it."""
        with self.writing() as connection:
            ingest.forget_campaign(connection, campaign)
        self.tidy()

    # -- tokens -----------------------------------------------------------------------------------------

    def add_tokens(self, campaign: int, kind: str, hashes: Sequence[bytes]) -> None:
        """Remember hashes of tokens, in their own order rather than that of making."""
        rows = [{"hash": h, "campaign": campaign, "kind": kind, "spent": False} for h in sorted(hashes)]
        with self.writing() as connection:
            connection.execute(insert(schema.tokens), rows)

    def token(self, digest: bytes) -> Row[Any] | None:
        """Campaign, kind and whether it is spent of a token's hash; campaign 0 is the whole collector."""
        with self.reading() as connection:
            return connection.execute(
                select(schema.tokens).where(schema.tokens.c.hash == digest)
            ).one_or_none()

    def tokens(self, campaign: int, after: bytes, most: int) -> list[tuple[bytes, str, bool]]:
        """(hash, kind, spent) of a campaign's tokens in the order of hashes, from one on."""
        table = schema.tokens.c
        query = select(table.hash, table.kind, table.spent).where(table.campaign == campaign)
        query = query.where(table.hash > after).order_by(table.hash).limit(most)
        with self.reading() as connection:
            return [(bytes(row.hash), row.kind, row.spent) for row in connection.execute(query)]

    def revoke(self, campaign: int, beginning: bytes) -> None:
        """Delete the one token of a campaign whose hash begins so; refused if there is none, or several."""
        table = schema.tokens.c
        end = beginning.ljust(32, b"\xff")
        query = delete(schema.tokens).where(table.campaign == campaign, table.hash.between(beginning, end))
        with self.writing() as connection:
            if connection.execute(query).rowcount != 1:
                raise Refusal("not_found", "there must be one token of which the hash begins so", "token")

    # -- refusals ---------------------------------------------------------------------------------------

    def add_refusals(self, numbers: Mapping[tuple[int, int, str], int]) -> None:
        """Raise the counters of (campaign, day, code); nothing is written about purged campaigns."""
        with self.writing() as connection:
            alive = ingest.alive(connection, {campaign for campaign, _, _ in numbers})
            rows = [
                {"campaign": campaign, "day": day, "code": code, "count": number}
                for (campaign, day, code), number in numbers.items()
                if campaign in alive
            ]
            if rows:
                ingest.raise_counters(connection, schema.refusals, rows)

    def refusals(self, campaign: int) -> dict[str, int]:
        """How often each code was the reason of a refusal."""
        table = schema.refusals.c
        query = (
            select(table.code, func.sum(table.count)).where(table.campaign == campaign).group_by(table.code)
        )
        with self.reading() as connection:
            return {code: int(number) for code, number in connection.execute(query)}

    # -- upkeep -----------------------------------------------------------------------------------------

    def today(self, clock: int) -> int:
        """The store's day when the clock says one; refused if that is more than a day beyond its last."""
        with self.writing() as connection:
            return last_day.today(connection, clock)

    def expire(self, clock: int, retention: Mapping[int, int]) -> None:
        """Forget keys whose time is over and days as old as people were told; refused as `today` is."""
        with self.writing() as connection:
            today = last_day.today(connection, clock)
            connection.execute(delete(schema.keys).where(schema.keys.c.expires <= today))
            for campaign in sorted(ingest.alive(connection, set(retention))):
                last = today - retention[campaign]
                for table in (schema.counts, schema.days, schema.refusals):
                    places = table.c.campaign.in_((campaign, ingest.held(campaign)))
                    connection.execute(delete(table).where(places, table.c.day <= last))
                self.pool.forget(connection, campaign, last)

    def tidy(self) -> None:
        """Remove traces of the order in which things came."""
        with self.connected(isolation_level="AUTOCOMMIT") as connection:
            self.backend.tidy(connection)

    def probe(self) -> None:
        """Raises unless the database can write."""
        with self.writing() as connection:
            connection.execute(last_day.NOTE, {"name": "probe", "content": os.urandom(4).hex()})
