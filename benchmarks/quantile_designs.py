"""The least width of an honest interval of a quantile, for one family of windows: what one round can reach.

    python benchmarks/quantile_designs.py            # writes benchmarks/results/quantile_designs.json
    python benchmarks/quantile_designs.py --table    # only the table in docs/explanation/quantiles.md

A report lies on a circle of some circumference, E times as likely in a window of some width that begins at
the value. Circumference 1 + width is the square wave (nothing wraps around); if it is less, the window of
large values wraps around to the beginning. The bound is a program of its own here, on explicit tables and by
non-negative least squares, so that mechanisms that cannot be built are judged too: the ends are the outermost
t for which some truth with F(t) = p has reports that n of them cannot tell from those of the true one.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks._quantile_truths import truths
from benchmarks._tables import number, replace_table, table

TAKES = "2 min"
RESULTS = Path(__file__).parent / "results" / "quantile_designs.json"
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "quantiles.md"
CELLS, NODES, Z = 144, 160, 1.96


def law(x: np.ndarray, width: float, around: float, epsilon: float) -> np.ndarray:
    """Probabilities of equal cells of the circle of reports, a row for each value."""
    edges = around * np.arange(CELLS + 1) / CELLS
    covered = np.zeros((len(x), CELLS))
    for turn in (0.0, around):
        begin, end = x[:, None] - turn, x[:, None] + width - turn
        covered += np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin), 0.0, None)
    weight = around / CELLS + math.expm1(epsilon) * covered
    return np.asarray(weight / (around + math.expm1(epsilon) * width))


def distance(rows: np.ndarray, q: np.ndarray, below: np.ndarray, p: float) -> float:
    """The least root of Σ(fP − q)²/q over all f with so much mass below."""
    ends = 100 * np.stack((below, ~below)).astype(float)
    aim = np.append(np.sqrt(q), [100 * p, 100 * (1 - p)])
    f, _ = nnls(np.vstack((rows.T / np.sqrt(q)[:, None], ends)), aim)
    f = np.where(below, f * p / max(f[below].sum(), 1e-12), f * (1 - p) / max(f[~below].sum(), 1e-12))
    return float(np.sqrt(((f @ rows - q) ** 2 / q).sum()))


def bound(name: str, width: float, around: float, epsilon: float, n: int, p: float) -> float:
    truth, ends = truths()[name], []
    q = truth.shares @ law(truth.points, width, around, epsilon)
    for side in (-1, 1):
        inside, outside = truth.quantile(p), 0.0 if side < 0 else 1.0
        for _ in range(9):
            t = (inside + outside) / 2
            x = np.sort(np.concatenate((np.linspace(0, 1, NODES), [t - 1e-9, t + 1e-9])))
            hidden = math.sqrt(n) * distance(law(x, width, around, epsilon), q, x < t, p) <= Z
            inside, outside = (t, outside) if hidden else (inside, t)
        ends.append((inside + outside) / 2)
    return ends[1] - ends[0]


def designs(epsilon: float) -> Iterator[tuple[str, float, float]]:
    e = math.exp(epsilon)
    wave = 2 * (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    yield "square wave", wave, 1 + wave
    for factor in (0.8, 0.5, 0.41, 0.3):
        width = factor * math.exp(-epsilon / 2)
        yield f"straight, {factor:g}·exp(−ε/2) wide", width, 1 + width
        yield f"wrapped, {factor:g}·exp(−ε/2) wide", width, 1 + 0.15 * width
    yield "random threshold", 1.0, 2.0


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args(arguments)
    settings = [("hours", 1.0, 20_000, 0.9), ("hours", 1.0, 100_000, 0.5), ("hours", 2.0, 100_000, 0.9)]
    results: list[dict[str, Any]] = json.loads(RESULTS.read_text()) if options.table else []
    for name, epsilon, n, p in () if options.table else settings:
        for design, width, around in designs(epsilon):
            least = bound(name, width, around, epsilon, n, p)
            setting = {"truth": name, "epsilon": epsilon, "n": n, "p": p, "design": design, "bound": least}
            results.append(setting)
        RESULTS.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")
    columns = [f"{r['truth']}, ε = {r['epsilon']:g}, n = {r['n']:,}, p = {r['p']:g}" for r in results]
    heads = list(dict.fromkeys(columns))
    names = dict.fromkeys(r["design"] for r in results)
    cells = {(c, r["design"]): number(r["bound"]) for c, r in zip(columns, results, strict=True)}
    rows = [[design, *(cells[head, design] for head in heads)] for design in names]
    replace_table(PAGE, "designs", table(["window", *heads], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
