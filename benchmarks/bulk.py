"""Files of 10^8 rows: randomising against a plain copy, tallying against the engines' own GROUP BY.

Wall time on all cores, the better of two rounds in one run; memory is the peak of a process of its own. A
copy reads and writes the same columns of the same file with the same library, batch size and row groups, and
without the dictionary encoding that would slow it down; unlike the copy, reports are also forced to disk.

    BULK_ROWS     how many rows (10^8)
    BULK_FOLDER   where the files go; the input is made there unless an earlier run left it
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sottovoce as sv
from sottovoce import bulk
from sottovoce.bulk.tables.report_files import ROW_GROUP
from sottovoce.bulk.tables.table_files import ROWS as BATCH

TAKES = "5 min"

ROWS = int(float(os.environ.get("BULK_ROWS", 10**8)))
CORES = os.cpu_count() or 1
ROUNDS = 2
KEPT = ["id", "country"]
PEAK = 'print(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])'


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def generate(path: Path, rows: int) -> None:
    rng = np.random.default_rng(1)
    schema = pa.schema(
        [("id", pa.int64()), ("wait", pa.float64()), ("country", pa.dictionary(pa.int32(), pa.string()))]
    )
    names = pa.array([f"country {i}" for i in range(200)])
    with pq.ParquetWriter(path, schema, use_dictionary=["country"]) as writer:
        for first in range(0, rows, 1 << 20):
            size = min(1 << 20, rows - first)
            country = pa.DictionaryArray.from_arrays(rng.integers(0, 200, size).astype(np.int32), names)
            columns = [np.arange(first, first + size), rng.random(size), country]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def copy(source: Path, target: Path, columns: list[str]) -> None:
    with pq.ParquetFile(source, pre_buffer=False) as file:
        schema = pa.schema([file.schema_arrow.field(name) for name in columns])
        coded = [name for name in columns if name in KEPT]
        with pq.ParquetWriter(target, schema, use_dictionary=coded) as writer:
            for batch in file.iter_batches(batch_size=BATCH, columns=columns):
                writer.write_batch(batch.select(columns), row_group_size=ROW_GROUP)


def peak_of(code: str) -> int:
    """Peak memory in MB of a Python process that runs the code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{PEAK}"], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1]) // 1024


def line(what: str, ours: float, against: str, theirs: float) -> None:
    rate = f"{ROWS / ours / 1e6:.0f} M rows/s"
    print(
        f"| {what} | {ours:.1f} s | {rate} | {against} | {theirs:.1f} s | {ours / theirs:.2f} |", flush=True
    )


def randomising(source: Path, folder: Path, m: sv.Mechanism, what: str, keep: list[str]) -> None:
    target, plain = folder / f"reports-{len(keep)}.parquet", folder / "copy.parquet"
    ours, theirs = [], []
    for _ in range(ROUNDS):
        plain.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
        theirs.append(seconds(lambda: copy(source, plain, [*keep, "wait"])))
        ours.append(seconds(lambda: bulk.report(source, {"wait": m}, target, keep=keep)))
    plain.unlink()
    line(what, min(ours), "a plain copy of the same columns", min(theirs))


def tallying(folder: Path) -> None:
    def duck(path: Path, keys: str) -> Callable[[], object]:
        query = f"SELECT {keys}, COUNT(*) FROM read_parquet('{path}') GROUP BY {keys}"
        return lambda: duckdb.connect(config={"threads": CORES}).sql(query).to_arrow_table()

    def arrow(path: Path, keys: list[str]) -> Callable[[], object]:
        return lambda: pq.read_table(path, columns=keys).group_by(keys).aggregate([([], "count_all")])

    alone, grouped = folder / "reports-0.parquet", folder / "reports-2.parquet"
    ours = min(seconds(lambda: bulk.tally(alone, "wait")) for _ in range(ROUNDS))
    line("tally", ours, "DuckDB's GROUP BY cell", min(seconds(duck(alone, "wait")) for _ in range(ROUNDS)))
    line("tally", ours, "Arrow's group_by cell", min(seconds(arrow(alone, ["wait"])) for _ in range(ROUNDS)))
    ours = seconds(lambda: bulk.tally(grouped, "wait", by="country"))
    line(
        "tally by 200 groups", ours, "DuckDB's GROUP BY group, cell", seconds(duck(grouped, "country, wait"))
    )
    theirs = seconds(arrow(grouped, ["country", "wait"]))
    line("tally by 200 groups", ours, "Arrow's group_by group, cell", theirs)


def memory(source: Path, folder: Path) -> None:
    again = folder / "again.parquet"
    start = "import sottovoce as sv; from sottovoce import bulk; "
    steps = {
        "randomising": f"bulk.report({str(source)!r}, {{'wait': sv.ogpm(1.0)}}, {str(again)!r}, keep={KEPT})",
        "tally": f"bulk.tally({str(again)!r}, 'wait')",
        "tally by 200 groups": f"bulk.tally({str(again)!r}, 'wait', by='country')",
    }
    print("\nPeak memory:", ", ".join(f"{what} {peak_of(start + code)} MB" for what, code in steps.items()))
    again.unlink()


def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("BULK_FOLDER")) as name:
        folder = Path(name)
        source = Path(os.environ.get("BULK_FOLDER", name)) / f"people-{ROWS:.0e}.parquet".replace("+0", "")
        if not source.exists():
            generate(source, ROWS)
        m = sv.ogpm(1.0)
        m.report([0.5])
        size = source.stat().st_size / 1e6
        print(f"{ROWS:,} rows, {size:,.0f} MB of Parquet; OGPM, {m.cells:,} cells; {CORES} cores\n")
        print("| what | time | rate | against | its time | ratio |\n|---|---|---|---|---|---|")
        randomising(source, folder, m, "randomise one column", [])
        randomising(source, folder, m, "randomise one column, keep two", KEPT)
        tallying(folder)
        memory(source, folder)


if __name__ == "__main__":
    main()
