"""The demo's one picture: the truth that nobody collected, and what the collector could reconstruct."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtra

_TRUTH, _ESTIMATE = "#9a9a9a", "#0b5fa5"


def save(values: NDArray[np.float64], results: dict[str, Any], epsilon: float, path: Path) -> None:
    """Draw the true values and the collector's results into a PNG."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra("the picture", "plots") from error

    shape = results["distribution"]
    edges, width = np.array(shape["edges"]), shape["edges"][1] - shape["edges"][0]
    shares, variation = np.array(shape["probabilities"]), np.array(shape["variation"])
    figure = Figure(figsize=(9, 4.8), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.hist(
        values,
        bins=edges.tolist(),
        density=True,
        color=_TRUTH,
        alpha=0.5,
        label="the truth (never collected)",
    )
    low, high = (np.append(side, side[-1]) / width for side in (shares - variation, shares + variation))
    axes.fill_between(
        edges, low, high, step="post", color=_ESTIMATE, alpha=0.2, label="± one standard deviation"
    )
    axes.stairs(shares / width, edges, color=_ESTIMATE, linewidth=2, label="estimate")
    mean = results["mean"]
    if mean is not None:
        axes.axvspan(mean["low"], mean["high"], color="#c4510c", alpha=0.18, label="mean, 95 % interval")
        axes.axvline(mean["value"], color="#c4510c", linewidth=1.5)
    axes.axvline(float(values.mean()), color="black", linewidth=1, linestyle=":", label="true mean")
    axes.set_xlim(0, 24)
    axes.set_xticks(range(0, 25, 3), [f"{hour}:00" for hour in range(0, 25, 3)])
    axes.set_xlabel("time of departure")
    axes.set_ylabel("share per hour")
    axes.set_title(f"{len(values):,} people, ε = {epsilon:g}, one randomised report each")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
