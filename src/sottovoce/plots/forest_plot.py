"""Pictures of several estimates: one below the other (a forest plot), or over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sottovoce.errors import ArgumentError
from sottovoce.plots.distribution_plot import INK, SHADE, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sottovoce.estimates.estimate import Estimate

MOST_ROWS = 100


def draw_forest(
    names: Sequence[str], estimates: Sequence[Estimate], title: str, ax: Axes | None, *, zero: bool = False
) -> Axes:
    """A row for each estimate, its interval as a bar; `zero` marks where there is no difference."""
    if len(names) > MOST_ROWS:
        raise ArgumentError(
            f"a picture holds at most {MOST_ROWS} rows, got {len(names)}: a table holds them all", code="rows"
        )
    axes: Any = ax
    if axes is None:
        _, axes = pyplot().subplots(figsize=(6.4, 1.2 + 0.28 * len(names)), layout="constrained")
    places = range(len(names))
    axes.hlines(places, [e.low for e in estimates], [e.high for e in estimates], color=SHADE, linewidth=4)
    axes.plot([e.value for e in estimates], places, "o", color=INK, markersize=5)
    if zero:
        axes.axvline(0, color=INK, linewidth=0.8, linestyle=":")
    axes.set_yticks(places, [f"{name} (n={e.n:,})" for name, e in zip(names, estimates, strict=True)])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(estimates[0].what)
    axes.set_title(title, fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def draw_series(
    times: Sequence[Any],
    estimates: Sequence[Estimate],
    line: tuple[float, float],
    title: str,
    ax: Axes | None,
) -> Axes:
    """Estimates over time with their intervals, and the fitted line from its first to its last value."""
    axes: Any = pyplot().subplots(layout="constrained")[1] if ax is None else ax
    axes.vlines(times, [e.low for e in estimates], [e.high for e in estimates], color=SHADE, linewidth=4)
    axes.plot(times, [e.value for e in estimates], "o", color=INK, markersize=4)
    axes.plot([times[0], times[-1]], line, color=INK, linewidth=1.2)
    axes.set_ylabel(estimates[0].what)
    axes.set_title(title, fontsize="medium")
    axes.spines[["top", "right"]].set_visible(False)
    if not isinstance(times[0], int | float):
        axes.figure.autofmt_xdate()
    return axes
