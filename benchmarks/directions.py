"""The mean direction in two rounds against one: widths of intervals that hold for every truth.

    python benchmarks/directions.py            # goes on where it was: benchmarks/results/directions.json
    python benchmarks/directions.py --table    # only the table in docs/explanation/quantiles.md

People around 23 o'clock, von Mises with some concentration. One round is the design for directions,
asked of everybody; in two rounds a tenth of the people are asked that, and the others about the sine from
what those show.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._tables import number, replace_table, table

TAKES = "8 min"
RESULTS = Path(__file__).parent / "results" / "directions.json"
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "quantiles.md"
TRUE, DAY = 23.0, sv.Circle(24)


def held(e: sv.Estimate) -> bool:
    return (TRUE - e.low) % 24 <= e.high - e.low


def measure(people: int, epsilon: float, concentration: float, runs: int) -> dict[str, Any]:
    plan, asked = sv.rounds("direction", epsilon, DAY), people // 10
    answers: dict[str, list[sv.Estimate]] = {"one": [], "two": []}
    for run in range(runs):
        rng = np.random.default_rng([run, people, int(10 * epsilon), int(concentration)])
        x = (TRUE + rng.vonmises(0, concentration, people) * 12 / np.pi) % 24
        seeds = rng.integers(1 << 60, size=3).tolist()
        answers["one"].append(sv.circular_mean(sv.Tally(plan.first, plan.first.report(x, rng=seeds[0]))))
        first = sv.Tally(plan.first, plan.first.report(x[:asked], rng=seeds[1]))
        second = plan.second(first)
        answers["two"].append(plan.estimate(first, sv.Tally(second, second.report(x[asked:], rng=seeds[2]))))
    widths = {way: float(np.median([e.high - e.low for e in every])) for way, every in answers.items()}
    counts = {f"{way} held": sum(map(held, every)) for way, every in answers.items()}
    setting = {"people": people, "epsilon": epsilon, "concentration": concentration, "runs": runs}
    return setting | widths | counts


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--settings", type=int, default=8, help="The most that are measured now.")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    results: list[dict[str, Any]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    done = {(r["people"], r["epsilon"], r["concentration"]) for r in results}
    left = [one for one in product((20_000, 1_000_000), (1.0, 2.0), (2.0, 8.0)) if one not in done]
    for setting in () if options.table else left[: options.settings]:
        results.append(measure(*setting, options.runs))
        RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    rows = [
        [f"{r['people']:,}", f"{r['epsilon']:g}", f"{r['concentration']:g}",
         number(r["one"]), number(r["two"]), f"{r['two'] / r['one']:.2f}",
         f"{r['one held']}/{r['runs']}, {r['two held']}/{r['runs']}"]
        for r in results
    ]  # fmt: skip
    head = ["people", "ε", "concentration", "one round, hours", "two rounds, hours", "ratio", "held"]
    replace_table(PAGE, "directions", table(head, rows))


if __name__ == "__main__":
    main(sys.argv[1:])
