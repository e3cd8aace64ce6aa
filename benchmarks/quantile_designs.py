"""The least width of an honest interval of a quantile, for one family of windows: what one round can reach.

    python benchmarks/quantile_designs.py            # writes benchmarks/results/quantile_designs.json
    python benchmarks/quantile_designs.py --table    # only the table in docs/explanation/quantiles.md

A report lies on a circle of some circumference, E times as likely in a window of some width that begins at
the value. Circumference 1 + width is the square wave (nothing wraps around); if it is less, the window of
large values wraps around to the beginning. Three windows side by side are `sv.design("quantile", …)`.
The bound is a program of its own here, on explicit tables and by non-negative least squares, so that
mechanisms that cannot be built are judged too: the ends are the outermost t for which some truth with
F(t) = p has reports that n of them cannot tell from those of the true one.
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
from scipy.optimize import nnls

import sottovoce as sv
from benchmarks._quantile_truths import truths
from benchmarks._tables import number, replace_table, table
from sottovoce.estimates.answer.better_design import quantile_width
from sottovoce.estimates.limits.envelope import CrossFit
from sottovoce.estimates.limits.quantile_interval import Ends, Level, Sample, quantile_interval

TAKES = "6 min"
RESULTS = Path(__file__).parent / "results" / "quantile_designs.json"
REACHED = RESULTS.with_name("quantile_reached.json")
HELD = RESULTS.with_name("quantile_held.json")
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "quantiles.md"
CELLS, NODES, Z = 144, 160, 1.96


Windows = Sequence[tuple[float, float]]  # where each begins, from the value, and how wide it is


def law(x: np.ndarray, windows: Windows, around: float, epsilon: float) -> np.ndarray:
    """Probabilities of equal cells of the circle of reports, a row for each value."""
    edges = around * np.arange(CELLS + 1) / CELLS
    covered = np.zeros((len(x), CELLS))
    for (after, width), turn in product(windows, (0.0, around)):
        begin = x[:, None] + after - turn
        covered += np.clip(np.minimum(edges[1:], begin + width) - np.maximum(edges[:-1], begin), 0.0, None)
    weight = around / CELLS + math.expm1(epsilon) * covered
    return np.asarray(weight / (around + math.expm1(epsilon) * sum(width for _, width in windows)))


def distance(rows: np.ndarray, q: np.ndarray, below: np.ndarray, p: float) -> float:
    """The least root of Σ(fP − q)²/q over all f with so much mass below."""
    ends = 100 * np.stack((below, ~below)).astype(float)
    aim = np.append(np.sqrt(q), [100 * p, 100 * (1 - p)])
    f, _ = nnls(np.vstack((rows.T / np.sqrt(q)[:, None], ends)), aim)
    f = np.where(below, f * p / max(f[below].sum(), 1e-12), f * (1 - p) / max(f[~below].sum(), 1e-12))
    return float(np.sqrt(((f @ rows - q) ** 2 / q).sum()))


def bound(name: str, windows: Windows, around: float, epsilon: float, n: int, p: float) -> float:
    truth, ends = truths()[name], []
    q = truth.shares @ law(truth.points, windows, around, epsilon)
    for side in (-1, 1):
        inside, outside = truth.quantile(p), 0.0 if side < 0 else 1.0
        for _ in range(9):
            t = (inside + outside) / 2
            x = np.sort(np.concatenate((np.linspace(0, 1, NODES), [t - 1e-9, t + 1e-9])))
            hidden = math.sqrt(n) * distance(law(x, windows, around, epsilon), q, x < t, p) <= Z
            inside, outside = (t, outside) if hidden else (inside, t)
        ends.append((inside + outside) / 2)
    return ends[1] - ends[0]


def designs(epsilon: float) -> Iterator[tuple[str, Windows, float]]:
    e = math.exp(epsilon)
    wave = 2 * (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    yield "square wave", [(0, wave)], 1 + wave
    for factor in (0.8, 0.5, 0.41, 0.3):
        width = factor * math.exp(-epsilon / 2)
        yield f"straight, {factor:g}·exp(−ε/2) wide", [(0, width)], 1 + width
        yield f"wrapped, {factor:g}·exp(−ε/2) wide", [(0, width)], 1 + 0.15 * width
    yield "random threshold", [(0, 1.0)], 2.0
    s = 0.42 * math.exp(-0.55 * epsilon)
    yield "three windows", [(0, 0.08 * s), (0.72 * s, 0.17 * s), (1.35 * s, 0.75 * s)], 1.3


def reached(end: float, runs: int = 50) -> None:
    """Widths of intervals for the README's example, in hours, beside the bound and a pilot that knows."""
    truth, n, p, results = truths()["hours"], 20_000, 0.9, _json(REACHED)
    known, true = truth.density.reshape(256, -1).sum(axis=1), truth.quantile(p)
    three = sv.design("quantile", 1.0, (0, 1), p=0.9)
    for name, m in (("square wave", sv.sw(1.0)), ("three windows", three)):
        row = next((r for r in results if r["design"] == name), None)
        if row is None:
            least = 24 * float(quantile_width(m, n, truth.density, p).bound)
            row = {"design": name, "bound": least, "one": [], "oracle": [], "unimodal": []}
            results.append(row)
        for run in range(len(row["one"]), runs):
            if time.monotonic() > end:
                return
            t = truth.tally(m, n, np.random.default_rng([50, run]))
            fit = CrossFit(t)
            sample = Sample(m, n, [known] * 2, [counts for counts, _ in fit.halves], fit.statistic)
            ends: dict[str, sv.Estimate | Ends] = {
                "one": sv.quantile(t, p),
                "oracle": quantile_interval(sample, Level(p, 0.025)),
                "unimodal": sv.quantile(t, p, shape="unimodal"),
            }
            for way, e in ends.items():
                row[way].append((round(24 * float(e.high - e.low), 4), bool(e.low <= true <= e.high)))
            _write(REACHED, results)


def held(end: float, n: int = 20_000) -> None:
    """How often intervals of either mechanism hold every p-quantile, and their median widths."""
    results = _json(HELD)
    for truth, epsilon, p in product(truths().values(), (1.0, 2.0), (0.1, 0.5, 0.9)):
        setting = {"truth": truth.name, "epsilon": epsilon, "p": p}
        if time.monotonic() > end or any(setting.items() <= row.items() for row in results):
            continue
        first, last = truth.quantile(p), truth.quantile(p, largest=True)
        runs = 20 if first == last else 400  # where F stays at p an interval is harder to get right
        row: dict[str, Any] = {**setting, "runs": runs}
        three = sv.design("quantile", epsilon, (0, 1), p=p)
        for name, m in (("three", three), ("wave", sv.sw(epsilon))):
            tallies = [truth.tally(m, n, np.random.default_rng([51, run])) for run in range(runs)]
            answers = [sv.quantile(t, p) for t in tallies]
            row[name] = float(np.median([a.high - a.low for a in answers]))
            row[f"{name} held"] = sum(bool(a.low <= first and last <= a.high) for a in answers)
        results.append(row)
        _write(HELD, results)


def _json(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text())) if path.exists() else []


def _write(path: Path, results: list[dict[str, Any]]) -> None:
    path.write_text("[\n" + ",\n".join(json.dumps(r) for r in results) + "\n]\n")


def _median(runs: Sequence[tuple[float, bool]]) -> str:
    widths, held = [width for width, _ in runs], sum(held for _, held in runs)
    return f"{np.median(widths):.2f} ({held}/{len(runs)})" if runs else ""


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--minutes", type=float, default=30.0, help="It goes on where it was.")
    options = parser.parse_args(arguments)
    settings = [("hours", 1.0, 20_000, 0.9), ("hours", 1.0, 100_000, 0.5), ("hours", 2.0, 100_000, 0.9)]
    results, end = _json(RESULTS), time.monotonic() + 60 * options.minutes
    for name, epsilon, n, p in () if options.table else settings:
        for design, windows, around in designs(epsilon):
            setting = {"truth": name, "epsilon": epsilon, "n": n, "p": p, "design": design}
            if time.monotonic() > end or any(setting.items() <= r.items() for r in results):
                continue
            results.append({**setting, "bound": bound(name, windows, around, epsilon, n, p)})
            _write(RESULTS, results)
    columns = [f"{r['truth']}, ε = {r['epsilon']:g}, n = {r['n']:,}, p = {r['p']:g}" for r in results]
    heads = list(dict.fromkeys(columns))
    names = dict.fromkeys(r["design"] for r in results)
    cells = {(c, r["design"]): number(r["bound"]) for c, r in zip(columns, results, strict=True)}
    rows = [[design, *(cells[head, design] for head in heads)] for design in names]
    replace_table(PAGE, "designs", table(["window", *heads], rows))
    if not options.table:
        reached(end)
        held(end)
    ways = {"oracle": "pilot that knows", "one": "one round", "unimodal": "unimodal"}
    lines = [[r["design"], f"{r['bound']:.2f}", *(_median(r[way]) for way in ways)] for r in _json(REACHED)]
    replace_table(
        PAGE, "reached", table(["design", "bound", *(f"{way} (held)" for way in ways.values())], lines)
    )
    levels = [0.1, 0.5, 0.9]
    found = {(r["truth"], r["epsilon"], r["p"]): r for r in _json(HELD)}
    kinds = dict.fromkeys((name, epsilon) for name, epsilon, _ in found)
    shown = [
        [name, f"{epsilon:g}", *(_beside(found.get((name, epsilon, p))) for p in levels)]
        for name, epsilon in kinds
    ]
    replace_table(PAGE, "held", table(["truth", "ε", *(f"p = {p:g}" for p in levels)], shown))


def _beside(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return f"{row['three'] / row['wave']:.2f} ({row['three held']}, {row['wave held']} of {row['runs']})"


if __name__ == "__main__":
    main(sys.argv[1:])
