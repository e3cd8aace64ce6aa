"""What forgetting costs: reports with a key that is erased after every use, against one that is kept.

The other source draws from one AES-CTR stream for ever and wipes nothing, and looks for a fork, as 0.1.0 did.
CPU time by turns; a turn is so many calls that a key is replaced several times, since words are made ahead.
Given are the ratio of the least times and the median of the ratios of all turns, which a busy machine moves.
Beside it, OGPM of this version and of 0.1.0 in turns, each turn in a process of its own, by the median.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._machine import describe_machine
from benchmarks.collector_rates import BEFORE, HERE, checkout
from sottovoce.arrays import Words
from sottovoce.randomness.secure_stream import Fill, SecureStream, _bytes

TAKES = "3 min"
#: Calls of a turn by values of a call: enough to use up several keys, and the 32 that are set up at a time.
CALLS = {
    1: 512, 100: 64, 1_000: 64, 10_000: 64, 30_000: 64, 100_000: 64, 300_000: 32, 1_000_000: 24,
}  # fmt: skip
TURNS = 60
PROCESSES = 9

#: Runs in either version: the least CPU time of a turn for each size.
_PROGRAM = """
import json, sys, time
import numpy as np
import sottovoce as sv
m, spent = sv.ogpm(1.0), {}
for size, many in json.loads(sys.argv[1]).items():
    x, spent[size] = np.random.default_rng(1).random(int(size)), []
    for _ in range(12):
        begin = time.process_time()
        for _ in range(many):
            m.report(x)
        spent[size].append(time.process_time() - begin)
print(json.dumps({size: min(turns[2:]) for size, turns in spent.items()}))
"""


class Keeping(SecureStream):
    """One key and one counter, never erased."""

    def __init__(self) -> None:
        super().__init__()
        self._fill = super()._open()

    def _open(self) -> Fill:
        return self._fill

    def words(self, count: int) -> Words:
        self._own()
        out = np.empty(count, dtype="<u8")
        self._fill(_bytes(out))
        return out

    def blocks(self, count: int, most: int) -> Iterator[Words]:
        self._own()
        words = np.empty(min(count, most), dtype="<u8")
        for first in range(0, count, most):
            part = words[: count - first]
            self._fill(_bytes(part))
            yield part


def by_turns(*works: Callable[[], object], turns: int) -> np.ndarray[Any, Any]:
    """The CPU time of each work in each turn; who begins changes."""
    spent = np.empty((len(works), turns))
    for turn in range(turns):
        for i in range(len(works))[:: 1 if turn % 2 else -1]:
            begin = time.process_time_ns()
            works[i]()
            spent[i, turn] = time.process_time_ns() - begin
    return spent


def beside_before() -> list[dict[str, float]]:
    """OGPM by the size of an array: the median ratio to 0.1.0 over pairs of processes."""
    sizes = {size: many for size, many in CALLS.items() if size >= 10_000}  # fewer do not load numba
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        trees = [HERE, checkout(BEFORE, Path(name) / "tree")]
        for turn in range(PROCESSES + 1):  # the first compiles
            times = {}
            for tree in trees[:: 1 if turn % 2 else -1]:
                environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "SOTTOVOCE_CORES": "1"}
                command = [sys.executable, "-c", _PROGRAM, json.dumps(sizes)]
                done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, cwd=tree)
                times[tree] = json.loads(done.stdout)
            ratios.append([times[trees[0]][str(size)] / times[trees[1]][str(size)] for size in sizes])
    medians = np.median(ratios[1:], axis=0)
    return [{"values": size, "ratio": ratio} for size, ratio in zip(sizes, medians.tolist(), strict=True)]


def main() -> None:
    os.environ["SOTTOVOCE_CORES"] = "1"  # other threads have streams of their own
    forgetting, keeping, rows = SecureStream(), Keeping(), []
    for name, mechanism in (("OGPM", sv.ogpm(1.0)), ("optimal", sv.optimal(1.0))):
        for size, many in CALLS.items():
            x = np.random.default_rng(1).random(size)

            def report(source: SecureStream) -> None:
                for _ in range(many):  # noqa: B023
                    mechanism.report(x, rng=source)  # noqa: B023

            new, old = by_turns(lambda: report(forgetting), lambda: report(keeping), turns=TURNS)
            ratio, median = float(new.min() / old.min()), float(np.median(new / old))
            rows.append({"design": name, "values": size, "ratio": ratio, "median": median})
            print(f"{name:8} {size:>9,} values: {ratio:.3f} of a kept key (median {median:.3f})", flush=True)
    before = beside_before()
    for row in before:
        print(f"OGPM     {row['values']:>9,} values: {row['ratio']:.3f} of 0.1.0")
    result = {"machine": describe_machine(), "rows": rows, "beside 0.1.0": before}
    path = Path(__file__).parent / "results" / "forgetting.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
