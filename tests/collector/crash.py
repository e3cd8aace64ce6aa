"""Kill −9 under load: the harness of the crash test (a few kills) and of the benchmark (hundreds).

Batch i is all that reports two cells, ten times each, so the counters alone tell whether it was stored, not
stored, stored in part, or stored twice. Of a number they are 2i and 2i+1, of a survey cell i of each
question. Half of the clients give up after a lost answer, the others repeat the same request until it is
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
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.collector.cluster import Cluster
from tests.collector.service import create, environment, every_count, new_key

import sottovoce as sv
from sottovoce.collector import open_store, tokens
from sottovoce.core.reporter import Reporter

EACH = 10
CELLS = 1 << 18
MECHANISM = sv.sw(epsilon=1.0, cells=CELLS)
SURVEY = sv.Survey(2.0, dict.fromkeys(("first", "second"), sv.sw(epsilon=1.0, cells=CELLS // 2)), sampled=2)


@dataclass
class Result:
    kills: int = 0
    sent: int = 0
    acknowledged: int = 0
    lost: int = 0
    partial: int = 0
    twice: int = 0
    stored_unacknowledged: int = 0

    @property
    def faults(self) -> int:
        return self.lost + self.partial + self.twice


@dataclass
class Load:
    """Clients that send numbered batches."""

    port: int
    token: str = ""
    reporter: Reporter = MECHANISM
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    next: int = 0
    acknowledged: set[int] = field(default_factory=set)

    def run(self, persistent: bool) -> None:
        while not self.stop.is_set():
            with self.lock:
                number, self.next = self.next, self.next + 1
            if 2 * number + 1 >= CELLS:
                return
            self._send(number, persistent)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def _send(self, number: int, persistent: bool) -> None:
        two = _table(np.arange(CELLS, dtype="<u4"), self.reporter)[number]
        cells = np.repeat(two, EACH) if self.reporter.width == 1 else np.tile(two, EACH)
        body, key = bytes.fromhex(self.reporter.digest) + cells.tobytes(), new_key()
        headers = {"Content-Type": "application/vnd.sottovoce.cells", "Idempotency-Key": key}
        headers["Authorization"] = f"Bearer {self.token}"
        while True:
            connection = self.connect()
            try:
                connection.request("POST", "/v1/campaigns/trial/reports", body, headers)
                if connection.getresponse().status == 200:
                    with self.lock:
                        self.acknowledged.add(number)
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


def _table(cells: np.ndarray, reporter: Reporter) -> np.ndarray:
    """What belongs to each cell, as a row for each batch."""
    return cells.reshape(-1, 2) if reporter.width == 1 else cells.reshape(2, -1).T


def crash(
    store: str,
    folder: Path,
    kills: int,
    clients: int = 6,
    cluster: Cluster | None = None,
    reporter: Reporter = MECHANISM,
) -> Result:
    """Kill the collector so many times under load; every fifth time its PostgreSQL instead, if given."""
    opened = open_store(store)
    campaign = create(opened, reporter, collection="write")
    load = Load(free_port(), tokens.issue(opened, campaign.id, "write", 1)[0], reporter)
    command = [sys.executable, "-m", "tests.collector.launcher", store, str(load.port), str(folder)]
    launcher = subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL)
    threads = [threading.Thread(target=load.run, args=(i % 2 == 0,), daemon=True) for i in range(clients)]
    for thread in threads:
        thread.start()
    done = 0
    try:
        while done < kills:
            seen = len(load.acknowledged)
            patience = 12_000  # looks rather than seconds: the whole run may be paused
            while len(load.acknowledged) < seen + 3:  # it is up and storing
                assert 2 * load.next < CELLS, "all batches were used up: allow more cells"
                assert (patience := patience - 1), "the collector did not come back"
                time.sleep(0.005)
            time.sleep(random.uniform(0, 0.15))
            if cluster is not None and done % 5 == 4:
                cluster.crash()
                done += 1
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
    opened.close()
    opened = open_store(store)
    opened.unlock((folder / "secret").read_bytes())
    counts = _table(every_count(opened, campaign), reporter)
    assert counts.sum() == reporter.width * opened.reports(campaign.id)
    opened.close()
    return judge(load, counts, done)


def judge(load: Load, counts: np.ndarray, kills: int) -> Result:
    acknowledged = np.zeros(len(counts), dtype=bool)
    acknowledged[list(load.acknowledged)] = True
    none, whole = (counts == 0).all(axis=1), (counts == EACH).all(axis=1)
    return Result(
        kills=kills,
        sent=load.next,
        acknowledged=len(load.acknowledged),
        lost=int((acknowledged & ~whole).sum()),
        partial=int((~none & (counts < EACH).any(axis=1)).sum()),
        twice=int((counts > EACH).any(axis=1).sum()),
        stored_unacknowledged=int((~acknowledged & whole).sum()),
    )
