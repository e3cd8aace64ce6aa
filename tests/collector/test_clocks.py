"""A clock that is wrong loses nothing: no report is deleted by it, none is counted twice, on either store."""

from __future__ import annotations

import datetime as dt
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection
from starlette.testclient import TestClient
from tests.collector.cluster import Cluster
from tests.collector.service import SECRET, Running, create, every_count, new_key
from tests.collector.test_bad_input import check_refused
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.cli import build_app
from sottovoce.collector import Settings, create_app, open_store
from sottovoce.collector.campaigns import clock as moments
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import Batch, Store, last_day
from sottovoce.collector.store import store as store_module
from sottovoce.collector.store.ingest import Accepted
from sottovoce.collector.upkeep.confirmed_day import confirm

NOON = dt.datetime(2026, 11, 19, 12, tzinfo=dt.UTC)
TODAY = moments.day_number(NOON)
Clock = Callable[[float], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Sets what all of the collector takes for this moment: so many days after a certain noon."""

    def put(days: float) -> None:
        for name, module in list(sys.modules.items()):
            if name.startswith("sottovoce.collector") and hasattr(module, "now"):
                monkeypatch.setattr(module, "now", lambda: NOON + dt.timedelta(days=days))

    put(0)
    return put


@contextmanager
def collector(url: str) -> Iterator[Running]:
    app = create_app(open_store(url), Settings(rate=0), secret=SECRET)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Running(client, app)


class Collectors:
    """A collector on a store that is started again and again, and what it has acknowledged."""

    def __init__(self, url: str, mechanism: sv.Mechanism, restarts: bool, **rules: Any) -> None:
        self.url, self.mechanism, self.restarts = url, mechanism, restarts
        self.running, self.stack = Running(None, None), ExitStack()  # type: ignore[arg-type]
        self.sent: dict[str, list[int]] = {}
        self.start()
        self.campaign = self.running.create(mechanism, **{"retention_days": 7, **rules})

    def start(self) -> None:
        self.stack.close()
        writers = self.running.writers
        self.running = self.stack.enter_context(collector(self.url))
        self.running.writers = writers

    def later(self) -> None:
        """Upkeep of a minute and of an hour, perhaps after a new start."""
        if self.restarts:
            self.start()
        self.running.app.state.service.tidy()
        self.running.app.state.service.upkeep()

    def post(self, cells: list[int], key: str | None = None) -> Any:
        key = new_key() if key is None else key
        answer = self.running.post(self.mechanism, cells, key=key)
        if answer.status_code == 200:
            self.sent[key] = cells
        return answer

    def fill(self) -> None:
        """A hundred reports that are counted at once, and five that wait in the pool."""
        assert self.post([1, 2] * 50).status_code == 200
        for cell in range(5):
            assert self.post([cell]).status_code == 200

    def judge(self) -> None:
        """Everything acknowledged is counted once; to send it again is a replay."""
        for key, cells in list(self.sent.items()):
            assert self.post(cells, key).headers.get("Idempotent-Replay") == "true"
        expected = [0] * self.mechanism.cells
        for cell in (cell for cells in self.sent.values() for cell in cells):
            expected[cell] += 1
        assert every_count(self.running.store, self.campaign).tolist() == expected
        assert self.running.stored(self.campaign) == sum(map(len, self.sent.values()))

    def days(self) -> set[int]:
        """Under which days something is stored, published or not."""
        published = {day for day, _ in self.running.store.days(self.campaign.id)}
        return published | set(self.running.store.waiting(self.campaign.id)[:, 0].tolist())


@pytest.fixture(params=[False, True], ids=["running", "restarted"])
def collectors(
    request: pytest.FixtureRequest, store_url: str, mechanism: sv.Mechanism, clock: Clock
) -> Iterator[Collectors]:
    made = Collectors(store_url, mechanism, request.param)
    yield made
    made.stack.close()


@pytest.mark.parametrize("days", [1, 8, 400])
def test_a_clock_that_is_behind(collectors: Collectors, clock: Clock, days: int) -> None:
    collectors.fill()
    collectors.later()
    clock(-days)
    collectors.later()
    collectors.fill()
    collectors.later()
    assert collectors.days() == {TODAY}
    clock(0)
    collectors.later()
    collectors.judge()
    clock(1)
    collectors.later()
    collectors.judge()


@pytest.mark.parametrize("days", [2, 8, 400])
def test_a_clock_that_jumps_ahead_and_back(collectors: Collectors, clock: Clock, days: int) -> None:
    collectors.fill()
    collectors.later()
    clock(days)
    collectors.later()
    key = new_key()
    for _ in range(2):
        answer = collectors.post([7], key)
        check_refused(answer, "clock_unconfirmed")
        assert int(answer.headers["retry-after"]) > 0
    collectors.later()
    collectors.judge()  # what was acknowledged before is known, and nothing of it was deleted
    clock(0)
    collectors.later()
    assert collectors.post([7], key).status_code == 200
    collectors.fill()
    assert collectors.days() == {TODAY}
    collectors.judge()


def test_a_clock_that_is_a_day_ahead_is_believed(collectors: Collectors, clock: Clock) -> None:
    """Then a key is still known for as long as clients send a report again: six days and a half."""
    clock(0.499)
    collectors.fill()
    for hours in range(12, 157, 12):
        clock(0.499 + 1 + hours / 24 if hours % 24 else 0.499 + hours / 24)  # ahead and back
        collectors.later()
    clock(0.499 + 6.5 + 1)
    collectors.later()
    collectors.judge()


def test_what_a_clock_that_is_ahead_says_about_campaigns(
    collectors: Collectors, clock: Clock, mechanism: sv.Mechanism
) -> None:
    """A client would forget a report that comes too late; and a few reports alone are not published."""
    running, ends = collectors.running, {"closes": NOON + dt.timedelta(days=3)}
    brief = running.create(mechanism, name="brief", **ends)
    assert running.post(mechanism, [1], name="brief").status_code == 200
    clock(30)
    running.app.state.service.tidy()
    check_refused(running.post(mechanism, [1], name="brief"), "clock_unconfirmed")
    assert running.store.days(brief.id) == []
    clock(0)
    assert running.post(mechanism, [2], name="brief").status_code == 200


def test_what_a_clock_that_is_behind_says_about_campaigns(
    collectors: Collectors, clock: Clock, mechanism: sv.Mechanism
) -> None:
    """They open and close by the store's day."""
    running, yesterday = collectors.running, NOON - dt.timedelta(days=1)
    running.create(mechanism, name="open", opens=yesterday)
    running.create(mechanism, name="closed", closes=yesterday)
    clock(-30)
    assert running.post(mechanism, [1], name="open").status_code == 200
    check_refused(running.post(mechanism, [1], name="closed"), "closed")


def test_days_pass_though_nobody_reports(collectors: Collectors, clock: Clock) -> None:
    for day in range(1, 5):
        clock(day)
        collectors.later()
    collectors.fill()
    assert collectors.days() == {TODAY + 4}


def test_a_collector_that_was_switched_off(collectors: Collectors, clock: Clock) -> None:
    """Seven days later nothing is stored until the day is confirmed, also while the collector runs."""
    collectors.fill()
    clock(6)
    collectors.later()
    collectors.running.app.state.service._probed = float("-inf")
    answer = collectors.running.get("/health")
    check_refused(answer, "clock_unconfirmed")
    assert "2026-11-25" in answer.json()["message"]
    assert "2026-11-19" in answer.json()["message"]
    assert "sottovoce campaign check --last-day 2026-11-25" in answer.json()["message"]
    collectors.judge()
    assert confirm(collectors.running.store, TODAY + 6) == 0
    assert collectors.running.get("/health").status_code == 200
    collectors.later()
    collectors.fill()
    collectors.judge()
    assert collectors.running.store.days(collectors.campaign.id) == [(TODAY, 100), (TODAY + 6, 100)]
    clock(7)
    collectors.later()  # and what is old is deleted as was said
    assert collectors.running.store.days(collectors.campaign.id) == [(TODAY + 6, 100)]


def test_a_last_day_that_was_wrong(store_url: str, mechanism: sv.Mechanism, clock: Clock) -> None:
    """The clock of a new store is thirty days ahead: what came is counted under the right day."""
    clock(30)
    collectors = Collectors(store_url, mechanism, restarts=False)
    collectors.fill()
    clock(0)
    collectors.fill()
    assert collectors.days() == {TODAY + 30}
    service = collectors.running.app.state.service
    collectors.running.post(mechanism, [1000])
    service.flush()
    assert confirm(collectors.running.store, TODAY) == 210
    assert collectors.days() == {TODAY}
    collectors.judge()
    collectors.fill()
    assert collectors.running.store.days(collectors.campaign.id) == [(TODAY, 300)]
    assert confirm(collectors.running.store, TODAY) == 0
    for day in range(1, 7):
        clock(day)
        collectors.later()
        collectors.judge()
    clock(7)
    collectors.later()
    assert collectors.running.stored(collectors.campaign) == 0
    assert collectors.running.store.refusals(collectors.campaign.id) == {}


def test_exports_after_a_day_was_taken_back(store_url: str, mechanism: sv.Mechanism, clock: Clock) -> None:
    """A day that comes again with as many reports has other counts than were known of it."""
    clock(1)
    collectors = Collectors(store_url, mechanism, restarts=False)
    token = collectors.running.token("read", collectors.campaign.id)

    def exported() -> list[str]:
        return collectors.running.get("/campaigns/trial/counts", token).text.split()[1:]

    collectors.post([1] * 64)
    assert exported() == ["2026-11-20,1,64"]
    clock(0)
    confirm(collectors.running.store, TODAY)
    collectors.later()
    clock(1)
    collectors.post([2] * 64)
    assert exported() == ["2026-11-19,1,64", "2026-11-20,2,64"]
    collectors.stack.close()


def test_two_collectors_with_different_clocks(
    cluster: Cluster, mechanism: sv.Mechanism, clock: Clock
) -> None:
    first = Collectors(cluster.database(), mechanism, restarts=False)
    first.fill()
    with collector(first.url) as second:
        second.writers = first.running.writers
        for days in (-30, 30, -400, 400, 1):
            clock(days)
            for upkeep in (second.app.state.service.tidy, second.app.state.service.upkeep):
                upkeep()
            answer = second.post(mechanism, [3] * 64, key=(key := new_key()))
            if days > 1:
                check_refused(answer, "clock_unconfirmed")
            else:
                assert answer.status_code == 200
                first.sent[key] = [3] * 64
            clock(0)
            first.later()
            first.fill()
            first.judge()
            assert first.days() == {TODAY, TODAY + 1} if days == 1 else {TODAY}
    first.stack.close()


def test_nothing_is_stored_under_a_day_while_it_is_taken_back(store: Store, mechanism: sv.Mechanism) -> None:
    campaign, stored = create(store, mechanism), [0]
    begun = threading.Event()

    def batch(campaign: int, reports: int) -> Batch:
        keys = os.urandom(16), os.urandom(16)
        return Batch(campaign, TODAY + 30, np.ones(reports, dtype=np.int64), *keys, TODAY + 38)

    def load() -> None:
        while True:
            outcomes = store.ingest([batch(campaign.id, n) for n in (64, 1)])
            if any(isinstance(outcome, Refusal) for outcome in outcomes):
                return
            stored[0] += 65
            if stored[0] > 650:
                begun.set()

    thread = threading.Thread(target=load)
    thread.start()
    begun.wait()
    confirm(store, TODAY)
    thread.join()
    assert store.reports(campaign.id) == stored[0]
    assert {day for day, _ in store.days(campaign.id)} == {TODAY}
    assert set(store.waiting(campaign.id)[:, 0].tolist()) <= {TODAY}


@pytest.mark.parametrize("other", ["today", "ingest"])
def test_two_writers_at_the_change_of_day_do_not_wait_for_each_other(
    store: Store, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """Nobody who has read the last day in order to write another one lets a second one do the same."""
    campaign = create(store, mechanism)
    store.today(TODAY)
    monkeypatch.setattr(store_module, "_ATTEMPTS", 1)
    both, write = threading.Barrier(2), last_day.write

    def meet(connection: Connection, day: int) -> None:
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        write(connection, day)

    monkeypatch.setattr(last_day, "write", meet)
    keys = os.urandom(16), os.urandom(16)
    batch = Batch(campaign.id, TODAY + 1, np.ones(1, dtype=np.int64), *keys, TODAY + 9)
    second = partial(store.ingest, [batch]) if other == "ingest" else partial(store.today, TODAY + 1)
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(store.today, TODAY + 1), pool.submit(second)]
        assert [answer.result() for answer in answers] in ([TODAY + 1] * 2, [TODAY + 1, [Accepted(1, False)]])


def check(*arguments: object) -> Any:
    return CliRunner().invoke(build_app(), ["campaign", "check", *map(str, arguments)])


def test_the_command_confirms_only_the_day_that_it_is(
    store_url: str, tmp_path: Path, mechanism: sv.Mechanism, clock: Clock
) -> None:
    """Both the operator and the clock have to say so: a slip of the pen takes no report to another year."""
    (tmp_path / "secret").write_bytes(SECRET)
    where = ("--store", store_url, "--secret-file", tmp_path / "secret")
    clock(30)
    collectors = Collectors(store_url, mechanism, restarts=False)
    collectors.fill()
    clock(0)
    for wrong in ("2026-11-18", "2026-11-20", "2025-11-19", "2062-11-19"):
        assert "2026-11-19" in str(check(*where, "--last-day", wrong).exception)
    assert collectors.days() == {TODAY + 30}
    done = check(*where, "--last-day", "2026-11-19")
    assert done.exit_code == 0, done.output
    assert "the store's last day is 2026-11-19; 105 reports of later days" in done.output
    assert collectors.days() == {TODAY}
    collectors.judge()
    clock(7)
    check_refused(collectors.post([7]), "clock_unconfirmed")
    assert check(*where, "--last-day", "2026-11-26").exit_code == 0
    collectors.fill()
    assert collectors.days() == {TODAY, TODAY + 7}
    collectors.judge()
    collectors.stack.close()


def test_a_clock_that_jumps_while_it_is_asked_publishes_nothing(
    collectors: Collectors, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked once for the store's day and for what is closed: two answers could be a month apart."""
    running, ends = collectors.running, {"closes": NOON + dt.timedelta(days=3)}
    brief = running.create(mechanism, name="jumping", **ends)
    assert running.post(mechanism, [1], name="jumping").status_code == 200
    answers = iter([NOON])
    late = NOON + dt.timedelta(days=30)
    monkeypatch.setattr("sottovoce.collector.service.now", lambda: next(answers, late))
    running.app.state.service.tidy()
    assert running.store.days(brief.id) == []
