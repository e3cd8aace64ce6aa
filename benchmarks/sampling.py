"""Exact, secure sampling against numpy's plain float generator, on one core, CPU time.

The floor is `rng.random(out=…)` of PCG64. Every row is the same work: values in, cells out, random words
from AES-CTR included. Ratios are to the floor in the same run; below 1 is faster than the generator alone.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import numpy as np

import sottovoce as sv
from benchmarks.page.worker import cpu_seconds
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.randomness import secure_stream

TAKES = "20 s"

N = 1 << 22
ROUNDS = 25


def best_ratios(floor: Callable[[], object], rows: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time of each row over the least time of the floor, measured turn by turn."""
    times = {name: [] for name in ("floor", *rows)}  # type: dict[str, list[float]]
    for work in (floor, *rows.values()):
        work()
    for _ in range(ROUNDS):
        times["floor"].append(cpu_seconds(floor))
        for name, work in rows.items():
            times[name].append(cpu_seconds(work))
    return {name: min(times[name]) / min(times["floor"]) for name in rows}


def report_in_blocks(m: Mechanism, x: np.ndarray, compiled: bool) -> Callable[[], object]:
    """What `Mechanism.report` does, with the kernel chosen."""
    block = 1 << (16 if compiled else 14)
    cells, words, stream = np.empty(len(x), m.dtype), np.empty(block, np.uint64), secure_stream()

    def run() -> None:
        for first in range(0, len(x), block):
            part = slice(first, first + block)
            stream.fill(words)
            assert m._sampler.fill(cells[part], words, x[part], compiled=compiled) == 0

    return run


def python_loop(epsilon: float, values: np.ndarray) -> list[float]:
    """OGPM one value at a time with Python floats, as a first implementation would do it. Not private."""
    p = np.exp(epsilon / 2)
    w = (np.exp(epsilon) - p) / (p * (np.exp(epsilon) - 1))
    out = []
    for x in values.tolist():
        left = min(max(x - w / 2, 0.0), 1 - w)
        u = random.random()
        if random.random() < p * w:
            out.append(left + u * w)
        else:
            u *= 1 - w
            out.append(u if u < left else u + w)
    return out


def main() -> None:
    x = np.random.default_rng(1).random(N)
    generator, buffer = np.random.default_rng(2), np.empty(N)
    mechanisms = {
        "ogpm": sv.ogpm(1.0),
        "pm": sv.pm(1.0, (0, 1)),
        "sw": sv.sw(1.0),
        "ogpm on a circle": sv.ogpm(1.0, sv.Circle(1.0)),
        "optimal L1, epsilon 4": sv.optimal(4.0, loss="l1"),
        "optimal unbiased, epsilon 4": sv.optimal(4.0, unbiased=True),
    }
    words = np.empty(1 << 16, np.uint64)

    def stream_only() -> None:
        for _ in range(N >> 16):
            secure_stream().fill(words)

    rows: dict[str, Callable[[], object]] = {"AES-CTR words alone": stream_only}
    rows |= {f"{name}, numba": report_in_blocks(m, x, True) for name, m in mechanisms.items()}
    rows |= {f"{name}, numpy": report_in_blocks(m, x, False) for name, m in mechanisms.items()}
    # A mixture draws two words for each value and makes its own array: beside one that makes its own too.
    whole = {"sw, report": sv.sw(1.0), "two_scale, report": sv.two_scale(1.0)}
    rows |= {name: partial(m.report, x) for name, m in whole.items()}
    ratios = best_ratios(lambda: generator.random(out=buffer), rows)
    floor = min(cpu_seconds(lambda: generator.random(out=buffer)) for _ in range(5)) / N
    print(f"floor: numpy PCG64 random, {1e-6 / floor:.0f} M/s")
    for name, ratio in ratios.items():
        print(f"  {name:<32} {ratio:6.2f} × the floor's time")
    few = x[:100_000]
    loop = cpu_seconds(lambda: python_loop(1.0, few)) / len(few)
    print(f"  {'Python loop, one value a time':<32} {loop / floor:6.0f} × the floor's time")
    stream_many()


STREAM = """
import re, time
import numpy as np, sottovoce as sv
m, generator, values = sv.ogpm(1.0), np.random.default_rng(3), np.empty(1 << 20)
counts, done, begin = np.zeros(m.cells, dtype=np.int64), 0, time.process_time()
while done < 10**8:
    part = values[: min(len(values), 10**8 - done)]
    generator.random(out=part)
    counts += np.bincount(m.report(part), minlength=m.cells)
    done += len(part)
assert counts.sum() == 10**8
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
print(f"10^8 values in chunks of 2^20: {time.process_time() - begin:.1f} s of one core, peak {peak:.0f} MB, "
      f"{m.dtype.itemsize} bytes a cell")
"""


def stream_many() -> None:
    """10^8 values through `report` in chunks, in a process of its own: its peak memory counts."""
    subprocess.run([sys.executable, "-c", STREAM], check=True)


if __name__ == "__main__":
    main()
