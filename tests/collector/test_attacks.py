"""What anybody could do to a collector: each attack is run and fails; without the limit it succeeds."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uvicorn
from tests.collector.service import Running, create, new_key
from tests.collector.test_bad_input import check_refused

import sottovoce as sv
from sottovoce.collector import Settings, counters, open_store, protocol, results_cache, tokens
from sottovoce.collector import run as run_module
from sottovoce.collector.api import bodies, intake
from sottovoce.collector.rates import RateLimit
from sottovoce.collector.store import Batch, ingest, pool

STRANGER = "192.0.2.1"  # the only proxy: who comes from here is none


@contextmanager
def served(
    folder: Path, mechanism: sv.Mechanism | None = None, **settings: Any
) -> Iterator[tuple[uvicorn.Server, tuple[str, int]]]:
    """The server as `sottovoce serve` makes it, in a thread; with a mechanism, it has an open campaign."""
    path = str(folder / "store.db")
    if mechanism is not None:
        store = open_store(path)
        create(store, mechanism, collection="open")
        store.close()
    options = Settings(**{"rate": 0, **settings})
    made = run_module.server(path, "127.0.0.1", 0, options, proxies=STRANGER)
    thread = threading.Thread(target=made.run)
    thread.start()
    try:
        while not made.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield made, made.servers[0].sockets[0].getsockname()
    finally:
        made.should_exit = True
        thread.join()


def answer(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    """The status and content of the next answer; (0, {}) if the connection ends without one."""
    with connection.makefile("rb") as stream:
        head = b"".join(iter(stream.readline, b"\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head)
        if length is None:
            return 0, {}
        return int(head.split()[1]), json.loads(stream.read(int(length[1])))


HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: here\r\n"


# -- H1: a small body that takes long to read -----------------------------------------------------------


def bomb(digest: str) -> bytes:
    """A kilobyte that is half a million cells."""
    return gzip.compress(b'{"digest":"%s","cells":[%s0]}' % (digest.encode(), b"0," * 524_000))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """The size of each JSON text that is parsed from now on, and the thread that parses it."""
    seen: list[tuple[int, str]] = []
    real = bodies.parse_json

    def parse(text: str) -> Any:
        seen.append((len(text), threading.current_thread().name))
        return real(text)

    monkeypatch.setattr(bodies, "parse_json", parse)
    return seen


def test_a_bomb_is_refused_before_anything_parses_it(
    embedded: Running, mechanism: sv.Mechanism, parsed: list[tuple[int, str]]
) -> None:
    embedded.create(mechanism, name="bombed", collection="open")
    embedded.create(mechanism, name="bulk")
    for name in ("bombed", "bulk"):
        check_refused(
            embedded.post_raw(bomb(mechanism.digest), name=name, Content_Encoding="gzip"), "too_large"
        )
    assert parsed == []


def test_with_the_old_limits_a_bomb_is_parsed(
    embedded: Running, mechanism: sv.Mechanism, parsed: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.create(mechanism, name="old", collection="open")
    room = bodies.Room(1 << 21, 1 << 21, bodies.Refusal("too_large"))
    monkeypatch.setattr(intake, "_room", lambda *_: room)
    monkeypatch.setattr(bodies, "MOST_JSON", 1 << 21)
    sent = embedded.post_raw(bomb(mechanism.digest), name="old", Content_Encoding="gzip")
    assert sent.status_code == 200
    assert parsed[0][0] > 10**6


def test_larger_bodies_are_read_off_the_event_loop(
    embedded: Running, mechanism: sv.Mechanism, parsed: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.create(mechanism, name="threads")
    loop = embedded.client.portal.call(threading.current_thread).name  # type: ignore[union-attr]
    for _ in range(2):
        assert embedded.post(mechanism, [1] * 3000, name="threads").status_code == 200
        monkeypatch.setattr(intake, "_SMALL", 1 << 20)  # the second time as it was before
    assert [name == loop for _, name in parsed] == [False, True]


# -- H2: counts, for anybody, all at once ---------------------------------------------------------------


def test_counts_need_a_token_and_come_one_at_a_time(embedded: Running, mechanism: sv.Mechanism) -> None:
    campaign = embedded.create(mechanism, name="public")
    embedded.post(mechanism, [1, 2] * 50, name="public")
    check_refused(embedded.get("/campaigns/public/counts"), "bad_token")
    token, service = embedded.token("read", campaign.id), embedded.app.state.service
    embedded.client.portal.call(service.exporting.acquire)  # type: ignore[union-attr]
    check_refused(embedded.get("/campaigns/public/counts", token), "busy")
    service.exporting.release()
    text = embedded.get("/campaigns/public/counts", token).text
    assert [line.split(",")[1:] for line in text.splitlines()[1:]] == [["1", "50"], ["2", "50"]]
    assert not service.exporting.locked()


def test_counts_are_streamed_by_the_day_and_read_once(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, store = embedded.create(mechanism, name="days"), embedded.store
    keys = [(new_key().encode()[:16], new_key().encode()[:16]) for _ in range(3)]
    for day, pair in enumerate(keys):
        store.ingest([Batch(campaign.id, 20_000 + day, np.arange(1000), *pair, 20_008)])
    seen: list[int] = []
    real = store.day_counts
    monkeypatch.setattr(store, "day_counts", lambda *place: seen.append(place[1]) or real(*place))
    token = embedded.token("read", campaign.id)
    for form in ("csv", "parquet", "csv"):
        assert embedded.get("/campaigns/days/counts", token, format=form).status_code == 200
    assert seen == [20_000, 20_001, 20_002]  # each day was read from the store once


# -- H3, L1: what is no body ----------------------------------------------------------------------------


def trailers(connection: socket.socket, size: int) -> int:
    """Send trailers without end; how many bytes were taken before the connection broke."""
    connection.sendall(
        b"POST /v1/campaigns/trial/reports HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    )
    piece, sent = b"X: " + b"a" * 1000 + b"\r\n", 0
    try:
        while sent < size:
            connection.sendall(piece * 60)
            sent += 60 * len(piece)
            time.sleep(0.005)
    except OSError:
        pass
    return sent


@pytest.mark.parametrize(("limit", "ends"), [(protocol.MOST_HEAD, True), (1 << 40, False)])
def test_trailers_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, ends: bool
) -> None:
    monkeypatch.setattr(protocol, "MOST_HEAD", limit)
    with served(tmp_path) as (_, address), socket.create_connection(address, 30) as connection:
        assert (trailers(connection, 4_000_000) < 4_000_000) == ends


@pytest.mark.parametrize(("limit", "status"), [(protocol.MOST_HEAD, 400), (1 << 40, 200)])
def test_a_large_head_in_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, status: int
) -> None:
    monkeypatch.setattr(protocol, "MOST_HEAD", limit)
    with served(tmp_path) as (_, address), socket.create_connection(address, 30) as connection:
        head = HEALTH + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1000) for i in range(70)) + b"\r\n"
        connection.sendall(head)
        assert answer(connection)[0] == status


def test_a_request_that_asks_for_an_upgrade_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows the head would be read by a proxy as a body, and by the server as something else."""
    request = HEALTH + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    statuses = []
    for _ in range(2):
        with served(tmp_path) as (_made, address), socket.create_connection(address, 30) as connection:
            connection.sendall(request)
            statuses.append(answer(connection)[0])
        before = uvicorn.protocols.http.httptools_impl.HttpToolsProtocol.on_headers_complete
        monkeypatch.setattr(protocol.Protocol, "on_headers_complete", before)
        monkeypatch.setattr(protocol.Protocol, "_unsupported_upgrade_warning", lambda self: None)
    assert statuses == [400, 200]


@pytest.mark.parametrize("waits", [True, False])
def test_a_broken_request_is_not_answered_in_the_place_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    """Sent in one piece; whoever reads 400 first would take a report that is stored for one that is not."""
    if not waits:
        monkeypatch.setattr(protocol.Protocol, "_answering", False)
    with served(tmp_path) as (_, address), socket.create_connection(address, 30) as connection:
        connection.sendall(2 * (HEALTH + b"\r\n") + b"GET \xff\xff HTTP/1.1\r\n\r\n")
        with connection.makefile("rb") as stream:
            statuses = re.findall(rb"HTTP/1.1 (\d+)", stream.read())
    assert statuses == ([b"200", b"200", b"400"] if waits else [b"400"])


# -- M2: questions for estimates ------------------------------------------------------------------------


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


def test_questions_that_wait_are_bounded(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the limit a new question is refused; the usual one, and one that waits already, are not."""
    campaign = embedded.create(mechanism, name="bounded")
    cache, go = embedded.app.state.service.results, threading.Event()

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
    most = Settings().max_estimates
    assert outcomes == ["shown"] * most + ["busy"] * (12 - most) + ["shown"] * 2


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
            _until(lambda: len(cache._jobs) == 3)
        _until(lambda: len(cache._jobs) == 1)
        go.set()
        _until(lambda: not cache._jobs)
        assert computed == [10]


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_estimate_that_takes_too_long_is_given_up(embedded: Running, mechanism: sv.Mechanism) -> None:
    embedded.create(mechanism, name="endless")
    embedded.post(mechanism, [1, 2] * 50, name="endless")
    worker = embedded.app.state.service.results.worker
    before, worker._seconds = worker._seconds, 0.01
    try:
        answer = embedded.get("/campaigns/endless/estimates", bins=33)
        check_refused(answer, "estimates_unavailable")
    finally:
        worker._seconds = before


# -- M3, L3: connections --------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "status"), [(5, 503), (1000, 200)])
def test_connections_of_one_address_are_limited(tmp_path: Path, most: int, status: int) -> None:
    """Silent sockets of one address: theirs are refused, the total is not used up."""
    with served(tmp_path, max_per_address=most) as (made, address), ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(socket.create_connection(address, 30))
        service = made.config.app.state.service  # type: ignore[union-attr]
        _until(lambda: service.connections["127.0.0.1"] == 5)
        with socket.create_connection(address, 30) as extra:
            extra.sendall(HEALTH + b"\r\n")
            assert answer(extra)[0] == status


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /v1/hea",
        HEALTH,
        b"\r\n" * 20,
        b"POST /v1/campaigns HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
    ],
    ids=["silent", "half a line", "half a head", "empty lines", "half a body"],
)
def test_what_does_not_arrive_is_not_waited_for(tmp_path: Path, sent: bytes) -> None:
    with served(tmp_path, head_seconds=1, body_seconds=1) as (_, address):
        with socket.create_connection(address, 30) as connection:
            connection.sendall(sent)
            statuses = [answer(connection)[0]]
            if statuses == [401]:  # refused before the body was there
                statuses.append(answer(connection)[0])
        assert statuses[-1] in (503, 0)
        assert statuses[0] in (503, 401)


def test_without_deadlines_a_silent_socket_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol.Protocol, "_expect", lambda self, seconds: None)
    with (
        served(tmp_path, head_seconds=1) as (_, address),
        socket.create_connection(address, 2.5) as connection,
        pytest.raises(TimeoutError),
    ):
        connection.recv(1)


def test_a_network_of_addresses_is_one() -> None:
    limit = RateLimit(1, 3, clock=lambda: 0.0)
    addresses = [f"2001:db8:1:2::{i:x}" for i in range(4)]
    assert [limit.wait(address) for address in addresses] == [0, 0, 0, 1]
    assert limit.wait("2001:db8:1:3::1") == 0


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


def test_an_outsider_sees_nobody_arrive(embedded: Running, mechanism: sv.Mechanism) -> None:
    assert outsider(embedded, mechanism, "polled") == [None] * 10


def test_without_a_pool_the_outsider_reads_ten_of_ten(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (pool, ingest):
        monkeypatch.setattr(module, "KEEP", 1)
    monkeypatch.setattr(counters, "STEP", 1)
    assert outsider(embedded, mechanism, "polled-before") == list(range(10))


def test_one_anonymous_request_is_one_person(embedded: Running, mechanism: sv.Mechanism) -> None:
    campaign = embedded.create(mechanism, name="anonymous", collection="open")
    many = bytes.fromhex(mechanism.digest) + bytes(2 * 100_000)
    for body, code in ((many, "too_large"), (many[:36], "one_report_per_request")):
        check_refused(embedded.post_raw(body, name="anonymous", kind=bodies.BINARY), code)
    assert embedded.stored(campaign) == 0
    assert embedded.post_raw(many[:34], name="anonymous", kind=bodies.BINARY).json() == {"accepted": 1}


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


# -- health ------------------------------------------------------------------------------------------


def test_health_is_tried_once_however_many_ask(embedded: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    probes: list[int] = []
    monkeypatch.setattr(embedded.store, "probe", lambda: probes.append(1))
    embedded.app.state.service._probed = float("-inf")
    for _ in range(20):
        assert embedded.get("/health").status_code == 200
    assert len(probes) == 1
