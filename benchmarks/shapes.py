"""How often a declared shape is refused: where it is false, and where it is true.

    python benchmarks/shapes.py            # writes benchmarks/results/shapes.json
    python benchmarks/shapes.py --table    # only the table in docs/explanation/quantiles.md

Tallies of the square wave are drawn from the exact law.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._quantile_truths import truths
from benchmarks._tables import replace_table, table
from sottovoce.errors import DataError
from sottovoce.estimates.limits.declared_shape import Declared
from sottovoce.estimates.limits.envelope import CrossFit
from sottovoce.estimates.limits.shape_constraints import Shape

TAKES = "1 min"
RESULTS = Path(__file__).parent / "results" / "shapes.json"
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "quantiles.md"
PEOPLE = (5_000, 10_000, 20_000, 50_000)
DECLARED: list[tuple[str, dict[str, Any]]] = [
    ("two peaks", {"shape": "unimodal"}),
    ("hours", {"density": 2.5}),  # its largest is 3.7
    ("hours", {"steepness": 14.0}),  # 28
    ("hours", {"shape": "unimodal"}),
    ("Beta(1, 8)", {"shape": "unimodal"}),
    ("hours", {"density": 4.0}),
    ("hours", {"steepness": 30.0}),
]


def refusals(name: str, declared: dict[str, Any], epsilon: float, n: int, runs: int) -> int:
    m, rng, refused = sv.sw(epsilon), np.random.default_rng([n, int(epsilon)]), 0
    shape = Shape.declared(m.domain, *(declared.get(key) for key in ("shape", "density", "steepness")))
    assert shape is not None
    for _ in range(runs):
        try:
            Declared(CrossFit(truths()[name].tally(m, n, rng)), shape, 0.025)
        except DataError:
            refused += 1
    return refused


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    results: list[dict[str, Any]] = json.loads(RESULTS.read_text()) if options.table else []
    for name, declared in () if options.table else DECLARED:
        for epsilon in (1.0, 2.0):
            counts = [refusals(name, declared, epsilon, n, options.runs) for n in PEOPLE]
            words = ", ".join(f"{key} {value}" for key, value in declared.items())
            row = {"truth": name, "declared": words, "epsilon": epsilon, "refused": counts}
            results.append({**row, "runs": options.runs})
            RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    rows = [
        [r["truth"], r["declared"], f"{r['epsilon']:g}", *(f"{k}/{r['runs']}" for k in r["refused"])]
        for r in results
    ]
    head = ["truth", "declared", "ε", *(f"n = {n:,}" for n in PEOPLE)]
    replace_table(PAGE, "shapes", table(head, rows))


if __name__ == "__main__":
    main(sys.argv[1:])
