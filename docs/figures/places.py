"""Maps of places: fifty thousand people around three towns, and what their reports show.

python -m tools.figures places     # writes docs/figures/places-map.png and prints the numbers
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

BOX = ((13.1, 13.7), (52.35, 52.67))
TOWNS = np.array([[13.30, 52.47], [13.52, 52.53], [13.40, 52.60]])


def people(n: int, rng: np.random.Generator) -> np.ndarray:
    which = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    spread = np.array([0.05, 0.025, 0.03])[which][:, None]
    return np.asarray(TOWNS[which] + rng.normal(size=(n, 2)) * spread * np.array([1.0, 0.6]))


def draw() -> dict[str, Any]:
    x = people(50_000, np.random.default_rng(1))
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained", sharex=True, sharey=True)
    maps = []
    for epsilon in (1.0, 4.0):
        m = sv.place(epsilon, box=BOX, degrees=True)
        t = sv.Tally(m, m.report(x, rng=2, clip=True))
        maps.append(sv.heatmap(t))
        print(f"ε = {epsilon:g}; truth {x.mean(axis=0).round(4)}", *sv.mean_position(t), sep="\n")
        share = ((x[:, 0] < 13.4) & (x[:, 1] < 52.55)).mean()
        print(sv.region_share(t, ((13.1, 13.4), (52.35, 52.55))), f"truth {share:.4f}")
    h = maps[0]
    rows, columns = h.area.points
    row, column = (np.rint(c).astype(int) for c in h.area.steps(h.area.bring_inside(x)))
    counts = np.bincount(row * columns + column, minlength=rows * columns).reshape(rows, columns)
    truth = 100 * counts / len(x) / h.areas
    shown = [(f"{len(x):,} people", truth)]
    shown += [(f"from their reports, ε = {one.epsilon:g}", 100 * one.density) for one in maps]
    for ax, (title, density) in zip(axes, shown, strict=True):
        mesh = ax.pcolormesh(
            h.positions[0, :, 0], h.positions[:, 0, 1], density, cmap="magma_r", vmin=0, vmax=truth.max()
        )
        ax.set_aspect(h.area.scale[1] / h.area.scale[0])
        ax.set_title(title, fontsize="medium")
        ax.set(xlabel="longitude")
    axes[0].set(ylabel="latitude")
    figure.colorbar(mesh, ax=axes, shrink=0.9, label="% of people per km²")
    return {"places-map.png": figure}
