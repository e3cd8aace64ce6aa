"""Widths and coverage of quantile intervals: one round and two, beside the bound and beside 0.1.0.

    python benchmarks/quantiles.py            # goes on where it was; writes benchmarks/results/quantiles.json
    python benchmarks/quantiles.py --table    # only the table in docs/explanation/quantiles.md

Tallies are drawn from the exact law (a multinomial), so a million people cost no more than a thousand. The
bound is that of the true distribution and the square wave: the median width that no interval can go below
which holds for every truth. "Oracle" is one pair of thresholds at the true ends, asked of everybody.
`quantiles_before.json` holds the widths of version 0.1.0 on the same truths.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._quantile_truths import Truth, truths
from benchmarks._tables import number, replace_table, table
from sottovoce.estimates.crossing import quantile_width

TAKES = "20 min"
RESULTS = Path(__file__).parent / "results" / "quantiles.json"
BEFORE = Path(__file__).parent / "results" / "quantiles_before.json"
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "quantiles.md"
LEVELS = (0.1, 0.5, 0.9)
FIRST = 0.3


def settings() -> Iterator[tuple[str, float, int]]:
    yield "hours", 1.0, 20_000
    for n in (100_000, 1_000_000):
        for name in truths():
            for epsilon in (1.0, 2.0):
                if n == 100_000 or name not in ("whole hours", "two groups"):
                    yield name, epsilon, n


def oracle(truth: Truth, epsilon: float, n: int, p: float) -> float:
    """The width of limits at thresholds that solve F = p ± 1.96 standard errors of one pair."""
    gain = math.expm1(epsilon)
    seen = [(1 + gain * share) / (gain + 3) for share in (p, 1 - p)]
    reach = [1.96 * math.sqrt(s * (1 - s) / n) * (gain + 3) / gain for s in seen]
    return truth.quantile(min(p + reach[1], 1.0)) - truth.quantile(max(p - reach[0], 0.0))


def measure(name: str, epsilon: float, n: int, runs: int) -> list[dict[str, Any]]:
    truth, m = truths()[name], sv.sw(epsilon)
    rng = np.random.default_rng([n, int(epsilon), len(name)])
    width: dict[tuple[str, float], list[float]] = {}
    held: dict[tuple[str, float], int] = {}

    def note(way: str, p: float, e: sv.Estimate) -> None:
        width.setdefault((way, p), []).append(e.high - e.low)
        true, half = truth.quantile(p), 0.5 / 4096 if len(truth.points) > 100 else 0.0
        held[way, p] = held.get((way, p), 0) + (e.low <= true + half and e.high >= true - half)

    for _ in range(runs):
        for p, e in zip(LEVELS, sv.quantile(truth.tally(m, n, rng), LEVELS), strict=True):
            note("one", p, e)
        for p in LEVELS:
            plan, asked = sv.rounds("quantile", epsilon, p=p, share=FIRST), int(FIRST * n)
            first = truth.tally(plan.first, asked, rng)
            second = plan.second(first, n - asked)
            note("two", p, plan.estimate(first, truth.tally(second, n - asked, rng)))
    return [
        {
            "truth": name, "epsilon": epsilon, "n": n, "p": p, "runs": runs,
            "bound": quantile_width(m, n, truth.density, p).bound, "oracle": oracle(truth, epsilon, n, p),
            "one": float(np.median(width["one", p])), "two": float(np.median(width["two", p])),
            "held": [held["one", p], held["two", p]],
        }
        for p in LEVELS
    ]  # fmt: skip


def rows_of(results: list[dict[str, Any]]) -> Iterator[list[str]]:
    before = {(r["truth"], r["epsilon"], r["n"]): r["width"] for r in json.loads(BEFORE.read_text())}
    for r in results:
        old = before[r["truth"], r["epsilon"], r["n"]][LEVELS.index(r["p"])]
        yield [
            r["truth"], f"{r['epsilon']:g}", f"{r['n']:,}", f"{r['p']:g}",
            *(number(w) for w in (old, r["bound"], r["one"], r["two"], r["oracle"])),
            f"{r['held'][0]}, {r['held'][1]} of {r['runs']}",
        ]  # fmt: skip


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    end = time.monotonic() + 60 * options.minutes
    for setting in () if options.table else settings():
        known = {(r["truth"], r["epsilon"], r["n"]) for r in results}
        if setting not in known and time.monotonic() < end:
            results += measure(*setting, runs=options.runs if setting[2] == 20_000 else options.runs // 5)
            RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    head = [
        "truth",
        "ε",
        "people",
        "p",
        "0.1.0",
        "bound",
        "one round",
        "two rounds",
        "oracle",
        "held (one, two)",
    ]
    replace_table(PAGE, "quantiles", table(head, rows_of(results)))


if __name__ == "__main__":
    main(sys.argv[1:])
