"""A collector with its pages on a real port, and people who answer over HTTP."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store
from sottovoce.collector.campaigns import clock
from sottovoce.collector.campaigns import tokens as tokens_module
from sottovoce.collector.campaigns.campaign import Campaign, close, create, follow
from sottovoce.collector.campaigns.declaration import NewCampaign
from sottovoce.collector.store import Batch, schema
from sottovoce.collector.store.pool import KEEP


class Site:
    """The whole application on loopback, in a thread of this process."""

    def __init__(self, folder: Path) -> None:
        self.store = open_store(folder / "store.db")
        app = create_app(self.store, Settings(rate=0, estimate_seconds=600), secret=bytes(32))
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(app, log_level="warning", lifespan="on", ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()
        deadline = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.02)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=30)
        self._socket.close()

    def campaign(self, name: str, mechanism: sv.Reporter, **settings: Any) -> int:
        content = {
            "name": name, "spec": mechanism.to_json(), "results": "public", "min_n": 50,
            "operator": "Office of Tests", **settings,
        }  # fmt: skip
        return create(self.store, NewCampaign.of(content)).id

    def tokens(self, campaign: int, kind: str, count: int = 1) -> list[str]:
        return tokens_module.issue(self.store, campaign, kind, count)

    def send(self, name: str, mechanism: sv.Reporter, cells: Any) -> None:
        """One batch, straight into the store: over HTTP an open campaign takes one report at a time."""
        keys, campaign = (os.urandom(16), os.urandom(16)), self.store.campaign(name).id
        [outcome] = self.store.ingest([Batch(campaign, 20_000, np.asarray(cells), *keys, 20_008)])
        assert outcome.count == len(cells)

    def answer(self, name: str, mechanism: sv.Mechanism | sv.Mixture, people: int, seed: int) -> None:
        """People with values around a third of the domain answer."""
        rng = np.random.default_rng(seed)
        d = mechanism.domain
        self.send(name, mechanism, mechanism.report(d.from_unit(rng.beta(4, 7, people)), rng=rng))

    def earlier(self, name: str, days: int) -> None:
        """As if what is published now had been published some days ago."""
        campaign = self.store.campaign(name).id
        with self.store.engine.begin() as connection:
            for table in (schema.counts, schema.days):
                mine = table.update().where(table.c.campaign == campaign)
                connection.execute(mine.values(day=table.c.day - days))

    def second_round(self, name: str, plan: Any, values: Any, **settings: Any) -> Campaign:
        """What the collector makes of the published reports of people with these values."""
        self.campaign(name, plan.first, **settings)
        self.send(name, plan.first, plan.first.report(values, rng=1))
        first = Campaign.of(self.store.campaign(name))
        first = close(self.store, first, clock.now())
        self.store.settle(first.id, KEEP)
        return follow(self.store, first, 1500)

    def n(self, name: str) -> int:
        """Reports that are stored, published or not."""
        return self.store.reports(self.store.campaign(name).id)
