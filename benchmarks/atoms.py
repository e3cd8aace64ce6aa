"""Coverage of the share of a range where many people have one number, also at ends of domain and range.

Five populations and five ranges of (0, 10), 25 cells: atoms at both ends of the domain, at one limit, at both
limits, inside, and everywhere. Every tally is judged three times: for people exactly at these numbers, all of
them just below and all just above, by at most 1e-9 of the domain, which no report tells apart. Designs are
all that give a mechanism of one number and those that `design` gives, on a circle too, from ε = 0.5 to 8.

Results go to benchmarks/results/atoms.json, a row for each design, ε and n: how often each cell was missed,
and the median width. `SOTTOVOCE_RUNS` sets the tallies for each row and population (default 9).
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from scipy.stats import binom

import sottovoce as sv
from sottovoce.reporters.mechanism import Mechanism

TAKES = "25 min"

RESULTS = Path(__file__).parent / "results" / "atoms.json"
ATOMS = {
    "ends": (0.0, 10.0),
    "a limit": (3.0,),
    "both limits": (3.0, 7.0),
    "inside": (5.0,),
    "everywhere": (0.0, 3.0, 5.0, 7.0, 10.0),
}
RANGES = ((3.0, 7.0), (0.0, 3.0), (7.0, 10.0), (3.0, 3.0), (4.0, 10.0))
EPSILONS, PEOPLE = (0.5, 1.0, 2.0, 4.0, 8.0), (100, 5_000)
LINE, CIRCLE = sv.Interval(0, 10), sv.Circle(10)
NEAR = 4e-10 * np.array([[0.0], [-10.0], [10.0]])  # exactly there, below and above
QUESTIONS = ("mean", "quantile", "distribution", "value")
FALSE_ALARM = 1e-6  # of all rows and cells together


def designs() -> Iterator[tuple[str, Callable[[float], Any]]]:
    """Every design by name, on each kind of domain that it takes."""
    for name in sv.__all__:
        design: Any = getattr(sv, name)
        if not inspect.isfunction(design) or "epsilon" not in inspect.signature(design).parameters:
            continue
        hint = get_type_hints(design)["return"]
        if name == "two_scale" or (isinstance(hint, type) and issubclass(hint, Mechanism)):
            yield name, partial(design, domain=LINE)
            if name in ("ogpm", "optimal", "two_scale"):
                yield f"{name}, circle", partial(design, domain=CIRCLE)
    for question in QUESTIONS:
        yield f"design: {question}", partial(sv.design, question, domain=LINE)


def missed(mechanism: Any, n: int, population: str, runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of the three truths each interval missed (runs × ranges × 3), and its width."""
    atoms = np.array(ATOMS[population])
    law = np.maximum(mechanism.operator(atoms).mix(np.full(len(atoms), 1 / len(atoms))), 0.0)
    places = np.clip(atoms + NEAR, 0.0, 10.0)
    if mechanism.domain.is_circle:
        places = (atoms + NEAR) % 10.0
    rng = np.random.default_rng([seed, n, *population.encode()])
    wrong, width = np.zeros((runs, len(RANGES), 3), dtype=bool), np.zeros((runs, len(RANGES)))
    for run in range(runs):
        tally = sv.Tally.from_counts(mechanism, rng.multinomial(n, law / law.sum()))
        for i, (low, high) in enumerate(RANGES):
            answer = sv.probability(tally, low, high)
            inside = (places >= low) & (places <= high)
            if mechanism.domain.is_circle and high == 10.0:  # the seam
                inside |= places == 0.0
            truths = inside.mean(axis=1)
            wrong[run, i] = (truths < answer.low) | (truths > answer.high)
            width[run, i] = answer.high - answer.low
    return wrong, width


def measure(name: str, design: Callable[[float], Any], epsilon: float, n: int, runs: int) -> dict[str, Any]:
    """A row: missed[population][range] of 3 × runs, and the median width."""
    mechanism, cells, widths = design(epsilon), {}, {}
    for population in ATOMS:
        wrong, width = missed(mechanism, n, population, runs, 20261119)
        cells[population] = wrong.sum(axis=(0, 2)).tolist()
        widths[population] = np.median(width, axis=0).round(4).tolist()
    return {"design": name, "epsilon": epsilon, "n": n, "runs": runs, "missed": cells, "width": widths}


def too_often(wrong: int, runs: int, rows: int) -> bool:
    """Whether so many misses in so many runs contradict 95 %, in one of so many rows."""
    return bool(binom.sf(wrong - 1, runs, 0.05) < FALSE_ALARM / rows)


def failures(rows: list[dict[str, Any]]) -> list[str]:
    """Rows and cells that missed too often, alone and all together; all three truths at once, at worst."""
    every = [(row, population, i) for row in rows for population in ATOMS for i in range(len(RANGES))]
    found = [
        f"{row['design']}, ε = {row['epsilon']:g}, n = {row['n']}: {population}, {RANGES[i]}"
        for row, population, i in every
        if too_often(-(-row["missed"][population][i] // 3), row["runs"], 2 * len(every))
    ]
    for population in ATOMS:
        for i, between in enumerate(RANGES):
            wrong = sum(row["missed"][population][i] for row in rows)
            if too_often(-(-wrong // 3), sum(row["runs"] for row in rows), 2 * len(every)):
                found.append(f"all: {population}, {between}")
    return found


def main() -> None:
    """Measure every row, keeping those that are done."""
    runs, rows = int(os.environ.get("SOTTOVOCE_RUNS", "9")), []
    for name, design in designs():
        for epsilon in EPSILONS:
            for n in PEOPLE:
                rows.append(measure(name, design, epsilon, n, runs))
                RESULTS.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    wrong = sum(sum(map(sum, row["missed"].values())) for row in rows)
    judged = sum(3 * row["runs"] * len(ATOMS) * len(RANGES) for row in rows)
    print(
        f"{judged - wrong} of {judged} intervals hold ({1 - wrong / judged:.2%}); too few: {failures(rows)}"
    )


if __name__ == "__main__":
    main()
