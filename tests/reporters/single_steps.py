"""The machine instructions of compiled loops, one by one: run as a program, for Linux on x86-64.

Each loop draws some cells in a child process that its parent steps through. Prints, for every kind of loop
and for one that branches on values, how many different ways its instructions went over values and words
that differ the most. `NUMBA_CPU_NAME` says which processor numba compiles for.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.reporters.sampling import numba_loops
from sottovoce.reporters.sampling.tables import Units

TRACE_ME, PEEK_USER, KILL, STEP = 0, 3, 8, 9  # <sys/ptrace.h>
PROGRAM_COUNTER = 16 * 8  # of struct user
SIZE = 37  # whole vectors, and what is left of one

ptrace = ctypes.CDLL(None).ptrace
ptrace.argtypes, ptrace.restype = [ctypes.c_long] * 4, ctypes.c_long


@numba_loops.compiled
def branching(words, x, out):
    """What must be found: a look-up that only some values need."""
    for i in range(x.size):
        if x[i] > 0.5:
            out[i] = words[i] & np.uint64(7)


def compiled_code(child: int) -> list[range]:
    """Where code lies that is in no file."""
    with open(f"/proc/{child}/maps") as maps:
        fields = [line.split() for line in maps]
    ends = (one[0].split("-") for one in fields if "x" in one[1] and len(one) == 5)
    return [range(int(first, 16), int(last, 16)) for first, last in ends]


def path(work: Callable[[], object]) -> tuple[int, ...]:
    """The instructions of compiled code that a call runs, in order."""
    child = os.fork()
    if child == 0:
        ptrace(TRACE_ME, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        work()
        os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(child, 0)
    code, steps = compiled_code(child), []
    while ptrace(STEP, child, 0, 0) == 0 and os.WSTOPSIG(os.waitpid(child, 0)[1]) == signal.SIGTRAP:
        at = ptrace(PEEK_USER, child, PROGRAM_COUNTER, 0)
        if any(at in part for part in code):
            steps.append(at)
    ptrace(KILL, child, 0, 0)
    os.waitpid(child, 0)
    return tuple(steps)


def loops() -> dict[str, Callable[[Any, Any, Any], object]]:
    """Every kind of loop, of words, values in [0, 1] and cells."""
    general, rows = sv.optimal(1.0), sv.laws.laplace(1.0).tabulate(inputs=9, cells=33)
    uniform, circle = sv.ogpm(1.0), sv.optimal(1.0, sv.Circle(1.0), question="value")
    place, units = sv.place(1.0, box=((0, 1), (0, 1)), points=8), Units(0.0, 1.0, 1.0)
    mixture = sv.two_scale(1.0)
    assert mixture._sampler is not None
    columns = np.prod(place.domain.group) - 1
    return {
        "uniform": lambda w, x, out: numba_loops.uniform(w, x, out, units, uniform.window.tables.line),
        "coin": lambda w, x, out: mixture._sampler.fill(out, w, x, compiled=True),
        "general": lambda w, x, out: numba_loops.general(w, x, out, units, general.window.tables),
        "circle": lambda w, x, out: numba_loops.general(w, x, out, units, circle.window.tables),
        "rows": lambda w, x, out: numba_loops.rows(w, x, out, rows._tables),
        "translates": lambda w, x, out: numba_loops.translates(
            w, (x * columns).astype(np.int64), out, place._tables
        ),
        "branching": branching,
    }


def main() -> None:
    rng, out = np.random.default_rng(1), np.empty(SIZE, dtype=np.uint32)
    words, x = np.empty(SIZE, dtype=np.uint64), np.empty(SIZE)
    given = [
        (np.zeros(SIZE, np.uint64), np.zeros(SIZE)),
        (np.full(SIZE, 2**64 - 1, np.uint64), np.ones(SIZE)),
        (rng.integers(0, 2**64, SIZE, np.uint64), rng.random(SIZE)),
    ]
    ways = {}
    for name, loop in loops().items():
        seen = set()
        for words[:], x[:] in given:
            loop(words, x, out)  # compiled the first time
            steps = path(lambda loop=loop: loop(words, x, out))
            assert len(steps) > SIZE, "the loop was not seen"
            seen.add(steps)
        ways[name] = len(seen)
    print(json.dumps(ways))


if __name__ == "__main__":
    main()
