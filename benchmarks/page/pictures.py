"""The two pictures of the page: who privatises how fast, and how a step of EMS grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sottovoce.core.errors import MissingExtra

OURS, THEIRS, FLOOR = "#0072B2", "#999999", "#E69F00"


def draw_speed(rows: list[tuple[str, float, str]], path: Path) -> None:
    """Bars of (label, values a second, whose); logarithmic: five orders of magnitude."""
    drawn, panel = _panel(7.2, 0.6 + 0.21 * len(rows))
    colour = {"ours": OURS, "peer": THEIRS, "floor": FLOOR}
    places = range(len(rows))
    panel.barh(
        places,
        [speed / 1e6 for _, speed, _ in rows],
        color=[colour[whose] for _, _, whose in rows],
        height=0.72,
    )
    panel.set_yticks(places, [label for label, _, _ in rows], fontsize=7.5)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.set_axisbelow(True)
    panel.set_xscale("log")
    panel.set_xlabel("million values a second, one core")
    panel.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    handles = [_patch(colour[key], name) for key, name in _NAMES.items()]
    panel.legend(handles=handles, frameon=False, fontsize=8, loc="lower right")
    drawn.savefig(path)


_NAMES = {"ours": "sottovoce", "peer": "peers", "floor": "the floor: random numbers alone"}


def draw_bins(rows: list[dict[str, float]], path: Path) -> None:
    """Microseconds of one step of EMS by the number of bins."""
    drawn, panel = _panel(5.2, 3.2)
    bins = [row["bins"] for row in rows]
    looks = {"dense": (THEIRS, "o", "dense matrix, as published"), "numpy": (OURS, "s", "sottovoce, numpy")}
    looks["numba"] = (OURS, "^", "sottovoce, numba")
    for key, (colour, marker, label) in looks.items():
        if key in rows[0]:
            dash = "--" if key == "numpy" else "-"
            times = [1e6 * row[key] for row in rows]
            panel.plot(bins, times, color=colour, marker=marker, linestyle=dash, label=label)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(bins, [f"{int(size)}" for size in bins])
    panel.set_xlabel("bins")
    panel.set_ylabel("µs a step")
    panel.grid(True, color="#dddddd", linewidth=0.6)
    panel.legend(frameon=False, fontsize=8)
    drawn.savefig(path)


def _panel(width: float, height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("the pictures of the benchmarks page", "plots") from None
    drawn = Figure(figsize=(width, height), dpi=110, layout="constrained")
    FigureCanvasAgg(drawn)
    panel = drawn.add_subplot()
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    return drawn, panel


def _patch(colour: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label)
