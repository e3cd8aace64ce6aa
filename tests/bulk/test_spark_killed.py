"""Killed Spark tasks, executors and drivers: nothing lost, nothing published twice, no half output.

Real SIGKILLs on a real cluster of two executors; Spark's own event log says that they happened.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sottovoce import bulk
from tests.bulk import cluster_run
from tests.bulk.cluster_run import SECRET, WAYS, N

ROOT = Path(__file__).parents[2]


def launch(folder: Path, what: str) -> subprocess.Popen[bytes]:
    """The program, with everything that Spark says in a file."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SOTTOVOCE_PLAIN": "1",
    }
    with open(folder / f"{what}.log", "wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.bulk.cluster_run", folder, what],
            env=environment, stdout=log, stderr=log, cwd=ROOT,
        )  # fmt: skip


def end(run: subprocess.Popen[bytes]) -> None:
    """SIGKILL for the driver and everything it started: its JVM, the cluster, the Python workers."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    family = [run.pid]
    for pid in family:
        family += [child for child, parent in parents.items() if parent == pid]
    for pid in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.wait()


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a driver that was killed while it wrote."""
    folder = tmp_path_factory.mktemp("killed")
    run = launch(folder, "hang")
    try:
        limit = time.monotonic() + 600
        while not (folder / "waiting").exists():
            assert run.poll() is None, (folder / "hang.log").read_text()[-3000:]
            assert time.monotonic() < limit
            time.sleep(0.05)
    finally:
        end(run)
    assert list(folder.glob(".reports.*.partial")), "the driver was killed before it wrote"
    assert not (folder / "reports").exists()
    shutil.rmtree(folder / "events")
    return folder


@pytest.fixture(scope="module")
def killed(hung: Path) -> Path:
    run = launch(hung, "kill")
    try:
        assert run.wait(900) == 0, (hung / "kill.log").read_text()[-3000:]
    finally:
        end(run)
    return hung


@pytest.fixture(scope="module")
def found(killed: Path) -> dict[str, Any]:
    return dict(json.loads((killed / "found.json").read_text()))


def task_ends(folder: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for path in (folder / "events").rglob("*"):
        if path.is_file() and not path.name.startswith((".", "appstatus")):
            events += [json.loads(line) for line in path.read_text().splitlines()]
    return [event for event in events if event["Event"] == "SparkListenerTaskEnd"]


def test_tasks_were_killed_and_overtaken(killed: Path) -> None:
    """The runs below met what they are about. (A copy may overtake an attempt before it dies.)"""
    ends = task_ends(killed)
    reasons = Counter(event["Task End Reason"]["Reason"] for event in ends)
    assert reasons["ExceptionFailure"] >= 1  # a Python worker that died
    assert reasons["ExecutorLostFailure"] >= 1
    assert sum(event["Task Info"]["Speculative"] for event in ends) >= 2
    assert sum(event["Task Info"]["Attempt"] > 0 for event in ends) >= 6


@pytest.mark.parametrize("way", ["again", *WAYS])
def test_keyed_reports_are_the_same_after_it(found: dict[str, Any], way: str) -> None:
    assert [row for row, _ in found["before"]] == list(range(N))
    assert found[way] == found["before"]


@pytest.mark.parametrize("way", WAYS)
def test_written_reports_are_there_once(killed: Path, way: str) -> None:
    folder = killed / f"reports-{way}"
    table = pq.read_table(folder)
    assert sorted(table.column("id").to_pylist()) == list(range(N))
    assert bulk.tally(folder, "wait").n == N
    assert {path.name for path in folder.iterdir() if path.suffix != ".parquet" and path.name[0] != "."} == {
        "_SUCCESS"
    }
    assert not list(killed.glob(".reports*"))


def test_the_secret_is_in_no_plan_and_no_log(killed: Path, found: dict[str, Any]) -> None:
    """Neither in explain, nor in the event log, nor in what driver and executors said."""
    texts = {"explain": found["explained"].encode(), "driver": (killed / "kill.log").read_bytes()}
    for folder in ("events", "work"):
        for path in (killed / folder).rglob("*"):
            if path.is_file() and path.suffix != ".jar":
                texts[str(path)] = path.read_bytes()
    assert any("stderr" in name for name in texts), "the executors' logs were not found"
    assert any("events" in name for name in texts)
    assert "wait" in found["explained"]
    base64_inside = base64.b64encode(SECRET)[4:-4]
    signed = ", ".join(str(byte - 256 if byte > 127 else byte) for byte in SECRET)
    for form in (SECRET, SECRET.hex(), str(list(SECRET))[1:-1], signed, repr(SECRET)[2:-1], base64_inside):
        needle = form if isinstance(form, bytes) else form.encode()
        assert not [name for name, text in texts.items() if needle in text]


def test_a_killed_driver_leaves_no_half_output_and_is_run_again(killed: Path) -> None:
    table = pq.read_table(killed / "reports")
    assert sorted(table.column("id").to_pylist()) == list(range(N))
    assert not list(killed.glob(".reports.*"))
    assert bulk.tally(killed / "reports", "wait").reporter == cluster_run.M
