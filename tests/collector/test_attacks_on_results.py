"""What anybody could ask of results, or tell by reports: each attack fails; without its limit it succeeds."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cachetools import LRUCache
from sqlalchemy import event
from tests.collector.service import Running, new_key, served, until
from tests.collector.test_bad_input import check_refused

import sottovoce as sv
from sottovoce.collector import Settings, metrics_endpoint
from sottovoce.collector.api import dependencies, intake
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.http import bodies
from sottovoce.collector.results import results_cache
from sottovoce.collector.store import Batch, ingest, pool

# -- H2: counts, for anybody, all at once ---------------------------------------------------------------


class Unlimited(nullcontext[None]):
    """As it was: as many exports as are asked for."""

    def locked(self) -> bool:
        return False


@pytest.mark.attack("H2")
@pytest.mark.parametrize("limited", [True, False])
def test_counts_need_a_token_and_come_one_at_a_time(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, limited: bool
) -> None:
    """Somebody without a token asks for all counts while another export is being read."""
    name, service = f"public-{limited}".lower(), embedded.app.state.service
    campaign = embedded.create(mechanism, name=name)
    embedded.post(mechanism, [1, 2] * 50, name=name)
    token, path = embedded.token("read", campaign.id), f"/campaigns/{name}/counts"
    embedded.client.portal.call(service.exporting.acquire)  # type: ignore[union-attr]
    if limited:
        check_refused(embedded.get(path), "bad_token")
        check_refused(embedded.get(path, token), "busy")
        service.exporting.release()
        text = embedded.get(path, token).text
        assert not service.exporting.locked()
    else:
        anybody = {dependencies._read_token: dependencies._readable}
        monkeypatch.setattr(embedded.app, "dependency_overrides", anybody)
        with monkeypatch.context() as patch:
            patch.setattr(service, "exporting", Unlimited())
            text = embedded.get(path).text
        service.exporting.release()
    assert [line.split(",")[1:] for line in text.splitlines()[1:]] == [["1", "50"], ["2", "50"]]


@pytest.mark.attack("H2")
@pytest.mark.parametrize("room", [1 << 20, 0])
def test_counts_are_streamed_by_the_day_and_read_once(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    name = f"days-{room}"
    campaign, store = embedded.create(mechanism, name=name), embedded.store
    first = store.today(0)  # the store's last day
    for day in range(first, first + 3):
        prints = (new_key().encode()[:16], new_key().encode()[:16])
        store.ingest([Batch(campaign.id, day, np.arange(1000), *prints, day + 8)])
    seen: list[int] = []
    real = store.day_counts
    monkeypatch.setattr(store, "day_counts", lambda *place: seen.append(place[1]) or real(*place))
    monkeypatch.setattr(embedded.app.state.service, "_day_counts", LRUCache(room, lambda day: day[1].nbytes))
    token = embedded.token("read", campaign.id)
    for form in ("csv", "parquet", "csv"):
        assert embedded.get(f"/campaigns/{name}/counts", token, format=form).status_code == 200
    each = [first, first + 1, first + 2]  # by itself, from the store once
    assert seen == each * (1 if room else 3)


# -- M2: questions for estimates ------------------------------------------------------------------------


@pytest.mark.attack("M2")
@pytest.mark.parametrize("limited", [True, False])
def test_questions_of_people_who_have_left_delay_nobody(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, limited: bool
) -> None:
    """Twelve questions from sockets that close at once; how many are computed before a dashboard's?"""
    name = f"asked-{limited}".lower()
    campaign = embedded.create(mechanism, name=name)
    embedded.post(mechanism, [1, 2] * 50, name=name)
    cache, computed = embedded.app.state.service.results, list[results_cache.View]()
    begun, go = threading.Event(), threading.Event()

    def compute(_: Any, view: results_cache.View, __: Any) -> results_cache._Entry:
        computed.append(view)
        begun.set()
        assert go.wait(30)
        return results_cache._Entry(time.monotonic(), [], {})

    monkeypatch.setattr(cache, "_compute", compute)
    monkeypatch.setattr(cache, "_waiting", 1000)  # here it is about those who have left

    async def attack() -> None:
        views = [results_cache.View(bins=bins) for bins in range(10, 22)]
        tasks = [asyncio.create_task(cache.get(campaign, view)) for view in views]
        await asyncio.to_thread(begun.wait)
        if limited:
            for task in tasks:
                task.cancel()  # the connection is closed: see `reading._unless_gone`
        dashboard = asyncio.create_task(cache.get(campaign, results_cache.View()))
        await asyncio.sleep(0)
        go.set()
        await dashboard
        await asyncio.gather(*tasks, return_exceptions=True)

    embedded.client.portal.call(attack)  # type: ignore[union-attr]
    place = computed.index(results_cache.View())
    assert place == (1 if limited else 12)


@pytest.mark.attack("M2")
@pytest.mark.parametrize("most", [Settings().max_estimates, 1000])
def test_questions_that_wait_are_bounded(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Beyond the limit a new question is refused; the usual one, and one that waits already, are not."""
    campaign = embedded.create(mechanism, name=f"bounded-{most}")
    cache, go = embedded.app.state.service.results, threading.Event()
    monkeypatch.setattr(cache, "_waiting", most)

    def compute(*_: Any) -> results_cache._Entry:
        assert go.wait(30)
        return results_cache._Entry(time.monotonic(), [], {})

    monkeypatch.setattr(cache, "_compute", compute)

    async def attack() -> list[str]:
        views = [results_cache.View(bins=bins) for bins in (*range(10, 22), 10)]
        tasks = [asyncio.create_task(cache.get(campaign, view)) for view in [*views, results_cache.View()]]
        await asyncio.sleep(0.05)
        go.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        return [getattr(outcome, "code", "shown") for outcome in outcomes]

    outcomes = embedded.client.portal.call(attack)  # type: ignore[union-attr]
    assert outcomes == ["shown"] * min(most, 12) + ["busy"] * (12 - most) + ["shown"] * 2


def test_a_closed_socket_cancels_its_question(tmp_path: Path, mechanism: sv.Mechanism) -> None:
    """Over real sockets: the question of a client that has gone does not stay in the queue."""
    with served(tmp_path, mechanism) as (made, address):
        cache = made.config.app.state.service.results  # type: ignore[union-attr]
        go, begun = threading.Event(), threading.Event()
        computed: list[int] = []

        def compute(_: Any, view: results_cache.View, __: Any) -> results_cache._Entry:
            computed.append(view.bins)
            begun.set()
            assert go.wait(30)
            raise results_cache.Refusal("estimates_unavailable")

        cache._compute = compute
        with ExitStack() as stack:
            for bins in (10, 11, 12):
                connection = stack.enter_context(socket.create_connection(address, 30))
                connection.sendall(
                    b"GET /v1/campaigns/trial/estimates?bins=%d HTTP/1.1\r\nHost: x\r\n\r\n" % bins
                )
                if bins == 10:
                    begun.wait(30)
            until(lambda: len(cache._jobs) == 3)
        until(lambda: len(cache._jobs) == 1)
        go.set()
        until(lambda: not cache._jobs)
        assert computed == [10]


@pytest.mark.attack("M2")
@pytest.mark.parametrize(("seconds", "status"), [(0.01, 503), (60.0, 200)])
def test_an_estimate_that_takes_too_long_is_given_up(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, seconds: float, status: int
) -> None:
    name = f"endless-{status}"
    embedded.create(mechanism, name=name)
    embedded.post(mechanism, [1, 2] * 50, name=name)
    monkeypatch.setattr(embedded.app.state.service.results.worker, "_seconds", seconds)
    assert embedded.get(f"/campaigns/{name}/estimates", bins=33).status_code == status


# -- M1, M8: reports by ones, and many by one -----------------------------------------------------------


def outsider(running: Running, mechanism: sv.Mechanism, name: str) -> list[int | None]:
    """Ten people report, one after the other; the cell that somebody who polls sees arrive after each."""
    campaign = running.create(mechanism, name=name, collection="enrolment")
    read = running.token("read", campaign.id)
    people = tokens.issue(running.store, campaign.id, "enrolment", 10)
    seen: list[int | None] = []
    before: dict[str, int] = {}
    totals = set()
    for cell, token in enumerate(people):
        assert running.post(mechanism, [cell], name=name, token=token).status_code == 200
        lines = running.get(f"/campaigns/{name}/counts", read).text.splitlines()[1:]
        counts = {line.split(",")[1]: int(line.split(",")[2]) for line in lines}
        new = [int(one) for one in counts if counts[one] != before.get(one, 0)]
        seen.append(new[0] if len(new) == 1 else None)
        before = counts
        summary = running.get(f"/campaigns/{name}/summary").json()
        metrics = running.get("/metrics").text
        totals.add((summary["n"], re.search(r"reports_total (\S+)", metrics)[1]))  # type: ignore[index]
    assert len(totals) == (1 if seen == [None] * 10 else 10)
    return seen


@pytest.mark.attack("M1", "refused")
def test_an_outsider_sees_nobody_arrive(embedded: Running, mechanism: sv.Mechanism) -> None:
    assert outsider(embedded, mechanism, "polled") == [None] * 10


@pytest.mark.attack("M1", "succeeds")
def test_without_a_pool_the_outsider_reads_ten_of_ten(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (pool, ingest):
        monkeypatch.setattr(module, "KEEP", 1)
    monkeypatch.setattr(metrics_endpoint, "STEP", 1)
    assert outsider(embedded, mechanism, "polled-before") == list(range(10))


@pytest.mark.attack("M8", "refused")
def test_one_anonymous_request_is_one_person(embedded: Running, mechanism: sv.Mechanism) -> None:
    campaign = embedded.create(mechanism, name="anonymous", collection="open")
    many = bytes.fromhex(mechanism.digest) + bytes(2 * 100_000)
    for body, code in ((many, "too_large"), (many[:36], "one_report_per_request")):
        check_refused(embedded.post_raw(body, name="anonymous", kind=bodies.BINARY), code)
    assert embedded.stored(campaign) == 0
    assert embedded.post_raw(many[:34], name="anonymous", kind=bodies.BINARY).json() == {"accepted": 1}


@pytest.mark.attack("M8", "succeeds")
def test_with_the_old_room_it_was_a_hundred_thousand(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = embedded.create(mechanism, name="crowd", collection="open")
    monkeypatch.setattr(
        intake, "_room", lambda *_: bodies.Room(1 << 20, 100_000, bodies.Refusal("too_large"))
    )
    body = bytes.fromhex(mechanism.digest) + bytes(2 * 100_000)
    assert embedded.post_raw(body, name="crowd", kind=bodies.BINARY).json() == {"accepted": 100_000}
    assert embedded.stored(campaign) == 100_000


# -- L9: health ---------------------------------------------------------------------------------------


@pytest.mark.attack("L9")
@pytest.mark.parametrize(("probes", "status"), [(True, 503), (False, 200)])
def test_a_store_that_cannot_be_written_is_not_well(
    embedded: Running, monkeypatch: pytest.MonkeyPatch, probes: bool, status: int
) -> None:
    """What a full disk does is looked at by test_durability; here every write is refused, as it is then."""
    if not probes:
        for check in ("probe", "today"):
            monkeypatch.setattr(embedded.store, check, lambda *_: None)
    embedded.app.state.service._probed = float("-inf")

    def refuse(connection: Any) -> None:
        connection.exec_driver_sql("PRAGMA query_only = ON")

    event.listen(embedded.store.engine, "begin", refuse)
    try:
        assert embedded.get("/health").status_code == status
    finally:
        event.remove(embedded.store.engine, "begin", refuse)
        embedded.store.engine.dispose()  # these connections stay as they are


def test_health_is_tried_once_however_many_ask(embedded: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    probes: list[int] = []
    monkeypatch.setattr(embedded.store, "probe", lambda: probes.append(1))
    embedded.app.state.service._probed = float("-inf")
    for _ in range(20):
        health = embedded.get("/health")
        assert health.status_code == 200, health.text
    assert len(probes) == 1
