"""The work of one report is the same for every value and every draw: counted, not timed.

Python's is followed line by line, that of compiled loops instruction by instruction.

`benchmarks/timing.py` holds the clock to it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from benchmarks.timing import crowded, even, scan, split

import sottovoce as sv
from sottovoce.reporters.number import Number
from sottovoce.reporters.sampling import numpy_loops
from sottovoce.reporters.translates import Translates
from tests.vectors.ledger import Given

OURS = str(Path(sv.__file__).parent)

#: What draws, and the values that it looks up most differently.
CASES: dict[str, Callable[[], Any]] = {
    "uniform": partial(sv.ogpm, 1.0, cells=500),
    "circle": partial(sv.ogpm, 1.0, sv.Circle(1.0), cells=500),
    "general": partial(sv.optimal, 1.0),
    "rows": lambda: sv.laws.laplace(1.0).tabulate(inputs=9, cells=33),
    "crowded knots": lambda: sv.from_json(crowded(4)),
    "crowded runs": lambda: sv.from_json(split(4)),
    "many knots": lambda: sv.from_json(even(1 << 12)),
}


def lines(work: Callable[[], object]) -> tuple[tuple[str, int], ...]:
    """Every line of ours that runs, in order."""
    path: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            path.append((frame.f_code.co_name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return tuple(path)


CROWD = [2.0**-15 + 2.0**-30 * i for i in range(6)]
VALUES = [0.5, 0.0, 1.0, 0.3, 0.9, *CROWD, *(0.75 + x for x in CROWD), 1 - 2.0**-20]


def paths(reporter: Number | Translates, values: list[Any] = VALUES) -> set[tuple[tuple[str, int], ...]]:
    """The different ways through the code, over values and words on the edges of everything."""
    reporter.report(values[0])  # tables are made on first use
    words = [0, 1, 2**63, 2**64 - 1, *np.random.default_rng(1).integers(0, 2**64, 3, np.uint64).tolist()]
    return {
        lines(lambda x=x, word=word: reporter.report(x, rng=Given([f"{word:016x}"] * reporter.draws)))
        for x in values
        for word in words
    }


@pytest.mark.attack("C1", "refused")
@pytest.mark.parametrize("name", CASES)
def test_one_way_through_the_code(name: str) -> None:
    assert len(paths(CASES[name]())) == 1


@pytest.mark.parametrize("kind", ["choice", "place", "disc"])
def test_one_way_for_every_option_and_place(kind: str) -> None:
    """Where a cell holds the option or not, goes around or not, whatever the point beside a position."""
    names = [f"option {i}" for i in range(20)]
    corners = [[x, y] for x in (-1.0, 0.3, 1.0) for y in (-1.0, 0.0, 1.0)]
    if kind == "choice":
        assert len(paths(sv.choice(1.0, names), names)) == 1
    elif kind == "place":
        assert len(paths(sv.place(1.0, box=((-1, 1), (-1, 1)), points=8), corners)) == 1
    else:
        rim = [[0.6, 0.8], [-1.0, 0.0], [0.0, 0.0], [0.1, -0.2]]
        assert len(paths(sv.place(1.0, 1.0, points=8), rim)) == 1


def test_a_mixture_goes_the_way_of_its_coin_which_the_cell_tells() -> None:
    m = sv.two_scale(1.0, cells=64)
    m.report(0.5)
    ways: dict[int, set[Any]] = {}
    for coin in (0, 2**64 - 1):
        for word in (0, 2**63, 2**64 - 1):
            for x in (0.0, 0.3, 1.0):
                given = [f"{word:016x}", f"{coin:016x}"]
                side = int(np.searchsorted(m.offsets, m.report(x, rng=Given(given)), side="right"))
                ways.setdefault(side, set()).add(
                    lines(lambda x=x, given=given: m.report(x, rng=Given(given)))
                )
    assert [len(each) for each in ways.values()] == [1, 1]


@pytest.mark.attack("C1", "succeeds")
def test_a_sampler_that_scans_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As 0.1.0 looked up: the way depends on the value."""
    source = scan.__code__.replace(co_filename=f"{OURS}/scan.py")
    monkeypatch.setattr(numpy_loops, "find", type(scan)(source, scan.__globals__))
    assert len(paths(CASES["crowded knots"]())) > 1


@pytest.mark.attack("C1", "refused")
@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="ptrace of x86-64")
@pytest.mark.parametrize("processor", [{}, {"NUMBA_CPU_NAME": "haswell"}], ids=["this", "without AVX-512"])
def test_one_way_through_the_instructions_of_compiled_loops(processor: dict[str, str]) -> None:
    program = [sys.executable, str(Path(__file__).with_name("single_steps.py"))]
    done = subprocess.run(program, env={**os.environ, **processor}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ways = json.loads(done.stdout)
    assert ways.pop("branching") > 1  # such a loop is found out
    assert ways == dict.fromkeys(ways, 1)
