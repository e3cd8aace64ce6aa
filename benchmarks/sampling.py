"""Exact, secure sampling against numpy's plain float generator, on one core, CPU time.

The rows of the benchmarks page that are this library's own. The floor is `rng.random(out=…)` of PCG64; every
row takes values and gives cells, random words from AES-CTR included. Ratios are to the floor in the same run;
below 1 is faster than the generator alone.
"""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np

from benchmarks.page.run import measure
from benchmarks.page.tables import speeds
from benchmarks.page.worker import cpu_seconds

TAKES = "1 min"


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
    results = measure("floor")
    floor = next(iter(results["ours"].values()))["speed"]["floor"]
    values = np.random.default_rng(1).random(100_000)
    loop = cpu_seconds(lambda: python_loop(1.0, values)) / len(values)
    loops = {"label": "Python loop, one value a time", "seconds": loop, "ratio": loop / floor}
    for row in (*speeds(results), loops):
        speed = f"{1e-6 / row['seconds']:>10,.3f} M/s {row['ratio']:>8,.2f} × the floor's time"
        print(f"  {row['label']:<42} {speed}")
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
