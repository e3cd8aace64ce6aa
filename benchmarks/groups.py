"""A mean with its interval for each of 10^4 groups: on one machine with one and two processes, and on Spark.

Reports are made once; every way counts them by group and estimates from the counts, and all have to give the
same numbers.

    GROUPS_ROWS   reports (10^7)      GROUPS_COUNT   groups (10^4)
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sottovoce as sv
from benchmarks._spark import in_its_own_process, seconds, start
from sottovoce import bulk

TAKES = "5 min"

ROWS = int(float(os.environ.get("GROUPS_ROWS", 10**7)))
GROUPS = int(float(os.environ.get("GROUPS_COUNT", 10**4)))
CELLS = 1024


def make(path: Path) -> None:
    """Reports of people in towns of very different sizes: one has a tenth of all."""
    rng = np.random.default_rng(2)
    town = np.where(rng.random(ROWS) < 0.1, 0, rng.integers(0, GROUPS, ROWS))
    people = pa.table({"wait": rng.random(ROWS), "town": town})
    bulk.report(people, {"wait": sv.pm(1.0, (-1, 1), cells=CELLS)}, path, keep=["town"])


def on_spark(cores: int, folder: str) -> dict[str, Any]:
    from sottovoce.bulk import spark

    session = start(cores, folder)
    reports = session.read.parquet(os.environ["GROUPS_FILE"])
    spark.estimates(reports.where("town < 10"), "wait", "town", sv.mean).collect()
    found: dict[str, Any] = {"tally": seconds(lambda: spark.tally(reports, "wait", by="town"))}
    table = spark.estimates(reports, "wait", "town", sv.mean)
    rows: list[Any] = []
    found["all"] = seconds(lambda: rows.extend(table.collect()))
    session.stop()
    return {**found, "rows": sorted(list(row) for row in rows)}


def line(where: str, tally: float, whole: float, shuffle: str) -> None:
    """On Spark the tally alone also brings all counts to the driver, which the estimates do not need."""
    each = f"{1e3 * (whole - tally) / GROUPS:.2f} ms" if shuffle == "none" else ""
    print(f"| {where} | {tally:.1f} s | {whole:.1f} s | {each} | {shuffle} |", flush=True)


def main() -> None:
    print(f"{ROWS:,} reports of PM with {CELLS:,} cells, {GROUPS:,} groups of which one has a tenth of all\n")
    print("| where | tally by group | tally and means with intervals | per group | largest shuffle |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports.parquet"
        make(path)
        sv.mean(bulk.tally(path, "wait"))
        tally = seconds(lambda: bulk.tally(path, "wait", by="town"))
        tables: list[Any] = []
        for processes in (1, 2):
            begin = time.perf_counter()
            tables.append(bulk.estimates(path, "wait", "town", sv.mean, processes=processes))
            line(f"one machine, processes={processes}", tally, time.perf_counter() - begin, "none")
        os.environ["GROUPS_FILE"] = str(path)
        for cores in (1, 2):
            found = in_its_own_process("groups", "on_spark", cores)
            size, records = max(found["shuffled"])
            shuffle = f"{size / 1e6:.1f} MB, {records:,} counts"
            line(f"Spark, local[{cores}]", found["tally"], found["all"], shuffle)
            tables.append(found["rows"])
    rows = [list(row.values()) for row in tables[0].to_pylist()]
    same = tables[0] == tables[1] and rows == tables[2] == tables[3]
    print("\nAll four gave the same numbers." if same else "\nTHE NUMBERS DIFFER")


if __name__ == "__main__":
    main()
