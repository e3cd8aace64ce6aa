"""What a thief of the database can put together: the attack is run, and fails; a mutant makes it succeed."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag
from sqlalchemy import inspect
from tests.collector.cluster import Cluster
from tests.collector.service import SECRET, create, every_count

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.store import Batch, Store, schema, sqlite
from sottovoce.collector.store import ingest as ingest_module
from sottovoce.collector.store.pool import FULL, KEEP, Pool
from sottovoce.collector.upkeep.backup import backup
from sottovoce.reporters.contract import Reporter

DAY = 20_000
PEOPLE = 300


def collect(
    store: Store, mechanism: Reporter, together: int = 1, days: Iterable[int] = itertools.repeat(DAY)
) -> dict[bytes, int]:
    """People report, each on their day, so many in each transaction; returns who reported which cell.

    To a survey whose questions are alike they report the same cell of each.
    """
    campaign = create(store, mechanism, collection="enrolment")
    hashes = [tokens.token_hash(t) for t in tokens.issue(store, campaign.id, "enrolment", PEOPLE)]
    first_cells = np.arange(mechanism.width) * (mechanism.cells // mechanism.width)
    batches = [
        Batch(campaign.id, day, (first_cells + cell)[None], os.urandom(16), os.urandom(16), day + 8, name)
        for (cell, name), day in zip(enumerate(hashes), days, strict=False)
    ]
    for first in range(0, PEOPLE, together):
        store.ingest(batches[first : first + together])
    return {name: cell for cell, name in enumerate(hashes)}


def versions(store: Store, table: str) -> list[tuple[int, bytes]]:
    """(transaction, content) of every row version that lies on the pages of a table, dead ones too."""
    query = (
        f"SELECT i.t_xmin::text::bigint, i.t_data FROM pg_relation_size('{table}') AS s, "
        f"generate_series(0, s / 8192 - 1) AS page, heap_page_items(get_raw_page('{table}', page::int)) AS i "
        "WHERE i.t_data IS NOT NULL"
    )
    with store.writing() as connection:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pageinspect")
        return [(transaction, bytes(data)) for transaction, data in connection.exec_driver_sql(query)]


def join_by_transaction(store: Store) -> dict[bytes, set[int]]:
    """For each spent token the cells that go with it, by what lies on PostgreSQL's pages.

    They are those which the same transaction wrote to the counters, those which it added to the pool, and
    those which wait there with the date that its idempotency record tells.
    """
    spent = "SELECT hash, xmin::text::bigint FROM tokens WHERE spent"
    dates = "SELECT xmin::text::bigint, expires - 8 FROM keys"
    with store.reading() as connection:
        people = [tuple(row) for row in connection.exec_driver_sql(spent)]
        date = dict(map(tuple, connection.exec_driver_sql(dates)))
    cells: dict[int, set[int]] = {at: set() for _, at in people}
    for at, data in versions(store, "counts"):
        cells.setdefault(at, set()).add(int.from_bytes(data[8:12], "little"))
    pools = sorted((at, _waiting(data)) for at, data in versions(store, "pool"))
    for (_, before), (at, after) in itertools.pairwise([(0, set[tuple[int, int]]()), *pools]):
        cells.setdefault(at, set()).update(cell for _, cell in after - before)
    waiting = pools[-1][1] if pools else set()
    for at, day in date.items():
        cells[at].update(cell for when, cell in waiting if when == day)
    return {bytes(name): cells[at] for name, at in people if cells[at]}


def _waiting(data: bytes) -> set[tuple[int, int]]:
    """(day, cell) of a row of the pool, if it is not encrypted: a campaign, a length, then the numbers."""
    for start in (5, 8):  # the length is short or long
        numbers = np.frombuffer(data[start : start + (len(data) - start) // 4 * 4], dtype="<u4")
        if len(numbers) > 1 and numbers[0] == 2 and abs(int(numbers[1]) - DAY) <= PEOPLE:
            return {(int(day), int(cell)) for day, cell in numbers[1:].reshape(-1, 2)}
    return set()


#: A person a day, and everybody on one day.
WAYS = {"one a day": range(DAY, DAY + PEOPLE), "one day": itertools.repeat(DAY)}


@pytest.mark.attack("H4", "refused")
@pytest.mark.parametrize("days", WAYS.values(), ids=WAYS)
def test_pages_do_not_join_people_and_cells(
    cluster: Cluster, mechanism: sv.Mechanism, days: Iterable[int]
) -> None:
    store = open_store(cluster.database()).unlock(SECRET)
    truth = collect(store, mechanism, days=days)
    joined = join_by_transaction(store)
    assert len(truth) == PEOPLE
    # A few tokens share a transaction with a group that left the pool: many cells each, all of one date.
    assert joined
    assert min(map(len, joined.values())) >= KEEP
    assert min(number for _, number in store.days(1)) >= KEEP
    store.close()


def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool as it would be without encryption."""
    sealed, opened = Pool._sealed, Pool._opened

    class Clear:
        def encrypt(self, nonce: bytes, plain: bytes, _: None) -> bytes:
            return plain

        def decrypt(self, nonce: bytes, plain: bytes, _: None) -> bytes:
            return plain

    monkeypatch.setattr(Pool, "_cipher", lambda self, campaign, salt: Clear())
    monkeypatch.setattr(Pool, "_sealed", lambda self, *rows: sealed(self, *rows)[16:])
    monkeypatch.setattr(
        Pool, "_opened", lambda self, campaign, plain: opened(self, campaign, bytes(16) + plain)
    )


@pytest.mark.attack("H4", "succeeds")
def test_without_encryption_a_slow_campaign_is_joined(
    cluster: Cluster, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    _plain(monkeypatch)
    store = open_store(cluster.database()).unlock(SECRET)
    truth = collect(store, mechanism, days=WAYS["one a day"])
    joined = join_by_transaction(store)
    store.close()
    exact = [name for name, cells in joined.items() if cells == {truth[name]}]
    assert len(exact) >= KEEP


@pytest.mark.attack("H4", "succeeds")
def test_without_a_pool_everybody_is_joined(
    cluster: Cluster, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "KEEP", 1)
    store = open_store(cluster.database()).unlock(SECRET)
    truth = collect(store, mechanism)
    joined = join_by_transaction(store)
    store.close()
    assert joined == {name: {cell} for name, cell in truth.items()}


def test_the_pool_keeps_a_random_part_and_everything_leaves_in_groups(
    store: Store, mechanism: sv.Mechanism
) -> None:
    collect(store, mechanism, together=64)
    published = store.counts(1, mechanism.cells).nonzero()[0].tolist()
    rows = store.waiting(1)
    assert KEEP <= len(rows) < FULL
    assert sorted([*published, *rows[:, 1].tolist()]) == list(range(PEOPLE))
    assert len(published) >= KEEP
    # The first overflow leaves KEEP of the first FULL, whichever: not the oldest, not the newest.
    early = [cell for cell in published if cell < FULL]
    assert early not in (list(range(FULL - KEEP)), list(range(KEEP, FULL)))


def test_until_there_are_enough_nothing_leaves(store: Store, mechanism: sv.Mechanism) -> None:
    campaign = create(store, mechanism, collection="enrolment")
    for number, token in enumerate(tokens.issue(store, campaign.id, "enrolment", FULL - 1)):
        keys, name = (os.urandom(16), os.urandom(16)), tokens.token_hash(token)
        day = DAY + number
        store.ingest([Batch(campaign.id, day, np.array([number]), *keys, day + 8, name)])
        assert store.days(campaign.id) == []
    assert len(store.waiting(campaign.id)) == FULL - 1
    store.settle(campaign.id, FULL)
    assert store.days(campaign.id) == []
    store.settle(campaign.id, KEEP)
    assert store.days(campaign.id) == [(DAY, FULL - 1)]  # the first day: nothing is kept longer than was told


def test_reports_of_several_integers_part_when_they_are_counted(
    store: Store, mechanism: sv.Mechanism
) -> None:
    campaign = create(store, mechanism)
    for person in range(FULL):
        row = np.array([[person, 500 + person]])
        [outcome] = store.ingest([Batch(campaign.id, DAY, row, os.urandom(16), os.urandom(16), DAY + 8)])
        assert outcome.count == 1
    assert len(store.waiting(campaign.id)) == KEEP
    assert store.days(campaign.id) == [(DAY, FULL - KEEP)]
    counts = every_count(store, campaign)
    assert counts[:FULL].tolist() == counts[500 : 500 + FULL].tolist() == [1] * FULL


def test_another_secret_opens_no_pool(store: Store, mechanism: sv.Mechanism) -> None:
    collect(store, mechanism, together=50)
    store._pool = Pool(b"x" * 32)
    with pytest.raises(InvalidTag):
        store.waiting(1)


def raw_bytes(store: Store, folder: Path, request: pytest.FixtureRequest) -> bytes:
    """All that lies on disk: tables with what was freed on their pages, write-ahead logs, a backup."""
    backup(store, folder / "copy.db")
    paths = sorted(folder.glob("*.db*"))
    if store.kind == "postgresql":
        with store.connected(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("CHECKPOINT")
            query = "SELECT oid FROM pg_database WHERE datname = current_database()"
            database = connection.exec_driver_sql(query).scalar_one()
        data = request.getfixturevalue("cluster").data
        paths += [*(data / f"base/{database}").iterdir(), *(data / "pg_wal").glob("?" * 24)]
    return b"".join(path.read_bytes() for path in paths)


@pytest.mark.attack("H4")
@pytest.mark.parametrize("questions", [1, 2])
@pytest.mark.parametrize("plain", [False, True])
def test_no_report_that_waits_is_in_the_files(
    store: Store,
    tmp_path: Path,
    mechanism: sv.Mechanism,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    plain: bool,
    questions: int,
) -> None:
    """Byte by byte: neither those that wait now nor those that waited and have left.

    In a pool a day, a cell of each question and a day follow each other; nowhere else do they.
    """
    if plain:
        _plain(monkeypatch)
    day = 10**6 + int.from_bytes(os.urandom(3))  # of this test alone: logs hold those of others, too
    alike = dict.fromkeys("ab"[:questions], mechanism)
    survey = sv.Survey(questions * mechanism.epsilon, alike, sampled=questions)
    collect(store, survey, together=50, days=itertools.repeat(day))
    name = re.escape(day.to_bytes(4, "little"))
    pooled = re.findall(
        name + b"(?=(.{%d})" % (4 * questions) + name + b")", raw_bytes(store, tmp_path, request), re.DOTALL
    )
    cells = {int.from_bytes(cell, "little") for cell in pooled}
    assert len(cells) > PEOPLE / 2 if plain else not cells


@pytest.mark.attack("L4")
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_files_are_the_owners_alone(
    tmp_path: Path, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    if mode != 0o600:  # as it was: what the system gives
        monkeypatch.setattr(sqlite, "_MODE", mode)
    umask = os.umask(0)
    try:
        store = open_store(tmp_path / "store.db").unlock(SECRET)
        collect(store, mechanism, together=100)
        backup(store, tmp_path / "copy.db")
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("*.db*")}
        store.close()
    finally:
        os.umask(umask)
    assert {"store.db", "store.db-wal", "store.db-shm", "copy.db"} <= set(modes)
    assert set(modes.values()) == {mode}


def test_rows_lie_in_the_order_of_hashes(tmp_path: Path, mechanism: sv.Mechanism) -> None:
    """SQLite: a scan meets tokens and keys by hash, and there is no rowid to sort them by."""
    store = open_store(tmp_path / "store.db").unlock(SECRET)
    collect(store, mechanism, together=50)
    with store.reading() as connection:
        for table, column in (("tokens", "hash"), ("keys", "id")):
            names = [row[0] for row in connection.exec_driver_sql(f"SELECT {column} FROM {table}")]
            assert names == sorted(names)
            assert len(names) == PEOPLE
            with pytest.raises(Exception, match="no such column"):
                connection.exec_driver_sql(f"SELECT rowid FROM {table}")
    store.close()


def test_no_column_holds_a_person_or_a_moment(store: Store) -> None:
    found = {
        (table, column["name"])
        for table in inspect(store.engine).get_table_names()
        for column in inspect(store.engine).get_columns(table)
    }
    allowed = {(name, column.name) for name, table in schema.metadata.tables.items() for column in table.c}
    assert found - {("alembic_version", "version_num")} == allowed
    words = ("address", "agent", "time", "user", "ip", "value", "created")
    assert not [pair for pair in allowed if any(word == pair[1] for word in words)]


def test_the_write_ahead_log_is_emptied(tmp_path: Path, mechanism: sv.Mechanism) -> None:
    """Its frames are in the order of arrival; upkeep leaves none."""
    store = open_store(tmp_path / "store.db").unlock(SECRET)
    collect(store, mechanism, together=50)
    log = tmp_path / "store.db-wal"
    assert log.stat().st_size > 0
    store.tidy()
    assert log.stat().st_size == 0
    store.close()
