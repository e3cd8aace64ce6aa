"""The window on a flat background and on the best one (docs/explanation/window.md).

python -m tools.figures window
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

GROUND, EXTRA = "#b8c4cf", "#1f5f99"


def draw() -> dict[str, Any]:
    figure = plt.figure(figsize=(8.0, 4.2), layout="constrained")
    left, right = figure.subfigures(1, 2)
    flat(left)
    best(right)
    return {"window.svg": figure}


def flat(part: Any) -> None:
    """OGPM at ε = 1 for three true values, one below the other."""
    m = sv.ogpm(epsilon=1.0, cells=2000, loss="l1")
    values = (0.1, 0.5, 0.8)
    for ax, x in zip(part.subplots(len(values), sharex=True, sharey=True), values, strict=True):
        density = m.probabilities(x) * m.cells
        bends = np.flatnonzero(np.diff(density, prepend=0.0))  # where a piece begins
        ax.stairs(density[bends], [*m.edges[bends], 1.0], fill=True, color=EXTRA)
        ax.stairs([density.min()], [0.0, 1.0], fill=True, color=GROUND)
        ax.axvline(x, color="#c0562b", linestyle=":", linewidth=1.4)
        ax.text(x, 1.08, f"x = {x:g}", transform=ax.get_xaxis_transform(), ha="center", fontsize="small")
        ax.set(xlim=(0, 1), ylim=(0, 1.8), yticks=[0, 1])
        ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("report y")
    part.supylabel("density", fontsize="medium")


def best(part: Any) -> None:
    """The optimum for absolute error at ε = 2: atoms, with the extra weight of one window on top."""
    m = sv.optimal(epsilon=2.0, question="value", loss="l1")
    y = m.decode(np.arange(m.cells))
    values = (0.1, 0.5, 0.8)
    for ax, x in zip(part.subplots(len(values), sharex=True), values, strict=True):
        share, ground = m.probabilities(x), m.window.a / m.window.total
        ax.vlines(y, 0, share, color=EXTRA, linewidth=2.0)
        ax.vlines(y, 0, ground, color=GROUND, linewidth=2.0)
        ax.axvline(x, color="#c0562b", linestyle=":", linewidth=1.4)
        ax.text(x, 1.08, f"x = {x:g}", transform=ax.get_xaxis_transform(), ha="center", fontsize="small")
        ax.set(xlim=(-0.01, 1.01), ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel("report y")
    part.supylabel("probability", fontsize="medium")
