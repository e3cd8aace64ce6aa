"""OGPM paper, sections 4, 7.1.1 and 7.1.4 on the circle: figures 6, 10, 11, 15 and example 4.3.

The paper compares OGPM under circular loss with PM-C and SW-C *flattened*, under linear loss: a report across
the seam costs OGPM little and them almost 2π. Every comparison is therefore given twice.
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.laws import purkayastha, von_mises
from sottovoce.papers.families import TURN, ogpm_circle, pm_c, sw_c
from sottovoce.papers.ogpm_classical import EPSILONS
from sottovoce.papers.plots import BLUE, GREY, RED, curves, dress, figure, line
from sottovoce.papers.registry import Result, Run, addition, entry, number, statement


@entry("ogpm", "figure-6", "OGPM on the circle, ε = 1, x = 0 and x = π/2 (example 4.3)")
def figure_6(run: Run) -> Result:
    m = ogpm_circle(1.0, "l1")
    inside, outside = float(m.density(0.0, 0.0)), float(m.density(0.0, math.pi))
    half = math.pi * math.expm1(0.5) / math.expm1(1.0)
    drawn, axes = figure(2, size=(2.9, 2.9))
    places = (0.0, math.pi / 2)
    for panel, x in zip(axes, places, strict=True):
        around, arc = np.linspace(0, TURN, 400), np.linspace(x - half, x + half, 200)
        panel.plot(np.cos(around), np.sin(around), color=GREY, linewidth=1)
        panel.plot(np.cos(arc), np.sin(arc), color=RED, linewidth=5, label=f"density {inside:.3f}")
        panel.plot([], [], color=GREY, linewidth=1, label=f"density {outside:.3f}")
        panel.plot([math.cos(x)], [math.sin(x)], "o", color=BLUE, label="x")
        dress(panel, "x = π/2" if x else "x = 0", "", "", legend="center")
        panel.set_aspect("equal")
        panel.set_xticks([])
        panel.set_yticks([])
        panel.grid(False)
        for side in ("left", "bottom"):
            panel.spines[side].set_visible(False)
    findings = [
        number(
            "example 4.3: the window ends at, in units of π", 0.38, half / math.pi, within=0.005, digits=2
        ),
        number("and begins at", 1.62, 2 - half / math.pi, within=0.005, digits=2),
        number("density inside", 0.26, inside, within=0.005, digits=2),
        number("density outside", 0.09, outside, within=0.01, digits=2, note="0.0965: cut off, not rounded"),
    ]
    table = {
        "x": places,
        "window from": [(x - half) % TURN for x in places],
        "window to": [x + half for x in places],
        "density inside": [inside] * 2,
        "density outside": [outside] * 2,
    }
    return Result(findings, {"": table}, {"": drawn})


def _whole(epsilon: float, x: np.ndarray) -> dict[str, np.ndarray]:
    best = ogpm_circle(epsilon, "l2")
    return {
        "OGPM": best.error(x, "l2"),
        "PM-C, linear loss": pm_c(epsilon, TURN).error(x, "l2", "linear"),
        "SW-C, linear loss": sw_c(epsilon, TURN).error(x, "l2", "linear"),
        "PM-C, circular loss": pm_c(epsilon, TURN).error(x, "l2", "circular"),
        "SW-C, circular loss": sw_c(epsilon, TURN).error(x, "l2", "circular"),
    }


@entry("ogpm", "figure-10", "Whole-domain L2 error on the circle, ε = 2 and 4: linear next to circular loss")
def figure_10(run: Run) -> Result:
    x = np.linspace(0, TURN, run.few(201, 1001))
    drawn, axes = figure(4, rows=2)
    findings, tables = [], {}
    quoted = {2: (47.5, 43.0), 4: (41.3, 24.6)}
    for row, (epsilon, papers) in enumerate(quoted.items()):
        found = _whole(epsilon, x)
        theorem = float(ogpm_circle(epsilon, "l1").error(1.0, "l2"))
        tables[f"epsilon-{epsilon}"] = curves(x, found)
        for column, loss in enumerate(("linear", "circular")):
            panel = axes[2 * row + column]
            line(panel, x, found["OGPM"], "OGPM")
            for name in ("PM-C", "SW-C"):
                line(panel, x, found[f"{name}, {loss} loss"], f"{name}, {loss} loss")
            dress(panel, f"ε = {epsilon}: PM-C and SW-C under {loss} loss", "x, radians", "E d(y, x)²")
            panel.set_ylim(bottom=0)
        for name, paper in zip(("PM-C", "SW-C"), papers, strict=True):
            linear, circular = (found[f"{name}, {loss} loss"].mean() for loss in ("linear", "circular"))
            findings.append(
                number(
                    f"ε = {epsilon}: OGPM's average error against {name}",
                    paper,
                    100 * found["OGPM"].mean() / linear,
                    within=0.5,
                    unit=" %",
                    corrected=True,
                    note=f"p of the L2 root; with Theorem 4.2's p {100 * theorem / linear:.1f} %",
                )
            )
            findings.append(
                addition(
                    f"ε = {epsilon}: the same with circular loss for both",
                    f"{100 * theorem / circular:.1f} %",
                    note=f"Theorem 4.2's p; with the L2 root {100 * found['OGPM'].mean() / circular:.1f} %. "
                    "Most of the advantage was the loss.",
                )
            )
    return Result(findings, tables, {"": drawn})


@entry("ogpm", "figure-11", "Worst-case error on the circle against ε: (a) L1, (b) L2")
def figure_11(run: Run) -> Result:
    drawn, axes = figure(2)
    findings, tables = [], {}
    epsilons = EPSILONS[:: run.few(4, 1)]
    for panel, (loss, quoted) in zip(axes, (("l1", (50.0, 41.6)), ("l2", (22.4, 15.4))), strict=True):
        power = 1 if loss == "l1" else 2
        # At x = 0 a window is the same under all units: [0, 1]'s error times (2π)^k.
        found = {
            "OGPM": np.array([ogpm_circle(e, loss).error(1.0, loss) for e in EPSILONS]),
            "PM-C, linear loss": np.array([pm_c(e).error(0.0, loss) * TURN**power for e in EPSILONS]),
            "SW-C, linear loss": np.array([sw_c(e).error(0.0, loss) * TURN**power for e in EPSILONS]),
        }
        circular = {
            name: np.array([make(e, TURN).error(_SOME, loss, "circular").max() for e in epsilons])
            for name, make in (("PM-C", pm_c), ("SW-C", sw_c))
        }
        for name, values in found.items():
            line(panel, EPSILONS, values, name)
        for name, values in circular.items():
            line(panel, epsilons, values, f"{name}, circular loss", linewidth=0.9, marker="o", markersize=2.5)
        panel.set_yscale("log")
        dress(panel, "(a) E d(y, x)" if power == 1 else "(b) E d(y, x)²", "ε", "worst-case error")
        tables[loss] = curves(EPSILONS, found)
        tables[f"{loss}-circular"] = curves(epsilons, circular)
        for name, paper in zip(("PM-C", "SW-C"), quoted, strict=True):
            findings.append(
                number(
                    f"{loss.upper()}, mean over ε: OGPM against {name}",
                    paper,
                    100 * found["OGPM"].mean() / found[f"{name}, linear loss"].mean(),
                    within=0.5,
                    unit=" %",
                    corrected=power == 2,
                    note="ε = 1, 1.25, …, 8" + ("; p of the L2 root" if power == 2 else ""),
                )
            )
            same = found["OGPM"][:: run.few(4, 1)].mean() / circular[name].mean()
            findings.append(
                addition(f"{loss.upper()}: the same with circular loss for both", f"{100 * same:.1f} %")
            )
    halves = np.array(tables["l1"]["OGPM"]) / np.array(tables["l1"]["PM-C, linear loss"])
    findings.append(
        statement(
            "L1: half of PM-C's error",
            bool(np.abs(halves - 0.5).max() < 1e-4),
            f"{halves.min():.5f} to {halves.max():.5f}",
            paper="50.0 %",
            note="Not an advantage of the mechanism: the circle's largest distance is half the interval's.",
        )
    )
    return Result(findings, tables, {"": drawn})


_SOME = np.linspace(0, TURN, 49)  # where the circular error of a flattened mechanism is looked at


@entry("ogpm", "figure-15", "OGPM, Purkayastha and von Mises–Fisher on the circle")
def figure_15(run: Run) -> Result:
    epsilons = np.linspace(0.25, 8, 32)
    drawn, axes = figure(2)
    tables, findings = {}, []
    for panel, loss in zip(axes, ("l1", "l2"), strict=True):
        found = {
            "OGPM": np.array([ogpm_circle(e, loss).error(1.0, loss) for e in epsilons]),
            "Purkayastha": np.array([purkayastha(e).error(1.0, loss) for e in epsilons]),
            "von Mises": np.array([von_mises(e).error(1.0, loss) for e in epsilons]),
        }
        for name, values in found.items():
            line(panel, epsilons, values, name)
        dress(panel, "E d(y, x)" if loss == "l1" else "E d(y, x)²", "ε", "error, the same at every x")
        panel.set_ylim(bottom=0)
        tables[loss] = curves(epsilons, found)
        gap = found["Purkayastha"] / found["OGPM"]
        findings.append(
            statement(
                f"{loss.upper()}: OGPM outperforms Purkayastha at every ε",
                bool((gap > 1).all()),
                f"ratio between {gap.min():.3f} and {gap.max():.3f}",
                note="More is true: averaging over rotations, no ε-LDP mechanism on the circle beats OGPM "
                "with the p of its loss.",
            )
        )
        better = found["von Mises"] < found["Purkayastha"]
        until = f"lower for ε up to {epsilons[better].max():g}" if better.any() else "higher at every ε"
        findings.append(
            statement(
                f"{loss.upper()}: Purkayastha outperforms von Mises–Fisher (footnote)",
                not better.any(),
                f"von Mises's error is {until} (of 8)",
                note="Over the whole circle VMF needs κ = ε/2, not the ε/π of sensitivity π: the chord is at "
                "most 2.",
            )
        )
    return Result(findings, tables, {"": drawn})
