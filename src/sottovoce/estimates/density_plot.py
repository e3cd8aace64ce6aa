"""Pictures of a distribution: steps over an interval, a rose over a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.core.errors import MissingExtra

if TYPE_CHECKING:
    from sottovoce.estimates.histogram import Distribution

_INK, _SHADE = "#1f4e79", "#9db8d2"


def draw_distribution(d: Distribution, ax: Any, label: str | None) -> Any:
    """Steps with a band over an interval, a rose over a circle; returns the axes."""
    ax = ax if ax is not None else new_axes(polar=d.domain.is_circle)
    if d.domain.is_circle:
        if ax.name != "polar":
            raise ValueError("ax must be a polar axes for a circle: plt.subplot(projection='polar')")
        _rose(d, ax, label)
    else:
        _steps(d, ax, label)
    return ax


def new_axes(*, polar: bool) -> Any:
    """Axes of a new figure."""
    return pyplot().subplots(subplot_kw={"projection": "polar"} if polar else {}, layout="constrained")[1]


def pyplot() -> Any:
    """matplotlib's, where it is installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a picture", "plots") from None
    return plt


def _steps(d: Distribution, ax: Any, label: str | None) -> None:
    width = np.diff(d.edges)
    if d.low is not None and d.high is not None:
        low, high = (np.append(side / width, (side / width)[-1]) for side in (d.low, d.high))
        name = f"{d.confidence:.0%} band"
        ax.fill_between(d.edges, low, high, step="post", color=_SHADE, alpha=0.6, linewidth=0, label=name)
    ax.stairs(d.density, d.edges, color=_INK, linewidth=1.6, label=label or "reconstruction")
    ax.set(xlabel="value", ylabel="density", xlim=(d.edges[0], d.edges[-1]), ylim=(0, None))
    ax.set_title(f"{d.n:,} reports, ε = {d.epsilon:g}", fontsize="medium")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


def _rose(d: Distribution, ax: Any, label: str | None) -> None:
    """Petals with area proportional to probability: radius √p. Zero on top, clockwise, as on a clock."""
    angle = 2 * np.pi * (d.edges - d.domain.low) / d.domain.width
    bins, width = len(d.probabilities), np.diff(angle)
    ax.bar(angle[:-1], np.sqrt(d.probabilities * bins), width, align="edge", color=_SHADE, edgecolor="white",
           linewidth=0.3, label=label or "reconstruction")  # fmt: skip
    if d.low is not None and d.high is not None:
        middle = (angle[:-1] + angle[1:]) / 2
        low, high = np.sqrt(d.low * bins), np.sqrt(d.high * bins)
        ax.vlines(middle, low, high, color=_INK, linewidth=1.0, label=f"{d.confidence:.0%} band")
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    ticks = np.arange(8)
    ax.set_xticks(2 * np.pi * ticks / 8, [f"{d.domain.low + d.domain.width * k / 8:g}" for k in ticks])
    ax.set_yticks([1.0], ["uniform"])
    ax.set_rlabel_position(np.degrees(angle[int(np.argmin(d.probabilities))]))  # where petals are short
    ax.set_title(f"{d.n:,} reports, ε = {d.epsilon:g}", fontsize="medium")
    ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.15, -0.1))
