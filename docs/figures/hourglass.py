"""The figures of docs/explanation/hourglass.md: plots like Figures 1 to 5 of the paper.

python -m tools.figures hourglass
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from papers.hourglass_formulas import staircase_level
from papers.trials import simulate

from sottovoce.central.noise.hourglass import sigma2

COLOURS = {
    "independent": "#D55E00",
    "shifted": "#E69F00",
    "transformed": "#56B4E9",
    "staircase2d": "#CC79A7",
    "hourglass": "#0072B2",
}
RUNS = 100_000
_RED, _ORANGE, _BLUE, _INK = "#D55E00", "#E69F00", "#0072B2", "#222222"


def draw() -> dict[str, Any]:
    return {
        "hourglass-sensitivity.svg": sensitivity_space(),
        "hourglass-space.svg": space(),
        "hourglass-errors.svg": errors(),
    }


def space() -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 4.8), layout="constrained")
    neighbouring_steps(axes[0])
    hourglass_segments(ax=axes[1])
    return figure


def errors() -> Any:
    figure, axes = plt.subplots(2, 3, figsize=(10.5, 7.4), layout="constrained")
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
        axis.spines[["top", "right"]].set_visible(False)
    named = {
        name: line
        for axis in axes[:, 0]
        for line, name in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(named.values(), named, loc="outside lower center", ncols=6, frameon=False)
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


def sensitivity_space() -> Any:
    """Figure 1: what one person can change, and the balls that the Laplace mechanisms protect.

    From left to right: the sums of x and of 1 − x (Algorithm 3), sum and count, the shifted sum and half
    the count (Algorithm 2), for values in [0, 1]. Returns a matplotlib figure.
    """
    figure, axes = _new(3)
    titles = ("Algorithm 3's frame", "all three", "Algorithm 2's frame")
    labels = (("sum of x", "sum of 1 − x"), ("sum of x", "count"), ("sum of x − ½", "half the count"))
    frames = (np.array([[1, 0], [-1, 1]]), np.eye(2), np.array([[1, -0.5], [0, 0.5]]))
    one_person = np.array([[0, 1], [1, 1]])  # (sum, count) of one person at 0 and at 1
    diamond = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
    balls = {
        "Algorithm 1": (_RED, diamond * 2),
        "Algorithm 2": (_ORANGE, diamond @ np.linalg.inv(frames[2]).T),
        "Algorithm 3": (_BLUE, diamond @ np.linalg.inv(frames[0]).T),
    }
    shown = (("Algorithm 3",), tuple(balls), ("Algorithm 2",))
    for axis, title, label, frame, names in zip(axes, titles, labels, frames, shown, strict=True):
        for name in names:
            colour, ball = balls[name]
            x, y = (ball @ frame.T).T
            axis.fill(x, y, facecolor=colour, alpha=0.12)
            axis.plot(x, y, color=colour, label=name)
        for sign in (1, -1):
            x, y = (sign * one_person @ frame.T).T
            axis.plot(x, y, color=_INK, linewidth=3.5, solid_capstyle="round")
        _frame(axis, title, 2.2 if len(names) > 1 else 1.3)
        axis.set(xlabel=label[0], ylabel=label[1])
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def neighbouring_steps(ax: Any = None) -> Any:
    """Figure 2a: one person moves the two sums only onto the two solid segments; the rest takes two steps."""
    axis = _new(1)[1][0] if ax is None else ax
    for sign in (1, -1):
        axis.plot([0, sign], [sign, 0], color=_INK, linewidth=3.5, solid_capstyle="round")
        for end in np.linspace(0, 1, 5):
            _arrow(axis, (0, 0), (sign * end, sign * (1 - end)), _BLUE, "solid")
    for stop, end in (((0.75, 0.25), (0.5, -0.5)), ((0.25, 0.75), (-0.5, 0.5))):
        _arrow(axis, (0, 0), stop, _RED, "dashed")
        _arrow(axis, stop, end, _RED, "dashed")
    axis.plot([1, 0, -1, 0, 1], [0, 1, 0, -1, 0], color="0.7", linewidth=0.8)
    _frame(axis, "one neighbouring step, and two", 1.3)
    axis.set(xlabel="change of the sum of x", ylabel="change of the sum of 1 − x")
    return axis


def hourglass_segments(gamma: float = 0.4, reach: int = 4, ax: Any = None) -> Any:
    """Figure 2b: the hourglass lives on diagonals; a segment marked j has density ∝ e^(−jε)."""
    axis = _new(1)[1][0] if ax is None else ax
    colours = plt.colormaps["viridis"]
    steps = [sign * (i + gamma) for sign in (-1, 1) for i in range(reach)]
    edges = np.unique([-reach, reach, *(edge for edge in steps if abs(edge) < reach)])
    for k in range(-2 * reach, 2 * reach + 1):
        for left, right in pairwise(edges):
            level = float(staircase_level((left + right) / 2, gamma))
            exponent = int(abs(level) + abs(k - level))
            x = np.array([max(left, k - reach), min(right, k + reach)])
            if x[0] < x[1]:
                _segment(axis, x, k - x, colours(1 - min(exponent, 9) / 10), str(exponent))
    _frame(axis, f"hourglass, γ = {gamma:g}: density ∝ e^(−jε)", reach * 1.05)
    axis.set(xlabel="noise of the sum of x", ylabel="noise of the sum of 1 − x")
    return axis


def _segment(axis: Any, x: Any, y: Any, colour: Any, mark: str) -> None:
    axis.plot(x, y, color=colour, linewidth=3, solid_capstyle="butt")
    if x[1] - x[0] > 0.35:
        box = {"boxstyle": "circle,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        axis.text(x.mean(), y.mean(), mark, ha="center", va="center", fontsize=6.5, bbox=box)


def _new(panels: int) -> Any:
    figure, axes = plt.subplots(1, panels, figsize=(3.5 * panels, 3.9), layout="constrained", squeeze=False)
    return figure, axes[0]


def _frame(axis: Any, title: str, reach: float) -> None:
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axis.set_title(title, fontsize="medium")
    axis.axhline(0, color="0.85", linewidth=0.8, zorder=0)
    axis.axvline(0, color="0.85", linewidth=0.8, zorder=0)
    axis.spines[["top", "right"]].set_visible(False)


def _arrow(axis: Any, start: tuple[float, float], end: tuple[float, float], colour: str, style: str) -> None:
    properties = {"arrowstyle": "->", "color": colour, "linestyle": style, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", end, start, arrowprops=properties)
