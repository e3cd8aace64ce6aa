"""OGPM paper, sections 7.1.2 and 7.1.3, appendices B.5 and B.8: figures 12, 13 and 14."""

from __future__ import annotations

import math

import numpy as np

from sottovoce.designs import classic
from sottovoce.papers.families import CELLS, laplace_like, ogpm
from sottovoce.papers.plots import GREY, curves, dress, figure, line
from sottovoce.papers.registry import Result, Run, addition, entry, number, statement

X = np.linspace(0, 1, 401)


def _where(x: np.ndarray, mask: np.ndarray) -> str:
    """The x of a mask, in words."""
    if not mask.any():
        return "nowhere"
    return "everywhere" if mask.all() else f"at {100 * mask.mean():.0f} % of x, from {x[mask].min():.2f}"


@entry("ogpm", "figure-12", "OGPM against PM, SW and their truncations, ε = 2, L2")
def figure_12(run: Run) -> Result:
    drawn, axes = figure(2)
    findings, tables = [], {}
    pm, sw = classic.pm(2.0, (-1, 1), cells=CELLS), classic.sw(2.0, (0, 1), cells=CELLS)
    panels = (
        ("a", "PM", np.linspace(-1, 1, 401), {"PM": pm, "T-PM": pm.truncated()}, (-1.0, 1.0)),
        ("b", "SW", np.linspace(0, 1, 401), {"SW": sw, "T-SW": sw.truncated()}, (0.0, 1.0)),
    )
    for panel, (letter, name, x, others, domain) in zip(axes, panels, strict=True):
        theorem, root = ogpm(2.0, "l1", domain).error(x, "l2"), ogpm(2.0, "l2", domain).error(x, "l2")
        found = {"OGPM, Theorem 3.7": theorem, "OGPM, L2 root": root}
        found |= {other: m.error(x, "l2") for other, m in others.items()}
        for label, values in found.items():
            line(panel, x, values, label, **({"color": GREY} if "root" in label else {}))
        panel.set_yscale("log")
        dress(panel, f"({letter}) against {name}, domain [{domain[0]:g}, {domain[1]:g}]", "x", "E(y − x)²")
        tables[letter] = curves(x, found)
        for other in others:
            for label in ("OGPM, Theorem 3.7", "OGPM, L2 root"):
                above = found[label] > found[other] * (1 + 1e-6)
                findings.append(
                    statement(
                        f"{label} has a lower error than {other} at every x",
                        not above.any(),
                        f"higher {_where(x, above)}" if above.any() else "lower everywhere",
                        note=f"{found[label][0]:.4f} against {found[other][0]:.4f} at the ends, "
                        f"{found[label][200]:.4f} against {found[other][200]:.4f} in the middle",
                    )
                )
    return Result(findings, tables, {"": drawn})


def printed_b_laplace(epsilon: float, x: np.ndarray) -> np.ndarray:
    """Appendix B.8's formula, with the normaliser of x = 0 for every x."""
    side = [(1 + epsilon * z) * np.exp(-epsilon * z) for z in (x, 1 - x)]
    return np.asarray((2 - side[0] - side[1]) / (epsilon * -math.expm1(-epsilon)))


@entry("ogpm", "figure-13", "OGPM against staircase, T-Laplace and B-Laplace, L1 (with appendix B.8)")
def figure_13(run: Run) -> Result:
    drawn, axes = figure(2)
    findings, tables = [], {}
    for panel, (epsilon, trend) in zip(axes, ((2.0, "falls"), (4.0, "rises")), strict=True):
        found = {"OGPM": ogpm(epsilon, "l1").error(X, "l1")}
        found |= {name: law.error(X, "l1") for name, law in laplace_like(epsilon).items()}
        printed = printed_b_laplace(epsilon, X)
        for name, values in found.items():
            line(panel, X, values, name)
        line(panel, X, printed, "B-Laplace as printed", color=GREY, linewidth=1)
        panel.set_ylim(0, 1.5 * max(float(values.max()) for values in (*found.values(), printed)))
        dress(panel, f"ε = {epsilon:g}", "x", "E|y − x|", legend="upper center", columns=2)
        tables[f"epsilon-{epsilon:g}"] = curves(X, found | {"B-Laplace as printed": printed})
        middle = 200
        printed_trend = "rises" if printed[middle] > printed[0] else "falls"
        true_trend = "rises" if found["B-Laplace"][middle] > found["B-Laplace"][0] else "falls"
        findings += [
            statement(
                f"ε = {epsilon:g}: B-Laplace's error {trend} towards the middle",
                true_trend == trend,
                f"{true_trend}: {found['B-Laplace'][0]:.4f} at the ends, "
                f"{found['B-Laplace'][middle]:.4f} in the "
                "middle",
                note=f"as printed it {printed_trend} to {printed[middle]:.4f}: B.8 divides by "
                "the normaliser of "
                "x = 0 everywhere, which is not a density in between",
            ),
            number(
                f"ε = {epsilon:g}: B-Laplace at x = 0.5, formula of B.8 against the true normaliser",
                float(printed[middle]),
                float(found["B-Laplace"][middle]),
                within=5e-4,
                digits=4,
            ),
        ]
        for name in ("Staircase", "T-Laplace", "B-Laplace"):
            above = found["OGPM"] > found[name] + 1e-6
            findings.append(
                statement(
                    f"ε = {epsilon:g}: OGPM has a lower error than {name} ('generally')",
                    not above.any(),
                    "lower everywhere" if not above.any() else f"higher at {100 * above.mean():.0f} % of x",
                    note=f"{found['OGPM'][0]:.4f} against {found[name][0]:.4f} at the ends, "
                    f"{found['OGPM'][middle]:.4f} against {found[name][middle]:.4f} in the middle",
                )
            )
    return Result(findings, tables, {"": drawn})


@entry("ogpm", "figure-14", "Worst-case L1 error against ε: staircase, T-Laplace, B-Laplace")
def figure_14(run: Run) -> Result:
    epsilons = np.linspace(0.25, 8, 32)
    found: dict[str, list[float]] = {"OGPM": [], "Staircase": [], "T-Laplace": [], "B-Laplace": []}
    for epsilon in epsilons:
        found["OGPM"].append(float(ogpm(epsilon, "l1").error(0.0, "l1")))
        for name, law in laplace_like(float(epsilon)).items():
            found[name].append(law.worst_error("l1"))
    drawn, (panel,) = figure(1, size=(4.6, 3.2))
    for name, values in found.items():
        line(panel, epsilons, values, name)
    panel.set_yscale("log")
    dress(panel, "worst case over x", "ε", "worst-case E|y − x|")
    best = np.min([found[name] for name in ("Staircase", "T-Laplace", "B-Laplace")], axis=0)
    gap = np.array(found["OGPM"]) / best
    ratio = np.array(found["Staircase"]) / np.array(found["OGPM"])
    findings = [
        statement(
            "OGPM has the lowest worst-case error of the four at every ε",
            bool((gap < 1).all()),
            f"ratio to the best other between {gap.min():.3f} and {gap.max():.3f}",
        ),
        statement(
            "the staircase approaches OGPM as ε grows",
            bool((np.diff(ratio) < 0).all() and ratio[-1] < 1.03),
            f"ratio {ratio[0]:.2f} at ε = 0.25, {ratio[-1]:.3f} at ε = 8",
            note="Exactly √E/(√E − 1).",
        ),
        addition("none of the four is the best possible", "see beyond figure 9"),
    ]
    return Result(findings, {"": curves(epsilons, found)}, {"": drawn})


@entry("ogpm", "appendix-B-5", "The MSE of OGPM in closed form")
def appendix_b5(run: Run) -> Result:
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
    findings = [
        statement("the three formulas are E(y − x)²", gap < 1e-7, f"largest difference {gap:.0e}"),
        number("MSE of OGPM at x = 0, ε = 1", 0.22, float(closed[0]), within=0.005, digits=2),
        number("MSE of SW at x = 0, ε = 1", 0.29, float(sw.error(0.0)), within=0.005, digits=2),
        addition("MSE of SW-C at x = 0, ε = 1", f"{float(sw.compressed().error(0.0)):.4f}"),
        addition("MSE of OGPM with the L2 root", f"{classic.ogpm(1.0, loss='l2').worst_error():.4f}"),
    ]
    return Result(findings)
