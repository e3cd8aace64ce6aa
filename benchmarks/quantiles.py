"""Widths and coverage of quantile intervals: one round, a declared shape and two rounds, beside the bound.

    python benchmarks/quantiles.py            # goes on where it was; writes benchmarks/results/quantiles.json
    python benchmarks/quantiles.py --table    # only the table in docs/explanation/quantiles.md

Tallies are drawn from the exact law (a multinomial), so a million people cost no more than a thousand. The
bound is that of the true distribution and the square wave: the median width that no interval can go below
which holds for every truth. "Shape" is the same tally with "unimodal" declared; where that is false, what
counts is how often it was refused. "Oracle" is one pair of thresholds at the true ends, asked of everybody.
`quantiles_before.json` holds the widths of version 0.1.0 on the same truths.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._quantile_truths import Truth, truths
from benchmarks._tables import number, replace_table, table
from sottovoce.errors import DataError
from sottovoce.estimates.answer.better_design import quantile_width
from sottovoce.estimates.limits.every_n import binomial_limits

TAKES = "20 min"
RESULTS = Path(__file__).parent / "results" / "quantiles.json"
BEFORE = Path(__file__).parent / "results" / "quantiles_before.json"
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "quantiles.md"
LEVELS = (0.1, 0.5, 0.9)
FIRST = 0.3
UNIMODAL = ("hours", "Beta(1, 8)", "uniform", "Beta(5, 2)")


def settings() -> Iterator[tuple[str, float, int]]:
    yield "hours", 1.0, 20_000
    for n in (100_000, 1_000_000):
        for name in (*UNIMODAL, "two peaks"):
            for epsilon in (1.0, 2.0):
                yield name, epsilon, n


def oracle(truth: Truth, epsilon: float, n: int, p: float) -> float:
    """The width of limits at thresholds that solve F = p ± 1.96 standard errors of one pair."""
    gain = math.expm1(epsilon)
    seen = [(1 + gain * share) / (gain + 3) for share in (p, 1 - p)]
    reach = [1.96 * math.sqrt(s * (1 - s) / n) * (gain + 3) / gain for s in seen]
    return truth.quantile(min(p + reach[1], 1.0)) - truth.quantile(max(p - reach[0], 0.0))


def one_round(truth: Truth, epsilon: float, n: int, p: float, rng: np.random.Generator) -> sv.Estimate:
    return sv.quantile(truth.tally(sv.sw(epsilon), n, rng), p)


def shape(truth: Truth, epsilon: float, n: int, p: float, rng: np.random.Generator) -> sv.Estimate:
    return sv.quantile(truth.tally(sv.sw(epsilon), n, rng), p, shape="unimodal")


def two_rounds(truth: Truth, epsilon: float, n: int, p: float, rng: np.random.Generator) -> sv.Estimate:
    plan, asked = sv.rounds("quantile", epsilon, p=p, first=FIRST), int(FIRST * n)
    first = truth.tally(plan.first, asked, rng)
    second = plan.second(first, n - asked)
    return plan.estimate(first, truth.tally(second, n - asked, rng))


WAYS = {"one": one_round, "shape": shape, "two": two_rounds}


def measure(way: str, name: str, epsilon: float, n: int, p: float, runs: int) -> dict[str, Any]:
    """The median width of one way, how often it held, and how often a declaration was refused."""
    truth = truths()[name]
    rng = np.random.default_rng([n, int(epsilon), len(name), int(10 * p), len(way)])
    widths, held, refused = [], 0, 0
    true, half = truth.quantile(p), 0.5 / 4096
    for _ in range(runs):
        try:
            e = WAYS[way](truth, epsilon, n, p, rng)
        except DataError:
            refused += 1
            continue
        widths.append(e.high - e.low)
        held += e.low <= true + half and e.high >= true - half
    width = float(np.median(widths)) if widths else None
    return {"width": width, "held": held, "runs": runs, "refused": refused}


def rows_of(results: list[dict[str, Any]]) -> Iterator[list[str]]:
    before = {(r["truth"], r["epsilon"], r["n"]): r["width"] for r in json.loads(BEFORE.read_text())}
    for r in results:
        old = before.get((r["truth"], r["epsilon"], r["n"]))
        ways = [r.get(way) for way in WAYS]
        yield [
            r["truth"], f"{r['epsilon']:g}", f"{r['n']:,}", f"{r['p']:g}",
            "" if old is None else number(old[LEVELS.index(r["p"])]), number(r["bound"]),
            *(_width(w) for w in ways), number(r["oracle"]),
            ", ".join(f"{w['held']}/{w['runs'] - w['refused']}" for w in ways if w and w["width"]),
        ]  # fmt: skip


def means_of(results: list[dict[str, Any]]) -> Iterator[list[str]]:
    """Geometric means of ratios over the settings where both are known."""
    before = {(r["truth"], r["epsilon"], r["n"]): r["width"] for r in json.loads(BEFORE.read_text())}
    for n in sorted({r["n"] for r in results}):
        ratios: dict[str, list[float]] = {}
        for r in (r for r in results if r["n"] == n):
            old = before.get((r["truth"], r["epsilon"], n))
            scales = {"bound": r["bound"], "0.1.0": None if old is None else old[LEVELS.index(r["p"])]}
            for way, (name, scale) in product(WAYS, scales.items()):
                if scale and r.get(way) and r[way]["width"]:
                    ratios.setdefault(f"{way}/{name}", []).append(r[way]["width"] / scale)
        cells = (ratios.get(f"{way}/{name}") for name in ("bound", "0.1.0") for way in WAYS)
        yield [
            f"{n:,}",
            *("" if c is None else f"{np.exp(np.mean(np.log(c))):.2f} ({len(c)})" for c in cells),
        ]


def coverage_of(results: list[dict[str, Any]]) -> Iterator[list[str]]:
    """All settings of a way together, with Clopper and Pearson's interval."""
    for way, name in zip(WAYS, ("one round", "unimodal, where it is true", "two rounds"), strict=True):
        every = [r[way] for r in results if way in r and r[way]["width"]]
        held, runs = (sum(one[key] for one in every) for key in ("held", "runs"))
        low, high = (float(end) for end in binomial_limits(held, runs, 0.025))
        yield [name, f"{held} of {runs}", f"{100 * low:.1f} to {100 * high:.1f} %"]


def _width(way: dict[str, Any] | None) -> str:
    if way is None:
        return ""
    return f"refused {way['refused']}/{way['runs']}" if way["width"] is None else number(way["width"])


def row(results: list[dict[str, Any]], name: str, epsilon: float, n: int, p: float) -> dict[str, Any]:
    """That of a setting, made if there is none."""
    setting = {"truth": name, "epsilon": epsilon, "n": n, "p": p}
    for one in results:
        if setting.items() <= one.items():
            return one
    truth = truths()[name]
    bound = quantile_width(sv.sw(epsilon), n, truth.density, p).bound
    results.append({**setting, "bound": bound, "oracle": oracle(truth, epsilon, n, p)})
    return results[-1]


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=10, help="Of each setting; the README's has 50, in two rounds 200."
    )
    parser.add_argument("--people", type=int, help="Only settings of so many.")
    parser.add_argument("--way", choices=WAYS, action="append", help="Only these (repeat).")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    end = time.monotonic() + 60 * options.minutes
    chosen = [one for one in settings() if options.people in (None, one[2])]
    every = product(options.way or WAYS, chosen, reversed(LEVELS))
    for way, setting, p in () if options.table else every:
        if time.monotonic() > end:
            break
        one = row(results, *setting, p)
        readme = setting[2] == 20_000 and p == 0.9
        runs = (200 if way == "two" else 50) if readme else options.runs
        if one.get(way, {"runs": 0})["runs"] < runs:
            one[way] = measure(way, *setting, p, runs)
            RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    head = ["truth", "ε", "people", "p", "0.1.0", "bound", "one round", "unimodal", "two rounds", "oracle"]
    replace_table(PAGE, "quantiles", table([*head, "held"], rows_of(results)))
    ways = [
        f"{way} / {scale}" for scale in ("bound", "0.1.0") for way in ("one round", "unimodal", "two rounds")
    ]
    replace_table(PAGE, "coverage", table(["way", "held", "95 % interval"], coverage_of(results)))
    replace_table(PAGE, "quantile means", table(["people", *ways], means_of(results)))


if __name__ == "__main__":
    main(sys.argv[1:])
