"""Hourglass paper: figures 3 (a–c), 4 and 5 (a–d), simulated with the exact noise of `sottovoce.central`.

n²·MSE of the released mean, normalised by ε²/2 as in the paper. The data set enters through its sum and its
size alone, so only those are built.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.findings import Run
from papers.plots import BLACK, BLUE, GREEN, ORANGE, RED, curves, dress
from papers.registry import entry
from papers.sheet import Sheet, span
from papers.trials import simulate
from sottovoce.central.noise.hourglass import sigma2

#: Our names and the paper's, with colour and dash.
LINES = {
    "independent": ("Algorithm 1", RED, (0, (1, 1.2))),
    "shifted": ("Algorithm 2", ORANGE, (0, (5, 2))),
    "transformed": ("Algorithm 3 + Laplace", BLUE, (0, (6, 2, 1, 2))),
    "staircase2d": ("2-d staircase", GREEN, (0, (5, 2))),
    "hourglass": ("hourglass", BLACK, "solid"),
    "swap": ("staircase in the swap model", GREEN, "solid"),
}
LAPLACE = ("independent", "shifted", "transformed")
PEOPLE = 10_000
MEANS = np.array([1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999, 0.9999, 0.99999])
STEPS = 1 << 16


def scaled_mse(mechanism: str, epsilon: float, mu: float, people: int, run: Run) -> float:
    """n²·E(estimate − mean)² for data of mean mu on [0, 1]."""
    rng = run.rng("hourglass", mechanism, epsilon, mu, people)
    return simulate(mechanism, epsilon, people, mu, runs=run.few(20_000, 100_000), steps=STEPS, rng=rng).error


def _sweep(names: tuple[str, ...], points: list[tuple[float, float, int]], run: Run) -> dict[str, np.ndarray]:
    """Normalised errors of several mechanisms at (ε, μ, n)."""
    return {
        name: np.array([scaled_mse(name, e, mu, n, run) * e * e / 2 for e, mu, n in points]) for name in names
    }


def _bound(epsilons: np.ndarray) -> np.ndarray:
    """σ²(ε), normalised like the errors."""
    return np.array([sigma2(float(e)) * e * e / 2 for e in epsilons])


def _plot(axes: Any, x: np.ndarray, found: dict[str, np.ndarray]) -> None:
    for name, values in found.items():
        label, colour, dash = LINES[name]
        style = {"color": colour, "linestyle": dash, "marker": "o", "markersize": 2.5, "linewidth": 1.3}
        axes.plot(x, values, label=label, **style)


@entry("hourglass", "figure-3", "Error against ε and μ: (a, b) Laplace, (c) staircase and hourglass")
def figure_3(run: Run, sheet: Sheet) -> None:
    axes = sheet.figure(3)
    small = np.geomspace(0.1, 2, run.few(5, 9))
    a = _sweep(LAPLACE, [(float(e), 0.01, PEOPLE) for e in small], run)
    _plot(axes[0], small, a)
    axes[0].plot(small, _bound(small), color=GREEN, label="bound σ²(ε)")
    axes[0].set_xscale("log")
    axes[0].set_ylim(0, 6.5)  # room for the legend above the lines
    dress(axes[0], "(a) μ = 0.01, n = 10⁴", "ε", "n²·MSE·ε²/2", legend="upper right")
    means = MEANS[:: run.few(2, 1)]
    b = _sweep(LAPLACE, [(1.0, float(m), PEOPLE) for m in means], run)
    _plot(axes[1], _logit(means), b)
    _mean_axis(axes[1], means)
    dress(axes[1], "(b) ε = 1, n = 10⁴", "μ", "n²·MSE·ε²/2")
    large = np.linspace(1, run.few(7, 10), run.few(4, 10))
    c = _sweep(("staircase2d", "hourglass"), [(float(e), 0.01, PEOPLE) for e in large], run)
    _plot(axes[2], large, c)
    axes[2].plot(large, _bound(large), color=RED, linestyle=(0, (1, 1)), label="bound")
    axes[2].set_yscale("log")
    dress(axes[2], "(c) μ = 0.01, n = 10⁴", "ε", "n²·MSE·ε²/2")
    four = {name: scaled_mse(name, 4.0, 0.01, PEOPLE, run) for name in LINES if name != "swap"}
    ratio = a["shifted"] / a["transformed"]
    off = float(np.abs(a["transformed"] / _bound(small) - 1)[small < 1].max())
    gap = c["hourglass"] / _bound(large)
    staircase = c["staircase2d"] / c["hourglass"]
    centre, near_end = (scaled_mse("transformed", 1.0, mu, PEOPLE, run) for mu in (0.5, 0.01))
    middle = centre / near_end
    edge = b["transformed"][0] / b["transformed"][len(means) // 4]
    sheet.number(
        "(a) Algorithm 3 over Algorithm 2: 'roughly a factor of two'", 2.0, ratio.mean(), within=0.15
    )
    sheet.statement(
        "(a) Algorithm 3 closely matches σ²(ε) for ε < 1",
        off < 0.08,
        "within {off:.1f} %",
        {"off": 100 * off},
    )
    sheet.statement(
        "(b) the error is largest for μ near 0 and 1, half as large in the middle",
        0.4 < middle < 0.65,
        "middle/near the end = {middle:.2f}",
        {"middle": middle},
    )
    sheet.statement(
        "(b) it drops again very close to 0 and 1, by clipping",
        edge < 0.8,
        "at μ = 10⁻⁵: {edge:.2f} of it",
        {"edge": edge},
    )
    sheet.statement(
        "(c) hourglass matches σ²(ε) for every ε",
        (gap < run.few(108, 103) / 100).all(),
        "{least:.3f} to {most:.3f} of σ²",
        span(gap),
    )
    sheet.statement(
        "(c) hourglass outperforms the 2-d staircase more and more",
        staircase[-1] > staircase[0] > 1,
        "{first:.2f} times at ε = 1, {last:.1f} at ε = {at:g}",
        {"first": staircase[0], "last": staircase[-1], "at": large[-1]},
    )
    sheet.addition(
        "n²·MSE at ε = 4, μ = 0.01",
        ", ".join(f"{LINES[name][0]} {{{name}:.4f}}" for name in four),
        {"bound": sigma2(4.0), **four},
        note="σ²(4) = {bound:.4f}; noise on the count is an integer here, so Algorithm 2 has less than "
        "with the real-valued Laplace of the paper (0.245)",
    )
    sheet.addition("the means and the ε of panels (a) and (b)", "chosen by us", note="the text gives neither")
    sheet.tables |= {"a": curves(small, a), "b": curves(means, b), "c": curves(large, c)}


def _logit(mu: np.ndarray) -> np.ndarray:
    return np.asarray(np.log10(mu / (1 - mu)))


def _mean_axis(axes: Any, means: np.ndarray) -> None:
    shown = [m for m in (1e-5, 1e-3, 0.1, 0.5, 0.9, 0.999, 0.99999) if means.min() <= m <= means.max()]
    axes.set_xticks(_logit(np.array(shown)))
    axes.set_xticklabels([f"{m:g}" for m in shown], fontsize=7)


@entry("hourglass", "figure-4", "2-d staircase and hourglass against μ, low privacy")
def figure_4(run: Run, sheet: Sheet) -> None:
    means = MEANS[:: run.few(2, 1)]
    errors = _sweep(("staircase2d", "hourglass"), [(4.0, float(m), PEOPLE) for m in means], run)
    (panel,) = sheet.figure(1, size=(4.8, 3.2))
    _plot(panel, _logit(means), errors)
    _mean_axis(panel, means)
    panel.set_ylim(bottom=0)
    dress(panel, "ε = 4, n = 10⁴", "μ", "n²·MSE·ε²/2")
    half = len(means) // 2
    dip, end = (max(float(z[at] / z[:half].max()) for z in errors.values()) for at in (half, 0))
    ratio = errors["staircase2d"] / errors["hourglass"]
    sheet.statement(
        "both errors have the shape of an M over μ",
        max(dip, end) < 1,
        "of the peak at most {dip:.2f} in the middle, {end:.2f} at μ = 10⁻⁵",
        {"dip": dip, "end": end},
    )
    sheet.statement(
        "hourglass is lower at every μ", ratio.min() > 1, "ratio at least {least:.2f}", {"least": ratio.min()}
    )
    sheet.tables[""] = curves(means, errors)


@entry("hourglass", "figure-5", "Small data sets: n = 1, 2, …, 64")
def figure_5(run: Run, sheet: Sheet) -> None:
    sizes = [2**i for i in range(7)]
    high = _sweep((*LAPLACE, "swap"), [(1.0, 0.01, n) for n in sizes], run)
    low = _sweep(("staircase2d", "hourglass"), [(4.0, 0.01, n) for n in sizes], run)
    axes = sheet.figure(4, rows=2)
    x = np.array(sizes, dtype=float)
    # The paper plots the MSE itself: divide the n² out again.
    _plot(axes[0], x, {name: values / x**2 for name, values in high.items()})
    axes[0].set_yscale("log")
    dress(axes[0], "(a) ε = 1, μ = 0.01", "n", "MSE·ε²/2")
    for name in ("independent", "shifted"):
        label, colour, dash = LINES[name]
        label, over = f"{label} / Algorithm 3", high[name] / high["transformed"]
        axes[1].plot(x, over, color=colour, linestyle=dash, label=label)
    dress(axes[1], "(b) ratio of MSEs, ε = 1", "n", "ratio")
    ratio = low["staircase2d"] / low["hourglass"]
    axes[2].plot(x, ratio, color=GREEN, marker="o", markersize=3)
    dress(axes[2], "(c) 2-d staircase / hourglass, ε = 4", "n", "ratio", legend=False)
    _plot(axes[3], x, {name: values / x**2 for name, values in low.items()})
    axes[3].set_yscale("log")
    dress(axes[3], "(d) ε = 4, μ = 0.01", "n", "MSE·ε²/2")
    for panel in axes:
        panel.set_xscale("log", base=2)
    later = (high["shifted"] / high["transformed"])[4:]
    near = {name: float(high[name][-1] / high["swap"][-1]) for name in LAPLACE}
    sheet.number(
        "(a) Algorithm 3 against Algorithm 2 for n ≥ 16: 'about two times better'",
        2.0,
        later.mean(),
        within=0.4,
    )
    sheet.statement(
        "(a) only Algorithm 3 converges to the bound",
        near["transformed"] < 1.15 < near["shifted"],
        "at n = 64: {transformed:.2f} of it, Algorithm 2 {shifted:.2f}",
        near,
        note="the bound is simulated with the same clipping; σ²/n² itself is not yet reached at n = 64",
    )
    sheet.statement(
        "(c) the ratio is always above one", (ratio > 1).all(), "{least:.2f} to {most:.2f}", span(ratio)
    )
    sheet.tables["epsilon-1"] = curves(x, high)
    sheet.tables["epsilon-4"] = curves(x, low)
