"""Optimal designs: limits, ratios and time against ε, tolerance and grid, beside the plain linear program.

CPU time of one process. The plain program has a variable for every pair of input and report; the search has
one for every pair of mirrored reports. Both are asked for the same bound on the same grid. The first table is
the one in docs/explanation/optimal.md.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

import sottovoce as sv
from sottovoce.designs.problem import Problem

TAKES = "1 min"

EPSILONS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
MEASURES = ("l1", "l2", "mean")


def design(measure: str, epsilon: float, tolerance: float | None = None) -> sv.Mechanism:
    if measure == "mean":
        return sv.optimal(epsilon, tolerance=tolerance)
    return sv.optimal(epsilon, goal="value", loss=measure, tolerance=tolerance)


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


def table() -> None:
    heads = ("measure", "ε", "limit", "shipped", "ratio", "best classic", "× optimal", "reports", "KB")
    heads += ("cold s", "cached ms")
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for measure in MEASURES:
        for epsilon in EPSILONS:
            cold, m = cpu(design, measure, epsilon)
            warm, _ = cpu(design, measure, epsilon, times=5)
            name, classic = best_classic(measure, epsilon)
            c = m.certificate
            row = [measure, f"{epsilon:g}", f"{c.limit:.5g}", f"{c.worst:.5g}", f"{c.ratio:.5f}"]
            row += [f"{name} {classic:.4g}", f"{classic / c.worst:.2f}", str(m.cells)]
            row += [f"{len(m.to_json()) / 1024:.1f}", f"{cold:.2f}", f"{warm * 1e3:.1f}"]
            print("| " + " | ".join(row) + " |", flush=True)


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


def grids() -> None:
    print("\n| absolute error | reports | plain program: bound | s | search: bound | s | times faster |")
    print("|---|---|---|---|---|---|---|")
    for epsilon, reports in ((1.0, 33), (1.0, 65), (1.0, 97), (4.0, 33), (4.0, 65), (4.0, 97)):
        plain, bound = cpu(plain_program, epsilon, reports)
        quick, solution = cpu(lambda e, n: Problem(e, 1.0, False).solve(n, gap=1e-6), epsilon, reports)
        row = [f"ε = {epsilon:g}", str(reports), f"{bound:.6f}", f"{plain:.2f}", f"{solution.limit:.6f}"]
        print("| " + " | ".join([*row, f"{quick:.2f}", f"{plain / quick:.0f}"]) + " |", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("SOTTOVOCE_CACHE")
        os.environ["SOTTOVOCE_CACHE"] = folder
        try:
            design("l2", 1.25)  # loads the solver
            table()
            tolerances()
            grids()
        finally:
            os.environ.pop("SOTTOVOCE_CACHE")
            if before is not None:
                os.environ["SOTTOVOCE_CACHE"] = before


if __name__ == "__main__":
    main()
