"""The process: what it logs of others, and how many connections it takes."""

from __future__ import annotations

import json
import logging
import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.collector.service import HEALTH, answer, served, until

from sottovoce.collector import logs
from sottovoce.collector import process as run_module


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


def test_connections_beyond_the_most_are_refused_and_closed(tmp_path: Path) -> None:
    with served(tmp_path, max_connections=3) as (_, address):
        with ExitStack() as stack:
            held = [stack.enter_context(socket.create_connection(address, 30)) for _ in range(3)]
            for connection in held:
                assert answer(connection, HEALTH + b"\r\n").status == 200
            with socket.create_connection(address, 30) as extra:
                extra.sendall(HEALTH + b"\r\n")
                received = b"".join(iter(lambda: extra.recv(4096), b""))  # closed: it makes room
        assert received.startswith(b"HTTP/1.1 503 ")

        def room() -> bool:
            with socket.create_connection(address, 30) as again, again.makefile("rb") as stream:
                again.sendall(HEALTH + b"Connection: close\r\n\r\n")
                return b" 200 " in stream.readline()

        until(room)  # the others have left


def test_an_upgrade_teaches_the_log_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with served(tmp_path) as (made, address), socket.create_connection(address, 30) as connection:
        port = connection.getsockname()[1]
        assert made.config.ws == "none"  # a WebSocket library, where there is one, would log addresses
        upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nUser-Agent: unusual\r\n\r\n"
        assert answer(connection, HEALTH + upgrade).status == 200
    assert str(port) not in caplog.text
    assert "unusual" not in caplog.text


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
