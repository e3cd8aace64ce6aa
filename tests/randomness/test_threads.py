"""Large arrays on several cores: the same law, the same refusals, words that no two threads share."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, DataError
from sottovoce.randomness import threads
from sottovoce.randomness.secure_stream import SecureStream

N = 300_001  # two threads, and a last block that is not full


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Three cores; the threads that drew words. None is so quick that it takes the share of another."""
    monkeypatch.setenv("SOTTOVOCE_CORES", "3")
    drew: set[int] = set()
    real, both = SecureStream._open, threading.Event()

    def noted(self: SecureStream) -> Any:
        drew.add(threading.get_ident())
        if len(drew) > 1:
            both.set()
        both.wait(5)
        return real(self)

    monkeypatch.setattr(SecureStream, "_open", noted)
    return drew


MECHANISMS = {
    "window": lambda: sv.sw(1.0, cells=16),
    "coin": lambda: sv.two_scale(1.0, cells=8),
    "choice": lambda: sv.choice(1.0, options=["a", "b", "c"]),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_several_threads_draw_by_the_law(used: set[int], name: str) -> None:
    """Counts of all cells against the exact probabilities: 6 standard errors, 1e-6 over all."""
    m = MECHANISMS[name]()
    value = "b" if name == "choice" else 0.25
    cells = m.report(np.full(N, value))
    assert len(used) == 2
    p = m.probabilities([value])[0]
    counts = np.bincount(cells, minlength=m.cells)
    assert (np.abs(counts - N * p) < 6 * np.sqrt(N * p)).all()
    half = -(-N // 2)
    same = np.count_nonzero(cells[: N - half] == cells[half:])  # a shared stream would make all of them equal
    assert abs(same - half * (p**2).sum()) < 6 * np.sqrt(half)


def test_a_seed_gives_the_same_cells_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    m, x, found = sv.sw(1.0), np.linspace(0, 1, N), []
    for many in ("1", "3"):
        monkeypatch.setenv("SOTTOVOCE_CORES", many)
        found.append(m.report(x, rng=7))
    assert np.array_equal(*found)


def test_values_are_refused_and_stood_in_for_alike(used: set[int]) -> None:
    m, x = sv.sw(1.0), np.full(N, 0.5)
    x[[7, N - 1]] = 2.0
    with pytest.raises(DataError, match=r"2 of 300001 .* index 7"):
        m.report(x)
    x[N - 1] = np.nan
    assert m.report(x, missing="uniform", outside="clip").shape == (N,)
    assert len(used) >= 2


def test_after_a_fork_a_child_draws_for_itself(used: set[int]) -> None:
    m, x = sv.sw(1.0), np.full(N, 0.5)
    m.report(x)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, m.report(x)[-64:].tobytes())
        os._exit(0)
    ours = m.report(x)[-64:].tobytes()
    os.wait()
    assert os.read(reader, 256) != ours
    assert not [thread for thread in threading.enumerate() if "ThreadPool" in thread.name]


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64])
def test_cells_of_any_kind_are_counted(kind: Any) -> None:
    """And where something is no cell, it is said which."""
    m = sv.pm(1.0, cells=200)
    cells = np.random.default_rng(3).integers(0, m.cells, 600_000).astype(kind)
    expected = np.bincount(cells.astype(np.int64), minlength=m.cells)
    assert np.array_equal(sv.Tally(m, cells).counts, expected)
    wrong = cells.copy()
    wrong[[5, -1]] = 201 if kind is not np.int32 else -1
    with pytest.raises(DataError, match=r"0\.\.\d+: 2 of 600000 do not, the first at index 5"):
        sv.Tally(m, wrong)


def test_threads_that_share_the_cores_start_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of a file is drawn by its own thread: as many again would only take turns."""

    def shares(batch: int) -> tuple[str, int]:
        return threading.current_thread().name, len(threads.on_cores(1000, 10, lambda first, end: end))

    monkeypatch.setenv("SOTTOVOCE_CORES", "3")
    assert shares(0)[1] == 3
    assert {many for _, many in threads.in_order(shares, range(8))} == {1}
    monkeypatch.setenv("SOTTOVOCE_CORES", "1")
    assert {name for name, _ in threads.in_order(shares, range(8))} == {threading.current_thread().name}


def test_how_many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in threads.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    assert threads.cores() == len(os.sched_getaffinity(0))
    monkeypatch.setenv("NUMBA_NUM_THREADS", "5")
    assert threads.cores() == 5
    monkeypatch.setenv("OMP_NUM_THREADS", "3,2")
    assert threads.cores() == 3
    monkeypatch.setenv("SOTTOVOCE_CORES", "2")
    assert threads.cores() == 2
    monkeypatch.setenv("SOTTOVOCE_CORES", "all")
    with pytest.raises(ArgumentError, match="SOTTOVOCE_CORES must be a whole number above 0, got 'all'"):
        threads.cores()
