"""What anybody could do with requests: each attack fails; without its limit it succeeds.

What only the proxy stops is in test_proxy.py.
"""

from __future__ import annotations

import gzip
import threading
from typing import Any

import pytest
from tests.collector.service import Running
from tests.collector.test_bad_input import check_refused

import sottovoce as sv
from sottovoce.collector.api import intake
from sottovoce.collector.http import address_limits, bodies

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


# -- L3: addresses --------------------------------------------------------------------------------------


@pytest.mark.attack("L3")
@pytest.mark.parametrize("networks", [True, False])
def test_a_network_of_addresses_is_one(monkeypatch: pytest.MonkeyPatch, networks: bool) -> None:
    if not networks:
        monkeypatch.setattr(address_limits, "origin", str)
    limit = address_limits.RateLimit(1, 3, clock=lambda: 0.0)
    waits = [limit.wait(f"2001:db8:1:2::{i:x}") for i in range(4)]
    assert waits == [0, 0, 0, 1 if networks else 0]
    assert limit.wait("2001:db8:1:3::1") == 0
