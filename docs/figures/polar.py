"""Pictures of polar reports: Figure 7 of the OGPM paper with the right division of ε, and heat maps.

python -m tools.figures polar     # writes docs/figures/polar-*.png and prints the numbers
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm

import sottovoce as sv
from sottovoce.estimates.polar_density import polar_density
from sottovoce.estimates.position import mean_position
from sottovoce.surveys.polar import certificate

TOTAL = 1 + 2 * math.pi


def figure_7() -> Any:
    """Where reports are likelier, for two positions; and the curve that was optimised."""
    m = sv.polar(TOTAL, design="ogpm")
    best = sv.polar(TOTAL)
    print(f"OGPM: {m}, worst {m.worst_error():.5f}; certificate limit {certificate(m).limit:.5f}")
    print(f"optimal: {best}, worst {best.worst_error():.5f}, ratio {certificate(best).ratio:.4f}")
    figure = plt.figure(figsize=(10, 3.8), layout="constrained")
    for place, (r, theta) in enumerate(((0.8, math.pi / 3), (0.4, 5.5)), 1):
        ax = figure.add_subplot(1, 3, place, projection="polar")
        radii, angles = (m.distance.edges, m.angle.edges)
        likely = [
            part.counts([x])[0] > part.window.a * 1.5 for part, x in ((m.distance, r), (m.angle, theta))
        ]
        both = np.add.outer(likely[0].astype(int), likely[1].astype(int))
        ax.pcolormesh(angles, radii, both, cmap="RdPu", vmin=0, vmax=3.2, shading="flat", rasterized=True)
        ax.plot(theta, r, "o", color="#009E73", markersize=7, markeredgecolor="white")
        ax.set(ylim=(0, 1), yticklabels=[], xticklabels=[])
        ax.grid(False)
        ax.set_title(f"truth at ({r:g}, {theta:.2f})", fontsize="medium")
    ax = figure.add_subplot(1, 3, 3)
    parts = [partial(sv.ogpm, domain=domain, cells=512) for domain in ((0, 1), sv.Circle())]
    split = sv.split_budget(TOTAL, parts, "l2")
    split.plot(0, ax)
    printed = (1.32, float(np.interp(1.32, *split.curve(0))))
    ax.plot(*printed, "x", color="0.3")
    ax.annotate(
        "printed:\n1.32 + 5.69 = 7.01",
        printed,
        xytext=(0.6, 1.7),
        color="0.3",
        arrowprops={"arrowstyle": "-", "color": "0.6"},
    )
    ax.set(xlabel="ε of the distance (of 7.283)", ylabel="total worst-case squared error", xlim=(0, 7.28))
    ax.set_title(f"optimum {m.distance.epsilon:.2f} + {m.angle.epsilon:.2f}", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def heat_maps() -> Any:
    """Fifty thousand people around two places: the truth, and what their reports show."""
    rng, n = np.random.default_rng(1), 50_000
    first = rng.random(n) < 0.6
    x = np.where(first, rng.normal(3, 1, n), rng.normal(-4, 0.8, n))
    y = np.where(first, rng.normal(2, 1, n), rng.normal(-2, 1.2, n))
    inside = np.hypot(x, y) <= 10
    x, y = x[inside], y[inside]
    figure, axes = plt.subplots(
        1, 3, figsize=(9.4, 3.7), layout="constrained", subplot_kw={"projection": "polar"}
    )
    radii, angles = np.linspace(0, 10, 17), np.linspace(0, 2 * math.pi, 33)
    counts = np.histogram2d(np.hypot(x, y), np.mod(np.arctan2(y, x), 2 * math.pi), bins=(radii, angles))[0]
    area = np.diff(radii**2)[:, None] / 2 * np.diff(angles)
    people = counts / len(x) / area
    # One scale for all, spread where it is low: otherwise ε = 2 would hardly show.
    colours = PowerNorm(0.5, 0, people.max())
    mesh = axes[0].pcolormesh(angles, radii, people, cmap="magma_r", norm=colours)
    axes[0].set_title(f"{len(x):,} people", fontsize="medium")
    for ax, epsilon in zip(axes[1:], (2.0, 4.0), strict=True):
        m = sv.polar(epsilon, 10.0, design="unbiased")
        t = sv.Tally(m, m.report(np.column_stack((x, y)), rng=2))
        a, b = mean_position(t)
        print(f"ε = {epsilon:g}, n = {t.n}; truth {x.mean():.3f}, {y.mean():.3f}")
        print(a, b, sep="\n")
        ax.pcolormesh(angles, radii, polar_density(t).density, cmap="magma_r", norm=colours)
        ax.set_title(f"from their reports, ε = {epsilon:g}", fontsize="medium")
    for ax in axes:
        ax.grid(False)
        ax.set(xticks=[], yticks=[])
    figure.colorbar(
        mesh, ax=axes, shrink=0.75, label="density per unit of area", ticks=[0, 0.01, 0.02, 0.04, 0.08]
    )
    return figure


def draw() -> dict[str, Any]:
    return {"polar-split.png": figure_7(), "polar-density.png": heat_maps()}
