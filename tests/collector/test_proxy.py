"""Attacks that only the proxy stops: behind the documented nginx they fail, without it they succeed."""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from tests.collector.proxy import nginx
from tests.collector.service import HEALTH, Server, create, new_key, until

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.api import admin, intake, public, reading
from sottovoce.collector.campaigns.tokens import issue
from sottovoce.collector.pages import routes

REPORTS = b"POST /v1/campaigns/trial/reports HTTP/1.1\r\nHost: here\r\n"
both = pytest.mark.parametrize("proxied", [True, False], ids=["behind nginx", "straight"])


class Service(NamedTuple):
    """A collector, nginx in front of it, and an administrator's token."""

    server: Server
    port: int
    certificate: Path
    admin: str

    def connect(self, proxied: bool, address: str = "127.0.0.1") -> socket.socket:
        """A connection from an address of this machine."""
        port = self.port if proxied else int(self.server.url.rsplit(":", 1)[1])
        connection = socket.create_connection(("127.0.0.1", port), 30, source_address=(address, 0))
        if not proxied:
            return connection
        context = ssl.create_default_context(cafile=str(self.certificate))
        return context.wrap_socket(connection, server_hostname="localhost")

    def statuses(self, proxied: bool, *pieces: bytes) -> list[int]:
        """The statuses of all answers to what is sent, piece by piece."""
        with self.connect(proxied) as connection:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.3)
            connection.settimeout(1)
            received = b""
            try:
                while more := connection.recv(1 << 16):
                    received += more
            except TimeoutError:  # it stays open
                pass
        return [int(status) for status in re.findall(rb"HTTP/1.1 (\d+) ", received)]

    def reaches(self, proxied: bool, method: str, path: str) -> bool:
        """Whether the collector itself answers a request that comes with an administrator's token."""
        lines = [f"{method} {path} HTTP/1.1", "Host: here", f"Authorization: Bearer {self.admin}"]
        lines += ["Connection: close", "Content-Type: application/json", "Content-Length: 2", "", "{}"]
        with self.connect(proxied) as connection, connection.makefile("rb") as stream:
            connection.sendall("\r\n".join(lines).encode())
            received = stream.read()
        assert int(received.split()[1]) != 401
        return b"content-security-policy" in received.partition(b"\r\n\r\n")[0]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("proxy")
    store = open_store(folder / "store.db")
    create(store, sv.sw(epsilon=1.0, cells=1000), collection="open")
    (token,) = issue(store, 0, "admin", 1)
    store.close()
    server = Server(str(folder / "store.db"), folder)
    with nginx(folder, server.url, more="set_real_ip_from 127.0.0.1; real_ip_header X-Claimed;") as url:
        yield Service(server, int(url.rsplit(":", 1)[1]), folder / "fullchain.pem", token)
    assert server.stop() == 0


@pytest.mark.attack("H3")
@both
def test_trailers_without_end(service: Service, proxied: bool) -> None:
    before = service.server.memory
    with service.connect(proxied) as connection:
        connection.sendall(REPORTS + b"Transfer-Encoding: chunked\r\n\r\n0\r\n")
        for _ in range(40):
            connection.sendall((b"X: " + b"a" * 1000 + b"\r\n") * 1000)
        if proxied:
            time.sleep(1)
            assert service.server.memory < before + 8
        else:
            until(lambda: service.server.memory >= before + 20)


@pytest.mark.attack("H3")
@both
def test_a_large_head(service: Service, proxied: bool) -> None:
    head = HEALTH + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1000) for i in range(70)) + b"\r\n"
    assert service.statuses(proxied, head) == [400 if proxied else 200]


@pytest.mark.attack("L1")
@both
def test_a_request_that_asks_for_an_upgrade_hides_no_other(service: Service, proxied: bool) -> None:
    """Its body is read as a request by a server that believes another protocol begins after the head."""
    hidden = HEALTH + b"\r\n"
    head = REPORTS + b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: %d\r\n\r\n" % len(hidden)
    assert service.statuses(proxied, head, hidden) == ([400] if proxied else [400, 200])


@pytest.mark.attack("N12")
@both
def test_a_request_with_two_meanings(service: Service, proxied: bool) -> None:
    """Two hosts, or a body whose length two servers understand differently."""
    assert service.statuses(proxied, HEALTH + b"Host: other\r\n\r\n") == [400 if proxied else 200]
    chunked = b"Transfer-Encoding: identity, chunked\r\n\r\n"
    taken = service.statuses(proxied, REPORTS + chunked + b"0\r\n\r\n" + HEALTH + b"\r\n")
    assert taken == ([501] if proxied else [400, 200])  # the report lacks its key, the next request is read


@both
def test_a_broken_request_is_not_answered_in_the_place_of_an_earlier_one(
    service: Service, proxied: bool
) -> None:
    """Sent in one piece; whoever reads 400 first would take a report that is stored for one that is not."""
    sent = 2 * (HEALTH + b"\r\n") + b"GET \xff\xff HTTP/1.1\r\n\r\n"
    assert service.statuses(proxied, sent) == ([200, 200, 400] if proxied else [400])


@pytest.mark.parametrize(
    "sent",
    [b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", HEALTH + b"Content-Length: x\r\n\r\n"],
)
def test_what_is_no_http_never_reaches_a_collector(service: Service, sent: bytes) -> None:
    (status,) = service.statuses(True, sent)
    assert status in (400, 505)
    assert service.statuses(False, sent) == [400]  # and would be refused there


# -- M3: connections ------------------------------------------------------------------------------------

STALLED = {
    "silent": b"",
    "half a line": b"GET /v1/hea",
    "half a head": HEALTH,
    "a byte a second": HEALTH + b"X: ",
    "empty lines": b"\r\n" * 20,
    "half a body": REPORTS
    + b"Content-Type: application/json\r\nContent-Length: 9\r\n"
    + b"Idempotency-Key: %s\r\n\r\nabc" % new_key().encode(),
}


@pytest.mark.attack("M3")
def test_what_does_not_arrive_is_not_waited_for(service: Service) -> None:
    """nginx waits ten seconds for a head and twenty for the next part of a body; a collector for ever."""
    stay = {True: set[str](), False: set[str]()}
    with ExitStack() as stack:
        held = {
            (proxied, name): stack.enter_context(service.connect(proxied))
            for proxied in stay
            for name in STALLED
        }
        for (_, name), connection in held.items():
            connection.sendall(STALLED[name])
            connection.settimeout(0.001)
        end = time.monotonic() + 23
        while time.monotonic() < end:
            time.sleep(1)
            for proxied in stay:
                if not closed(connection := held[proxied, "a byte a second"]):
                    connection.sendall(b"e")
        for (proxied, name), connection in held.items():
            if not closed(connection):
                stay[proxied].add(name)
    assert stay == {True: set(), False: set(STALLED)}


def closed(connection: socket.socket) -> bool:
    """Whether the other side has closed a connection."""
    try:
        while connection.recv(1 << 12):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.attack("M3")
@both
def test_connections_of_one_address_are_limited(service: Service, proxied: bool) -> None:
    """Half bodies take the places of one address, and nobody else's; the collector is not asked."""
    with ExitStack() as stack:
        for _ in range(100):
            connection = stack.enter_context(service.connect(proxied))
            connection.sendall(STALLED["half a body"])
        for address, status in ("127.0.0.1", 503), ("127.0.0.2", 200):
            with service.connect(proxied, address) as extra:
                assert first_status(extra) == (status if proxied else 200)


@pytest.mark.attack("L3", "refused")
def test_connections_of_one_ipv6_network_are_limited(service: Service) -> None:
    """nginx is told here to believe what address somebody claims to have: there is no such network."""
    with ExitStack() as stack:
        for number in range(100):
            address = f"2001:db8:1:2:{number:x}::{number + 1:x}"
            connection = stack.enter_context(service.connect(True))
            connection.sendall(STALLED["half a body"].replace(b"\r\n", claim(address), 1))
        for address, status in ("2001:db8:1:2::9", 503), ("2001:db8:1:3::9", 200), ("192.0.2.7", 200):
            with service.connect(True) as extra:
                extra.sendall(HEALTH.replace(b"\r\n", claim(address), 1) + b"\r\n")
                assert int(extra.recv(1 << 12).split()[1]) == status


def claim(address: str) -> bytes:
    """A header in which nginx reads the address of whoever sent it."""
    return b"\r\nX-Claimed: %s\r\n" % address.encode()


@pytest.mark.attack("M3", "refused")
def test_connections_that_only_begin_leave_room(service: Service) -> None:
    """More of them than nginx takes unless it is told otherwise; none is counted before its head is there."""
    with ExitStack() as stack:
        for _ in range(800):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", service.port), 30))
            connection.sendall(b"\x16")  # of a TLS handshake
        with service.connect(True) as extra:
            assert first_status(extra) == 200


def first_status(connection: socket.socket) -> int:
    connection.sendall(HEALTH + b"\r\n")
    return int(connection.recv(1 << 12).split()[1])


# -- U14: administration --------------------------------------------------------------------------------


def operations(*modules: ModuleType, prefix: str = "/v1") -> list[tuple[str, str]]:
    """Every method and path of some modules' routes."""
    return [
        (method, prefix + route.path_format.format(name="town", token="0" * 12))
        for module in modules
        for route in module.router.routes
        for method in sorted(route.methods)
    ]


PAGES = [(method, path) for method, path in operations(routes, prefix="") if path != "/admin"]
EVERYBODYS = [*operations(intake, public, reading), *PAGES]
SPELLINGS = ("/admin", "/%61dmin", "/admin%0a", "/admin?x", "/admin#x", "http://here/admin")
PRIVATE = [*operations(admin), ("GET", "/v1/metrics"), *(("GET", path) for path in SPELLINGS)]
EVERYBODYS.remove(("GET", "/v1/metrics"))


@pytest.mark.attack("U14")
@both
def test_administration_from_outside(service: Service, proxied: bool) -> None:
    """Also with a token that is good for it: nothing of it reaches the collector."""
    reached = {request: service.reaches(proxied, *request) for request in PRIVATE}
    assert set(reached.values()) == {not proxied}, reached


def test_everything_else_passes(service: Service) -> None:
    reached = {request: service.reaches(True, *request) for request in EVERYBODYS}
    assert all(reached.values()), reached
    preflight = "OPTIONS", "/v1/campaigns/trial/reports"
    assert service.reaches(True, *preflight)
