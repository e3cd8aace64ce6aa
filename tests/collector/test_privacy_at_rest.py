"""What a thief of the database can put together: the attack is run, and fails; a mutant makes it succeed."""

from __future__ import annotations

import hashlib
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import inspect, select
from tests.collector.cluster import Cluster
from tests.collector.service import Running, create, new_key

import sottovoce as sv
from sottovoce.collector import open_store, secret, tokens
from sottovoce.collector.store import Batch, Store, ingest, schema

DAY = 20_000
PEOPLE = 300


def collect(store: Store, mechanism: sv.Mechanism, together: int = 1) -> dict[bytes, int]:
    """People report, so many in each transaction; returns who reported which cell."""
    campaign = create(store, mechanism, collection="enrolment")
    hashes = [tokens.token_hash(t) for t in tokens.issue(store, campaign.id, "enrolment", PEOPLE)]
    batches = [
        Batch(campaign.id, DAY, np.array([cell]), os.urandom(16), os.urandom(16), DAY + 8, name)
        for cell, name in enumerate(hashes)
    ]
    for first in range(0, PEOPLE, together):
        store.ingest(batches[first : first + together])
    return {name: cell for cell, name in enumerate(hashes)}


def join_by_transaction(store: Store) -> dict[bytes, set[int]]:
    """For each spent token the cells that PostgreSQL says the same transaction wrote, in any table."""
    with store.reading() as connection:
        spent = connection.exec_driver_sql("SELECT hash, xmin::text FROM tokens WHERE spent").all()
        counted = connection.exec_driver_sql("SELECT cell, xmin::text FROM counts").all()
        waiting = connection.exec_driver_sql("SELECT cells, xmin::text FROM pending").all()
    cells: dict[str, set[int]] = {}
    for cell, transaction in counted:
        cells.setdefault(transaction, set()).add(cell)
    for content, transaction in waiting:
        cells.setdefault(transaction, set()).update(ingest.unpack(bytes(content)).tolist())
    return {bytes(name): cells[transaction] for name, transaction in spent if transaction in cells}


def test_transactions_do_not_join_people_and_cells(cluster: Cluster, mechanism: sv.Mechanism) -> None:
    store = open_store(cluster.database())
    truth = collect(store, mechanism)
    found = join_by_transaction(store)
    store.close()
    assert len(truth) == PEOPLE
    # A few tokens share a transaction with the mixing row or with a group that left it: many cells each.
    assert found
    assert min(len(cells) for cells in found.values()) >= ingest.KEEP


def test_without_mixing_the_attack_succeeds(
    cluster: Cluster, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_mix", lambda connection, place, arrived: arrived)
    store = open_store(cluster.database())
    truth = collect(store, mechanism)
    found = join_by_transaction(store)
    store.close()
    assert found == {name: {cell} for name, cell in truth.items()}


def test_the_mixing_row_is_sorted_and_keeps_a_random_part(store: Store, mechanism: sv.Mechanism) -> None:
    collect(store, mechanism, together=64)
    with store.reading() as connection:
        content = connection.execute(select(schema.pending.c.cells)).scalar_one()
        counted = set(connection.execute(select(schema.counts.c.cell)).scalars())
    kept = ingest.unpack(bytes(content)).tolist()
    assert kept == sorted(kept)
    assert set(kept) | counted == set(range(PEOPLE))
    assert ingest.KEEP <= len(kept) < ingest.FULL
    # The first overflow leaves KEEP of the first FULL, whichever: not the oldest, not the newest.
    remained = [cell for cell in kept if cell < ingest.FULL]
    assert len(remained) == ingest.KEEP
    assert remained != list(range(ingest.KEEP))
    assert remained != list(range(ingest.FULL - ingest.KEEP, ingest.FULL))


def test_reports_of_several_integers_are_mixed_by_people(store: Store, mechanism: sv.Mechanism) -> None:
    """As many people wait in the mixing row whatever the width of a report, and their integers part."""
    campaign = create(store, mechanism, collection="enrolment")
    issued = tokens.issue(store, campaign.id, "enrolment", ingest.FULL)
    for person, token in enumerate(issued):
        row = np.array([[person, 500 + person]])
        keys = os.urandom(16), os.urandom(16)
        [outcome] = store.ingest([Batch(campaign.id, DAY, row, *keys, DAY + 8, tokens.token_hash(token))])
        assert outcome.count == 1
        if person == ingest.FULL - 2:
            assert store.daily_counts(campaign.id)
            with store.reading() as connection:
                assert connection.execute(select(schema.counts.c.cell)).all() == []
    with store.reading() as connection:
        content = connection.execute(select(schema.pending.c.cells)).scalar_one()
    waiting = ingest.unpack(bytes(content))
    assert len(waiting) == 2 * ingest.KEEP
    assert set(waiting[waiting < 500] + 500) != set(waiting[waiting >= 500])
    assert store.days(campaign.id) == [(DAY, ingest.FULL)]
    counts = store.counts(campaign.id, 1000)
    assert counts[: ingest.FULL].tolist() == counts[500 : 500 + ingest.FULL].tolist() == [1] * ingest.FULL


def test_rows_lie_in_the_order_of_hashes(tmp_path: Path, mechanism: sv.Mechanism) -> None:
    """SQLite: a scan meets tokens and keys by hash, and there is no rowid to sort them by."""
    store = open_store(tmp_path / "store.db")
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


def stolen_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("store.db*")) if path.suffix != ".key")


def test_keys_tokens_and_addresses_are_not_in_the_file(
    embedded: Running, mechanism: sv.Mechanism, tmp_path: Path
) -> None:
    campaign = embedded.create(mechanism, name="stolen", collection="enrolment")
    token, key = embedded.token("enrolment", campaign.id), new_key()
    answer = embedded.post(
        mechanism, [77], name="stolen", token=token, key=key, User_Agent="my-very-own-browser"
    )
    assert answer.status_code == 200
    content = stolen_bytes(Path(str(embedded.store.engine.url.database)).parent)
    assert hashlib.sha256(token.encode()).digest() in content  # the files that were read are the right ones
    for private in (token, token[5:], key, "my-very-own-browser", "testclient"):
        assert private.encode() not in content


def test_a_stored_body_hash_cannot_be_tried_out(mechanism: sv.Mechanism) -> None:
    """A plain hash of one cell falls to trying all cells; the stored one needs the secret and the key."""
    body = bytes.fromhex(mechanism.digest) + (77).to_bytes(2, "little")

    def tried(guess: object, stored: bytes) -> list[int]:
        bodies = ((c, bytes.fromhex(mechanism.digest) + c.to_bytes(2, "little")) for c in range(1000))
        return [c for c, b in bodies if guess(b) == stored]  # type: ignore[operator]

    plain = hashlib.sha256(body).digest()
    assert tried(lambda b: hashlib.sha256(b).digest(), plain) == [77]
    own, key = os.urandom(32), new_key()
    stored = secret.fingerprints(own, 1, key, body)[1]
    assert tried(lambda b: secret.fingerprints(own, 1, key, b)[1], stored) == [77]
    assert tried(lambda b: secret.fingerprints(bytes(32), 1, key, b)[1], stored) == []
    assert tried(lambda b: secret.fingerprints(own, 1, new_key(), b)[1], stored) == []


def test_fingerprints_do_not_run_into_each_other() -> None:
    made = [
        secret.fingerprints(bytes(32), campaign, key, body)
        for campaign, key, body in itertools.product((1, 256), ("ab", "abc"), (b"c", b"", b"bc"))
    ]
    assert len({body for _, body in made}) == len(made)
    assert len({key for key, _ in made}) == 4


def test_the_write_ahead_log_is_emptied(tmp_path: Path, mechanism: sv.Mechanism) -> None:
    """Its frames are in the order of arrival; upkeep leaves none."""
    store = open_store(tmp_path / "store.db")
    collect(store, mechanism, together=50)
    log = tmp_path / "store.db-wal"
    assert log.stat().st_size > 0
    store.tidy()
    assert log.stat().st_size == 0
    store.close()


def test_the_secret_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    first = secret.load(path)
    assert len(first) == 32
    assert secret.load(path) == first
    assert path.stat().st_mode & 0o077 == 0
    path.write_bytes(b"short")
    with pytest.raises(ValueError, match="must hold 32 bytes, got 5"):
        secret.load(path)
