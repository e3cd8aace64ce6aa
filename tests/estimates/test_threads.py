"""Small matrices have one thread of linear algebra, and the rest of the program has its threads back."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.estimates.answer import linear_algebra

#: In a process of its own, whose linear algebra has two threads.
ALONE = """
import os, threading
import numpy as np, scipy.linalg
from threadpoolctl import threadpool_info
from sottovoce.estimates.answer.linear_algebra import single_threaded
def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
assert len(threads()) == 1 and threads() != {1}, threads()
first, second, gone = threading.Event(), threading.Event(), []
@single_threaded
def wait(own, other):
    own.set()
    other.wait(20)
    gone.append(threads())
@single_threaded
def nested():
    assert threads() == {1}
    return single_threaded(threads)(), threads()
@single_threaded
def wrong():
    raise ValueError
before = threads()
assert nested() == ({1}, {1}) and threads() == before
try:
    wrong()
except ValueError:
    assert threads() == before
def end(child):
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
# One comes, another comes, the first goes, the other goes.
one = threading.Thread(target=wait, args=(first, second))
one.start()
first.wait(20)
child = os.fork()
if not child:  # who has the guard is not here, but one thread is
    os._exit(0 if nested()[0] == {1} else 1)
end(child)
last = threading.Event()
other = threading.Thread(target=wait, args=(second, last))
other.start()
one.join(20)
assert threads() == before, "who set one thread has gone; the other only takes longer"
child = os.fork()
if not child:  # the guard is free
    os._exit(0 if nested()[0] == {1} else 1)
end(child)
child = single_threaded(os.fork)()  # from inside
if not child:
    os._exit(0 if nested()[0] == {1} else 1)
end(child)
last.set()
other.join(20)
assert gone == [{1}, before] and threads() == before, threads()
print("alone")
"""


def test_who_comes_first_sets_one_thread_and_sets_it_back() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment["OPENBLAS_NUM_THREADS"] = "2"
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, env=environment)
    assert done.stdout == "alone\n", done.stderr


def test_answers_with_small_matrices_are_made_so(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []

    class Libraries:
        def limit(self, *, limits: int, user_api: str) -> Libraries:
            inside.append(limits)
            return self

        def __enter__(self) -> None:
            pass

        def __exit__(self, *error: object) -> None:
            inside.append(0)

    monkeypatch.setattr(linear_algebra, "_libraries", Libraries)
    m, x = sv.sw(1.0), np.random.default_rng(1).beta(2, 5, 3000)
    t, other = (sv.Tally(m, m.report(x, rng=seed)) for seed in (2, 3))
    for ask in (
        lambda: sv.quantile(t, 0.5),
        lambda: sv.distribution(t),
        lambda: sv.honesty(t),
        lambda: sv.difference(t, other, question="quantile", p=0.5),
        lambda: sv.plan("distribution", 1.0, 1000, (0, 1)),
    ):
        inside.clear()
        ask()
        assert inside[:2] == [1, 0]
        assert set(inside) == {0, 1}
        assert not linear_algebra._guard.locked()
