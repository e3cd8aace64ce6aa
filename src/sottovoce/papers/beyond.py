"""The papers' plots with what they lack: the certified optimum and the limit for every ε-LDP mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from sottovoce.core.mechanism import Mechanism
from sottovoce.designs import classic
from sottovoce.designs.optimal import optimal
from sottovoce.estimates.tally import Tally
from sottovoce.laws import hybrid, laplace
from sottovoce.papers.data import motionsense
from sottovoce.papers.families import CELLS, laplace_like, ogpm, pm_c, sw_c
from sottovoce.papers.plots import curves, dress, figure, line
from sottovoce.papers.registry import Finding, Result, Run, addition, entry, statement
from sottovoce.papers.simulate import BINS, campaigns

X = np.linspace(0, 1, 401)
Makers = dict[str, Callable[[float], Mechanism]]


@lru_cache(maxsize=64)
def best(epsilon: float, loss: str = "l1", unbiased: bool = False) -> Mechanism:
    return optimal(epsilon, (0, 1), "mean" if unbiased else "value", loss=loss)


def _grid(run: Run) -> np.ndarray:
    return np.array([0.5, 1.0, 2.0, 4.0]) if run.quick else np.array([0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8])


@entry("beyond", "figure-8", "Whole-domain error with the optimum and the limit")
def figure_8(run: Run) -> Result:
    drawn, axes = figure(4, rows=2)
    rows, tables = [], {}
    for column, epsilon in enumerate((2.0, 4.0)):
        for row, loss in enumerate(("l1", "l2")):
            panel, made = axes[2 * row + column], best(epsilon, loss)
            found = {
                "OGPM": ogpm(epsilon, loss).error(X, loss),
                "PM-C": pm_c(epsilon).error(X, loss),
                "SW-C": sw_c(epsilon).error(X, loss),
                "optimum": made.error(X, loss),
            }
            if loss == "l1":
                found |= {name: law.error(X, loss) for name, law in laplace_like(epsilon).items()}
            for name, values in found.items():
                line(panel, X, values, name)
            line(panel, X, np.full_like(X, made.certificate.limit), "limit of the worst case")
            panel.set_ylim(0, 1.5 * max(float(values.max()) for values in found.values()))
            dress(panel, f"ε = {epsilon:g}, {loss.upper()}", "x", "error", legend="upper center", columns=2)
            tables[f"{loss}-epsilon-{epsilon:g}"] = curves(X, found)
            rows.append(
                addition(
                    f"ε = {epsilon:g}, {loss.upper()}: worst case of OGPM over that of the optimum",
                    f"{found['OGPM'].max() / made.certificate.worst:.3f}",
                    note=f"limit {made.certificate.limit:.5f}, optimum/limit {made.certificate.ratio:.4f}",
                )
            )
    return Result(rows, tables, {"": drawn})


@entry("beyond", "figure-9", "Worst-case error against ε with the optimum and the limit")
def figure_9(run: Run) -> Result:
    epsilons = _grid(run)
    drawn, axes = figure(2)
    rows, tables = [], {}
    for panel, loss in zip(axes, ("l1", "l2"), strict=True):
        found = {
            "OGPM": [float(ogpm(float(e), loss).error(0.0, loss)) for e in epsilons],
            "SW-C": [float(sw_c(float(e)).error(0.0, loss)) for e in epsilons],
            "Laplace": [laplace(float(e)).worst_error(loss) for e in epsilons],
            "optimum": [best(float(e), loss).certificate.worst for e in epsilons],
            "limit": [best(float(e), loss).certificate.limit for e in epsilons],
        }
        if loss == "l1":
            found["T-Laplace"] = [laplace_like(float(e))["T-Laplace"].worst_error("l1") for e in epsilons]
        for name, values in found.items():
            line(panel, epsilons, values, name)
        panel.set_yscale("log")
        panel.set_ylim(top=1.0)
        dress(panel, loss.upper(), "ε", "worst-case error")
        tables[loss] = curves(epsilons, found)
        for e in (1.0, 4.0):
            i = int(np.flatnonzero(epsilons == e)[0])
            rows.append(
                addition(
                    f"{loss.upper()}, ε = {e:g}: OGPM, optimum, limit",
                    f"{found['OGPM'][i]:.5f}, {found['optimum'][i]:.5f}, {found['limit'][i]:.5f}",
                    note="OGPM fixes a uniform background; letting it vary helps" if e == 4 else "",
                )
            )
    return Result(rows, tables, {"": drawn})


@entry("beyond", "variance", "Worst-case variance of the unbiased mechanisms, input [0, 1]")
def variance(run: Run) -> Result:
    epsilons = _grid(run)
    found = {
        "OGPM-U": [classic.ogpm_unbiased(float(e)).worst_variance() for e in epsilons],
        "Laplace": [laplace(float(e)).worst_variance() for e in epsilons],
        "PM": [classic.pm(float(e), (0, 1)).worst_variance() for e in epsilons],
        "I-PTT, best": [classic.ptt(float(e), (0, 1)).worst_variance() for e in epsilons],
        "Duchi": [classic.duchi(float(e), (0, 1)).worst_variance() for e in epsilons],
        "Hybrid": [hybrid(float(e), (0, 1)).worst_variance() for e in epsilons],
        "optimum": [best(float(e), "l2", True).certificate.worst for e in epsilons],
        "limit": [_useful(best(float(e), "l2", True).certificate.limit) for e in epsilons],
    }
    drawn, (panel,) = figure(1, size=(5.2, 3.6))
    for name, values in found.items():
        line(panel, epsilons, np.array(values) / found["optimum"], name)
    panel.set_yscale("log")
    dress(panel, "worst-case variance over that of the optimum", "ε", "ratio", columns=2)
    rows = []
    for e in (0.5, 1.0, 2.0, 4.0):
        i = int(np.flatnonzero(epsilons == e)[0])
        shown = ", ".join(f"{name} {column[i]:.4g}" for name, column in found.items())
        rows.append(addition(f"ε = {e:g}", shown))
    open_at = epsilons[np.isnan(found["limit"])]
    if open_at.size:
        rows.append(addition("ε without a useful limit", ", ".join(f"{e:g}" for e in open_at)))
    return Result(rows, {"": curves(epsilons, found)}, {"": drawn})


def _useful(limit: float) -> float:
    """A bound below zero says nothing about a variance."""
    return limit if limit > 0 else math.nan


@entry("beyond", "figure-16", "Distributions: reading raw reports against inverting the mechanism")
def figure_16(run: Run) -> Result:
    from sottovoce.estimates.distribution import distribution

    sample = motionsense(run.motionsense, run.seed)
    values, epsilons = sample.linear, (1.0, 2.0, 4.0)
    truth = np.bincount(np.clip((values * BINS).astype(int), 0, BINS - 1), minlength=BINS) / len(values)
    makers: Makers = {
        "OGPM": lambda e: ogpm(e),
        "PM": lambda e: classic.pm(e, (0, 1), cells=CELLS),
        "SW": lambda e: classic.sw(e, (0, 1), cells=CELLS),
    }
    repetitions = run.few(2, 10)
    raw: dict[str, list[float]] = {}
    inverted: dict[str, list[float]] = {}
    for name, make in makers.items():
        raw[name], inverted[name] = [], []
        for epsilon in epsilons:
            mechanism, rng = make(epsilon), run.rng("inverted", name, epsilon)
            read = mechanism if name == "OGPM" else mechanism.compressed()
            raw[name].append(campaigns(read, values, repetitions, rng, circular=False).distribution)
            distances = []
            for _ in range(repetitions):
                tally = Tally(mechanism, mechanism.report(values, rng=rng))
                estimate = np.asarray(distribution(tally, bins=BINS, band=False).probabilities)
                distances.append(float(np.abs(estimate - truth).sum()))
            inverted[name].append(float(np.mean(distances)))
    drawn, axes = figure(2)
    for panel, (title, found) in zip(
        axes, (("raw reports (PM-C, SW-C)", raw), ("mechanism inverted", inverted)), strict=True
    ):
        for name, errors in found.items():
            line(panel, epsilons, errors, name, marker="o", markersize=3)
        panel.set_ylim(0, 1.1)
        dress(panel, title, "ε", "sum of absolute differences, 50 bins")
    rows: list[Finding] = [
        addition(
            f"ε = {e:g}: raw → inverted",
            ", ".join(f"{name} {raw[name][i]:.2f} → {inverted[name][i]:.2f}" for name in makers),
        )
        for i, e in enumerate(epsilons)
    ]
    better = all(inverted["SW"][i] < raw["OGPM"][i] for i in range(len(epsilons)))
    rows.append(
        statement(
            "OGPM is optimal for distributions (section 5.1, table 2)",
            not better,
            f"SW with inversion has {100 * np.mean(inverted['SW']) / np.mean(raw['OGPM']):.0f} % "
            "of raw OGPM's error",
            note="A collector who knows the mechanism inverts it; the least error per report is then not "
            "what counts.",
        )
    )
    tables = {"raw": curves(epsilons, raw), "inverted": curves(epsilons, inverted)}
    return Result(rows, tables, {"": drawn})


@entry("beyond", "figure-17", "The mean on [0, 1]: OGPM, OGPM-U, PM and the unbiased optimum")
def figure_17(run: Run) -> Result:
    sample = motionsense(run.motionsense, run.seed)
    epsilons = np.array([1.0, 2.0, 4.0]) if run.quick else np.array([1.0, 2, 3, 4, 6, 8])
    makers: Makers = {
        "OGPM": lambda e: ogpm(e),
        "OGPM-U": lambda e: classic.ogpm_unbiased(e, cells=CELLS),
        "PM": lambda e: classic.pm(e, (0, 1), cells=CELLS),
        "optimum": lambda e: best(e, "l2", True),
    }
    found = {
        name: [
            campaigns(
                make(float(e)), sample.linear, run.few(50, 300), run.rng("mean", name), circular=False
            ).mean
            for e in epsilons
        ]
        for name, make in makers.items()
    }
    drawn, (panel,) = figure(1, size=(4.6, 3.2))
    for name, values in found.items():
        line(panel, epsilons, values, name, marker="o", markersize=3)
    panel.set_yscale("log")
    dress(panel, sample.name, "ε", "|estimate − truth|")
    rows = [
        addition(
            f"mean error of {name} over that of the optimum",
            f"{np.mean(values) / np.mean(found['optimum']):.2f}",
        )
        for name, values in found.items()
    ]
    return Result(rows, {"": curves(epsilons, found)}, {"": drawn})
