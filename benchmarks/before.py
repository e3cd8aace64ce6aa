"""What users wait for, beside 0.1.0: both versions in turns, each turn in a process of its own.

Every figure is the least processor time over the turns of one run, or what the clock says; the page shows
their ratio. Results are written to benchmarks/results/before.json, and the table into docs/benchmarks.md.

    python -m benchmarks.before [--before COMMIT] [--turns 3]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks._machine import describe_machine
from benchmarks._tables import number, replace_table, table
from benchmarks.collector_rates import BEFORE, HERE, checkout

TAKES = "3 min"
RESULTS = Path(__file__).parent / "results" / "before.json"
PAGE = HERE / "docs" / "benchmarks.md"

#: Runs in either version: names that both have, and both ways to ask for the same design.
_PROGRAM = """
import json, time
begin = time.process_time()
import numpy as np
loaded = time.process_time()
import sottovoce as sv
m = sv.ogpm(1.0)
m.report(0.5)
times = {"first report, after numpy": time.process_time() - loaded}
first = np.random.default_rng(1).random(20_000)
unbiased, square = sv.pm(1.0, (0, 1)), sv.sw(1.0, (0, 1))
for what, work in {
    "and 20,000 more": lambda: square.report(first),
    "and their median": lambda: sv.quantile(sv.Tally(square, square.report(first)), 0.5),
    "and a mean": lambda: sv.mean(sv.Tally(unbiased, unbiased.report(first))),
}.items():
    work()
    times[what] = time.process_time() - loaded
import numba  # loops are measured, not how they are loaded
import pyarrow as pa
from sottovoce import bulk
def least(work, rounds=5):
    work()
    spent = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return min(spent)
def direct():
    try:
        return sv.optimal(1.0, question="value", loss="l1")
    except TypeError:
        return sv.optimal(1.0, loss="l1")
x = np.random.default_rng(1).random(1 << 20)
designs = {"OGPM": m, "optimal, absolute error": direct(), "two scales": sv.two_scale(1.0)}
for name, design in designs.items():
    times[f"10^6 reports, {name}"] = least(lambda: design.report(x))
cells = designs["two scales"].report(x)
times["tally of 10^6 reports"] = least(lambda: sv.Tally(designs["two scales"], cells))
tally = sv.Tally(designs["two scales"], cells)
times["mean with interval"] = least(lambda: sv.mean(tally), 2)
waves = sv.Tally(square, square.report(x))
times["five quantiles"] = least(lambda: sv.quantile(waves, (0.1, 0.25, 0.5, 0.75, 0.9)), 3)
times["distribution with band"] = least(lambda: sv.distribution(tally), 3)
pm = sv.pm(1.0, cells=1024)
reports = pa.table({"town": np.arange(1 << 20) % 10_000, "cell": pm.report(x)})
means = lambda: bulk.estimates(reports, "cell", "town", sv.mean, mechanism=pm)
times["means of 10^4 groups"] = least(means, 1)
print(json.dumps(times))
"""

#: The same where nobody limits the threads of linear algebra, as in a program of one's own: by the clock.
_THREADED = """
import json, time
import numpy as np
import sottovoce as sv
m = sv.two_scale(1.0)
x = np.random.default_rng(1).beta(2, 5, 100_000)
spent = {"distribution": [], "median": []}
for _ in range(4):
    tally = sv.Tally(m, m.report(x))
    for name, work in {"distribution": sv.distribution, "median": lambda t: sv.quantile(t, 0.5)}.items():
        begin = time.perf_counter()
        work(tally)
        spent[name].append(time.perf_counter() - begin)
print(json.dumps({f"{name}, two cores, by the clock": min(each[1:]) for name, each in spent.items()}))
"""

#: What a process does that has loaded sottovoce and finds no design kept, in the words of both versions.
_COLD = {
    "optimal, absolute error, ε = 8": "sv.optimal(8.0, loss='l1', **({'question': 'value'} if new else {}))",
    "optimal, unbiased, ε = 8": "sv.optimal(8.0, **({} if new else {'unbiased': True}))",
    "questions about two numbers and an hour, ε = 2": "several(2.0, [(0, 120), (0, 10), sv.Circle(24)])",
    "questions about two numbers and an hour, ε = 16": "several(16.0, [(0, 120), (0, 10), sv.Circle(24)])",
    "worst error of OGPM": "sv.ogpm(1.0).worst_error('l1')",
    "worst error of truncated reports": "sv.pm(4.0, (0, 1)).truncated().worst_error(1, distance='circular')",
}
_FIRST = """
import json, sys, time
import sottovoce as sv
new = hasattr(sv, "survey")
def several(epsilon, domains):
    return sv.survey(epsilon, dict(zip("abc", domains))) if new else sv.vector(epsilon, domains)
begin = time.process_time()
eval(sys.argv[1])
print(json.dumps({sys.argv[2]: time.process_time() - begin}))
"""
_COMMAND = """
import json, sys, time
from sottovoce.cli import main
sys.argv = ["sottovoce", "--version"]
try:
    main()
finally:
    print("\\n" + json.dumps({"the command sottovoce --version": time.process_time()}))
"""
_ENOUGH = 10.0  # seconds: what takes longer is not asked for again


def turn(tree: Path, cache: Path, known: set[str]) -> dict[str, float]:
    """Seconds of everything but what is known already, in fresh processes of one version."""
    alone, kept = {"SOTTOVOCE_CORES": "1", "OPENBLAS_NUM_THREADS": "1"}, {"SOTTOVOCE_CACHE": str(cache)}
    times = _run(tree, alone | kept, _PROGRAM) | _run(tree, alone | kept, _COMMAND)
    for what, words in _COLD.items():
        if what not in known:
            times |= _run(tree, alone | {"SOTTOVOCE_CACHE": ""}, _FIRST, words, what)
    return times | _run(tree, kept, _THREADED)


def _run(tree: Path, variables: dict[str, str], *program: str) -> dict[str, float]:
    environment = {name: text for name, text in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"PYTHONPATH": f"{tree / 'src'}:{tree}", **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # bytecode is there, as it is after installing a wheel
    done = subprocess.run(
        [sys.executable, "-c", *program],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        cwd=tree,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def page_table(known: dict[str, Any]) -> str:
    """Both versions and their ratio."""
    rows = []
    for row in known["rows"]:
        ratio = row["now"] / row["before"]
        times = (f"{number(1e3 * row[which])} ms" for which in ("before", "now"))
        rows.append((row["what"], *times, f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.1g}"))
    return table(("what", "0.1.0", "now", "now / 0.1.0"), rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default=BEFORE)
    parser.add_argument("--turns", type=int, default=3)
    chosen = parser.parse_args(arguments or [])
    least: dict[str, dict[str, float]] = {"before": {}, "now": {}}
    with tempfile.TemporaryDirectory() as name:
        trees = {"before": checkout(chosen.before, Path(name) / "tree"), "now": HERE}
        for i in range(chosen.turns + 1):
            for which in ("before", "now") if i % 2 else ("now", "before"):
                slow = {what for what, spent in least[which].items() if spent > _ENOUGH}
                for what, spent in turn(trees[which], Path(name) / which, slow).items():
                    if i or spent > _ENOUGH:  # the first compiles, and fills the cache of designs
                        least[which][what] = min(spent, least[which].get(what, spent))
    rows = [{"what": what, "before": least["before"][what], "now": now} for what, now in least["now"].items()]
    known = {"machine": describe_machine(), "before": chosen.before, "rows": rows}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    replace_table(PAGE, "before", page_table(known))
    print(page_table(known))


if __name__ == "__main__":
    main(sys.argv[1:])
