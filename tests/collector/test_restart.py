"""A job that is killed anywhere and started again, as cron does: everybody is drawn and counted once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.collector.restart import PEOPLE
from tests.collector.service import Server, create, environment, every_count

import sottovoce as sv
from sottovoce.collector import open_store, secret
from sottovoce.collector.campaigns import tokens

ROOT = Path(__file__).parents[2]
#: A report is the value but for one in 1.5 million, so counts tell who was drawn how often.
MECHANISM = sv.choice(16, list(range(PEOPLE)))
Start = Callable[[str, int], str]


class Collector:
    """A collector in a process of its own, with a campaign for programs."""

    def __init__(self, folder: Path) -> None:
        path = str(folder / "store.db")
        self._store = open_store(path)
        self._campaign = create(self._store, MECHANISM, collection="write")
        [self.token] = tokens.issue(self._store, self._campaign.id, "write", 1)
        self.server = Server(path, folder)
        self._store.unlock(secret.load(folder / "secret"))

    def counts(self) -> np.ndarray:
        """How often each person was counted."""
        return every_count(self._store, self._campaign)


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    made = Collector(tmp_path)
    yield made
    made.server.kill()


@contextmanager
def python(collector: Collector, folder: Path) -> Iterator[Start]:
    """Starts of the job, each a fork of one process; each run has an outbox of its own."""
    arguments = (collector.server.url, collector.token, str(folder))
    command = [sys.executable, "-m", "tests.collector.restart", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(), cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def start(run: str, step: int) -> str:
            print(run, step, file=process.stdin, flush=True)
            return process.stdout.readline().strip()

        yield start
        process.stdin.close()


@contextmanager
def javascript(collector: Collector, folder: Path) -> Iterator[Start]:
    """Starts of the job, each a process; each run has a store of its own."""
    client = ROOT / "clients" / "js" / "node" / "index.js"
    script = ROOT / "tests" / "collector" / "restart.mjs"

    def start(run: str, step: int) -> str:
        arguments = [client, collector.server.url, collector.token, folder / run, run, str(step)]
        done = subprocess.run(["node", script, *arguments], stdout=subprocess.PIPE, text=True, timeout=60)
        return done.stdout.strip()

    yield start


Language = Callable[[Collector, Path], AbstractContextManager[Start]]


def check(collector: Collector, runs: int) -> None:
    """Everybody was counted once in each run.

    With a chance below 1e-6 more than one of 1,000 reports is of another value; a batch that is drawn twice,
    or lost, changes the total or more than two counts.
    """
    counts = collector.counts()
    assert counts.sum() == runs * PEOPLE
    assert np.abs(counts - runs).sum() <= 2


@pytest.mark.parametrize(("language", "kills"), [(python, 50), (javascript, 20)])
def test_killed_anywhere_and_started_again(
    language: Language, kills: int, collector: Collector, tmp_path: Path
) -> None:
    """At as many moments, from the first step to the last; then at a random one; then left alone."""
    rng = np.random.default_rng(34)
    with language(collector, tmp_path) as start:
        done, steps, accepted = start("whole", 0).split()
        assert (done, int(accepted)) == ("done", PEOPLE)
        for i, step in enumerate(np.linspace(1, int(steps), kills).round().astype(int)):
            run, left_alone = f"run-{i}", 0
            assert not start(run, int(step)).startswith("done")
            start(run, int(rng.integers(1, int(steps))))
            assert start(run, left_alone).startswith("done")
            assert start(run, left_alone).split()[::2] == ["done", "0"]
            check(collector, i + 2)


@pytest.mark.parametrize("language", [python, javascript])
def test_two_starts_at_once(language: Language, collector: Collector, tmp_path: Path) -> None:
    """As when cron starts a job whose last start still runs: two processes, one draw."""
    with language(collector, tmp_path) as one, language(collector, tmp_path) as other:
        for i in range(6):
            with ThreadPoolExecutor(2) as threads:
                starts = [threads.submit(start, f"run-{i}", 0) for start in (one, other)]
            assert all(start.result().startswith("done") for start in starts)
            check(collector, i + 1)
