"""Kill −9 under load: the harness of the crash test (a few kills) and of the benchmark (hundreds).

Seven campaigns are written to at the same time, so that most transactions hold several: public and private
ones, numbers, choices and a survey, batches that go straight to the counters and reports that wait in pools.
The collector's clock says one day or the next. A batch of most campaigns is all that reports its cells, once
each, so the counters alone tell whether it was stored, not stored, stored in part, stored twice, or counted
for another campaign, whose batches have other cells. All batches of "shared" and "alike" report the same
cells. Half of the clients give up after a lost answer, the others repeat the same request until it is
acknowledged.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.collector.cluster import Cluster
from tests.collector.service import create, environment, new_key

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.store import Store
from sottovoce.collector.store.ingest import held
from sottovoce.collector.upkeep.balanced_counts import wrong_days
from sottovoce.reporters.contract import Reporter

NUMBER = sv.sw(epsilon=1.0, cells=1 << 19)
SURVEY = sv.Survey(2.0, dict.fromkeys(("first", "second"), sv.sw(epsilon=1.0, cells=1 << 18)), sampled=2)
CHOICE = sv.choice(1.0, [f"option {i}" for i in range(1000)])


@dataclass(frozen=True)
class Kind:
    """A campaign of the trial, and what its batches are.

    Batch i holds `size` reports, of the cells from `first` + i·size on; of a survey in each question. If the
    batches share their cells, all are like batch 0.
    """

    name: str
    reporter: Reporter
    size: int
    first: int
    results: str = "token"
    collection: str = "write"
    shares: bool = False

    def reports(self, number: int) -> np.ndarray:
        """The reports of a batch: a row each."""
        cells = self.first + self.size * (0 if self.shares else number) + np.arange(self.size)
        each = self.reporter.cells // self.reporter.width
        assert cells[-1] < each, "all batches were used up: allow more cells"
        return cells[:, None] + each * np.arange(self.reporter.width)


KINDS = (
    Kind("number", NUMBER, 80, 1 << 18, "public"),
    Kind("small", NUMBER, 20, 1 << 17, "public"),
    Kind("survey", SURVEY, 70, 1 << 16),
    Kind("choice", CHOICE, 20, 1 << 12),
    Kind("shared", NUMBER, 70, 0, shares=True),
    Kind("alike", CHOICE, 70, 0, "public", shares=True),
    Kind("open", NUMBER, 1, 1 << 15, "public", "open"),
)


@dataclass
class Result:
    kills: int = 0
    of_the_server: int = 0
    sent: int = 0
    acknowledged: int = 0
    lost: int = 0
    partial: int = 0
    twice: int = 0
    of_another_campaign: int = 0
    wrong_days: int = 0
    days: int = 0
    stored_unacknowledged: int = 0

    @property
    def faults(self) -> int:
        return self.lost + self.partial + self.twice + self.of_another_campaign + self.wrong_days


@dataclass
class Sent:
    """The batches of a campaign: how many were sent, and which were acknowledged."""

    number: int = 0
    acknowledged: set[int] = field(default_factory=set)


@dataclass
class Load:
    """Clients that send numbered batches to every campaign in turns."""

    port: int
    tokens: dict[str, str]
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    sent: dict[str, Sent] = field(default_factory=lambda: {kind.name: Sent() for kind in KINDS})

    @property
    def acknowledged(self) -> int:
        return sum(len(one.acknowledged) for one in self.sent.values())

    def run(self, persistent: bool) -> None:
        while not self.stop.is_set():
            kind = random.choice(KINDS)
            with self.lock:
                number = self.sent[kind.name].number
                self.sent[kind.name].number += 1
            # Of batches that are alike only the number tells: none may be left in doubt.
            self._send(kind, number, persistent or kind.shares)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def _send(self, kind: Kind, number: int, persistent: bool) -> None:
        body = (
            bytes.fromhex(kind.reporter.digest) + kind.reports(number).astype(kind.reporter.dtype).tobytes()
        )
        headers = {"Content-Type": "application/vnd.sottovoce.cells", "Idempotency-Key": new_key()}
        if kind.name in self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens[kind.name]}"
        while True:
            connection = self.connect()
            try:
                connection.request("POST", f"/v1/campaigns/{kind.name}/reports", body, headers)
                if connection.getresponse().status == 200:
                    with self.lock:
                        self.sent[kind.name].acknowledged.add(number)
                    return
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.05 if persistent else 0.5)
            if not persistent:
                return


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def create_every(store: str) -> dict[str, str]:
    """Create the campaigns; returns the tokens that write to them, by name."""
    opened, writers = open_store(store), {}
    for kind in KINDS:
        settings = {"collection": kind.collection, "results": kind.results}
        campaign = create(opened, kind.reporter, name=kind.name, **settings)
        if kind.collection == "write":
            writers[kind.name] = tokens.issue(opened, campaign.id, "write", 1)[0]
    opened.close()
    return writers


def crash(store: str, folder: Path, kills: int, clients: int = 12, cluster: Cluster | None = None) -> Result:
    """Kill the collector so many times under load; every fifth time its PostgreSQL instead, if given."""
    load = Load(free_port(), create_every(store))
    command = [sys.executable, "-m", "tests.collector.launcher", store, str(load.port), str(folder)]
    launcher = subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL)
    threads = [threading.Thread(target=load.run, args=(i % 2 == 0,), daemon=True) for i in range(clients)]
    for thread in threads:
        thread.start()
    done = servers = 0
    try:
        while done < kills:
            seen = load.acknowledged
            patience = 12_000  # looks rather than seconds: the whole run may be paused
            while load.acknowledged < seen + 3:  # it is up and storing
                assert (patience := patience - 1), "the collector did not come back"
                time.sleep(0.005)
            time.sleep(random.uniform(0, 0.15))
            if cluster is not None and done % 5 == 4:
                cluster.crash()
                done, servers = done + 1, servers + 1
            else:
                with contextlib.suppress(ProcessLookupError):  # the launcher is late with the new number
                    os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
                    done += 1
        time.sleep(0.5)
        load.stop.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    finally:
        launcher.kill()
        launcher.wait()
        with contextlib.suppress(ProcessLookupError):
            os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    result = judge_store(store, folder, load)
    result.kills, result.of_the_server = done, servers
    return result


def judge_store(store: str, folder: Path, load: Load) -> Result:
    """What a store says about the batches that were sent to it."""
    opened = open_store(store).unlock((folder / "secret").read_bytes())
    result = judge(load.sent, [every_cell(opened, kind.name) for kind in KINDS])
    result.days = len({day for stored in opened.campaigns() for day, _ in opened.days(stored.id)})
    result.wrong_days = len(wrong_days(opened, {}))
    opened.close()
    return result


def every_cell(store: Store, name: str) -> np.ndarray:
    """How often each cell was counted or waits, also cells that the campaign does not have."""
    campaign = store.campaign(name).id
    counts = np.zeros(1 << 20, dtype=np.int64)
    for place in (campaign, held(campaign)):
        for day, _ in store.days(place):
            cells, numbers = store.day_counts(place, day)
            counts[cells] += numbers
    np.add.at(counts, store.waiting(campaign)[:, 1:], 1)
    return counts


def judge(sent: dict[str, Sent], counts: Sequence[np.ndarray]) -> Result:
    """What the counters of each campaign say about the batches that were sent to it."""
    result = Result()
    for kind, every in zip(KINDS, counts, strict=True):
        batches = sent[kind.name]
        result.sent += batches.number
        result.acknowledged += len(batches.acknowledged)
        rest = every.copy()
        if kind.shares:  # all were repeated until they were acknowledged, or the run would not have ended
            cells = kind.reports(0)
            found = every[cells]
            result.lost += int(max(0, len(batches.acknowledged) - found.min()))
            result.twice += int(max(0, found.max() - len(batches.acknowledged)))
            rest[cells] = 0
        else:
            for number in range(batches.number):
                cells = kind.reports(number)
                found = every[cells]
                result.lost += number in batches.acknowledged and not found.any()
                result.partial += int(found.min()) == 0 < int(found.max())
                result.twice += int(found.max()) > 1
                whole = int(found.min()) == int(found.max()) == 1
                result.stored_unacknowledged += number not in batches.acknowledged and whole
                rest[cells] = 0
        result.of_another_campaign += int(np.count_nonzero(rest))
    return result
