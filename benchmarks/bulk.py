"""Files of 10^8 rows: randomising against a plain copy, tallying against the engines' own GROUP BY.

Wall time on both cores, in one run; memory is the peak of a process of its own. The copy reads and writes the
same file with the same library and the same batch size.
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
from sottovoce.bulk.arrow import ROWS as BATCH

TAKES = "8 min"

ROWS = int(os.environ.get("BULK_ROWS", 10**8))
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


def copy(source: Path, target: Path) -> None:
    with pq.ParquetFile(source, pre_buffer=False) as file:
        schema = file.schema_arrow.field("wait")
        with pq.ParquetWriter(target, pa.schema([schema]), use_dictionary=False) as writer:
            for batch in file.iter_batches(batch_size=BATCH, columns=["wait"]):
                writer.write_batch(batch, row_group_size=1 << 20)


def peak_of(code: str) -> int:
    """Peak memory in MB of a Python process that runs the code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{PEAK}"], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1]) // 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, reports = folder / "people.parquet", folder / "reports.parquet"
        generate(source, ROWS)
        m = sv.ogpm(1.0)
        m.report([0.5])
        print(f"{ROWS:.0e} rows, {source.stat().st_size / 1e6:.0f} MB of Parquet")
        plain = seconds(lambda: copy(source, folder / "copy.parquet"))
        made = seconds(lambda: bulk.report(source, {"wait": m}, reports))
        print(f"  plain copy of the column      {plain:6.1f} s")
        print(f"  randomised                    {made:6.1f} s   {made / plain:.2f} × the copy")
        with_groups = folder / "grouped.parquet"
        bulk.report(source, {"wait": m}, with_groups, keep=["country"])
        report_groups(reports, with_groups)
        code = (
            f"import sottovoce as sv; from sottovoce import bulk; "
            f"bulk.report({str(source)!r}, {{'wait': sv.ogpm(1.0)}}, {str(folder / 'again.parquet')!r})"
        )
        print(f"  peak memory while randomising {peak_of(code)} MB")


def report_groups(reports: Path, grouped: Path) -> None:
    def engine(path: Path, keys: str) -> Callable[[], object]:
        query = f"SELECT {keys}, COUNT(*) FROM read_parquet('{path}') GROUP BY {keys}"
        return lambda: duckdb.connect(config={"threads": 2}).sql(query).fetchall()

    theirs = seconds(engine(reports, "wait"))
    ours = seconds(lambda: bulk.tally(reports, "wait"))
    print(f"  DuckDB's GROUP BY cell        {theirs:6.1f} s")
    print(f"  tally                         {ours:6.1f} s   {ours / theirs:.2f} × DuckDB")
    theirs = seconds(engine(grouped, "country, wait"))
    ours = seconds(lambda: bulk.tally(grouped, "wait", by="country"))
    print(f"  DuckDB's GROUP BY group, cell {theirs:6.1f} s")
    print(f"  tally by 200 groups           {ours:6.1f} s   {ours / theirs:.2f} × DuckDB")


if __name__ == "__main__":
    main()
