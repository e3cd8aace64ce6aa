"""OGPM paper, sections 3 and 6: figures 2, 4 and 7, examples 3.4–3.8, 6.1 and 6.2, appendix B.6."""

from __future__ import annotations

import math

import numpy as np

from papers.families import TURN, circle_error, endpoint_error, ogpm
from papers.findings import Run
from papers.pieces.solve import solve_pieces
from papers.plots import BLACK, BLUE, GREEN, PINK, RED, curves, dress
from papers.registry import entry
from papers.sheet import Sheet
from sottovoce.arrays import FloatArray
from sottovoce.designs import published_formulas


@entry("ogpm", "figure-2", "The optimal 4- and 5-piece mechanisms are 3-piece ones (example 3.4)")
def figure_2(run: Run, sheet: Sheet) -> None:
    epsilon, x = 1.0, 0.3
    axes = sheet.figure(2)

    three = float(ogpm(epsilon, "l1").error(0.0, "l1"))
    for panel, m in zip(axes, (4, 5), strict=True):
        best = solve_pieces(epsilon, m, "l1", method="bracket", gap=1e-4)
        sheet.tables[f"{m}-pieces"] = {
            name: [getattr(piece, name) for piece in best.at(x)] for name in ("left", "right", "density")
        }
        colours = (RED, BLUE, GREEN, BLACK, PINK)
        for i, (piece, colour) in enumerate(zip(best.at(x), colours[:m], strict=True)):
            ends, height = [piece.left, piece.right], [piece.density] * 2
            panel.plot(ends, height, color=colour, linewidth=3, label=f"piece {i + 1}")
        panel.axvline(x, color=BLACK, linestyle=(0, (2, 2)), linewidth=1)
        panel.set_ylim(0, 2)
        dress(panel, f"m = {m}, ε = 1, x = 0.3", "y", "density", legend="upper right")
        pieces = len(best.merged(x))
        sheet.number(
            f"m = {m}: worst-case error, that of m = 3",
            three,
            best.value,
            within=1e-4,
            digits=4,
            note="No m-piece mechanism has less than {bound:.4f} (a linear program's bound).",
            numbers={"bound": best.bound},
        )
        sheet.statement(
            f"m = {m}: three pieces after merging equal neighbours",
            pieces == 3,
            "{pieces:.0f} pieces",
            {"pieces": pieces},
        )
    sheet.addition(
        "Hypothesis 3.1: the optimum has m = 3",
        "a theorem",
        note="Given g ≤ density ≤ E·g, the least error is bang-bang: E·g near x, g elsewhere (bathtub "
        "principle).",
    )


@entry("ogpm", "example-3-5", "Regressing p on ε")
def example_3_5(run: Run, sheet: Sheet) -> None:
    from scipy.optimize import curve_fit

    epsilons = np.sort(run.rng("3.5").uniform(0.1, 8, 50))
    p = np.array([published_formulas.ogpm_density(float(e), "l1") for e in epsilons])

    def form(e: FloatArray, b1: float, b2: float) -> FloatArray:
        return np.asarray(np.exp(b1 * e) + b2)

    (b1, b2), _ = curve_fit(form, epsilons, p, p0=(0.4, 0.0))
    worst = float(np.abs(form(epsilons, b1, b2) - p).max())
    offset = float(np.abs(form(epsilons, 0.5, -0.07) - p).max())
    sheet.number("β₁ in exp(β₁ε) + β₂", 0.5, float(b1), within=0.005, digits=2)
    sheet.number(
        "β₂",
        -0.07,
        float(b2),
        within=0.01,
        digits=2,
        note="The fit to the optimum is exact (largest error {worst:.0e}).",
        numbers={"worst": worst},
    )
    sheet.statement(
        "exp(ε/2) − 0.07 has a maximal error of at most 10⁻²",
        offset <= 0.01,
        "{error:.2f}",
        {"error": offset},
        paper="≤ 0.01",
        note="A constant offset of 0.07 from e^(ε/2) cannot have an error of 0.01: the numbers "
        "contradict each other and Theorem 3.7.",
    )
    sheet.tables[""] = {"epsilon": epsilons.tolist(), "p": p.tolist()}


@entry("ogpm", "figure-4", "OGPM at ε = 1, x = 0 and x = 0.5 (example 3.8)")
def figure_4(run: Run, sheet: Sheet) -> None:
    m = ogpm(1.0, "l1")
    y = np.linspace(0, 1, 2001)
    axes = sheet.figure(2)
    found = {}
    for panel, x in zip(axes, (0.0, 0.5), strict=True):
        density = m.density(x, y)
        panel.fill_between(y, density, step="mid", color=RED, alpha=0.25, linewidth=0)
        panel.plot(y, density, color=RED, linewidth=1.4)
        panel.axvline(x, color=BLACK, linestyle=(0, (2, 2)), linewidth=1)
        panel.set_ylim(0, 2)
        dress(panel, f"x = {x:g}", "y", "density", legend=False)
        inside = y[density > 1]
        found[x] = (float(density.max()), float(inside.min()), float(inside.max()))
    sheet.number(
        "p at ε = 1", 1.64, found[0.0][0], within=0.01, digits=2, note="1.6487: cut off, not rounded"
    )
    sheet.number("x = 0: the window ends at", 0.38, found[0.0][2], within=0.005, digits=2)
    sheet.number("x = 0.5: it begins at", 0.31, found[0.5][1], within=0.005, digits=2)
    sheet.number("x = 0.5: it ends at", 0.69, found[0.5][2], within=0.005, digits=2)
    table = {f"x = {x:g}": m.density(x, y).tolist() for x in (0.0, 0.5)}
    sheet.tables[""] = curves(y, table)


@entry("ogpm", "example-6-1", "OGPM for data near x₀ = 0.2")
def example_6_1(run: Run, sheet: Sheet) -> None:
    near, worst = ogpm(1.0, "l1", at=0.2), ogpm(1.0, "l1")
    sheet.number("p₂", 1.54, float(near.density(0.2, 0.2)), within=0.01, digits=2, note="1.5459: cut off")
    sheet.number("error at x₀", 0.241, float(near.error(0.2, "l1")), within=6e-4, digits=3)
    sheet.number("error at x₀ of Theorem 3.7", 0.243, float(worst.error(0.2, "l1")), within=6e-4, digits=3)
    sheet.addition(
        "without a fixed uniform background",
        "error 0 at x₀",
        note="Over all ε-LDP mechanisms the best for one point is the constant x₀: the question makes "
        "sense only with a fixed background.",
    )


def _polar_total(first: float, total: float, loss: str) -> float:
    second = total - first
    p1, p2 = published_formulas.ogpm_density(first, loss), published_formulas.ogpm_density(second, loss)
    return endpoint_error(first, p1, 2) + circle_error(second, p2, 2)


def best_split(total: float, loss: str) -> tuple[float, float]:
    """(ε₁, total worst-case MSE) of the best split of ε over radius and angle."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda first: _polar_total(first, total, loss),
        bounds=(0.2, total - 0.2),
        method="bounded",
        options={"xatol": 1e-7},
    )
    return float(found.x), float(found.fun)


@entry("ogpm", "appendix-B-6", "Splitting ε = 1 + 2π over radius and angle (example 6.2)")
def appendix_b6(run: Run, sheet: Sheet) -> None:
    total = 1 + TURN
    grid = np.linspace(0.05, total - 0.05, 200)
    (panel,) = sheet.figure(1, size=(4.6, 3.2))
    sheet.statement(
        "ε₁ + ε₂ = 1 + 2π in the printed split (1.32, 5.69)",
        math.isclose(1.32 + 5.69, total, abs_tol=0.006),
        "1.32 + 5.69 = 7.01, not {total:.4f}",
        {"total": total},
    )
    table: dict[str, list[float]] = {}
    for loss, name, style in (("l1", "Theorems 3.7 and 4.2", "solid"), ("l2", "L2 root", (0, (5, 2)))):
        values = [_polar_total(float(e), total, loss) for e in grid]
        table[name] = values
        first, least = best_split(total, loss)
        panel.plot(grid, values, color=BLACK, linestyle=style, label=name)
        panel.plot([first], [least], "o", color=RED)
        split = {"first": first, "second": total - first, "error": least}
        note = "({first:.4f}, {second:.4f}), total {error:.5f}"
        if loss == "l1":
            claim = "optimal ε₁ with Theorems 3.7 and 4.2's p"
            sheet.number(claim, 1.32, first, within=0.02, digits=2, note=note, numbers=split)
        else:
            sheet.addition("optimal ε₁ with the L2 root", "{first:.3f}", split, note=note)
    panel.set_yscale("log")
    dress(panel, "ε₁ + ε₂ = 1 + 2π", "ε₁ (radius)", "total worst-case MSE")
    sheet.tables[""] = curves(grid, table)


@entry("ogpm", "figure-7", "OGPM in polar coordinates, ε = 1 + 2π")
def figure_7(run: Run, sheet: Sheet) -> None:
    first = best_split(1 + TURN, "l1")[0]
    second = 1 + TURN - first
    w1 = math.expm1(first / 2) / math.expm1(first)
    half = math.pi * math.expm1(second / 2) / math.expm1(second)
    axes = sheet.figure(2, size=(3.0, 3.0))
    truths = {"(0.8, π/4)": (0.8, math.pi / 4), "(0.5, π)": (0.5, math.pi)}
    rows = []

    for panel, (name, (r, angle)) in zip(axes, truths.items(), strict=True):
        low = min(max(r - w1 / 2, 0.0), 1 - w1)
        rows.append((r, angle, low, low + w1, angle - half, angle + half))
        arc = np.linspace(angle - half, angle + half, 60)
        outline = np.concatenate((low * np.exp(1j * arc), (low + w1) * np.exp(1j * arc[::-1])))
        panel.fill(outline.real, outline.imag, color=PINK, alpha=0.6, label="window")
        around = np.exp(1j * np.linspace(0, TURN, 300))
        panel.plot(around.real, around.imag, color=BLACK, linewidth=1)
        panel.plot([r * math.cos(angle)], [r * math.sin(angle)], "o", color=GREEN, label="truth")
        dress(panel, f"(r, θ) = {name}", "r cos θ", "r sin θ", legend="lower right", columns=2)
        panel.set_ylim(-1.5, 1.1)  # room for the legend below the circle
        panel.set_aspect("equal")
    names = ("r", "angle", "radius from", "radius to", "angle from", "angle to")
    sheet.addition(
        "window: radial length and angle",
        "{length:.3f} and {angle:.3f}",
        {"length": w1, "angle": 2 * half, "first": first, "second": second},
        note="drawn with the best split ({first:.4f}, {second:.4f}); the paper gives no numbers, and "
        "its split (1.32, 5.69) leaves 0.27 of ε unspent",
    )
    sheet.tables[""] = dict(zip(names, zip(*rows, strict=True), strict=True))
