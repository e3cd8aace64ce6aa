"""OGPM paper, sections 7.1.2 and 7.1.3, appendices B.5 and B.8: figures 12, 13 and 14."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from papers.families import CELLS, laplace_like, ogpm
from papers.findings import Run
from papers.plots import GREY
from papers.registry import entry
from papers.sheet import Sheet, span
from sottovoce.designs import classic

X = np.linspace(0, 1, 401)
MIDDLE = 200


def _lower(sheet: Sheet, claim: str, ours: np.ndarray, other: np.ndarray) -> None:
    """Judge whether an error is below another at every x."""
    above = ours > other + 1e-6
    numbers = {"share": 100 * above.mean(), "end": ours[0], "other_end": other[0]}
    sheet.statement(
        claim,
        not above.any(),
        "higher at {share:.0f} % of x" if above.any() else "lower everywhere",
        numbers | {"middle": ours[MIDDLE], "other_middle": other[MIDDLE]},
        note="{end:.4f} against {other_end:.4f} at the ends, {middle:.4f} against {other_middle:.4f} in the "
        "middle",
    )


@entry("ogpm", "figure-12", "OGPM against PM, SW and their truncations, ε = 2, L2")
def figure_12(run: Run, sheet: Sheet) -> None:
    axes = sheet.figure(2)

    pm, sw = classic.pm(2.0, (-1, 1), cells=CELLS), classic.sw(2.0, (0, 1), cells=CELLS)
    panels = (
        ("a", "PM", np.linspace(-1, 1, 401), {"PM": pm, "T-PM": pm.truncated()}, (-1.0, 1.0)),
        ("b", "SW", np.linspace(0, 1, 401), {"SW": sw, "T-SW": sw.truncated()}, (0.0, 1.0)),
    )
    for panel, (letter, name, x, others, domain) in zip(axes, panels, strict=True):
        ours = {
            "OGPM, Theorem 3.7": ogpm(2.0, "l1", domain).error(x, "l2"),
            "OGPM, L2 root": ogpm(2.0, "l2", domain).error(x, "l2"),
        }
        errors = ours | {other: m.error(x, "l2") for other, m in others.items()}
        title = f"({letter}) against {name}, domain [{domain[0]:g}, {domain[1]:g}]"
        root = {"OGPM, L2 root": GREY}
        sheet.plot(panel, x, errors, title, "x", "E(y − x)²", table=letter, log="y", colours=root)
        for other in others:
            for label in ours:
                claim = f"{label} has a lower error than {other} at every x"
                _lower(sheet, claim, errors[label], errors[other])


def printed_b_laplace(epsilon: float, x: np.ndarray) -> np.ndarray:
    """Appendix B.8's formula, with the normaliser of x = 0 for every x."""
    side = [(1 + epsilon * z) * np.exp(-epsilon * z) for z in (x, 1 - x)]
    return np.asarray((2 - side[0] - side[1]) / (epsilon * -math.expm1(-epsilon)))


@entry("ogpm", "figure-13", "OGPM against staircase, T-Laplace and B-Laplace, L1 (with appendix B.8)")
def figure_13(run: Run, sheet: Sheet) -> None:
    axes = sheet.figure(2)

    for panel, (epsilon, trend) in zip(axes, ((2.0, "falls"), (4.0, "rises")), strict=True):
        errors = {"OGPM": ogpm(epsilon, "l1").error(X, "l1")}
        errors |= {name: law.error(X, "l1") for name, law in laplace_like(epsilon).items()}
        bounded, printed = errors["B-Laplace"], printed_b_laplace(epsilon, X)
        shown = errors | {"B-Laplace as printed": printed}
        top = 1.5 * max(float(values.max()) for values in shown.values())
        look: dict[str, Any] = {"legend": "upper center", "columns": 2, "bottom": 0, "top": top}
        look["colours"] = {"B-Laplace as printed": GREY}
        sheet.plot(panel, X, shown, f"ε = {epsilon:g}", "x", "E|y − x|", table=f"epsilon-{epsilon:g}", **look)
        as_printed, truly = ("rises" if y[MIDDLE] > y[0] else "falls" for y in (printed, bounded))
        sheet.statement(
            f"ε = {epsilon:g}: B-Laplace's error {trend} towards the middle",
            truly == trend,
            truly + ": {end:.4f} at the ends, {middle:.4f} in the middle",
            {"end": bounded[0], "middle": bounded[MIDDLE], "printed": printed[MIDDLE]},
            note=f"as printed it {as_printed} to {{printed:.4f}}: B.8 divides by the normaliser of "
            "x = 0 everywhere, which is not a density in between",
        )
        sheet.number(
            f"ε = {epsilon:g}: B-Laplace at x = 0.5, formula of B.8 against the true normaliser",
            float(printed[MIDDLE]),
            float(bounded[MIDDLE]),
            within=5e-4,
            digits=4,
        )
        for name in ("Staircase", "T-Laplace", "B-Laplace"):
            claim = f"ε = {epsilon:g}: OGPM has a lower error than {name} ('generally')"
            _lower(sheet, claim, errors["OGPM"], errors[name])


@entry("ogpm", "figure-14", "Worst-case L1 error against ε: staircase, T-Laplace, B-Laplace")
def figure_14(run: Run, sheet: Sheet) -> None:
    epsilons = np.linspace(0.25, 8, 32)
    laws = [laplace_like(float(e)) for e in epsilons]
    errors = {"OGPM": np.array([ogpm(e, "l1").error(0.0, "l1") for e in epsilons])}
    errors |= {name: np.array([law[name].worst_error("l1") for law in laws]) for name in laws[0]}
    (panel,) = sheet.figure(1, size=(4.6, 3.2))
    sheet.plot(panel, epsilons, errors, "worst case over x", "ε", "worst-case E|y − x|", log="y")
    gap = errors["OGPM"] / np.min([errors[name] for name in laws[0]], axis=0)
    ratio = errors["Staircase"] / errors["OGPM"]
    sheet.statement(
        "OGPM has the lowest worst-case error of the four at every ε",
        (gap < 1).all(),
        "ratio to the best other between {least:.3f} and {most:.3f}",
        span(gap),
    )
    sheet.statement(
        "the staircase approaches OGPM as ε grows",
        (np.diff(ratio) < 0).all() and ratio[-1] < 1.03,
        "ratio {first:.2f} at ε = 0.25, {last:.3f} at ε = 8",
        {"first": ratio[0], "last": ratio[-1]},
        note="Exactly √E/(√E − 1).",
    )
    sheet.addition("none of the four is the best possible", "see beyond figure 9")


@entry("ogpm", "appendix-B-5", "The MSE of OGPM in closed form")
def appendix_b5(run: Run, sheet: Sheet) -> None:
    epsilon, x = 1.0, np.linspace(0, 1, 201)
    e, p = math.exp(epsilon), math.exp(epsilon / 2)
    c = math.expm1(epsilon / 2) / (2 * math.expm1(epsilon))
    left = p / 3 * ((2 * c - x) ** 3 + x**3) + p / (3 * e) * ((1 - x) ** 3 - (2 * c - x) ** 3)
    centre = p / (3 * e) * (-2 * c**3 + 3 * x**2 - 3 * x + 1) + p / 3 * 2 * c**3
    far = 1 - 2 * c - x
    right = p / (3 * e) * (far**3 + x**3) + p / 3 * ((1 - x) ** 3 - far**3)
    closed = np.where(x < c, left, np.where(x < 1 - c, centre, right))
    gap = float(np.abs(closed - classic.ogpm(epsilon, loss="l1").error(x, "l2")).max())
    sw = classic.sw(epsilon)
    compressed, root = float(sw.compressed().error(0.0)), classic.ogpm(1.0, loss="l2").worst_error()
    sheet.statement(
        "the three formulas are E(y − x)²", gap < 1e-7, "largest difference {gap:.0e}", {"gap": gap}
    )
    sheet.number("MSE of OGPM at x = 0, ε = 1", 0.22, float(closed[0]), within=0.005, digits=2)
    sheet.number("MSE of SW at x = 0, ε = 1", 0.29, float(sw.error(0.0)), within=0.005, digits=2)
    sheet.addition("MSE of SW-C at x = 0, ε = 1", "{mse:.4f}", {"mse": compressed})
    sheet.addition("MSE of OGPM with the L2 root", "{mse:.4f}", {"mse": root})
