"""What a second core gains: reports, tallies, work on files and estimates by group, on one core and on two.

Both settings take turns, by the clock; every figure is the least of them. It means something on a quiet
machine only, so the load before the run is written down. Results are written to
benchmarks/results/second_core.json, the table into docs/measurements/limits.md.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sottovoce as sv
from benchmarks._machine import describe_machine
from benchmarks._tables import number, replace_table, table
from sottovoce import bulk

TAKES = "2 min"
RESULTS = Path(__file__).parent / "results" / "second_core.json"
PAGE = Path(__file__).parents[1] / "docs" / "measurements" / "limits.md"
PEOPLE, ROWS, GROUPS, TURNS = 10**7, 4 * 10**6, 10**4, 12


def works(folder: Path) -> dict[str, Callable[[], object]]:
    """What is measured, by what it is."""
    rng = np.random.default_rng(2)
    x, m = rng.random(PEOPLE), sv.optimal(1.0)
    cells, file, reports = m.report(x), folder / "values.parquet", folder / "reports.parquet"
    people = pa.table({"x": x[:ROWS], "town": rng.integers(0, GROUPS, ROWS)})
    bulk.report(people, {"x": m}, reports, keep=["town"])
    pq.write_table(people, file, use_dictionary=False)
    return {
        f"{PEOPLE:,} reports": lambda: m.report(x),
        f"tally of {PEOPLE:,} reports": lambda: sv.Tally(m, cells),
        f"reports of a file of {ROWS:,} rows": lambda: bulk.report(file, {"x": m}),
        f"tally of a file of {ROWS:,} rows": lambda: bulk.tally(reports, "x"),
        f"the same by {GROUPS:,} groups": lambda: bulk.tally(reports, "x", by="town"),
        f"means of {GROUPS:,} groups": lambda: bulk.estimates(
            reports, "x", "town", sv.mean, processes=int(os.environ["SOTTOVOCE_CORES"])
        ),
    }


def main() -> None:
    load, best = os.getloadavg()[0], {}
    with tempfile.TemporaryDirectory() as name:
        for what, work in works(Path(name)).items():
            best[what] = [float("inf")] * 2
            for turn in range(2 * TURNS + 2):
                os.environ["SOTTOVOCE_CORES"] = str(turn % 2 + 1)
                begin = time.perf_counter()
                work()
                if turn > 1:  # the first ones load and compile
                    best[what][turn % 2] = min(best[what][turn % 2], time.perf_counter() - begin)
            print(what, best[what], flush=True)
    result = {"machine": describe_machine(), "load before": load, "seconds": best}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    rows = [
        (what, f"{number(1e3 * one)} ms", f"{number(1e3 * two)} ms", f"{one / two:.2f}")
        for what, (one, two) in best.items()
    ]
    name = result["machine"].partition(",")[0]
    words = f"By the clock, in turns, on a machine ({name}) whose load was {load:.1f} before."
    words = f"## A second core\n\n{words}\n\n"
    replace_table(PAGE, "cores", words + table(("what", "one core", "two cores", "gain"), rows))


if __name__ == "__main__":
    main()
