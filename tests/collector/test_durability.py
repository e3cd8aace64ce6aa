"""An acknowledgement means on disk: syncs are seen by strace, and a full disk refuses and recovers."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.collector.cluster import Cluster
from tests.collector.service import Server, create, new_key

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.campaigns import tokens

TRACE = ("strace", "-f", "-ttt", "-T", "-y", "-e", "trace=fsync,fdatasync", "-o")
UNSAFE = """
import sottovoce.collector.store.sqlite as s
s._PRAGMAS = tuple(p.replace("synchronous=FULL", "synchronous=OFF") for p in s._PRAGMAS)
"""
MECHANISM = sv.sw(epsilon=1.0, cells=1 << 16)
SURVEY = sv.Survey(2.0, dict.fromkeys(("one", "two"), sv.sw(epsilon=1.0, cells=1 << 15)), sampled=2)


def post(url: str, cells: np.ndarray, token: str | None = None, reporter: sv.Reporter = MECHANISM) -> int:
    """One batch on a connection of its own; the status."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    headers = {"Content-Type": "application/vnd.sottovoce.cells", "Idempotency-Key": new_key()}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    body = bytes.fromhex(reporter.digest) + cells.astype("<u2").tobytes()
    connection.request("POST", "/v1/campaigns/trial/reports", body, headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


@contextmanager
def watching(process: int, trace: Path) -> Iterator[None]:
    """strace on a process, its threads, and the children that it makes from now on."""
    watcher = subprocess.Popen([*TRACE, str(trace), "-p", str(process)], stderr=subprocess.PIPE, text=True)
    assert watcher.stderr is not None
    assert "attached" in watcher.stderr.readline()
    try:
        yield
    finally:
        watcher.terminate()
        watcher.communicate()


def syncs(trace: Path, file: str) -> list[float]:
    """When syncs of a file ended: a line has its begin, and its duration in angle brackets."""
    ended, open_calls = [], set()
    for line in trace.read_text().splitlines():
        found = re.match(r"(\d+)\s+([\d.]+) (.*)", line)
        assert found, line
        task, moment, call = found[1], float(found[2]), found[3]
        if re.match(r"fd?a?t?a?sync\(", call) and file in call:
            done = re.search(r"= 0 <([\d.]+)>", call)
            if done:
                ended.append(moment + float(done[1]))
            else:
                open_calls.add(task)
        elif "sync resumed" in call and task in open_calls:
            open_calls.discard(task)
            ended.append(moment)
    return ended


def acknowledged(url: str, reporter: sv.Reporter, times: int = 6) -> list[tuple[float, float]]:
    """(sent, acknowledged) of single reports, one after the other."""
    moments = []
    for number in range(times):
        begun = time.time()
        cells = number + (1 << 15) * np.arange(reporter.width)
        assert post(url, cells, reporter=reporter) == 200
        moments.append((begun, time.time()))
        time.sleep(0.05)
    return moments


def covered(moments: list[tuple[float, float]], ended: list[float]) -> list[bool]:
    return [any(begun <= moment <= done for moment in ended) for begun, done in moments]


@pytest.mark.parametrize(
    ("reporter", "before", "synced"), [(SURVEY, "", True), (MECHANISM, "", True), (MECHANISM, UNSAFE, False)]
)
def test_sqlite_syncs_before_it_acknowledges(
    tmp_path: Path, reporter: sv.Reporter, before: str, synced: bool
) -> None:
    store = open_store(tmp_path / "store.db")
    create(store, reporter)
    store.close()
    trace = tmp_path / "trace"
    server = Server(str(tmp_path / "store.db"), tmp_path, before=before)
    with watching(server.process.pid, trace):
        moments = acknowledged(server.url, reporter)
    server.stop()
    assert covered(moments, syncs(trace, "store.db-wal")) == [synced] * len(moments)


@pytest.mark.parametrize("reporter", [MECHANISM, SURVEY], ids=["number", "survey"])
def test_postgresql_syncs_before_it_acknowledges(
    tmp_path: Path, cluster: Cluster, reporter: sv.Reporter
) -> None:
    url = cluster.database()
    store = open_store(url)
    create(store, reporter)
    store.close()
    trace = tmp_path / "trace"
    with watching(cluster.pid, trace):
        server = Server(url, tmp_path)
        moments = acknowledged(server.url, reporter)
        server.stop()
    assert covered(moments, syncs(trace, "pg_wal")) == [True] * len(moments)


@pytest.mark.parametrize("setting", ["synchronous_commit"])
def test_a_postgresql_that_does_not_sync_is_refused(cluster: Cluster, setting: str) -> None:
    url = cluster.database()
    store = open_store(url)
    name = store.engine.url.database
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET {setting} = off")
    store.close()
    with pytest.raises(ValueError, match=f"{setting}=off"):
        open_store(url)


@contextmanager
def no_file_grows(owner: dict[str, Any], *processes: int) -> Iterator[None]:
    """For these processes the disk is full: every write beyond a few bytes of a file fails."""

    def limit(size: str) -> None:
        for pid in processes:  # a database process may have given up in between
            subprocess.run(["prlimit", f"--pid={pid}", f"--fsize={size}"], check=False, **owner)

    limit("512:")
    yield
    limit("unlimited:")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_full_disk_refuses_and_recovers(kind: str, tmp_path: Path, cluster: Cluster) -> None:
    url = str(tmp_path / "store.db") if kind == "sqlite" else cluster.database()
    store = open_store(url)
    campaign = create(store, MECHANISM, collection="write")
    token = tokens.issue(store, campaign.id, "write", 1)[0]
    server = Server(url, tmp_path)
    first = np.arange(0, 20_000)
    second = np.arange(20_000, 60_000)
    assert post(server.url, first, token) == 200
    store.close()
    affected = [server.process.pid] if kind == "sqlite" else backends(url)
    assert affected
    with no_file_grows({} if kind == "sqlite" else cluster.owner, *affected):
        refused = [post(server.url, second, token) for _ in range(2)]
        healthy = health(server.url)
    assert refused[0] == 503
    if kind == "sqlite":
        assert healthy == 503  # a disk that is full is not well, though it can be read
    assert set(refused) <= {503, 200}  # PostgreSQL may already have replaced the process that failed
    expected = len(first) + len(second) * refused.count(200)
    deadline = time.monotonic() + 60
    while post(server.url, second, token) != 200:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    server.stop()
    store = open_store(url)
    counts = store.counts(campaign.id, MECHANISM.cells)
    store.close()
    assert counts.sum() == expected + len(second)
    assert (counts[:20_000] == 1).all()


def health(url: str) -> int:
    """The status of /v1/health, asked when the last answer is too old to be given again."""
    time.sleep(5.5)
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.request("GET", "/v1/health")
    status = connection.getresponse().status
    connection.close()
    return status


def backends(url: str) -> list[int]:
    """The processes of PostgreSQL that serve the collector's connections."""
    store = open_store(url)
    with store.reading() as connection:
        query = (
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        found = list(connection.exec_driver_sql(query).scalars())
    store.close()
    return found


def test_a_request_under_way_is_finished_when_the_collector_is_told_to_stop(tmp_path: Path) -> None:
    """SIGTERM arrives in the middle of a body; new connections are refused, this one is answered."""
    store = open_store(tmp_path / "store.db")
    campaign = create(store, MECHANISM, collection="write")
    token = tokens.issue(store, campaign.id, "write", 1)[0]
    server = Server(str(tmp_path / "store.db"), tmp_path)
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=60)
    body = bytes.fromhex(MECHANISM.digest) + np.arange(50, dtype="<u2").tobytes()
    connection.putrequest("POST", "/v1/campaigns/trial/reports")
    for name, value in {
        "Content-Type": "application/vnd.sottovoce.cells",
        "Idempotency-Key": new_key(),
        "Authorization": f"Bearer {token}",
        "Content-Length": str(len(body)),
    }.items():
        connection.putheader(name, value)
    connection.endheaders(body[:40])
    assert post(server.url, np.arange(3), token) == 200  # the half request has certainly arrived
    server.process.send_signal(signal.SIGTERM)
    while _accepts(server.url):
        time.sleep(0.01)
    connection.send(body[40:])
    assert connection.getresponse().status == 200
    connection.close()
    assert server.process.wait(timeout=60) == 0
    assert store.unlock((tmp_path / "secret").read_bytes()).reports(campaign.id) == 53


def _accepts(url: str) -> bool:
    host, port = url.removeprefix("http://").split(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True
