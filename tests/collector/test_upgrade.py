"""Stores that earlier versions wrote, their dumps in `stores/`, are opened by this one: nothing is lost."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests.collector.cluster import Cluster
from tests.collector.service import SECRET, create, every_count

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.tokens import token_hash
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.secret import fingerprints
from sottovoce.collector.store import Accepted, Batch, Store, migrations, schema
from sottovoce.collector.upkeep.backup import restore

STORES = Path(__file__).parent / "stores"
SCHEMAS = sorted(path.stem for path in STORES.glob("*.json"))


def written(url: str, revision: str) -> dict[str, Any]:
    """A store as that version left it, and what it knew."""
    kind = "postgresql" if "://" in url else "sqlite"
    dump = (STORES / f"{revision}.{kind}.sql").read_text()
    if kind == "sqlite":
        file = sqlite3.connect(url)
        file.executescript(dump)
        file.close()
    else:
        with psycopg.connect(url) as connection:
            connection.execute(dump.encode())
    return json.loads((STORES / f"{revision}.json").read_text())[kind]


def counted(store: Store) -> dict[str, list[list[int]]]:
    """[cell, reports] of everything that is stored, published or not, for each campaign."""
    counts = {one.name: every_count(store, Campaign.of(one)) for one in store.campaigns()}
    return {
        name: [[int(cell), int(all_[cell])] for cell in np.flatnonzero(all_)] for name, all_ in counts.items()
    }


def test_every_schema_has_its_stores() -> None:
    scripts = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert sorted(script.revision for script in scripts.walk_revisions()) == SCHEMAS


@pytest.mark.parametrize("revision", SCHEMAS)
def test_no_count_is_lost(store_url: str, revision: str, mechanism: sv.Mechanism) -> None:
    before = written(store_url, revision)
    store = open_store(store_url).unlock(SECRET)
    with store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    assert counted(store) == before["counts"]
    campaigns = {name: Campaign.of(store.campaign(name)) for name in before["counts"]}
    assert {name: one.reporter.digest for name, one in campaigns.items()} == before["digests"]
    rules = campaigns["commute"].rules
    assert (rules.title, rules.missing, rules.outside) == ("Your way", 45.0, "missing")
    assert rules.closes == dt.datetime(2999, 1, 1, tzinfo=dt.UTC)
    assert campaigns["coin"].rules.retention_days == 900
    for name, one in campaigns.items():
        assert sum(n for _, n in store.days(one.id)) + len(store.waiting(one.id)) == sum(
            n for _, n in before["counts"][name]
        )

    def sent(name: str, cells: list[int], key: str, body: str, token: str | None = None) -> Any:
        number = campaigns[name].id
        marks = fingerprints(SECRET, number, key, body.encode())
        spends = None if token is None else token_hash(token)
        return store.ingest([Batch(number, 20_459, np.array(cells), *marks, 20_467, spends)])[0]

    # What was acknowledged before is recognised, a token that was spent stays spent, another one is good.
    assert sent("commute", [3, 9, 40] * 30, before["key"], before["body"]) == Accepted(90, replay=True)
    refusal = sent("hours", [7], "a" * 32, "", before["spent"])
    assert isinstance(refusal, Refusal)
    assert refusal.code == "token_spent"
    assert sent("hours", [9], "b" * 32, "", before["unspent"]) == Accepted(1, replay=False)
    assert counted(store)["hours"] == [[7, 2], [8, 1], [9, 1]]
    assert create(store, mechanism).id > max(one.id for one in campaigns.values())
    store.close()


def test_a_backup_of_the_first_release_fills_an_empty_store(cluster: Cluster, tmp_path: Path) -> None:
    before = written(str(tmp_path / "backup.db"), "0002")
    kept = (tmp_path / "backup.db").read_bytes()
    store = open_store(cluster.database())
    restore(tmp_path / "backup.db", store)
    assert counted(store.unlock(SECRET)) == before["counts"]
    store.close()
    assert (tmp_path / "backup.db").read_bytes() == kept  # the version that wrote it can still read it
