"""Sampling, tallies, files and ingest beside what the machine could do at best, by the number of people.

The floors are measured in the same run, by turns: numpy's plain generator and AES in counter mode for
sampling, one read of the memory for tallies, reading Parquet for files, and one synced write of as many bytes
for ingest. Processor time of one core, the least of some turns; for ingest, whose floor is a wait, the clock.
Results are written to benchmarks/results/limits.json, tables and picture to docs/measurements/limits.md.

    python -m benchmarks.limits [--most 9]     sizes up to 10^9; from 10^8 on in chunks of 2^22
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.collector.service import create

import sottovoce as sv
from benchmarks._machine import describe_machine
from benchmarks._tables import number, replace_table, table
from benchmarks.page.page import FLOOR, OURS, THEIRS, _panel
from sottovoce import bulk
from sottovoce.collector import open_store
from sottovoce.collector.store.ingest import Batch
from sottovoce.randomness.secure_stream import SecureStream

TAKES = "2 min"
HERE = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "limits.json"
PAGE = HERE / "docs" / "measurements" / "limits.md"
CHUNK = 1 << 22  # people at a time
MOST_FILE = 10**7  # rows; 10^8 is in docs/measurements/scale.md
MOST_BATCH = 10**4  # reports in a request
EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0)

#: What is beside which floor, and what the floor is.
FLOORS = {
    "OGPM": ("generator", "numpy's plain generator"),
    "words of AES alone": ("generator", "numpy's plain generator"),
    "optimal, absolute error": ("generator", "numpy's plain generator"),
    "optimal, unbiased": ("generator", "numpy's plain generator"),
    "optimal, unbiased, words given": ("generator", "numpy's plain generator"),
    "two scales": ("generator", "numpy's plain generator"),
    "tally": ("memory", "one read of the cells"),
    "tally of a file": ("Parquet", "reading its column"),
    "reports of a file": ("Parquet of values", "reading its column"),
    "ingest": ("sync", "a synced write of as many bytes"),
}


def least(works: dict[str, Callable[[], object]], turns: int, clock: Callable[[], float]) -> dict[str, float]:
    """The least time of each, by turns."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(turns):
        for name, work in works.items():
            begin = clock()
            work()
            best[name] = min(best[name], clock() - begin)
    return best


def in_memory(size: int, x: Any) -> dict[str, float]:
    """Seconds of reports and tallies, and of their floors."""
    part, rounds = x[: min(size, CHUNK)], -(-size // CHUNK)
    generator, out, stream = np.random.default_rng(2), np.empty(len(part)), SecureStream()
    designs: dict[str, Any] = {
        "OGPM": sv.ogpm(1.0),
        "optimal, absolute error": sv.optimal(1.0, question="value", loss="l1"),
        "optimal, unbiased": sv.optimal(1.0),
        "two scales": sv.two_scale(1.0),
    }
    cells, unbiased = designs["two scales"].report(part), designs["optimal, unbiased"]._sampler
    words, drawn = np.random.default_rng(3).integers(0, 1 << 64, len(part), np.uint64), np.empty_like(cells)
    works: dict[str, Callable[[], object]] = {name: lambda m=m: m.report(part) for name, m in designs.items()}
    works |= {
        "words of AES alone": lambda: [None for _ in stream.blocks(len(part), 1 << 16)],
        "optimal, unbiased, words given": lambda: unbiased.fill(drawn, words, part),
        "generator": lambda: generator.random(out=out),
        "tally": lambda: sv.Tally(designs["two scales"], cells),
        "memory": lambda: cells.max(),
    }
    for work in works.values():
        work()
    calls, turns = (max(1, 10**5 // size), 7) if rounds == 1 else (rounds, 1)

    def repeated(work: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(calls):  # a result is dropped before the next
                work()

        return run

    spent = least({name: repeated(work) for name, work in works.items()}, turns, time.process_time)
    return {name: one / calls * rounds for name, one in spent.items()}


def by_epsilon(x: Any) -> list[dict[str, float]]:
    """Seconds of a million reports of optimal designs at each ε, and of the floor.

    Turns go through all ε: a machine that is slow for a second is so for none of them alone.
    """
    generator, out = np.random.default_rng(2), np.empty(len(x))
    works: dict[str, Callable[[], object]] = {"generator": lambda: generator.random(out=out)}
    for epsilon in EPSILONS:
        designs = {
            "optimal, unbiased": sv.optimal(epsilon),
            "optimal, absolute error": sv.optimal(epsilon, question="value", loss="l1"),
            "optimal, squared error": sv.optimal(epsilon, question="value", loss="l2"),
            "design for a mean": sv.design("mean", epsilon=epsilon, domain=(0, 1)),
            "two scales": sv.two_scale(epsilon),
        }
        works |= {f"{epsilon} {name}": lambda m=m: m.report(x) for name, m in designs.items()}
    for work in works.values():
        work()
    best = least(works, 80, time.process_time)
    floor = {"generator": best["generator"]}
    return [
        {"epsilon": epsilon} | {name: best[f"{epsilon} {name}"] for name in designs} | floor
        for epsilon in EPSILONS
    ]


def in_files(size: int, x: Any, folder: Path) -> dict[str, float]:
    """Seconds of work on files, and of reading them."""
    m, values, reports = sv.two_scale(1.0), folder / "values.parquet", folder / "reports.parquet"
    pq.write_table(pa.table({"x": np.resize(x, size)}), values, use_dictionary=False)
    bulk.report(values, {"x": m}, reports)

    def read(path: Path) -> None:
        for _ in pq.ParquetFile(path).iter_batches(columns=["x"]):
            pass

    works: dict[str, Callable[[], object]] = {
        "reports of a file": lambda: bulk.report(values, {"x": m}),
        "Parquet of values": lambda: read(values),
        "tally of a file": lambda: bulk.tally(reports, "x"),
        "Parquet": lambda: read(reports),
    }
    times = least(works, 20 if size <= 10**6 else 3, time.process_time)
    reports.unlink()
    return times


def into_store(size: int, folder: Path) -> dict[str, float]:
    """Seconds of one request in an SQLite store, and of a synced write of as many bytes."""
    m, store = sv.sw(1.0, cells=256), open_store(str(folder / f"{size}.db")).unlock(os.urandom(32))
    with closing(store), open(folder / "log", "ab") as log:
        campaign = create(store, m, collection="write").id
        cells = m.report(np.full(size, 0.5)).astype(np.int64)

        def ingest() -> None:
            store.ingest([Batch(campaign, 20_000, cells, os.urandom(16), os.urandom(16), 20_008)])

        def sync() -> None:
            log.write(bytes(size))
            log.flush()
            os.fsync(log.fileno())

        return least({"ingest": ingest, "sync": sync}, 20, time.perf_counter)


def tables(known: dict[str, Any]) -> None:
    """Put the tables and the picture into the page."""
    rows = []
    for name, (floor, words) in FLOORS.items():
        last = [row for row in known["rows"] if name in row and row["people"] <= 10**6][-1]
        size = last["people"]
        rows.append(
            (name, f"{size:,}", words, number(1e9 * last[floor] / size), number(1e9 * last[name] / size),
             f"{last[name] / last[floor]:.2f}")
        )  # fmt: skip
    head = ("what", "people at once", "floor", "floor, ns each", "ns each", "× the floor")
    replace_table(PAGE, "limits", table(head, rows))
    names = [name for name in known["designs"][0] if name not in {"epsilon", "generator"}]
    times = [
        (f"{row['epsilon']:g}", *(f"{row[name] / row['generator']:.2f}" for name in names))
        for row in known["designs"]
    ]
    replace_table(PAGE, "designs", "Times the floor, a million people:\n\n" + table(("ε", *names), times))
    names = [name for name in FLOORS if "words" not in name]
    grown = [
        (
            f"{row['people']:,}",
            *(number(1e9 * row[name] / row["people"]) if name in row else "" for name in names),
        )
        for row in known["rows"]
    ]
    replace_table(PAGE, "sizes", "Nanoseconds a person:\n\n" + table(("people", *names), grown))
    draw(known, HERE / "docs" / "benchmarks" / "limits.png")


def draw(known: dict[str, Any], path: Path) -> None:
    """Nanoseconds a person by the number of people; floors are dashed."""
    drawn, panel = _panel(7.2, 4.0)
    looks = {
        "OGPM": (OURS, "o"),
        "two scales": (OURS, "s"),
        "optimal, unbiased": (OURS, "^"),
        "tally": ("#009E73", "v"),
    }
    looks |= {
        "reports of a file": ("#D55E00", "P"),
        "tally of a file": ("#CC79A7", "X"),
        "ingest": ("#000000", "D"),
    }
    looks |= {
        "generator": (FLOOR, "o"),
        "memory": (FLOOR, "v"),
        "Parquet": (FLOOR, "X"),
        "sync": (THEIRS, "D"),
    }
    for name, (colour, marker) in looks.items():
        rows = [row for row in known["rows"] if name in row]
        floor = name in {floor for floor, _ in FLOORS.values()}
        panel.plot(
            [row["people"] for row in rows], [1e9 * row[name] / row["people"] for row in rows],
            color=colour, marker=marker, markersize=4, linestyle="--" if floor else "-",
            label=f"floor: {name}" if floor else name,
        )  # fmt: skip
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("people at once")
    panel.set_ylabel("ns a person")
    panel.grid(True, color="#dddddd", linewidth=0.6)
    panel.legend(frameon=False, fontsize=8, ncols=2)
    drawn.savefig(path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=9, help="The exponent of the largest size.")
    chosen = parser.parse_args(arguments or [])
    os.environ["SOTTOVOCE_CORES"] = "1"
    x, rows = np.random.default_rng(1).random(CHUNK), []
    with tempfile.TemporaryDirectory() as name:
        for size in [10**k for k in range(chosen.most + 1)]:
            row: dict[str, float] = {"people": size}
            if size >= 1000:
                row |= in_memory(size, x)
            if 1000 <= size <= MOST_FILE:
                row |= in_files(size, x, Path(name))
            if size <= MOST_BATCH:
                row |= into_store(size, Path(name))
            rows.append(row)
            print(row, flush=True)
    known = {"machine": describe_machine(), "rows": rows, "designs": by_epsilon(x[: 10**6])}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    tables(known)


if __name__ == "__main__":
    main(sys.argv[1:])
