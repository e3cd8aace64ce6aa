"""Talking to a collector in tests: the application in this process, or a server process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import numpy as np
import uvicorn
from starlette.testclient import TestClient

import sottovoce as sv
from sottovoce.collector import Settings, open_store
from sottovoce.collector import process as run_module
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.campaign import create as create_campaign
from sottovoce.collector.campaigns.declaration import NewCampaign
from sottovoce.collector.store import Store
from sottovoce.collector.store.ingest import held
from sottovoce.reporters.contract import Reporter

KEY = "Idempotency-Key"
SECRET = bytes(32)
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: here\r\n"
_STRANGER = "192.0.2.1"  # the only proxy that is believed: nobody here


def environment() -> dict[str, str]:
    """This process's, with the package found where it is found here."""
    return {**os.environ, "PYTHONPATH": str(Path(sv.__file__).parents[1])}


def new_key() -> str:
    return os.urandom(16).hex()


def create(store: Store, mechanism: Reporter, **settings: Any) -> Campaign:
    """A campaign straight in the store."""
    content = {"name": "trial", "spec": mechanism.to_json(), "min_n": 1, "results": "public", **settings}
    return create_campaign(store, NewCampaign.of(content))


@dataclass
class Running:
    """A service under test."""

    client: TestClient
    app: Any
    writers: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Store:
        return self.app.state.service.store

    def create(self, mechanism: Reporter, **settings: Any) -> Campaign:
        """A campaign; unless said otherwise one for write tokens, with one that `post` uses."""
        campaign = create(self.store, mechanism, **{"collection": "write", **settings})
        if "collection" not in settings:
            self.writers[campaign.name] = self.token("write", campaign.id)
        return campaign

    def token(self, kind: str, campaign: int = 0) -> str:
        return tokens.issue(self.store, campaign, kind, 1)[0]

    def post(self, mechanism: Reporter, cells: list[Any], **options: Any) -> Any:
        return self.post_raw(json.dumps({"digest": mechanism.digest, "cells": cells}).encode(), **options)

    def post_raw(
        self,
        body: bytes,
        *,
        name: str = "trial",
        key: str | None = None,
        token: str | None = None,
        kind: str = "application/json",
        **headers: str,
    ) -> Any:
        sent = {"Content-Type": kind, KEY: new_key() if key is None else key}
        token = self.writers.get(name) if token is None else token
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        return self.client.post(f"/v1/campaigns/{name}/reports", content=body, headers=sent)

    def get(self, path: str, token: str | None = None, **parameters: Any) -> Any:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return self.client.get(f"/v1{path}", headers=headers, params=parameters)

    def stored(self, campaign: Campaign) -> int:
        """Reports in the store, published or not; the days' totals must agree with the counters."""
        for number in (campaign.id, held(campaign.id)):
            counted = int(self.store.counts(number, campaign.reporter.cells).sum())
            assert counted == campaign.reporter.width * sum(n for _, n in self.store.days(number))
        return self.store.reports(campaign.id)


def every_count(store: Store, campaign: Campaign) -> np.ndarray:
    """How often each cell was reported, published or not."""
    counts = sum(store.counts(one, campaign.reporter.cells) for one in (campaign.id, held(campaign.id)))
    np.add.at(counts, store.waiting(campaign.id)[:, 1:], 1)
    return counts


def daily_counts(store: Store, campaign: int) -> list[tuple[int, int, int]]:
    """(day, cell, count) of what is published, in order."""
    return [
        (day, cell, count)
        for day, _ in store.days(campaign)
        for cell, count in np.stack(store.day_counts(campaign, day), axis=1).tolist()
    ]


class Server:
    """`sottovoce serve` as a process."""

    def __init__(self, store: str, folder: Path, *options: str, before: str = "") -> None:
        self.log = folder / f"server-{time.monotonic_ns()}.log"
        program = f"{before}\nfrom sottovoce.cli import main; main()"
        command = [sys.executable, "-c", program, "serve"]
        command += ["--store", store, "--port", "0", "--secret-file", str(folder / "secret"), "--rate", "0"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([*command, *options], stderr=log, stdout=log, env=environment())
        self.url = self._wait()

    def _wait(self) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = re.search(r"running on (http://[0-9.:]+)", self.log.read_text())
            if found:
                urlopen(found[1] + "/v1/health").read()
                return found[1]
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    @property
    def memory(self) -> int:
        """Resident megabytes of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) >> 10

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


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
    made = run_module.server(path, "127.0.0.1", 0, Settings(**{"rate": 0, **settings}), proxies=_STRANGER)
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


class Answer(NamedTuple):
    """What came back over a socket; the status is 0 if the connection ended first."""

    status: int
    content: dict[str, Any]
    head: str


def answer(connection: socket.socket, request: bytes = b"") -> Answer:
    """The answer to a request, or to what was sent before; the connection stays open."""
    if request:
        connection.sendall(request)
    with connection.makefile("rb") as stream:
        head = b"".join(iter(stream.readline, b"\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head)
        if length is None:
            return Answer(0, {}, head)
        return Answer(int(head.split()[1]), json.loads(stream.read(int(length[1]))), head)


def until(holds: Any) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
