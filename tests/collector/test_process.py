"""The process: what it logs of others, and how many connections it takes."""

from __future__ import annotations

import json
import logging
import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.collector.service import HEALTH, Answer, answer, served, until

from sottovoce.collector import logs
from sottovoce.collector import run as run_module
from sottovoce.collector.refusals import SENTENCES


def test_words_of_other_libraries_are_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    root, before = logging.getLogger(), logging.getLogger().handlers
    chosen = [logging.getLogger(name) for name in ("sottovoce.collector", "uvicorn", "uvicorn.error")]
    states = [(one.handlers, one.propagate, one.level) for one in chosen]
    try:
        logs.configure("info")
        logging.getLogger("asyncio").error("Task exception was never retrieved: cell %d of Ada", 777)
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
        logs.event("started", {"store": "sqlite"})
    finally:
        root.handlers = before
        for one, state in zip(chosen, states, strict=True):
            one.handlers, one.propagate = state[:2]
            one.setLevel(state[2])
    text = capsys.readouterr().err
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["event"] for line in lines] == ["library", "Invalid HTTP request received.", "started"]
    assert lines[0]["logger"] == "asyncio"
    assert "Ada" not in text
    assert "777" not in text


def asked(connection: socket.socket, header: bytes = b"X: y") -> Answer:
    """The answer to a question for health."""
    return answer(connection, HEALTH + header + b"\r\n\r\n")


def test_beyond_the_most_connections_the_refusal_has_the_one_shape(tmp_path: Path) -> None:
    with served(tmp_path, max_connections=3) as (made, address):
        with ExitStack() as stack:
            held = [stack.enter_context(socket.create_connection(address, 30)) for _ in range(3)]
            for connection in held:
                assert asked(connection).status == 200
            with socket.create_connection(address, 30) as extra:
                status, content, head = asked(extra)
                assert extra.recv(1) == b""  # closed: it makes room
        assert content == {"code": "busy", "message": SENTENCES["busy"], "field": None}
        assert status == 503
        assert "default-src 'none'" in head
        assert "retry-after: 1" in head

        def room() -> bool:
            with socket.create_connection(address, 30) as again:
                return asked(again).status == 200

        until(room)  # the others have left
        text = made.config.app.state.service.counters.text().decode()  # type: ignore[union-attr]
        assert 'sottovoce_refusals_total{code="busy"}' in text


def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    with served(tmp_path) as (_, address), socket.create_connection(address, 30) as connection:
        for _ in range(2):  # counted for each request by itself
            assert asked(connection, b"X: " + b"a" * 30_000).status == 200
        connection.sendall(b"GET /v1/health HTTP/1.1\r\nX: ")
        endless = b"a" * 100_000_000  # refused long before its end: what is not read fills the connection
        with pytest.raises(ConnectionError):
            connection.sendall(endless)


def test_an_upgrade_is_refused_and_teaches_the_log_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(tmp_path) as (made, address), socket.create_connection(address, 30) as connection:
        assert made.config.ws == "none"  # a WebSocket library, where there is one, would log addresses
        status, content, _ = asked(connection, b"Connection: Upgrade\r\nUpgrade: websocket")
        assert status == 400
        assert "no upgrade" in content["message"]
    assert "WebSocket" not in caplog.text
    assert "pgrade" not in caplog.text


def test_the_process_makes_room_for_its_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        run_module.make_room(500)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (500 + 256, hard)
        run_module.make_room(100)  # never less than there was
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 500 + 256
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
