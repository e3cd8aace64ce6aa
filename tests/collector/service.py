"""Talking to a collector in tests: the application in this process, or a server process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
from starlette.testclient import TestClient

import sottovoce as sv
from sottovoce.collector import campaigns, tokens
from sottovoce.collector.campaigns import Campaign
from sottovoce.collector.store import Store
from sottovoce.core.reporter import Reporter

KEY = "Idempotency-Key"
SECRET = bytes(32)


def environment() -> dict[str, str]:
    """This process's, with the package found where it is found here."""
    return {**os.environ, "PYTHONPATH": str(Path(sv.__file__).parents[1])}


def new_key() -> str:
    return os.urandom(16).hex()


def create(store: Store, mechanism: Reporter, **settings: Any) -> Campaign:
    """A campaign straight in the store."""
    content = {"name": "trial", "spec": mechanism.to_json(), "min_n": 1, "results": "public", **settings}
    return campaigns.create(store, campaigns.NewCampaign.of(content))


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
        published = int(self.store.counts(campaign.id, campaign.reporter.cells).sum())
        assert published == campaign.reporter.width * sum(n for _, n in self.store.days(campaign.id))
        return published // campaign.reporter.width + len(self.store.waiting(campaign.id))


def every_count(store: Store, campaign: Campaign) -> np.ndarray:
    """How often each cell was reported, published or not."""
    counts = store.counts(campaign.id, campaign.reporter.cells)
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

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)
