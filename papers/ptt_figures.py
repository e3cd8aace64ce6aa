"""PTT paper: figures 1, 2 and 3, the roots of Eq. (6), the range of η in Eq. (29)."""

from __future__ import annotations

import math

import numpy as np

from papers.findings import Run
from papers.plots import BLACK, BLUE, GREEN, GREY, ORANGE, RED, curves, dress
from papers.registry import entry
from papers.sheet import Sheet, span
from sottovoce.arrays import FloatArray
from sottovoce.designs import published_formulas


def duchi_minus_laplace(epsilon: FloatArray, x: float) -> FloatArray:
    """F₁ of figure 1: the variance of Duchi's mechanism at x minus that of Laplace, on [−1, 1]."""
    return np.asarray(1 / np.tanh(epsilon / 2) ** 2 - x * x - 8 / epsilon**2)


def crossing(x: float) -> float | None:
    """The root ε of Eq. (6) for an input x, if there is one."""
    from scipy.optimize import brentq

    if abs(x) >= 1:
        return None
    high = 4 / math.sqrt(1 - x * x) + 10
    return float(brentq(lambda e: float(duchi_minus_laplace(np.array(e), x)), 1e-3, high))


@entry("ptt", "figure-1", "Where Laplace starts to beat Duchi: the roots of Eq. (6)")
def figure_1(run: Run, sheet: Sheet) -> None:
    epsilon = np.linspace(0.3, 10, 400)
    inputs = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
    roots = {x: crossing(x) for x in inputs}
    axes = sheet.figure(2)
    colours = (BLACK, BLUE, GREEN, ORANGE, RED, GREY)
    for x, colour in zip(inputs, colours, strict=True):
        gap = duchi_minus_laplace(epsilon, x)
        axes[0].plot(epsilon, gap, color=colour, label=f"A = {x:g}", linewidth=1.3)
        if (root := roots[x]) is not None:
            axes[0].plot([root], [0], "o", color=BLACK, markersize=4)
    axes[0].set_ylim(-2, 1.2)
    axes[0].axhline(0, color=BLACK, linewidth=0.7)
    dress(axes[0], "variance of Duchi − variance of Laplace", "ε", "F₁(ε, A)", columns=2)
    many = np.linspace(0, 0.995, 120)
    along = [crossing(float(x)) or math.nan for x in many]
    axes[1].plot(many, along, color=BLACK)
    axes[1].set_ylim(0, 30)
    dress(axes[1], "the root of Eq. (6)", "|A|", "ε", legend=False)
    below = float(duchi_minus_laplace(np.linspace(0.01, 1, 500)[:, None], 0.0).max())
    always = float(duchi_minus_laplace(np.linspace(0.01, 60, 6000), 1.0).max())
    for x, root in roots.items():
        if root is not None:
            sheet.addition(f"root at A = {x:g}", "{root:.4f}", {"root": root}, paper="a point in the plot")
    sheet.statement(
        "for ε in (0, 1] Duchi is better for every A", below < 0, "largest F₁ there {f1:.2f}", {"f1": below}
    )
    sheet.statement(
        "Eq. (6) has a unique solution for every A in [−1, 1]",
        always > 0,
        "none at |A| = 1",
        note="There F₁ = 1/sinh²(ε/2) − 8/ε² is negative for every ε because sinh u > u: at the ends "
        "Duchi is always better. The root goes to infinity as |A| → 1.",
    )
    table = {"A": many.tolist(), "root": along}
    sheet.tables[""] = table


def _f1(eta: FloatArray) -> FloatArray:
    d = 3 * (eta - 1) ** 2
    return np.asarray(((eta**3 + 1) / d - 3) ** 2 - 4 * (eta**3 / d - 4) * (1 / d - 1))


def _f2(eta: FloatArray) -> FloatArray:
    return np.asarray(eta**3 - 12 * eta**2 + 24 * eta - 12)


@entry("ptt", "figure-2", "The η of Eq. (29), and what they do")
def figure_2(run: Run, sheet: Sheet) -> None:
    eta = np.linspace(1.01, 14, 200_000)
    good = (_f1(eta) <= 0) & (_f2(eta) < 0)
    low, high = float(eta[good].min()), float(eta[good].max())
    connected = bool((np.diff(np.flatnonzero(good)) == 1).all())
    printed = (_f1(eta) > 0) & (_f2(eta) < 0) & (3 * (eta - 1) ** 2 >= 1)
    third = eta**3 + 3 * (eta - 1) ** 2 - 12 * eta + 13
    right_third = eta**3 + 1 - 9 * (eta - 1) ** 2
    as_printed, as_derived = eta[printed & (third <= 0)], eta[printed & (right_third <= 0)]
    epsilons = np.geomspace(0.05, 4, 60)
    axes = sheet.figure(2)
    axes[0].plot(eta, _f1(eta), color=BLUE, label="f₁")
    axes[0].plot(eta, _f2(eta), color=RED, linestyle=(0, (5, 2)), label="f₂")
    for edge in (low, high):
        axes[0].axvline(edge, color=BLACK, linestyle=(0, (2, 2)), linewidth=1)
    axes[0].axhline(0, color=BLACK, linewidth=0.7)
    axes[0].set_xlim(1, 11)
    axes[0].set_yscale("symlog", linthresh=1)
    axes[0].set_ylim(-200, 200)
    dress(axes[0], "Eq. (29)", "η", "f₁, f₂")
    table = {}
    for value, colour in ((low, GREEN), (1.9, BLUE), (high, RED)):
        ratio = np.array([fixed_eta_variance(float(e), value) / duchi_variance(float(e)) for e in epsilons])
        axes[1].plot(epsilons, ratio, color=colour, label=f"η = {value:.3f}")
        table[f"eta {value:.3f}"] = ratio
    best = np.array([best_ptt(float(e)) / duchi_variance(float(e)) for e in epsilons])
    axes[1].plot(epsilons, best, color=BLACK, linestyle=(0, (5, 2)), label="best q")
    axes[1].axhline(1, color=BLACK, linewidth=0.8)
    axes[1].set_xscale("log")
    axes[1].set_yscale("log")
    dress(axes[1], "worst-case variance, I-PTT / Duchi", "ε", "ratio")
    sheet.addition(
        "range of η in Eq. (29)",
        "({low:.4f}, {high:.4f})",
        {"low": low, "high": high},
        paper="two lines in the plot",
    )
    sheet.statement("the range is one interval and holds η = 1.9", connected and low < 1.9 < high, "yes")
    sheet.statement(
        "no η satisfies Eq. (30)",
        as_printed.size == 0,
        "{least:.3f} to {most:.3f}" if as_printed.size else "none",
        span(as_printed) if as_printed.size else {},
    )
    sheet.statement(
        "f₃ of Eq. (30) is the coefficient of t in Eq. (27)",
        bool(np.allclose(third, right_third)),
        "it should be η³ + 1 − 9(η−1)²",
        {"solutions": as_derived.size},
        note="With the right f₃, {solutions:.0f} of 200,000 η satisfy it.",
    )
    sheet.statement(
        "an η in this range beats Duchi for every ε (Theorem 9)",
        (table["eta 1.900"] < 1).all(),
        "η = 1.9: ratio {ratio:.3f} at ε = {at:.2f}",
        {"ratio": table["eta 1.900"].max(), "at": epsilons[table["eta 1.900"].argmax()]},
        note="Eq. (27) takes q = 1, with which the density does not integrate to one.",
    )
    sheet.tables[""] = curves(epsilons, table | {"best q": best})


def best_ptt(epsilon: float) -> float:
    """The least worst-case variance of I-PTT on [−1, 1]."""
    return published_formulas.ptt_worst_variance(epsilon, published_formulas.ptt_optimal_q(epsilon))


def fixed_eta_variance(epsilon: float, eta: float) -> float:
    """Worst-case variance on [−1, 1] of the normalised I-PTT with (k + a)/a = η."""
    e = math.exp(epsilon)
    a = (1 + e / (eta - 1)) / (e - 1)
    return published_formulas.ptt_worst_variance(epsilon, e / (a * (eta - 1) * (e - 1)))


def duchi_variance(epsilon: float, x: float = 0.0) -> float:
    """Eq. (5)."""
    return 1 / math.tanh(epsilon / 2) ** 2 - x * x


@entry("ptt", "figure-3", "The variance of I-PTT against q: one free parameter, one optimum")
def figure_3(run: Run, sheet: Sheet) -> None:
    q = np.linspace(0.05, 0.97, 300)
    axes = sheet.figure(2)
    table = {}
    styles = (
        (0.5, BLACK, "solid"),
        (1.0, BLUE, (0, (5, 2))),
        (2.0, GREEN, (0, (6, 2, 1, 2))),
        (4.0, RED, (0, (1, 1))),
    )
    for epsilon, colour, dash in styles:
        values = np.array([published_formulas.ptt_worst_variance(epsilon, float(z)) for z in q])
        best = published_formulas.ptt_optimal_q(epsilon)
        axes[0].plot(q, values, color=colour, linestyle=dash, label=f"ε = {epsilon:g}")
        axes[0].plot([best], [best_ptt(epsilon)], "o", color=colour, markersize=4)
        mass = np.array([theorem_4_mass(epsilon, float(z)) for z in q])
        axes[1].plot(q, mass, color=colour, linestyle=dash, label=f"ε = {epsilon:g}")
        table[f"variance {epsilon:g}"], table[f"mass {epsilon:g}"] = values, mass
    axes[0].set_yscale("log")
    axes[1].axhline(1, color=BLACK, linewidth=0.7)
    axes[1].set_ylim(0, 3)
    dress(axes[0], "worst-case variance, a tied to q", "q", "variance at A = ±1")
    dress(axes[1], "total mass with Eq. (19)'s a", "q", "∫ density")
    from scipy.optimize import brentq

    once = np.flatnonzero(np.diff(np.sign(table["mass 1"] - 1)))
    at = float(brentq(lambda z: theorem_4_mass(1.0, z) - 1, q[once[0]], q[once[0] + 1]))
    sheet.statement(
        "Theorem 4: for given ε and q there is an optimal a, Eq. (19)",
        np.abs(table["mass 1"] - 1).max() < 1e-6,
        "normalised only at q = {q:.3f} for ε = 1",
        {"q": at},
        note="Normalisation fixes a for each q: a = 1/((1−q)(E−1)). There is nothing left to optimise but q.",
    )
    sheet.addition(
        "the optimal q and its worst-case variance, ε = 1, 2, 4",
        ", ".join(f"{published_formulas.ptt_optimal_q(e):.4f} ({best_ptt(e):.4f})" for e in (1.0, 2.0, 4.0)),
        {"variance": published_formulas.ptt_worst_variance(1.0, at)},
        note="at Eq. (19)'s normalised q the variance is {variance:.4f} at ε = 1",
    )
    sheet.tables[""] = curves(q, table)


def theorem_4_mass(epsilon: float, q: float) -> float:
    """∫ of I-PTT's density with k from Eq. (10) and a from Eq. (19)."""
    e = math.exp(epsilon)
    k = e / (q * (e - 1))
    root = math.sqrt((e + 1) * (e - 1))
    a = k / (math.cbrt(e + root) + math.cbrt(e - root))
    p = e / (2 * a * k * (e - 1))
    return q + 2 * k * p / e
