"""The figures of docs/explanation/hourglass.md: plots like Figures 1 to 5 of the paper.

python -m tools.figures hourglass
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from sottovoce.central import pictures
from sottovoce.central.analysis import sigma2
from sottovoce.central.simulate import simulate

COLOURS = {
    "independent": "#b3372f",
    "shifted": "#d98a1f",
    "transformed": "#6fa8dc",
    "staircase2d": "#7a5aa6",
    "hourglass": "#1f4e79",
}
RUNS = 100_000


def draw() -> dict[str, Any]:
    return {
        "hourglass-sensitivity.svg": pictures.sensitivity_space(),
        "hourglass-space.svg": space(),
        "hourglass-errors.svg": errors(),
    }


def space() -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 5.2), layout="constrained")
    pictures.neighbouring_steps(axes[0])
    pictures.hourglass_segments(ax=axes[1])
    return figure


def errors() -> Any:
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.6), layout="constrained")
    for axis, (title, label, x, rows, bound) in zip(axes.T.flat, _curves(), strict=True):
        for name, y in rows.items():
            axis.plot(x, y, marker=".", label=name, color=COLOURS[name])
        axis.plot(x, bound, color="black", linestyle="--", linewidth=1, label="bound σ²")
        axis.set(xlabel=label, ylabel="n²·MSE × ε²/2")
        axis.set_title(title, fontsize="medium")
        axis.set_ylim(0, 1.25 * max(map(max, rows.values())))
        if label == "people":
            axis.set_xscale("log", base=2)
            axis.set_xticks(x, x)
            axis.minorticks_off()
        axis.legend(frameon=False, fontsize="small", ncols=2)
        axis.spines[["top", "right"]].set_visible(False)
    return figure


def _curves() -> Iterator[tuple[str, str, Any, dict[str, Any], Any]]:
    laplace, rivals = ("independent", "shifted", "transformed"), ("staircase2d", "hourglass")

    def error(name: str, epsilon: float, people: int, mean: float) -> float:
        return simulate(name, epsilon, people, mean, runs=RUNS, rng=3).error * epsilon**2 / 2

    def bounds(epsilons: Any) -> Any:
        return np.array([sigma2(e) * e * e / 2 for e in epsilons])

    low, high = np.linspace(0.1, 1, 7), np.linspace(1, 8, 8)
    means, sizes = np.array([0, 0.0003, 0.003, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1]), 2 ** np.arange(7)
    for epsilons, names, title in ((low, (*laplace, "hourglass"), "small ε"), (high, rivals, "large ε")):
        rows = {name: [error(name, e, 10_000, 0.01) for e in epsilons] for name in names}
        yield f"n = 10,000, mean 0.01, {title}", "ε", epsilons, rows, bounds(epsilons)
    for epsilon, names in ((1.0, (*laplace, "hourglass")), (4.0, rivals)):
        rows = {name: [error(name, epsilon, 10_000, m) for m in means] for name in names}
        yield f"n = 10,000, ε = {epsilon:g}", "mean", means, rows, bounds([epsilon] * len(means))
    for epsilon, names in ((1.0, (*laplace, "hourglass")), (4.0, rivals)):
        rows = {name: [error(name, epsilon, int(n), 0.01) for n in sizes] for name in names}
        yield f"mean 0.01, ε = {epsilon:g}", "people", sizes, rows, bounds([epsilon] * len(sizes))
