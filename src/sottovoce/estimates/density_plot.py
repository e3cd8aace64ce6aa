"""Pictures of a distribution on bins: steps over an interval, a rose over a circle, the running share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.core.arrays import FloatArray
from sottovoce.core.errors import ArgumentError, require_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SHADE = "#1f4e79", "#9db8d2"

Band = tuple[FloatArray, FloatArray] | None


def pyplot() -> Any:
    """matplotlib's, where it is installed."""
    require_extra("plots", "a picture")
    import matplotlib.pyplot as plt

    return plt


def new_axes(*, polar: bool) -> Any:
    """Axes of a new figure."""
    return pyplot().subplots(subplot_kw={"projection": "polar"} if polar else {}, layout="constrained")[1]


def draw_steps(
    edges: FloatArray,
    probabilities: FloatArray,
    band: Band,
    *,
    names: tuple[str, str],
    ax: Axes | None,
    log: bool = False,
) -> Axes:
    """A density in steps, shaded between two others; `names` are those of both in the legend."""
    axes: Axes = new_axes(polar=False) if ax is None else ax
    width = np.diff(np.log10(edges) if log else edges)
    if band is not None:
        low, high = (np.append(side / width, (side / width)[-1]) for side in band)
        axes.fill_between(edges, low, high, step="post", color=SHADE, alpha=0.6, linewidth=0, label=names[1])
    axes.stairs(probabilities / width, edges, color=INK, linewidth=1.6, label=names[0])
    ylabel = "share per factor of ten" if log else "density"
    axes.set(xlabel="value", ylabel=ylabel, xlim=(edges[0], edges[-1]), ylim=(0, None))
    return _finished(axes, log)


def draw_cumulative(
    edges: FloatArray,
    shares: FloatArray,
    band: Band,
    *,
    names: tuple[str, str],
    ax: Axes | None,
    log: bool = False,
) -> Axes:
    """The share of people up to each value, in its band: between edges that is as wide as both ends allow."""
    axes: Axes = new_axes(polar=False) if ax is None else ax
    if band is not None:
        low, high = np.append(band[0][:-1], 1.0), np.append(band[1][1:], 1.0)
        axes.fill_between(edges, low, high, step="post", color=SHADE, alpha=0.6, linewidth=0, label=names[1])
    axes.plot(edges, shares, color=INK, linewidth=1.6, label=names[0])
    axes.set(xlabel="value", ylabel="share of people up to it", xlim=(edges[0], edges[-1]), ylim=(0, 1))
    return _finished(axes, log)


def draw_rose(
    edges: FloatArray, probabilities: FloatArray, band: Band, *, names: tuple[str, str], ax: Axes | None
) -> Axes:
    """Petals with area proportional to probability: radius √p. Zero on top, clockwise, as on a clock."""
    axes: Any = new_axes(polar=True) if ax is None else ax
    if axes.name != "polar":
        raise ArgumentError(
            "ax must be a polar axes for a circle: plt.subplot(projection='polar')", argument="ax"
        )
    around, bins = edges[-1] - edges[0], len(probabilities)
    angle = 2 * np.pi * (edges - edges[0]) / around
    axes.bar(angle[:-1], np.sqrt(probabilities * bins), np.diff(angle), align="edge", color=SHADE,
             edgecolor="white", linewidth=0.3, label=names[0])  # fmt: skip
    if band is not None:
        low, high = (np.sqrt(side * bins) for side in band)
        axes.vlines((angle[:-1] + angle[1:]) / 2, low, high, color=INK, linewidth=1.0, label=names[1])
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    ticks = np.arange(8) / 8
    axes.set_xticks(2 * np.pi * ticks, [f"{edges[0] + around * tick:g}" for tick in ticks])
    axes.set_yticks([1.0], ["uniform"])
    axes.set_rlabel_position(np.degrees(angle[int(np.argmin(probabilities))]))  # where petals are short
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.15, -0.1))
    return axes


def _finished(axes: Axes, log: bool) -> Axes:
    if log:
        axes.set_xscale("log")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return axes
