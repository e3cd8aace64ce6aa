"""OGPM paper, sections 4, 7.1.1 and 7.1.4 on the circle: figures 6, 10, 11, 15 and example 4.3.

The paper compares OGPM under circular loss with PM-C and SW-C *flattened*, under linear loss: a report across
the seam costs OGPM little and them almost 2π. Every comparison is therefore given twice.
"""

from __future__ import annotations

import math

import numpy as np

from papers.families import TURN, ogpm_circle, pm_c, sw_c
from papers.findings import Run
from papers.ogpm_classical import EPSILONS
from papers.plots import BLUE, GREY, RED, curves, dress, line
from papers.registry import entry
from papers.sheet import Sheet, span
from sottovoce.laws import purkayastha, von_mises

FLATTENED = {"PM-C": pm_c, "SW-C": sw_c}


@entry("ogpm", "figure-6", "OGPM on the circle, ε = 1, x = 0 and x = π/2 (example 4.3)")
def figure_6(run: Run, sheet: Sheet) -> None:
    m = ogpm_circle(1.0, "l1")
    inside, outside = float(m.density(0.0, 0.0)), float(m.density(0.0, math.pi))
    half = math.pi * math.expm1(0.5) / math.expm1(1.0)
    axes = sheet.figure(2, size=(2.9, 2.9))
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
    ends, cut = half / math.pi, "0.0965: cut off, not rounded"
    sheet.number("example 4.3: the window ends at, in units of π", 0.38, ends, within=0.005, digits=2)
    sheet.number("and begins at", 1.62, 2 - ends, within=0.005, digits=2)
    sheet.number("density inside", 0.26, inside, within=0.005, digits=2)
    sheet.number("density outside", 0.09, outside, within=0.01, digits=2, note=cut)
    table = {
        "x": places,
        "window from": [(x - half) % TURN for x in places],
        "window to": [x + half for x in places],
        "density inside": [inside] * 2,
        "density outside": [outside] * 2,
    }
    sheet.tables[""] = table


@entry("ogpm", "figure-10", "Whole-domain L2 error on the circle, ε = 2 and 4: linear next to circular loss")
def figure_10(run: Run, sheet: Sheet) -> None:
    x = np.linspace(0, TURN, run.few(201, 1001))
    axes = sheet.figure(4, rows=2)

    quoted = {2: (47.5, 43.0), 4: (41.3, 24.6)}
    for row, (epsilon, papers) in enumerate(quoted.items()):
        root = ogpm_circle(epsilon, "l2").error(x, "l2")
        theorem = float(ogpm_circle(epsilon, "l1").error(1.0, "l2"))
        table = {"OGPM": root}
        for column, loss in enumerate(("linear", "circular")):
            others = {
                f"{name}, {loss} loss": make(epsilon, TURN).error(x, "l2", loss)
                for name, make in FLATTENED.items()
            }
            title = f"ε = {epsilon}: PM-C and SW-C under {loss} loss"
            panel = axes[2 * row + column]
            words = (title, "x, radians", "E d(y, x)²")
            sheet.plot(panel, x, {"OGPM": root} | others, *words, table=None, bottom=0)
            table |= others
        sheet.tables[f"epsilon-{epsilon}"] = curves(x, table)
        for name, paper in zip(FLATTENED, papers, strict=True):
            linear, circular = (table[f"{name}, {loss} loss"].mean() for loss in ("linear", "circular"))
            sheet.percent(
                f"ε = {epsilon}: OGPM's average error against {name}",
                paper,
                root,
                linear,
                corrected=True,
                note="p of the L2 root; with Theorem 4.2's p {theorem:.1f} %",
                numbers={"theorem": 100 * theorem / linear},
            )
            sheet.addition(
                f"ε = {epsilon}: the same with circular loss for both",
                "{theorem:.1f} %",
                {"theorem": 100 * theorem / circular, "root": 100 * root.mean() / circular},
                note="Theorem 4.2's p; with the L2 root {root:.1f} %. Most of the advantage was the loss.",
            )


@entry("ogpm", "figure-11", "Worst-case error on the circle against ε: (a) L1, (b) L2")
def figure_11(run: Run, sheet: Sheet) -> None:
    axes = sheet.figure(2)

    step = run.few(4, 1)
    some = np.linspace(0, TURN, 49)  # where the circular error of a flattened mechanism is looked at
    for panel, (loss, quoted) in zip(axes, (("l1", (50.0, 41.6)), ("l2", (22.4, 15.4))), strict=True):
        power = 1 if loss == "l1" else 2
        best = np.array([ogpm_circle(e, loss).error(1.0, loss) for e in EPSILONS])
        # At x = 0 a window is the same under all units: [0, 1]'s error times (2π)^k.
        linear = {
            name: np.array([make(e).error(0.0, loss) * TURN**power for e in EPSILONS])
            for name, make in FLATTENED.items()
        }
        circular = {
            name: np.array([make(e, TURN).error(some, loss, "circular").max() for e in EPSILONS[::step]])
            for name, make in FLATTENED.items()
        }
        shown = {"OGPM": best} | {f"{name}, linear loss": values for name, values in linear.items()}
        for name, values in shown.items():
            line(panel, EPSILONS, values, name)
        thin = {"linewidth": 0.9, "marker": "o", "markersize": 2.5}
        for name, values in circular.items():
            line(panel, EPSILONS[::step], values, f"{name}, circular loss", **thin)
        panel.set_yscale("log")
        dress(panel, "(a) E d(y, x)" if power == 1 else "(b) E d(y, x)²", "ε", "worst-case error")
        sheet.tables[loss] = curves(EPSILONS, shown)
        sheet.tables[f"{loss}-circular"] = curves(EPSILONS[::step], circular)
        note = "ε = 1, 1.25, …, 8" + ("; p of the L2 root" if power == 2 else "")
        for name, paper in zip(FLATTENED, quoted, strict=True):
            claim = f"{loss.upper()}, mean over ε: OGPM against {name}"
            sheet.percent(claim, paper, best, linear[name], corrected=power == 2, note=note)
            sheet.addition(
                f"{loss.upper()}: the same with circular loss for both",
                "{ratio:.1f} %",
                {"ratio": 100 * best[::step].mean() / circular[name].mean()},
            )
        if power == 1:
            halves = best / linear["PM-C"]
    sheet.statement(
        "L1: half of PM-C's error",
        np.abs(halves - 0.5).max() < 1e-4,
        "{least:.5f} to {most:.5f}",
        span(halves),
        paper="50.0 %",
        note="Not an advantage of the mechanism: the circle's largest distance is half the interval's.",
    )


@entry("ogpm", "figure-15", "OGPM, Purkayastha and von Mises–Fisher on the circle")
def figure_15(run: Run, sheet: Sheet) -> None:
    epsilons = np.linspace(0.25, 8, 32)
    axes = sheet.figure(2)

    for panel, loss in zip(axes, ("l1", "l2"), strict=True):
        errors = {
            "OGPM": np.array([ogpm_circle(e, loss).error(1.0, loss) for e in epsilons]),
            "Purkayastha": np.array([purkayastha(e).error(1.0, loss) for e in epsilons]),
            "von Mises": np.array([von_mises(e).error(1.0, loss) for e in epsilons]),
        }
        title = "E d(y, x)" if loss == "l1" else "E d(y, x)²"
        sheet.plot(panel, epsilons, errors, title, "ε", "error, the same at every x", table=loss, bottom=0)
        gap = errors["Purkayastha"] / errors["OGPM"]
        better = errors["von Mises"] < errors["Purkayastha"]
        sheet.statement(
            f"{loss.upper()}: OGPM outperforms Purkayastha at every ε",
            (gap > 1).all(),
            "ratio between {least:.3f} and {most:.3f}",
            span(gap),
            note="More is true: averaging over rotations, no ε-LDP mechanism on the circle beats OGPM "
            "with the p of its loss.",
        )
        sheet.statement(
            f"{loss.upper()}: Purkayastha outperforms von Mises–Fisher (footnote)",
            not better.any(),
            "von Mises's error is lower for ε up to {until:g} (of 8)",
            {"until": epsilons[better].max(initial=0)},
            note="Over the whole circle VMF needs κ = ε/2, not the ε/π of sensitivity π: the chord is at "
            "most 2.",
        )
