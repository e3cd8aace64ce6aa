"""Optimal designs: limits, ratios and time against ε, tolerance and grid, beside the plain linear program.

CPU time of one process. The plain program has a variable for every pair of input and report; the search has
one for every pair of mirrored reports. Both are asked for the same bound on the same grid. The designs are in
benchmarks/results/designs.json and, as two tables, in docs/explanation/optimal.md; `--only` runs a part, such
as `--only tables`, which writes them from the results that there are. Rows that are in the results are kept:
remove the file to measure again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

import sottovoce as sv
from benchmarks._tables import replace_table
from benchmarks._tables import table as markdown
from sottovoce.designs.optimal import most_epsilon
from sottovoce.designs.solver.certificate import Proof
from sottovoce.designs.solver.worst_case_problem import Problem

TAKES = "8 min"

EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 9.0, 10.0, 11.0, 12.0)
MEASURES = ("l1", "l2", "mean")
CIRCLES = ("circle l1", "circle l2")
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "optimal.md"
RESULTS = Path(__file__).parent / "results" / "designs.json"


def offered(measures: tuple[str, ...], epsilons: Sequence[float]) -> list[tuple[str, float]]:
    """Every measure at every ε that there is a design for."""
    return [(m, e) for m, e in product(measures, epsilons) if e <= most_epsilon(1.0 if m == "l1" else 2.0)]


def design(measure: str, epsilon: float, tolerance: float | None = None) -> sv.Mechanism:
    if measure == "mean":
        return sv.optimal(epsilon, tolerance=tolerance)
    if measure in CIRCLES:
        return sv.optimal(epsilon, sv.Circle(1.0), loss=measure.split()[1], tolerance=tolerance)
    return sv.optimal(epsilon, question="value", loss=measure, tolerance=tolerance)


def best_classic(measure: str, epsilon: float) -> tuple[str, float]:
    """The published mechanism with the least worst case."""
    if measure == "mean":
        made = {"Duchi": sv.duchi, "PM": sv.pm, "I-PTT": sv.ptt, "OGPM-U": sv.ogpm_unbiased}
        found = {name: f(epsilon, (0, 1)).worst_variance() for name, f in made.items()}
        for name, law in {"hybrid": sv.laws.hybrid, "Laplace": sv.laws.laplace}.items():
            found[name] = law(epsilon, (0, 1)).worst_variance()
    else:
        pm, sw = sv.pm(epsilon, (0, 1)), sv.sw(epsilon)
        made = {"OGPM": sv.ogpm(epsilon, loss=measure), "PM-C": pm.compressed(), "SW-C": sw.compressed()}
        made |= {"T-PM": pm.truncated(), "T-SW": sw.truncated()}
        found = {name: m.worst_error(measure) for name, m in made.items()}
    return min(found.items(), key=lambda item: item[1])


def cpu(f: Callable[..., Any], *arguments: Any, times: int = 1) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returned."""
    begin = time.process_time()
    for _ in range(times):
        found = f(*arguments)
    return (time.process_time() - begin) / times, found


def measured(measure: str, epsilon: float) -> dict[str, Any]:
    """One design, as the page shows it."""
    cold, m = cpu(design, measure, epsilon)
    c = m.certificate
    return {
        "epsilon": epsilon,
        "question": "mean" if c.unbiased else "value",
        "loss": "l1" if c.exponent == 1 else "l2",
        "circle": m.domain.is_circle,
        "limit": c.limit,
        "worst": c.worst,
        "ratio": c.ratio,
        "seconds": round(cold, 3),
        "bytes": len(m.to_json()),
        "cells": m.cells,
    }


def selected(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Designs beside the best classic, and what they take from the cache."""
    for measure, epsilon in offered(MEASURES, EPSILONS)[len(rows) :]:
        row = measured(measure, epsilon)
        warm, _ = cpu(design, measure, epsilon, times=5)
        name, classic = best_classic(measure, epsilon)
        yield {**row, "cached": round(warm, 5), "classic": name, "of classic": classic}


def everywhere(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All of ε in halves; circles, too."""
    halves = [i / 2 for i in range(1, 25)]
    for measure, epsilon in offered((*MEASURES, *CIRCLES), halves)[len(rows) :]:
        yield measured(measure, epsilon)


def write_tables(results: dict[str, list[dict[str, Any]]]) -> None:
    heads = ("measure ", "ε", "limit", "shipped", "ratio", "best classic ", "× optimal", "reports", "KB")
    rows = [
        (
            "unbiased" if row["question"] == "mean" else row["loss"],
            f"{row['epsilon']:g}",
            f"{row['limit']:.5g}",
            f"{row['worst']:.5g}",
            f"{row['ratio']:.5f}",
            f"{row['classic']} {row['of classic']:.4g}",
            f"{row['of classic'] / row['worst']:.2f}",
            f"{row['cells']:,}",
            f"{row['bytes'] / 1024:.1f}",
            f"{row['seconds']:.2f}",
            f"{row['cached'] * 1e3:.1f}",
        )
        for row in results["selected"]
    ]
    replace_table(PAGE, "designs", markdown((*heads, "cold s", "cached ms"), rows))
    rows = []
    for question, loss, circle in dict.fromkeys(
        (r["question"], r["loss"], r["circle"]) for r in results["everywhere"]
    ):
        own = [
            r
            for r in results["everywhere"]
            if (r["question"], r["loss"], r["circle"]) == (question, loss, circle)
        ]
        for low, high in ((0.0, 4.0), (4.0, 8.0), (8.0, 12.0)):
            part = [r for r in own if low < r["epsilon"] <= high]
            largest = [max(r[name] for r in part) for name in ("ratio", "seconds", "bytes")]
            rows.append(
                (
                    f'"{question}"{" on a circle" if circle else ""}',
                    loss,
                    f"{part[0]['epsilon']:g} to {part[-1]['epsilon']:g}",
                    f"{largest[0]:.5f}",
                    f"{largest[1]:.2f}",
                    f"{largest[2] / 1024:.1f}",
                )
            )
    heads = ("question ", "loss ", "ε", "largest ratio", "longest, s", "largest spec, KB")
    replace_table(PAGE, "designs-everywhere", markdown(heads, rows))


def tolerances() -> None:
    print("\n| measure | ε | tolerance | ratio | reports | cold s |\n|---|---|---|---|---|---|")
    for measure, epsilon in (("l1", 2.0), ("l2", 4.0), ("mean", 2.0)):
        for tolerance in (0.01, 0.003, 0.001, 0.0003):
            cold, m = cpu(design, measure, epsilon, tolerance)
            row = [measure, f"{epsilon:g}", f"{tolerance:g}", f"{m.certificate.ratio:.5f}", str(m.cells)]
            print("| " + " | ".join([*row, f"{cold:.2f}"]) + " |", flush=True)


def plain_program(epsilon: float, reports: int) -> float:
    """min t over Q_ij, g_j, t on a grid of inputs and reports, a variable for every pair; absolute error."""
    n, e = reports, math.exp(epsilon)
    y = np.linspace(0, 1, n)
    pair = np.arange(n * n).reshape(n, n)
    g, t, rows = n * n + np.arange(n), n * n + n, np.arange(n * n)
    column = np.tile(g, n)
    ones = np.ones(n * n)
    above = coo_array(
        (
            np.concatenate([-ones, ones, ones, -e * ones, np.abs(y[:, None] - y).ravel(), -np.ones(n)]),
            (
                np.concatenate([rows, rows, n * n + rows, n * n + rows,
                                2 * n * n + np.repeat(np.arange(n), n), 2 * n * n + np.arange(n)]),
                np.concatenate([pair.ravel(), column, pair.ravel(), column, pair.ravel(), np.full(n, t)]),
            ),
        ),
        shape=(2 * n * n + n, n * n + n + 1),
    )  # fmt: skip
    equal = coo_array((ones, (np.repeat(np.arange(n), n), pair.ravel())), shape=(n, n * n + n + 1))
    cost = np.zeros(n * n + n + 1)
    cost[-1] = 1
    result = linprog(cost, above.tocsr(), np.zeros(above.shape[0]), equal.tocsr(), np.ones(n), method="highs")
    return float(result.fun)


def proved(problem: Problem, reports: int) -> Proof:
    return problem.proof(problem.solve(reports, gap=1e-6), gap=1e-6)


def grids() -> None:
    print("\n| absolute error | reports | plain program: bound | s | search: bound | s | times faster |")
    print("|---|---|---|---|---|---|---|")
    for epsilon, reports in ((1.0, 33), (1.0, 65), (1.0, 97), (4.0, 33), (4.0, 65), (4.0, 97)):
        plain, bound = cpu(plain_program, epsilon, reports)
        quick, proof = cpu(proved, Problem(epsilon, 1.0, False), reports)
        row = [
            f"ε = {epsilon:g}",
            str(reports),
            f"{bound:.6f}",
            f"{plain:.2f}",
            f"{proof.limit:.6f}",
        ]
        print("| " + " | ".join([*row, f"{quick:.2f}", f"{plain / quick:.0f}"]) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["selected", "everywhere", "tolerances", "grids", "tables"])
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop then; go on in the next run")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("SOTTOVOCE_CACHE")
        os.environ["SOTTOVOCE_CACHE"] = folder
        try:
            design("l2", 1.25)  # loads the solver
            run(arguments.only, time.monotonic() + arguments.seconds)
        finally:
            os.environ.pop("SOTTOVOCE_CACHE")
            if before is not None:
                os.environ["SOTTOVOCE_CACHE"] = before


def run(only: str | None, end: float) -> None:
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, part in {"selected": selected, "everywhere": everywhere}.items():
        if only in (None, name):
            rows = results.setdefault(name, [])
            for row in part(rows):
                rows.append(row)
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")
                if time.monotonic() > end:
                    return
    if only in (None, "tolerances"):
        tolerances()
    if only in (None, "grids"):
        grids()
    if only in (None, "tables"):
        write_tables(results)


if __name__ == "__main__":
    main()
