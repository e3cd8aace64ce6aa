"""What anybody could do with requests and connections: each attack fails; without its limit it succeeds."""

from __future__ import annotations

import gzip
import re
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.collector.service import HEALTH, Running, answer, served, until
from tests.collector.test_bad_input import check_refused

import sottovoce as sv
from sottovoce.collector import protocol, rates
from sottovoce.collector.api import bodies, intake

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


@pytest.mark.attack("H1", "refused")
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


@pytest.mark.attack("H1", "succeeds")
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


@pytest.mark.attack("H1")
def test_larger_bodies_are_read_off_the_event_loop(
    embedded: Running, mechanism: sv.Mechanism, parsed: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.create(mechanism, name="threads")
    loop = embedded.client.portal.call(threading.current_thread).name  # type: ignore[union-attr]
    for _ in range(2):
        assert embedded.post(mechanism, [1] * 3000, name="threads").status_code == 200
        monkeypatch.setattr(intake, "_SMALL", 1 << 20)  # the second time as it was before
    assert [name == loop for _, name in parsed] == [False, True]


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


@pytest.mark.attack("H3")
@pytest.mark.parametrize(("limit", "ends"), [(protocol.MOST_HEAD, True), (1 << 40, False)])
def test_trailers_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, ends: bool
) -> None:
    monkeypatch.setattr(protocol, "MOST_HEAD", limit)
    with served(tmp_path) as (_, address), socket.create_connection(address, 30) as connection:
        assert (trailers(connection, 4_000_000) < 4_000_000) == ends


@pytest.mark.attack("H3")
@pytest.mark.parametrize(("limit", "status"), [(protocol.MOST_HEAD, 400), (1 << 40, 200)])
def test_a_large_head_in_one_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, status: int
) -> None:
    monkeypatch.setattr(protocol, "MOST_HEAD", limit)
    with served(tmp_path) as (_, address), socket.create_connection(address, 30) as connection:
        head = HEALTH + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1000) for i in range(70)) + b"\r\n"
        connection.sendall(head)
        assert answer(connection)[0] == status


@pytest.mark.attack("L1")
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


# -- M3, L3: connections --------------------------------------------------------------------------------


@pytest.mark.attack("M3")
@pytest.mark.parametrize(("most", "status"), [(5, 503), (1000, 200)])
def test_connections_of_one_address_are_limited(tmp_path: Path, most: int, status: int) -> None:
    """Silent sockets of one address: theirs are refused, the total is not used up."""
    with served(tmp_path, max_per_address=most) as (made, address), ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(socket.create_connection(address, 30))
        service = made.config.app.state.service  # type: ignore[union-attr]
        until(lambda: service.connections["127.0.0.1"] == 5)
        with socket.create_connection(address, 30) as extra:
            until(lambda: service.connections["127.0.0.1"] == 6)  # refused before it says anything
            extra.sendall(HEALTH + b"\r\n")
            assert answer(extra)[0] == status


@pytest.mark.attack("M3", "refused")
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


@pytest.mark.attack("M3", "succeeds")
def test_without_deadlines_a_silent_socket_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol.Protocol, "_expect", lambda self, seconds: None)
    with (
        served(tmp_path, head_seconds=1) as (_, address),
        socket.create_connection(address, 2.5) as connection,
        pytest.raises(TimeoutError),
    ):
        connection.recv(1)


@pytest.mark.attack("L3")
@pytest.mark.parametrize("networks", [True, False])
def test_a_network_of_addresses_is_one(monkeypatch: pytest.MonkeyPatch, networks: bool) -> None:
    if not networks:
        monkeypatch.setattr(rates, "origin", str)
    limit = rates.RateLimit(1, 3, clock=lambda: 0.0)
    waits = [limit.wait(f"2001:db8:1:2::{i:x}") for i in range(4)]
    assert waits == [0, 0, 0, 1 if networks else 0]
    assert limit.wait("2001:db8:1:3::1") == 0
