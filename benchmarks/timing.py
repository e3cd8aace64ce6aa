"""Whether the time of one report tells anything about its value: 100,000 single reports of two values each.

For honest specs and for hostile ones that a reader accepts, in numpy, numba and Node: the two values that are
looked up most differently, in random order, each report timed by itself. A rank test and a Kolmogorov–Smirnov
test compare the durations, without the slowest hundredth (interrupts). The same is asked of *how* a value was
drawn, from the background or in the window: together with its cell that would tell more than the cell. A
sampler that scans its tables, as that of 0.1.0 did, is there as a mutant and must be found out.

A p below 1e-6 says that the distributions differ. The order is random, so the test is right whatever else the
machine does.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ks_2samp, mannwhitneyu

import sottovoce as sv
from benchmarks._machine import describe_machine
from sottovoce.arrays import FloatArray, IntArray
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.number import Number
from sottovoce.reporters.sampling import numpy_loops
from sottovoce.reporters.sampling.tables import Table

TAKES = "5 min"
ALARM = 1e-6
PATHS = ["numpy", "numba", "Node", "branch", "mutant"]
HERE = Path(__file__).parent
_CROWD = 0.75 + 2.0**-15  # in the upper half: values of the lower one need no step


def crowded(knots: int) -> str:
    """A spec that passes every audit, with so many knots in one of 2^14 buckets and none elsewhere."""
    window = json.loads(sv.sw(1.0).to_json())
    t = [_CROWD + 2.0**-30 * i for i in range(knots)]
    end = window["start"]["s"][-1]
    window["start"] = {"t": [0.0, *t, 1.0], "s": [0] * (knots + 1) + [end], "step": False}
    return json.dumps(window)


def split(runs: int) -> str:
    """The same law with its first cells as runs of their own: so many begin in one bucket, none elsewhere."""
    window = json.loads(sv.sw(1.0).to_json())
    cells = window["cells"]
    (count,), value, step = cells["count"], cells["value"][0], cells["step"][0]
    cells["count"] = [1] * runs + [count - runs]
    cells["value"] = [value + step * i for i in range(runs + 1)]
    cells |= {name: cells[name] * (runs + 1) for name in ("background", "extra", "step")}
    return json.dumps(window)


def even(knots: int) -> str:
    """As many knots as a table has buckets, all alike: the largest table that looks the same everywhere."""
    window = json.loads(sv.sw(1.0).to_json())
    end = window["start"]["s"][-1]
    t = [i / knots for i in range(knots + 1)]
    window["start"] = {"t": t, "s": [int(end * u) for u in t], "step": False}
    return json.dumps(window)


def specs() -> dict[str, tuple[str, tuple[float, float]]]:
    """Specs, and the two values that are looked up most differently.

    None of them is a whole number: to a JavaScript engine 0 and 0.5 are numbers of different kinds, and it
    takes some nanoseconds more for one of them before a line of ours has run.
    """
    low, high = 2.0**-20, 1 - 2.0**-20
    return {
        "OGPM": (sv.ogpm(1.0).to_json(), (low, 0.5)),
        "OGPM on a circle": (sv.ogpm(1.0, sv.Circle(1.0)).to_json(), (low, 0.75)),
        "optimal": (sv.optimal(1.0).to_json(), (low, 0.5)),
        "two scales": (sv.two_scale(1.0).to_json(), (low, 0.5)),
        "rows of Laplace": (sv.laws.laplace(1.0).tabulate(inputs=65, cells=256).to_json(), (low, 0.5)),
        "hostile: 4 knots in one bucket": (crowded(4), (_CROWD + 2.0**-30 * 3.5, 0.1)),
        "hostile: 4 runs in one bucket": (split(4), (low, high)),
        "hostile: 16,384 knots": (even(1 << 14), (low, high)),
    }


def scan(table: Table, at: FloatArray) -> IntArray:
    """As 0.1.0 looked up: on from the guide's entry until the right one comes."""
    bucket = ((at + table.origin).view(np.uint64) >> table.shift) - table.base
    entry = table.guide[bucket].astype(np.int64)
    while (at >= table.left[entry + 1]).any():
        entry += at >= table.left[entry + 1]
    return entry


def differ(durations: IntArray, groups: IntArray) -> dict[str, float]:
    """How the durations of two groups compare: p of both tests, and medians in nanoseconds."""
    usual = durations <= np.quantile(durations, 0.99)
    one, two = (durations[usual & (groups == group)] for group in (0, 1))
    return {
        "rank": float(mannwhitneyu(one, two).pvalue),
        "ks": float(ks_2samp(one, two, method="asymp").pvalue),
        "median": float(np.median(one)),
        "difference": float(np.median(two) - np.median(one)),
    }


def timed(report: Callable[[FloatArray], Any], values: tuple[float, float], order: IntArray) -> IntArray:
    """Nanoseconds of one report after the other.

    All come in the same array, one after the other from another: of two objects in Python one may be read
    some nanoseconds faster.
    """
    clock, out, x = time.perf_counter_ns, np.empty(len(order), dtype=np.int64), np.empty(1)
    for x[0] in values * 500:
        report(x)
    coming = np.array(values)[order]
    gc.collect()
    gc.disable()
    try:
        for i in range(len(order)):
            x[:] = coming[i : i + 1]
            begin = clock()
            report(x)
            out[i] = clock() - begin
    finally:
        gc.enable()
    return out


def by_numpy(reporter: Number) -> Callable[[FloatArray], Any]:
    return reporter.report


def by_numba(reporter: Number) -> Callable[[FloatArray], Any] | None:
    """The compiled loop itself, which serves arrays, one value at a time."""
    if not isinstance(reporter, Mechanism):
        return None
    sampler, out = reporter._sampler, np.empty(1, dtype=reporter.dtype)
    words = np.random.default_rng(3).integers(0, 2**64, 1 << 17, dtype=np.uint64)
    places = iter(range(len(words)))

    def report(x: FloatArray) -> None:
        i = next(places)
        sampler.fill(out, words[i : i + 1], x, compiled=True)

    return report


def in_node(text: str, values: tuple[float, float], order: IntArray, slower: int = 0) -> IntArray:
    """The same in JavaScript; `slower` steps of arithmetic more for the second value."""
    question = json.dumps({"spec": text, "values": values, "order": order.tolist(), "slower": slower})
    command = ["node", str(HERE / "timing.mjs")]
    done = subprocess.run(command, input=question, capture_output=True, text=True, check=True)
    return np.array(json.loads(done.stdout), dtype=np.int64)


def by_branch(text: str, x: float, order: IntArray) -> dict[str, float] | None:
    """Durations of the numpy sampler by how the value was drawn: from the background, or in the window."""
    reporter = sv.from_json(text)
    if not isinstance(reporter, Mechanism):
        return None
    tables, words = reporter.window.tables, np.random.default_rng(4).integers(0, 2**64, len(order), np.uint64)
    inside = ((words >> np.uint64(tables.shift)) >= tables.background).astype(np.int64)
    clock, out, t = time.perf_counter_ns, np.empty(len(order), dtype=np.int64), np.array([x])
    for i in range(len(order)):
        word = words[i : i + 1]
        begin = clock()
        numpy_loops.sample(tables, word, t)
        out[i] = clock() - begin
    return differ(out[1000:], inside[1000:])


def scanning(order: IntArray) -> dict[str, float]:
    """Durations of the look-up of 0.1.0, which must be told apart."""
    text, values = specs()["hostile: 4 knots in one bucket"]
    reporter = sv.from_json(text)
    assert isinstance(reporter, Number)
    fixed, numpy_loops.find = numpy_loops.find, scan
    try:
        return differ(timed(reporter.report, values, order), order)
    finally:
        numpy_loops.find = fixed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=100_000)
    parser.add_argument(
        "--paths", nargs="+", default=PATHS, choices=PATHS, help="Only these; rows of others are kept."
    )
    parser.add_argument("--runs", type=int, default=5, help="Of Node, each in a process of its own.")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "timing.json")
    given = parser.parse_args()
    order = np.random.default_rng(1).integers(0, 2, given.reports)
    rows: list[dict[str, Any]] = []

    def note(spec: str, path: str, result: dict[str, float] | None) -> None:
        if result is not None:
            told = min(result["rank"], result["ks"]) < ALARM
            rows.append({"spec": spec, "path": path, **result, "differ": told})
            p, median = f"{result['rank']:.2g} {result['ks']:.2g}", f"{result['median']:.0f}"
            print(f"{spec:32} {path:18} p {p:18} {median} ns {result['difference']:+.0f}{' DIFFER' * told}")

    for name, (text, values) in specs().items():
        reporter = sv.from_json(text)
        assert isinstance(reporter, Number)
        if "numpy" in given.paths:
            note(name, "numpy", differ(timed(by_numpy(reporter), values, order), order))
        compiled = by_numba(reporter) if "numba" in given.paths else None
        if compiled is not None:
            note(name, "numba", differ(timed(compiled, values, order), order))
        if "Node" in given.paths:
            for _ in range(given.runs):  # memory lies elsewhere in each
                note(name, "Node", differ(in_node(text, values, order), order))
            note(name, "Node, twice the same", differ(in_node(text, (values[0], values[0]), order), order))
        if "branch" in given.paths:
            note(name, "numpy, by branch", by_branch(text, values[0], order))
    if "Node" in given.paths:
        text, values = specs()["OGPM"]
        note("OGPM", "mutant: Node", differ(in_node(text, values, order, slower=4), order))
    if "mutant" in given.paths:
        note("4 knots in one bucket", "mutant: scanning", scanning(order))
    before = json.loads(given.output.read_text())["rows"] if given.output.exists() else []
    renewed = {row["path"] for row in rows}
    kept = [row for row in before if row["path"] not in renewed]
    result = {"machine": describe_machine(), "reports": given.reports, "alarm": ALARM, "rows": kept + rows}
    given.output.write_text(json.dumps(result, indent=1) + "\n")
    wrong = [row for row in rows if row["differ"] != row["path"].startswith("mutant")]
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
