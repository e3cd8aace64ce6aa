"""The central model: error against the bound, coverage, and cost against numpy's clip-and-sum and group-by.

Errors are n²·MSE of the shipped code over (high − low)². Costs are CPU time, as ratios within one run.

    python -m benchmarks central
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from papers.trials import simulate

import sottovoce as sv
from benchmarks.page.worker import cpu_seconds
from sottovoce.central.noise.hourglass import sigma2

TAKES = "1 min"

MECHANISMS = ("independent", "shifted", "transformed", "staircase2d", "hourglass")
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
MEANS = (0.01, 0.1, 0.5)
RUNS = 100_000


def errors() -> None:
    print(f"n²·MSE, n = 10,000, {RUNS:,} releases each; last column: the bound σ²(ε)")
    print(f"{'ε':>4} {'mean':>5}" + "".join(f"{name:>13}" for name in MECHANISMS) + f"{'bound':>13}")
    for epsilon in EPSILONS:
        for mean in MEANS:
            found = [simulate(name, epsilon, 10_000, mean, runs=RUNS, rng=1).error for name in MECHANISMS]
            row = "".join(f"{error:13.5f}" for error in (*found, sigma2(epsilon)))
            print(f"{epsilon:4g} {mean:5g}{row}")


def small_data() -> None:
    print("\nn²·MSE on little data, mean 0.01, and 95 % coverage of the hourglass's intervals")
    print(f"{'ε':>4} {'n':>5}" + "".join(f"{name:>13}" for name in MECHANISMS) + f"{'coverage':>13}")
    for epsilon in (1.0, 4.0):
        for people in (1, 2, 4, 8, 16, 32, 64):
            found = [simulate(name, epsilon, people, 0.01, runs=RUNS, rng=2) for name in MECHANISMS]
            row = "".join(f"{result.error:13.5f}" for result in found)
            print(f"{epsilon:4g} {people:5d}{row}{found[-1].coverage():13.4f}")


def streaming(count: int = 10**8) -> None:
    """One pass over `count` values, against numpy on the same array; then from a generator, for memory."""
    x = np.random.default_rng(0).uniform(0, 60, count)
    plain, ours = [], []
    for _ in range(3):
        plain.append(cpu_seconds(lambda: np.clip(x, 0, 60).sum()))
        ours.append(cpu_seconds(lambda: sv.central.mean(x, 1.0, (0, 60), clip=True)))
    ratio = min(ours) / min(plain)
    print(f"\n{count:,} values: {min(ours):.2f} s, numpy clip-and-sum {min(plain):.2f} s, ratio {ratio:.2f}")
    part = x[: 1 << 20].copy()
    for millions in (10, 100, 1000):
        chunks = (part for _ in range(millions * 10**6 // len(part)))
        tracemalloc.start()
        sv.central.mean(chunks, 1.0, (0, 60))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"{millions:5d} million values from a generator: at most {peak / 2**20:.1f} MiB allocated")


def grouping(rows: int = 10**7, groups: int = 10**5) -> None:
    """Means of many groups, against the plain group-by of the same library on the same table."""
    import pandas as pd
    import pyarrow as pa

    rng = np.random.default_rng(0)
    keys, values = rng.integers(0, groups, rows), rng.uniform(0, 60, rows)
    frame = pd.DataFrame({"wait": values, "ward": keys})
    table = pa.table({"wait": values, "ward": keys})
    declared = range(groups)
    arguments: dict[str, Any] = {"column": "wait", "by": "ward", "groups": declared}
    pairs = {
        "numpy bincount": (
            lambda: np.bincount(keys, values) / np.bincount(keys),
            lambda: sv.central.mean(values, 1.0, (0, 60), by=keys, groups=declared),
        ),
        "pandas groupby": (
            lambda: frame.groupby("ward")["wait"].mean(),
            lambda: sv.central.mean(frame, 1.0, (0, 60), **arguments),
        ),
        "Arrow group_by": (
            lambda: table.group_by("ward", use_threads=False).aggregate([("wait", "mean")]),
            lambda: sv.central.mean(table, 1.0, (0, 60), **arguments),
        ),
    }
    print(f"\n{groups:,} group means of {rows:,} rows, integer keys")
    _compare(pairs)


def grouping_by_text(rows: int = 3 * 10**6, groups: int = 10**5) -> None:
    """The same with names for keys."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    rng = np.random.default_rng(0)
    names = np.array([f"ward-{i}" for i in range(groups)], dtype=object)
    keys, values = names[rng.integers(0, groups, rows)], rng.uniform(0, 60, rows)
    frame = pd.DataFrame({"wait": values, "ward": keys})
    table = pa.table({"wait": values, "ward": pa.array(keys)})
    polar = pl.from_arrow(table)
    plain: dict[str, tuple[Callable[[], object], Any]] = {
        "pandas groupby": (lambda: frame.groupby("ward")["wait"].mean(), frame),
        "Arrow group_by": (
            lambda: table.group_by("ward", use_threads=False).aggregate([("wait", "mean")]),
            table,
        ),
        "polars group_by": (lambda: polar.group_by("ward").agg(pl.col("wait").mean()), polar),
    }

    def ours(data: Any) -> Callable[[], object]:
        return lambda: sv.central.mean(data, 1.0, (0, 60), column="wait", by="ward", groups=names)

    print(f"\n{groups:,} group means of {rows:,} rows, text keys")
    _compare({name: (work, ours(data)) for name, (work, data) in plain.items()})


def _compare(pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]]) -> None:
    for name, (plain, ours) in pairs.items():
        plain(), ours()
        times = [(cpu_seconds(plain), cpu_seconds(ours)) for _ in range(3)]
        base, mine = (min(column) for column in zip(*times, strict=True))
        print(f"  {mine:.2f} s, {name} {base:.2f} s, ratio {mine / base:.2f}")


def main() -> None:
    errors()
    small_data()
    streaming()
    grouping()
    grouping_by_text()


if __name__ == "__main__":
    main()
