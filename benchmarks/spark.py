"""Spark: randomising and tallying against a no-op Arrow UDF, one core against two, 10^7 and 10^8 rows.

Each line is a fresh local session in a process of its own (a session cannot change its cores). Rows are made
by `spark.range`, and every action ends in a sum, a count or files, so that nothing is skipped; the no-op
takes the same columns and gives the column back. Up to 10^7 rows the best of three rounds, beyond one round.
What is shuffled is read from Spark's own event log.

    SPARK_ROWS   sizes ("1e7 1e8")      SPARK_CORES   cores ("1 2")
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from benchmarks._spark import in_its_own_process, seconds, start

TAKES = "10 min"

SIZES = [int(float(size)) for size in os.environ.get("SPARK_ROWS", "1e7 1e8").split()]
CORES = [int(cores) for cores in os.environ.get("SPARK_CORES", "1 2").split()]


def unchanged(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_arrays([batch.column("wait")], names=["wait"])


def measure(cores: int, rows: int, folder: str) -> dict[str, float]:
    """Seconds of every action in one session."""
    import sottovoce as sv
    from sottovoce.bulk import spark

    session, m = start(cores, folder), sv.ogpm(1.0)
    people = session.range(0, rows, numPartitions=8).selectExpr("id", "rand(7) AS wait")
    few = session.range(0, 10**5, numPartitions=8).selectExpr("id", "rand(7) AS wait")

    def actions(frame: Any, name: str) -> dict[str, float]:
        nothing = frame.mapInArrow(unchanged, "wait double")
        keyed = spark.report(frame, "wait", m, row_id="id")
        plain, output = f"{folder}/plain-{name}", f"{folder}/{name}"
        found = {
            "no-op": seconds(lambda: nothing.selectExpr("sum(wait)").collect()),
            "keyed": seconds(lambda: keyed.selectExpr("sum(wait)").collect()),
            "no-op, written": seconds(lambda: nothing.write.parquet(plain)),
            "written": seconds(lambda: spark.report(frame, "wait", m, output=output)),
        }

        def tally() -> object:
            return spark.tally(session.read.parquet(output), "wait")

        def group_by() -> object:  # a new plan every time: Spark reuses what an old one shuffled
            return session.read.parquet(output).groupBy("wait").count().toArrow()

        times = [(seconds(tally), seconds(group_by)) for _ in range(2)]
        found["tally"], found["GROUP BY"] = (min(each) for each in zip(*times, strict=True))
        return found

    def best(*rounds: dict[str, float]) -> dict[str, float]:
        return {name: min(one[name] for one in rounds) for name in rounds[0]}

    actions(few, "warm")
    rounds = 3 if rows <= 10**7 else 1
    found = best(*(actions(people, f"reports-{i}") for i in range(rounds)))
    session.stop()
    return found


def main() -> None:
    print("| rows | cores | no-op UDF | keyed | ratio | no-op UDF, written | fresh, written | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    tallies = []
    for rows in SIZES:
        for cores in CORES:
            t = in_its_own_process("spark", "measure", cores, rows)
            pairs = [("no-op", "keyed"), ("no-op, written", "written")]
            cells = [f"{t[a]:.1f} s | {t[b]:.1f} s | {t[b] / t[a]:.2f}" for a, b in pairs]
            print(f"| {rows:.0e} | {cores} | {' | '.join(cells)} |", flush=True)
            tallies.append((rows, cores, t))
    print("\n| rows | cores | tally | Spark's GROUP BY | ratio | largest shuffle | its records |")
    print("|---|---|---|---|---|---|---|")
    for rows, cores, t in tallies:
        size, records = max(t["shuffled"])
        times = f"{t['tally']:.1f} s | {t['GROUP BY']:.1f} s | {t['tally'] / t['GROUP BY']:.2f}"
        print(f"| {rows:.0e} | {cores} | {times} | {size / 1e6:.2f} MB | {records:,} |")


if __name__ == "__main__":
    main()
