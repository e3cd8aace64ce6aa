"""Stores over time: restarts, migrations, backups, and those that cannot be used."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, select
from starlette.testclient import TestClient
from tests.collector.cluster import Cluster
from tests.collector.service import SECRET, Running, create, daily_counts

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store
from sottovoce.collector.store import Batch, Store, schema
from sottovoce.collector.upkeep.backup import backup, restore

CELLS = np.array([2, 4, 4])
REPEATED = [1, 2] * 50


def test_a_campaign_survives_a_restart(store_url: str, mechanism: sv.Mechanism) -> None:
    for expected in (100, 200):
        app = create_app(open_store(store_url), Settings(rate=0), secret=bytes(32))
        with TestClient(app) as client:
            running = Running(client, app)
            if expected == 100:
                campaign = create(running.store, mechanism, collection="write")
            token = running.token("write", campaign.id)
            assert running.post(mechanism, [1, 2] * 50, token=token).status_code == 200
            assert running.get("/campaigns/trial/summary").json()["n"] == expected


def test_the_migrations_make_the_schema(store: Store) -> None:
    with store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    open_store(store.engine.url.render_as_string(hide_password=False)).close()


def test_counting_sees_one_state(cluster: Cluster, mechanism: sv.Mechanism) -> None:
    """Reports that are published between two queries of a reader are seen by both or by none."""
    store = open_store(cluster.database()).unlock(SECRET)
    campaign = create(store, mechanism)
    batch = Batch(campaign.id, 20_000, np.arange(100), os.urandom(16), os.urandom(16), 20_008)
    with store.reading() as connection:
        counted = connection.execute(select(func.sum(schema.counts.c.count))).scalar_one() or 0
        store.ingest([batch])
        reports = connection.execute(select(func.sum(schema.days.c.reports))).scalar_one() or 0
    assert counted == reports == 0
    assert int(store.counts(campaign.id, mechanism.cells).sum()) == 100
    store.close()


def filled(store: Store, mechanism: sv.Mechanism) -> list[tuple[int, int, int]]:
    app = create_app(store, Settings(rate=0), secret=bytes(32))
    with TestClient(app) as client:
        running = Running(client, app)
        campaign = running.create(mechanism)
        enrolled = running.create(mechanism, name="enrolled", collection="enrolment")
        assert running.post(mechanism, REPEATED, key="k" * 30).status_code == 200
        token = running.token("enrolment", enrolled.id)
        assert running.post(mechanism, [3], name="enrolled", token=token).status_code == 200
        running.post(mechanism, [1000])
        assert len(running.store.waiting(enrolled.id)) == 1
        return daily_counts(running.store, campaign.id)


def test_backup_and_restore_across_stores(cluster: Cluster, tmp_path: Path, mechanism: sv.Mechanism) -> None:
    expected = filled(open_store(tmp_path / "first.db"), mechanism)
    urls = [str(tmp_path / "first.db"), cluster.database(), str(tmp_path / "second.db")]
    for number, (source, target) in enumerate(itertools.pairwise(urls)):
        copy = tmp_path / f"backup{number}"
        store = open_store(source)
        rows = backup(store, copy)
        store.close()
        store = open_store(target)
        assert restore(copy, store) == rows
        with pytest.raises(ValueError, match="empty store"):
            restore(copy, store)
        store.close()
    with pytest.raises(ValueError, match="new file"):
        backup(open_store(urls[-1]), tmp_path / "backup0")
    app = create_app(open_store(urls[-1]), Settings(rate=0), secret=bytes(32))
    with TestClient(app) as client:
        running = Running(client, app)
        found = [running.store.campaign(name) for name in ("trial", "enrolled")]
        assert daily_counts(running.store, found[0].id) == expected
        assert running.store.waiting(found[1].id)[:, 1].tolist() == [3]
        # What was acknowledged before the backup is still recognised afterwards.
        token = running.token("write", found[0].id)
        replay = running.post(mechanism, REPEATED, key="k" * 30, token=token)
        assert replay.headers["idempotent-replay"] == "true"
        assert running.get("/campaigns/trial/summary").json()["refusals"] == {"cell_out_of_range": 1}
        assert running.create(mechanism, name="next").id > max(stored.id for stored in found)


def test_restored_into_postgresql_new_campaigns_get_new_numbers(
    cluster: Cluster, tmp_path: Path, mechanism: sv.Mechanism
) -> None:
    filled(open_store(tmp_path / "first.db"), mechanism)
    store = open_store(tmp_path / "first.db")
    backup(store, tmp_path / "copy")
    target = open_store(cluster.database())
    restore(tmp_path / "copy", target)
    assert create(target, mechanism, name="next").id == 3
    store.close()
    target.close()


def test_stores_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be a file"):
        open_store("sqlite://")
    with pytest.raises(ValueError, match="sqlite or postgresql"):
        open_store("mysql://x/y")
    with pytest.raises(ValueError, match="file or a URL"):
        open_store("://")
    with pytest.raises(OSError, match="cannot be opened"):
        open_store(tmp_path / "no" / "folder.db")
    (tmp_path / "text.db").write_text("not a database, but long enough to look at" * 50)
    with pytest.raises(OSError, match="cannot be opened: file is not a database"):
        open_store(tmp_path / "text.db")
    with pytest.raises(OSError, match="cannot be opened"):
        open_store(f"postgresql://nobody@/none?host={tmp_path}")
