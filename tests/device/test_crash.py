"""Killed, crowded, out of space: no report leaves unrecorded, none is drawn twice, the budget holds."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.ledger_kill import STAGES, Result, check, table
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import BudgetError, LedgerError


def kill(folder: Path, *options: str) -> dict[str, Any]:
    """Run the benchmark in a process of its own, which forks."""
    script, out = Path(__file__).parents[2] / "benchmarks" / "ledger_kill.py", folder / "result.json"
    command = [sys.executable, str(script), "--folder", str(folder), "--output", str(out), *options]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert out.exists(), run.stdout + run.stderr
    result: dict[str, Any] = json.loads(out.read_text())
    assert run.returncode == bool(result["problems"])
    return result


def test_kill_at_any_moment(tmp_path: Path) -> None:
    """Forty kills here (or as many as it takes to hit every stage), a thousand in the benchmark."""
    result = kill(tmp_path, "--kills", "40", "--seed", "7")
    assert result["problems"] == []
    assert result["kills"] >= 40
    hit: Counter[str] = sum((Counter(counts) for counts in result["stages"].values()), Counter())
    assert sum(hit.values()) == result["kills"]
    assert set(hit) == set(STAGES)


def test_the_thousand_kills_that_were_saved() -> None:
    """The page shows the figures of benchmarks/results, and they are clean."""
    root = Path(__file__).parents[2]
    saved = json.loads((root / "benchmarks" / "results" / "ledger_kill.json").read_text())
    assert saved["kills"] >= 1000
    assert saved["problems"] == []
    result = Result(stages={way: Counter(counts) for way, counts in saved["stages"].items()})
    assert sum(sum(counts.values()) for counts in result.stages.values()) == saved["kills"]
    page = (root / "docs" / "measurements" / "ledger.md").read_text()
    assert table(result) in page
    assert f"({saved['reports']}\nperiods, {saved['resent']} of them" in page


@pytest.mark.parametrize("mutant", ["hasty", "forgetful"])
def test_a_device_that_sends_first_or_draws_again_is_found_out(tmp_path: Path, mutant: str) -> None:
    """More than a tenth of the kills show it, so 300 of them miss it with a chance below 1e-13."""
    result = kill(tmp_path, "--kills", "300", "--per-ledger", "4", "--mutant", mutant)
    assert any("drawn twice" in problem or "left" in problem for problem in result["problems"])


def test_the_check_notices_a_report_that_was_not_recorded(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=1)
    ledger.enrol("fresh", sv.duchi(0.5))
    report = ledger.report("fresh", 1.0, "0")
    wire, key, (cell,) = tmp_path / "wire", report.key, report.cells
    genuine = json.dumps(["fresh", "0", [cell], key])
    for fake, problems in (
        (genuine, 0),
        (json.dumps(["fresh", "999", [0], "somekey"]), 1),
        (json.dumps(["fresh", "0", [cell ^ 1], key]), 2),
        (json.dumps(["fresh", "0", [cell], "x"]), 2),
    ):
        wire.write_text(f"{genuine}\n{fake}\n")
        result = Result()
        check(tmp_path, result)
        assert len(result.problems) == problems


def _spend(path: Path, worker: int, done: Callable[[int], None]) -> None:
    ledger = sv.Ledger(path, wait=120)
    count = 0
    while True:
        try:
            ledger.report("shared", 1.0, f"{worker}-{count}")
        except BudgetError:
            break
        count += 1
    done(count)


def _process(path: Path, worker: int, queue: multiprocessing.Queue[int]) -> None:
    _spend(path, worker, queue.put)


def test_processes_that_spend_at_once_stay_within_the_budget(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=1)
    ledger.enrol("shared", sv.duchi(0.03))
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[int] = context.Queue()
    workers = [context.Process(target=_process, args=(ledger.path, i, queue)) for i in range(4)]
    for worker in workers:
        worker.start()
    counts = [queue.get(timeout=100) for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(counts) == 33
    assert ledger.spent == Fraction(99, 100)
    assert len(ledger.account("shared").reports) == 33


@settings(max_examples=6, deadline=None, database=None)
@given(
    budget=st.fractions(Fraction(1, 10), 2, max_denominator=30),
    epsilon=st.sampled_from([0.1, 0.25, 0.3]),
    workers=st.integers(2, 4),
)
def test_threads_that_spend_at_once_stay_within_the_budget(
    tmp_path_factory: pytest.TempPathFactory, budget: Fraction, epsilon: float, workers: int
) -> None:
    ledger = sv.Ledger(tmp_path_factory.mktemp("l") / "l", budget=budget)
    ledger.enrol("shared", sv.duchi(epsilon))
    counts: list[int] = []
    threads = [threading.Thread(target=_spend, args=(ledger.path, i, counts.append)) for i in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == budget // Fraction(str(epsilon))
    assert ledger.spent == sum(counts) * Fraction(str(epsilon)) <= budget


def test_one_object_in_many_threads_and_across_a_fork(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=3)
    ledger.enrol("shared", sv.duchi(0.125))
    threads = [threading.Thread(target=ledger.report, args=("shared", 1.0, f"{i % 8}")) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent == 1
    code = (
        "import os, sys, sottovoce as sv\n"
        "ledger = sv.Ledger(sys.argv[1])\n"
        "child = os.fork()\n"
        "ledger.report('shared', 1.0, 'child' if child == 0 else 'parent')\n"
        "if child == 0: os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert ledger.spent == 1.25, ledger.spent\n"
    )
    subprocess.run([sys.executable, "-c", code, str(ledger.path)], check=True, env=os.environ)


def test_a_full_disk_gives_no_answer(tmp_path: Path) -> None:
    """A limit on file sizes stands in for the disk; the ledger recovers when there is room again."""
    ledger = sv.Ledger(tmp_path / "l", budget=100)
    ledger.enrol("a", sv.duchi(0.001))
    code = (
        "import resource, signal, sys, sottovoce as sv\n"
        "ledger = sv.Ledger(sys.argv[1])\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (14000, resource.RLIM_INFINITY))\n"
        "for i in range(200):\n"
        "    try:\n"
        "        answer = ledger.report('a', 1.0, f'day {i}')\n"
        "    except ValueError as error:\n"
        "        print(error); sys.exit(3)\n"
        "    print(answer.key, flush=True)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(ledger.path)], capture_output=True, text=True, env=os.environ
    )
    assert run.returncode == 3, run.stderr
    *keys, error = run.stdout.splitlines()
    assert "nothing was spent or sent" in error
    assert keys
    assert {a.key for a in ledger.pending()} == set(keys)
    ledger.report("a", 1.0, "later")
    assert ledger.spent == (len(keys) + 1) * Fraction(1, 1000)


def test_a_busy_ledger_gives_no_answer(tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "l", budget=1, wait=0.05)
    ledger.enrol("a", sv.duchi(0.5))
    with (
        ledger._journal.open(),
        pytest.raises(LedgerError, match="another program is using it; nothing was spent"),
    ):
        sv.Ledger(ledger.path, wait=0.05).report("a", 1.0)
    assert ledger.spent == 0


def test_entries_are_synced_before_they_count(tmp_path: Path) -> None:
    """synchronous=EXTRA (3) and a rollback journal: on disk when the commit returns."""
    ledger = sv.Ledger(tmp_path / "l", budget=1)
    assert ledger._journal.file is not None
    with ledger._journal.file.transaction() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (3,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_two_programs_create_one_ledger(tmp_path: Path) -> None:
    found: list[str] = []
    barrier = threading.Barrier(4)

    def create() -> None:
        barrier.wait()
        ledger = sv.Ledger(tmp_path / "l", budget=1)
        found.append(ledger.entries()[0]["ledger"])

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["l"]


def test_signals_between_draw_and_commit_leave_nothing(tmp_path: Path) -> None:
    """An exception inside the transaction rolls it back."""
    ledger = sv.Ledger(tmp_path / "l", budget=1)
    ledger.enrol("a", sv.duchi(0.5))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before, rng = ledger.witness, np.random.default_rng(1)
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        for attempt in range(20):
            # The inner `finally` may be interrupted as well, so the outer `try` holds both.
            with contextlib.suppress(KeyboardInterrupt):
                try:
                    signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(1e-4, 2e-3)))
                    ledger.report("a", 1.0, "x")
                    time.sleep(0.01)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            reports = ledger.account("a").reports
            assert ledger.spent == len(reports) * Fraction(1, 2)
            assert (ledger.witness == before) == (not reports), attempt
    finally:
        signal.signal(signal.SIGALRM, old)
