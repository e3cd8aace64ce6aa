"""The papers' plots with what they lack: the certified optimum and the limit for every ε-LDP mechanism."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np

from papers.data import motionsense
from papers.families import CELLS, Makers, laplace_like, ogpm, pm_c, sw_c
from papers.findings import Run
from papers.plots import BLUE, RED, curves, dress, line
from papers.raw_reports import BINS, simulate_raw
from papers.registry import entry
from papers.sheet import Sheet
from sottovoce.designs import classic
from sottovoce.designs.optimal import optimal
from sottovoce.designs.place import expected_distance, place
from sottovoce.estimates.tally import Tally
from sottovoce.laws import hybrid, laplace
from sottovoce.laws.law import Law
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.surveys.polar import polar

X = np.linspace(0, 1, 401)

OGPM_U_AND_PM: Makers = {
    "OGPM-U": lambda e: classic.ogpm_unbiased(e, cells=CELLS),
    "PM": lambda e: classic.pm(e, (0, 1), cells=CELLS),
}


@lru_cache(maxsize=64)
def best(epsilon: float, loss: str = "l1", unbiased: bool = False) -> Mechanism:
    """The certified optimum on [0, 1]."""
    return optimal(epsilon, (0, 1), "mean" if unbiased else "value", loss=loss)


def _grid(run: Run) -> list[float]:
    return [0.5, 1.0, 2.0, 4.0] if run.quick else [0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8]


@entry("beyond", "figure-7", "Positions: distance and angle, or a window in the plane")
def figure_7(run: Run, sheet: Sheet) -> None:
    """How far one report is from the person: people spread evenly over the disc, and the worst place."""
    epsilons = [1.0, 2.0, 4.0] if run.quick else [0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 1 + 2 * math.pi]
    r = np.concatenate((np.sqrt((np.arange(12) + 0.5) / 12), [0.0, 1.0]))  # rings of equal area, and the ends
    x = np.stack((r * math.cos(0.3), r * math.sin(0.3)), axis=-1)
    makers: dict[str, Any] = {
        "OGPM in polar coordinates": partial(polar, design="ogpm"),
        "window in the plane": place,
    }
    away = {name: [expected_distance(make(e, 1.0), x) for e in epsilons] for name, make in makers.items()}
    kinds: dict[str, Any] = {"mean": lambda distances: distances[:12].mean(), "worst": np.max}
    for panel, (kind, of) in zip(sheet.figure(2), kinds.items(), strict=True):
        errors = {name: [float(of(one)) for one in each] for name, each in away.items()}
        words = (f"{kind} over the disc", "ε", "expected distance of one report, radii")
        colours = dict(zip(errors, (RED, BLUE), strict=True))
        sheet.plot(panel, epsilons, errors, *words, table=kind, bottom=0, colours=colours)
        for i, e in enumerate(epsilons):
            at = dict(zip(("polar", "plane"), (each[i] for each in errors.values()), strict=True))
            sheet.addition(f"{kind}, ε = {e:.4g}: polar, plane", "{polar:.3f}, {plane:.3f}", at)


@entry("beyond", "figure-8", "Whole-domain error with the optimum and the limit")
def figure_8(run: Run, sheet: Sheet) -> None:
    axes = sheet.figure(4, rows=2)

    for column, epsilon in enumerate((2.0, 4.0)):
        for row, loss in enumerate(("l1", "l2")):
            panel, made = axes[2 * row + column], best(epsilon, loss)
            laws: dict[str, Mechanism | Law] = {"OGPM": ogpm(epsilon, loss), "PM-C": pm_c(epsilon)}
            laws |= {"SW-C": sw_c(epsilon), "optimum": made}
            laws |= laplace_like(epsilon) if loss == "l1" else {}
            errors = {name: law.error(X, loss) for name, law in laws.items()}
            for name, values in errors.items():
                line(panel, X, values, name)
            line(panel, X, np.full_like(X, made.certificate.limit), "limit of the worst case")
            panel.set_ylim(0, 1.5 * max(float(values.max()) for values in errors.values()))
            title = f"ε = {epsilon:g}, {loss.upper()}"
            dress(panel, title, "x", "error", legend="upper center", columns=2)
            sheet.tables[f"{loss}-epsilon-{epsilon:g}"] = curves(X, errors)
            sheet.addition(
                f"{title}: worst case of OGPM over that of the optimum",
                "{ratio:.3f}",
                {
                    "ratio": errors["OGPM"].max() / made.certificate.worst,
                    "limit": made.certificate.limit,
                    "certified": made.certificate.ratio,
                },
                note="limit {limit:.5f}, optimum/limit {certified:.4f}",
            )


@entry("beyond", "figure-9", "Worst-case error against ε with the optimum and the limit")
def figure_9(run: Run, sheet: Sheet) -> None:
    epsilons = _grid(run)
    axes = sheet.figure(2)

    for panel, loss in zip(axes, ("l1", "l2"), strict=True):
        errors = {
            "OGPM": [float(ogpm(e, loss).error(0.0, loss)) for e in epsilons],
            "SW-C": [float(sw_c(e).error(0.0, loss)) for e in epsilons],
            "Laplace": [laplace(e).worst_error(loss) for e in epsilons],
            "optimum": [best(e, loss).certificate.worst for e in epsilons],
            "limit": [best(e, loss).certificate.limit for e in epsilons],
        }
        if loss == "l1":
            errors["T-Laplace"] = [laplace_like(e)["T-Laplace"].worst_error("l1") for e in epsilons]
        words = (loss.upper(), "ε", "worst-case error")
        sheet.plot(panel, epsilons, errors, *words, table=loss, log="y", top=1.0)
        for e in (1.0, 4.0):
            at = {name.lower(): errors[name][epsilons.index(e)] for name in ("OGPM", "optimum", "limit")}
            note = "OGPM fixes a uniform background; letting it vary helps" if e == 4 else ""
            told = "{ogpm:.5f}, {optimum:.5f}, {limit:.5f}"
            sheet.addition(f"{loss.upper()}, ε = {e:g}: OGPM, optimum, limit", told, at, note=note)


@entry("beyond", "variance", "Worst-case variance of the unbiased mechanisms, input [0, 1]")
def variance(run: Run, sheet: Sheet) -> None:
    epsilons = _grid(run)
    designs: dict[str, Any] = {
        "OGPM-U": classic.ogpm_unbiased,
        "Laplace": laplace,
        "PM": classic.pm,
        "I-PTT, best": classic.ptt,
        "Duchi": classic.duchi,
        "Hybrid": hybrid,
    }
    variances = {name: [make(e, (0, 1)).worst_variance() for e in epsilons] for name, make in designs.items()}
    certificates = [best(e, "l2", True).certificate for e in epsilons]
    variances["optimum"] = [one.worst for one in certificates]
    # A bound below zero says nothing about a variance.
    variances["limit"] = [one.limit if one.limit > 0 else math.nan for one in certificates]
    (panel,) = sheet.figure(1, size=(5.2, 3.6))
    ratios = {name: np.array(values) / variances["optimum"] for name, values in variances.items()}
    title = "worst-case variance over that of the optimum"
    sheet.plot(panel, epsilons, ratios, title, "ε", "ratio", table=None, log="y", columns=2)

    for e in (0.5, 1.0, 2.0, 4.0):
        at = {name: values[epsilons.index(e)] for name, values in variances.items()}
        told = ", ".join(f"{name} {{{name}:.4g}}" for name in at)
        sheet.addition(f"ε = {e:g}", told, at)
    silent = [e for e, limit in zip(epsilons, variances["limit"], strict=True) if math.isnan(limit)]
    if silent:
        sheet.addition("ε without a useful limit", ", ".join(f"{e:g}" for e in silent))
    sheet.tables[""] = curves(epsilons, variances)


@entry("beyond", "figure-16", "Distributions: reading raw reports against inverting the mechanism")
def figure_16(run: Run, sheet: Sheet) -> None:
    from sottovoce.estimates.distribution import distribution

    values, epsilons = motionsense(run.motionsense, run.seed).linear, (1.0, 2.0, 4.0)
    truth = np.bincount(np.clip((values * BINS).astype(int), 0, BINS - 1), minlength=BINS) / len(values)
    makers: Makers = {
        "OGPM": ogpm,
        "PM": OGPM_U_AND_PM["PM"],
        "SW": lambda e: classic.sw(e, (0, 1), cells=CELLS),
    }
    repetitions = run.few(2, 10)
    raw: dict[str, list[float]] = {name: [] for name in makers}
    inverted: dict[str, list[float]] = {name: [] for name in makers}
    for name, make in makers.items():
        for epsilon in epsilons:
            mechanism, rng = make(epsilon), run.rng("inverted", name, epsilon)
            read = mechanism if name == "OGPM" else mechanism.compressed()
            raw[name].append(simulate_raw(read, values, repetitions, rng, circular=False).distribution)
            distances = []
            for _ in range(repetitions):
                tally = Tally(mechanism, mechanism.report(values, rng=rng))
                estimate = np.asarray(distribution(tally, bins=BINS, band=False).probabilities)
                distances.append(float(np.abs(estimate - truth).sum()))
            inverted[name].append(float(np.mean(distances)))
    axes = sheet.figure(2)
    panels = (("raw", "raw reports (PM-C, SW-C)", raw), ("inverted", "mechanism inverted", inverted))
    look: dict[str, Any] = {"bottom": 0, "top": 1.1, "marker": "o", "markersize": 3}
    for panel, (key, title, errors) in zip(axes, panels, strict=True):
        words = (title, "ε", "sum of absolute differences, 50 bins")
        sheet.plot(panel, epsilons, errors, *words, table=key, **look)
    for i, e in enumerate(epsilons):
        sheet.addition(
            f"ε = {e:g}: raw → inverted",
            ", ".join(f"{name} {{{name}_raw:.2f}} → {{{name}_inverted:.2f}}" for name in makers),
            {
                **{f"{name}_raw": raw[name][i] for name in makers},
                **{f"{name}_inverted": inverted[name][i] for name in makers},
            },
        )
    sheet.statement(
        "OGPM is optimal for distributions (section 5.1, table 2)",
        not (np.array(inverted["SW"]) < raw["OGPM"]).all(),
        "SW with inversion has {ratio:.0f} % of raw OGPM's error",
        {"ratio": 100 * np.mean(inverted["SW"]) / np.mean(raw["OGPM"])},
        note="A collector who knows the mechanism inverts it; the least error per report is then not "
        "what counts.",
    )


@entry("beyond", "figure-17", "The mean on [0, 1]: OGPM, OGPM-U, PM and the unbiased optimum")
def figure_17(run: Run, sheet: Sheet) -> None:
    sample = motionsense(run.motionsense, run.seed)
    epsilons = (1.0, 2.0, 4.0) if run.quick else (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
    makers: Makers = {"OGPM": ogpm, **OGPM_U_AND_PM, "optimum": lambda e: best(e, "l2", True)}
    errors = {}
    for name, make in makers.items():
        runs = [
            simulate_raw(make(e), sample.linear, run.few(50, 300), run.rng("mean", name), circular=False)
            for e in epsilons
        ]
        errors[name] = [one.mean for one in runs]
    (panel,) = sheet.figure(1, size=(4.6, 3.2))
    words = (sample.name, "ε", "|estimate − truth|")
    sheet.plot(panel, epsilons, errors, *words, log="y", marker="o", markersize=3)
    for name, values in errors.items():
        sheet.addition(
            f"mean error of {name} over that of the optimum",
            "{ratio:.2f}",
            {"ratio": np.mean(values) / np.mean(errors["optimum"])},
        )
