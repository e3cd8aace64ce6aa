"""Counts are what was sent: several campaigns, days and collectors in one transaction, on both stores."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient
from tests.collector.cluster import Cluster
from tests.collector.service import SECRET, Running, create, every_count, until
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.cli import build_app
from sottovoce.collector import Settings, create_app, open_store
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.clock import day_number, now
from sottovoce.collector.service import Service
from sottovoce.collector.store import Accepted, Batch, Outcome, Store, schema
from sottovoce.collector.store.database import Unavailable
from sottovoce.collector.store.ingest import Miscount
from sottovoce.collector.store.writer import Writer
from sottovoce.collector.upkeep.balanced_counts import wrong_days

NUMBER = sv.sw(epsilon=1.0, cells=1000)
SURVEY = sv.Survey(2.0, dict.fromkeys(("one", "two"), sv.sw(epsilon=1.0, cells=500)), sampled=2)
CHOICE = sv.choice(1.0, [f"option {i}" for i in range(40)])
DAY = 20_000


def batch(campaign: Campaign, cells: Any, day: int = DAY) -> Batch:
    return Batch(campaign.id, day, np.asarray(cells), os.urandom(16), os.urandom(16), day + 8)


def expected(sent: list[Batch], campaign: Campaign) -> np.ndarray:
    """How often each cell of a campaign was sent."""
    cells = [one.cells.ravel() for one in sent if one.campaign == campaign.id]
    return np.bincount(np.concatenate([np.empty(0, int), *cells]), minlength=campaign.reporter.cells)


def five(store: Store) -> list[Campaign]:
    """Public and private, numbers, choices and surveys, whose cells overlap."""
    kinds = {"number": NUMBER, "same": NUMBER, "choice": CHOICE, "survey": SURVEY, "hidden": SURVEY}
    return [
        create(store, reporter, name=name, results="token" if name in ("same", "hidden") else "public")
        for name, reporter in kinds.items()
    ]


def random_batch(rng: np.random.Generator, campaign: Campaign, day: int) -> Batch:
    """Between one report and as many as go straight to the counters."""
    size = int(rng.choice([1, 20, 63, 64, 200]))
    return sized_batch(rng, campaign, day, size)


def sized_batch(rng: np.random.Generator, campaign: Campaign, day: int, size: int) -> Batch:
    width = campaign.reporter.width
    each = campaign.reporter.cells // width
    cells = rng.integers(0, each, (size, width)) + each * np.arange(width)
    return batch(campaign, cells if width > 1 else cells.ravel(), day)


# -- one transaction ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True], ids=["disjoint", "shared"])
def test_two_campaigns_in_one_transaction(store: Store, shared: bool) -> None:
    """Before: with disjoint cells the second also got the first one's counts, with shared ones nobody any."""
    campaigns = [create(store, NUMBER, name=name) for name in ("one", "two")]
    sent = [
        batch(campaign, np.arange(100) + 200 * place * (not shared))
        for place, campaign in enumerate(campaigns)
    ]
    assert store.ingest(sent) == [Accepted(100, replay=False)] * 2
    for campaign in campaigns:
        assert np.array_equal(every_count(store, campaign), expected(sent, campaign))
        assert store.days(campaign.id) == [(DAY, 100)]
    assert wrong_days(store, {}) == []


def test_two_days_in_one_transaction(store: Store) -> None:
    campaign = create(store, NUMBER)
    store.ingest([batch(campaign, np.arange(100)), batch(campaign, 300 + np.arange(100), DAY + 1)])
    for place, day in enumerate((DAY, DAY + 1)):
        cells, numbers = store.day_counts(campaign.id, day)
        assert np.array_equal(cells, 300 * place + np.arange(100))
        assert set(numbers) == {1}


def test_any_mixture_is_counted_as_it_was_sent(store: Store) -> None:
    """Groups of a few batches of five campaigns over three days, small ones through the pool."""
    rng, campaigns, sent = np.random.default_rng(1), five(store), list[Batch]()
    for _ in range(40):
        chosen = rng.integers(0, len(campaigns), rng.integers(1, 12))
        days = DAY + np.minimum((len(sent) + np.arange(len(chosen))) // 75, 2)  # within a group, too
        batches = [random_batch(rng, campaigns[i], day) for i, day in zip(chosen, days.tolist(), strict=True)]
        assert all(isinstance(outcome, Accepted) for outcome in store.ingest(batches))
        sent += batches
        store.ingest(batches[:2])  # sent again: changes nothing
    assert wrong_days(store, {}) == []
    for campaign in campaigns:
        assert np.array_equal(every_count(store, campaign), expected(sent, campaign))
        assert len(store.days(campaign.id)) == 3


def drop_rows(store: Store, campaign: int) -> None:
    """A database that loses what is counted for one campaign, and says nothing."""
    if store.kind == "sqlite":
        statements = [
            f"CREATE TRIGGER lose BEFORE INSERT ON counts WHEN NEW.campaign = {campaign} "
            "BEGIN SELECT RAISE(IGNORE); END"
        ]
    else:
        statements = [
            "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "CREATE TRIGGER lose BEFORE INSERT ON counts FOR EACH ROW "
            f"WHEN (NEW.campaign = {campaign}) EXECUTE FUNCTION lose()",
        ]
    with store.writing() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def written(store: Store, batches: list[Batch]) -> list[Outcome | BaseException]:
    """What the writer answers to batches that come together."""

    async def together() -> list[Outcome | BaseException]:
        writer = Writer(store, 100, lambda *_: None)
        try:
            return await asyncio.gather(*map(writer.store, batches), return_exceptions=True)
        finally:
            await asyncio.to_thread(writer.close)

    return asyncio.run(together())


def test_a_database_that_loses_rows_stores_nothing_of_that_batch(store: Store) -> None:
    """The transaction fails; the batches of other campaigns that came with it are stored by themselves."""
    one, two = (create(store, NUMBER, name=name) for name in ("one", "two"))
    drop_rows(store, two.id)
    sent = [batch(one, np.arange(100)), batch(two, np.arange(100)), batch(one, np.arange(70))]
    with pytest.raises(Miscount):
        store.ingest(sent)
    assert store.reports(one.id) == store.reports(two.id) == 0
    outcomes = written(store, sent)
    assert [getattr(outcome, "code", None) for outcome in outcomes] == [None, "internal", None]
    assert np.array_equal(every_count(store, one), expected([sent[0], sent[2]], one))
    assert store.reports(two.id) == 0
    assert wrong_days(store, {}) == []


def test_what_the_database_objects_to_refuses_no_neighbour(store: Store) -> None:
    """A body that fits no column on PostgreSQL; SQLite takes any."""
    campaign = create(store, NUMBER)
    bad = Batch(campaign.id, DAY, np.arange(100), os.urandom(16), os.urandom(16), 1 << 40)
    outcomes = written(store, [batch(campaign, np.arange(100)), bad, batch(campaign, np.arange(70))])
    refused = [None, "internal", None] if store.kind == "postgresql" else [None] * 3
    assert [getattr(outcome, "code", None) for outcome in outcomes] == refused
    assert wrong_days(store, {}) == []


# -- two collectors -------------------------------------------------------------------------------------


def test_two_collectors_on_one_database(cluster: Cluster) -> None:
    """They store, publish, expire and delete at the same time, each in its own order."""
    url = cluster.database()
    stores = [open_store(url).unlock(SECRET) for _ in range(2)]
    campaigns = five(stores[0])
    gone = create(stores[0], NUMBER, name="gone")
    sent: list[Batch] = []
    failures: list[Exception] = []

    def again(function: Any, *arguments: Any) -> Any:
        for _ in range(50):
            with suppress(Unavailable):  # the service tries again, too
                return function(*arguments)
        return function(*arguments)

    def work(number: int) -> None:
        rng, store = np.random.default_rng(number), stores[number]
        try:
            for turn in range(25):
                chosen = rng.permutation(np.append(rng.integers(0, 5, 6), 5))
                every = [*campaigns, gone]
                batches = [random_batch(rng, every[i], DAY + turn // 13) for i in chosen]
                for one, outcome in zip(batches, again(store.ingest, batches), strict=True):
                    if isinstance(outcome, Accepted):
                        sent.append(one)
                    else:
                        assert (one.campaign, outcome.code) == (gone.id, "unknown_campaign")
                again(store.settle, int(rng.choice([c.id for c in every])), 64)
                again(store.expire, DAY + 1, {campaign.id: 30 for campaign in every})
                if turn == 15 and number == 0:
                    again(store.purge, gone.id)
        except Exception as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for campaign in campaigns:
        assert np.array_equal(every_count(stores[0], campaign), expected(sent, campaign))
    assert wrong_days(stores[0], {}) == []
    assert left_of(stores[0], gone.id) == {}


def left_of(store: Store, campaign: int) -> Counter[str]:
    """How many rows each table has of a campaign."""
    with store.reading() as connection:
        found = {
            table.name: connection.execute(
                select(func.count()).select_from(table).where(table.c.campaign == campaign)
            ).scalar_one()
            for table in schema.metadata.tables.values()
            if "campaign" in table.c
        }
    return +Counter(found)


@pytest.mark.parametrize("upkeep", ["settle", "expire"])
def test_nothing_is_written_about_a_campaign_that_is_gone(store: Store, upkeep: str) -> None:
    """Upkeep listed the campaigns, then another process deleted one: its pool is about to go."""
    campaign = create(store, NUMBER)
    store.ingest([batch(campaign, np.arange(50)), batch(campaign, [3], DAY + 1)])
    with store.writing() as connection:
        connection.execute(schema.campaigns.delete())
    before = left_of(store, campaign.id)
    if upkeep == "settle":
        store.settle(campaign.id, 1)
    else:
        store.expire(DAY + 1, {campaign.id: 1})
    assert not left_of(store, campaign.id) - before
    assert len(store.waiting(campaign.id)) == 51  # as it was: the one who deletes finds it


# -- adding up ------------------------------------------------------------------------------------------


def spoil(store: Store, campaign: Campaign, day: int, change: int) -> None:
    """Change how often the first cell of a day was counted."""
    table = schema.counts
    where = (table.c.campaign == campaign.id) & (table.c.day == day)
    with store.writing() as connection:
        first = connection.execute(select(func.min(table.c.cell)).where(where)).scalar_one()
        new = {"count": table.c.count + change}
        connection.execute(update(table).where(where & (table.c.cell == first)).values(new))


def filled(store: Store, first: int = DAY) -> list[Campaign]:
    campaigns = five(store)
    rng = np.random.default_rng(2)
    for day in (first, first + 1, first + 2):
        for campaign in campaigns:
            store.ingest([sized_batch(rng, campaign, day, size) for size in (100, 3)])
    return campaigns


def test_every_wrong_day_is_found(store: Store) -> None:
    campaigns = {campaign.name: campaign for campaign in filled(store)}
    assert wrong_days(store, {}) == []
    spoil(store, campaigns["survey"], DAY + 1, 3)
    spoil(store, campaigns["survey"], DAY + 2, 1)
    spoil(store, campaigns["choice"], DAY, -1)
    found = [(one.campaign, one.day, one.excess) for one in wrong_days(store, {})]
    assert found == [("choice", DAY, -1), ("survey", DAY + 1, 3), ("survey", DAY + 2, 1)]


def test_a_day_with_counts_or_reports_alone_is_wrong(store: Store) -> None:
    campaign = create(store, NUMBER)
    store.ingest([batch(campaign, np.arange(100), DAY + number) for number in range(2)])
    with store.writing() as connection:
        for table, day in ((schema.counts, DAY), (schema.days, DAY + 1)):
            connection.execute(table.delete().where(table.c.day == day))
    found = [(one.day, one.reports, one.excess) for one in wrong_days(store, {})]
    assert found == [(DAY, 100, -100), (DAY + 1, 0, 100)]


def test_what_was_right_is_added_up_again_when_it_has_changed(store: Store) -> None:
    campaign = filled(store)[0]
    right: dict[tuple[int, int], int] = {}
    assert wrong_days(store, right) == []
    assert len(right) == 15
    spoil(store, campaign, DAY + 2, 1)
    assert wrong_days(store, right) == []
    store.ingest([batch(campaign, np.arange(100), DAY + 2)])
    assert [one.day for one in wrong_days(store, right)] == [DAY + 2]
    assert [one.day for one in wrong_days(store, right)] == [DAY + 2]  # what is wrong stays in sight
    assert wrong_days(store, {}, stop=lambda: True) == []


def test_health_and_metrics_tell_it(store_url: str) -> None:
    store = open_store(store_url).unlock(SECRET)
    today = day_number(now())
    campaign = filled(store, today - 2)[0]
    for change, status, counts in ((0, "ok", "right"), (1, "wrong", "wrong")):
        spoil(store, campaign, today - 2, change)
        app = create_app(open_store(store_url), Settings(rate=0), secret=SECRET)
        with TestClient(app) as client:
            running = Running(client, app)
            until(lambda running=running: running.get("/health").json()["counts"] != "unchecked")
            health = running.get("/health").json()
            assert (health["status"], health["counts"]) == (status, counts)
            assert f"sottovoce_wrong_days {change}.0" in running.get("/metrics").text


def test_one_campaign_that_cannot_be_read_stops_no_other_upkeep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Flushing, tidying and stopping go on although adding up and expiring fail."""
    store = open_store(tmp_path / "store.db").unlock(SECRET)
    broken, campaign = create(store, NUMBER, name="broken"), create(store, NUMBER, collection="open")
    with store.writing() as connection:
        rows = schema.campaigns
        connection.execute(update(rows).where(rows.c.id == broken.id).values(rules="{}"))
    app = create_app(store, Settings(rate=0), secret=SECRET)
    with TestClient(app) as client:
        service: Service = app.state.service
        service.refused(campaign.id, "busy")
        until(lambda: store.refusals(campaign.id) == {"busy": 1})
        assert client.get("/v1/health").json()["counts"] == "unchecked"
    again = open_store(tmp_path / "store.db")
    assert again.refusals(campaign.id) == {"busy": 1}


def test_the_command_names_campaigns_and_days(store_url: str) -> None:
    store = open_store(store_url).unlock(SECRET)
    campaigns = {campaign.name: campaign for campaign in filled(store)}

    def check() -> Any:
        return CliRunner().invoke(build_app("campaign"), ["campaign", "check", "--store", store_url])

    answer = check()
    assert answer.exit_code == 0
    assert "add up" in answer.output
    spoil(store, campaigns["survey"], DAY + 1, 3)
    spoil(store, campaigns["choice"], DAY, -1)
    answer = check()
    assert answer.exit_code == 1
    assert "survey: from 2024-10-05 on" in answer.output
    assert "choice: from 2024-10-04 on" in answer.output
    assert "number" not in answer.output.replace("number of", "")
    assert "3 too many" in answer.output
    assert "1 too few" in answer.output


def test_refusals_that_could_not_be_written_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever went wrong; and the store is closed although the last of them cannot be written."""
    store = open_store(tmp_path / "store.db")
    one, two = (create(store, NUMBER, name=name) for name in ("one", "two"))
    service = Service(store, Settings(), SECRET)
    for campaign in (one, two, two):
        service.refused(campaign.id, "busy")
    for error in (Unavailable(), RuntimeError()):
        with monkeypatch.context() as patch:
            patch.setattr(store, "add_refusals", Mock(side_effect=error))
            with pytest.raises(type(error)):
                service.flush()
    assert [service.refusals(campaign.id) for campaign in (one, two)] == [{"busy": 1}, {"busy": 2}]
    service.flush()
    assert [store.refusals(campaign.id) for campaign in (one, two)] == [{"busy": 1}, {"busy": 2}]
    service.refused(one.id, "busy")
    closed = Mock(side_effect=store.close)
    monkeypatch.setattr(store, "close", closed)
    monkeypatch.setattr(store, "add_refusals", Mock(side_effect=RuntimeError()))
    with pytest.raises(RuntimeError):
        service.close()
    closed.assert_called_once()
