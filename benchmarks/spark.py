"""Spark: randomising and tallying against a no-op Arrow UDF, one core against two, 10^7 and 10^8 rows.

Each line is a fresh session in a process of its own (a session cannot change its cores); rows are made by
`spark.range`, and every action ends in a sum or a count, so that nothing is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

TAKES = "10 min"

SIZES = [int(float(size)) for size in os.environ.get("SPARK_ROWS", "1e7 1e8").split()]

WORK = """
import json, sys, time
import sottovoce as sv
from sottovoce.bulk import spark
cores, rows = int(sys.argv[1]), int(float(sys.argv[2]))
settings = {"spark.log.level": "OFF", "spark.sql.shuffle.partitions": "4", "spark.driver.memory": "4g"}
session = spark.session(cores, **settings)
people = session.range(0, rows, numPartitions=8).selectExpr("id", "rand(7) AS wait")
m = sv.ogpm(1.0)

def same(batches):
    import pyarrow as pa
    for batch in batches:
        yield pa.RecordBatch.from_arrays([batch.column("wait")], names=["wait"])

def timed(frame):
    begin = time.perf_counter()
    frame.selectExpr("sum(wait)").collect()
    return time.perf_counter() - begin

nothing = people.mapInArrow(same, "wait double")
reports = spark.report(people, "wait", m, row_id="id")
for warm in (people.limit(10).mapInArrow(same, "wait double"), reports.limit(10)):
    warm.selectExpr("sum(wait)").collect()
found = {"no-op UDF": timed(nothing), "report": timed(reports)}
begin = time.perf_counter()
assert spark.tally(reports, "wait").n == rows
found["report and tally"] = time.perf_counter() - begin
print(json.dumps(found))
session.stop()
"""


def measure(cores: int, rows: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(cores), str(rows)], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    print(
        f"  {'rows':>8} {'cores':>5} {'no-op UDF':>10} {'report':>10} {'ratio':>6} {'report and tally':>17}"
    )
    for rows in SIZES:
        for cores in (1, 2):
            found = measure(cores, rows)
            ratio = found["report"] / found["no-op UDF"]
            print(
                f"  {rows:8.0e} {cores:5d} {found['no-op UDF']:9.1f}s {found['report']:9.1f}s {ratio:6.2f} "
                f"{found['report and tally']:16.1f}s"
            )


if __name__ == "__main__":
    main()
