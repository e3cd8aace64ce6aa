"""Hourglass paper: the formulas behind the figures, as printed and as they must be."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from papers.findings import Run
from papers.registry import entry
from papers.sheet import Sheet
from sottovoce.arrays import FloatArray
from sottovoce.central.noise.hourglass import sigma2
from sottovoce.laws.staircase import Stairs, staircase


def staircase_level(x: ArrayLike, gamma: float) -> FloatArray:
    """J(x): ⌊x + 1 − γ⌋ for x ≥ 0, mirrored below."""
    x = np.asarray(x, dtype=np.float64)
    return np.copysign(np.floor(np.abs(x) + 1 - gamma), x) + 0.0


def hourglass_density(x: ArrayLike, k: ArrayLike, epsilon: float, gamma: float) -> FloatArray:
    """Eq. (7): density at (x, k − x), along the diagonal that sums to the integer k."""
    level = staircase_level(x, gamma)
    exponent = np.abs(level) + np.abs(np.asarray(k) - level)
    peak = Stairs(epsilon, gamma).density(np.zeros(()))
    return peak * math.tanh(epsilon / 2) * np.exp(-epsilon * exponent)


def staircase2d_normaliser(epsilon: float, gamma: float) -> float:
    """a(γ) of Definition 3; its first term is printed without a factor 2.

    (1 − b)² / (2·(2b(b + (1 − b)γ) + (1 − b)(b + (1 − b)γ²)))
    """
    b, c = math.exp(-epsilon), -math.expm1(-epsilon)
    return c * c / (2 * (2 * b * (b + c * gamma) + c * (b + c * gamma**2)))


def printed_normaliser(epsilon: float, gamma: float) -> float:
    """a(γ) of Definition 3 as printed."""
    b = math.exp(-epsilon)
    return (1 - b) ** 2 / (2 * (b * (b + (1 - b) * gamma) + (1 - b) * (b + (1 - b) * gamma**2)))


def lemma_4_gap(epsilon: float, gamma: float, *, ceiling: bool) -> float:
    """The largest difference between Lemma 4 and the conditional law that Eq. (7) gives, for x ≥ 0."""
    x = np.linspace(0.001, 3.999, 400)[:, None]
    k = np.arange(-30, 40)[None, :]
    conditional = hourglass_density(x, k, epsilon, gamma) / Stairs(epsilon, gamma).density(x)
    mode = np.ceil(x + 1 - gamma) if ceiling else np.floor(x + 1 - gamma)
    lemma = math.tanh(epsilon / 2) * np.exp(-epsilon * np.abs(k - mode))
    return float(np.abs(lemma - conditional).max())


@entry("hourglass", "formulas", "Lemma 4, Definition 3, appendix D.1 and σ²(ε)")
def formulas(run: Run, sheet: Sheet) -> None:
    epsilon, gamma = 1.0, 0.4
    as_printed, floor = (lemma_4_gap(epsilon, gamma, ceiling=c) for c in (True, False))
    mass = printed_normaliser(epsilon, gamma) / staircase2d_normaliser(epsilon, gamma)
    b = math.exp(-epsilon)
    series = 1 + 2 * sum(b**y for y in range(1, 200))
    sheet.statement(
        "Lemma 4, Eq. (10): the mode of y given x ≥ 0 is −x + ⌈x + 1 − γ⌉",
        as_printed < 1e-9,
        "off by {printed:.2f}; with ⌊x + 1 − γ⌋ by {floor:.0e}",
        {"printed": as_printed, "floor": floor},
    )
    sheet.number(
        "Definition 3: total mass of the 2-d staircase at ε = 1, γ = 0.4",
        1.0,
        mass,
        within=1e-6,
        digits=2,
        note="The first term of the denominator must be 2b(b + (1 − b)γ).",
    )
    sheet.number(
        "appendix D.1: Σ e^(−ε|y|) over the integers, ε = 1",
        (1 - b) / (1 + b),
        series,
        within=1e-6,
        digits=3,
        note="It is (1 + b)/(1 − b), not its inverse; the final c(γ) is right.",
    )
    for e in (0.5, 1.0, 4.0, 8.0):
        sheet.addition(
            f"σ²({e:g}) of Eq. (2), from the staircase law",
            "{law:.6g}",
            {"law": staircase(e, loss="l2").worst_variance(), "central": sigma2(e)},
            note="the central part computes {central:.6g}",
        )
