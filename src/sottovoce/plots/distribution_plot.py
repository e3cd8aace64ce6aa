"""Pictures of a distribution on bins: a ribbon over an interval or around a circle, the running share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, require_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SHADE = "#1f4e79", "#9db8d2"
_SOFT, _TINT = "#5b6b7b", 0.55
_RIBBON = "about nine places in ten"
_EVEN = "if all were equally common"
_COMMON = "appear most common"

Band = tuple[FloatArray, FloatArray] | None


def pyplot() -> Any:
    """matplotlib's, where it is installed."""
    require_extra("analysis", "a picture", "matplotlib")
    import matplotlib.pyplot as plt

    return plt


def new_axes(*, polar: bool) -> Any:
    """Axes of a new figure."""
    return pyplot().subplots(subplot_kw={"projection": "polar"} if polar else {}, layout="constrained")[1]


class Curve(NamedTuple):
    """What a picture of a distribution shows.

    Attributes:
        edges: Of equal bins, in the units of the domain.
        probabilities: Of the bins.
        ribbon: Limits for them.
        line: Whether to draw the curve itself.
        common: The ranges where values appear to be most common.
        name: Of the curve, in the legend.
    """

    edges: FloatArray
    probabilities: FloatArray
    ribbon: Band
    line: bool
    common: Sequence[tuple[float, float]]
    name: str


def draw_ribbon(curve: Curve, *, ax: Axes | None, log: bool = False) -> Axes:
    """A density as a thin line in its ribbon, both joined at the middles of bins."""
    axes: Axes = new_axes(polar=False) if ax is None else ax
    edges, line = curve.edges, np.log10(curve.edges) if log else curve.edges
    width, even = line[1] - line[0], 1 / (line[-1] - line[0])
    middles = (line[1:] + line[:-1]) / 2
    x = np.concatenate((edges[:1], 10**middles if log else middles, edges[-1:]))

    def ended(shares: FloatArray) -> FloatArray:
        return np.pad(shares, 1, mode="edge") / width

    if curve.ribbon is not None:
        low, high = map(ended, curve.ribbon)
        axes.fill_between(x, low, high, color=SHADE, alpha=_TINT, linewidth=0, label=_RIBBON)
    if curve.line:
        axes.plot(x, ended(curve.probabilities), color=INK, linewidth=1.2, label=curve.name)
    axes.axhline(even, color=_SOFT, linewidth=1, linestyle=":", label=_EVEN)
    bar: dict[str, Any] = {"color": INK, "linewidth": 6, "solid_capstyle": "butt", "clip_on": False}
    for i, ends in enumerate(curve.common):
        label = _COMMON if i == 0 else None
        axes.plot(ends, (-0.02, -0.02), transform=axes.get_xaxis_transform(), label=label, **bar)
    axes.tick_params(axis="x", pad=10)
    ylabel = "share per factor of ten" if log else "density"
    top = max(axes.get_ylim()[1], 2 * even)
    axes.set(xlabel="value", ylabel=ylabel, xlim=(edges[0], edges[-1]), ylim=(0, top))
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


def draw_rose(curve: Curve, *, ax: Axes | None) -> Axes:
    """The same around a circle, areas are probabilities: radius √p. Zero on top, clockwise, as on a clock."""
    axes: Any = new_axes(polar=True) if ax is None else ax
    if axes.name != "polar":
        raise ArgumentError(
            "ax must be a polar axes for a circle: plt.subplot(projection='polar')", argument="ax"
        )
    edges, bins = curve.edges, len(curve.probabilities)
    around = edges[-1] - edges[0]
    angle = 2 * np.pi * (np.arange(bins + 1) + 0.5) / bins  # the first middle once more at the end

    def radius(shares: FloatArray) -> FloatArray:
        return np.sqrt(np.append(shares, shares[0]) * bins)

    if curve.ribbon is not None:
        low, high = map(radius, curve.ribbon)
        axes.fill_between(angle, low, high, color=SHADE, alpha=_TINT, linewidth=0, label=_RIBBON)
    if curve.line:
        axes.plot(angle, radius(curve.probabilities), color=INK, linewidth=1.2, label=curve.name)
    turn = np.linspace(0, 2 * np.pi, 181)
    axes.plot(turn, np.ones_like(turn), color=_SOFT, linewidth=1, linestyle=":", label=_EVEN)
    top = max(axes.get_ylim()[1], np.sqrt(2))
    for i, ends in enumerate(curve.common):
        start, end = (2 * np.pi * (one - edges[0]) / around for one in ends)
        arc = np.linspace(start, end, 91)
        label = _COMMON if i == 0 else None
        axes.plot(arc, np.full_like(arc, top), color=INK, linewidth=6, solid_capstyle="butt", clip_on=False,
                  label=label)  # fmt: skip
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_ylim(0, top)
    ticks = np.arange(8) / 8
    axes.set_xticks(2 * np.pi * ticks, [f"{edges[0] + around * tick:g}" for tick in ticks])
    axes.set_yticks([])
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    return axes


def _finished(axes: Axes, log: bool) -> Axes:
    if log:
        axes.set_xscale("log")
    axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    axes.spines[["top", "right"]].set_visible(False)
    return axes
