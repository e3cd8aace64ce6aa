"""How every picture looks: colours that differ in print, lines that differ without colour.

The palette is Okabe and Ito's and a brown; a mechanism keeps its colour and dash in all pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sottovoce.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BROWN, BLUE, RED, PINK, GREY = "#7A5C00", "#0072B2", "#D55E00", "#CC79A7", "#777777"

_DASH = {"dashed": (0, (5, 2)), "dotted": (0, (1, 1.5)), "dashdot": (0, (6, 2, 1, 2)), "long": (0, (10, 3))}
#: First word of a label → colour and dash.
LINES: dict[str, tuple[str, Any]] = {
    "OGPM": (BLACK, "solid"),
    "OGPM-U": (GREY, _DASH["dashed"]),
    "PM-C": (RED, _DASH["dashed"]),
    "SW-C": (BLUE, _DASH["dashdot"]),
    "PM": (RED, _DASH["dotted"]),
    "SW": (BLUE, _DASH["dotted"]),
    "T-PM": (RED, _DASH["long"]),
    "T-SW": (BLUE, _DASH["long"]),
    "Laplace": (BROWN, _DASH["dotted"]),
    "T-Laplace": (BROWN, _DASH["dashed"]),
    "B-Laplace": (PINK, _DASH["dashdot"]),
    "Staircase": (ORANGE, _DASH["dashed"]),
    "Purkayastha": (RED, _DASH["dashed"]),
    "von": (BLUE, _DASH["dashdot"]),
    "Duchi": (ORANGE, _DASH["dashdot"]),
    "Hybrid": (SKY, _DASH["dashed"]),
    "I-PTT": (BLUE, _DASH["dashed"]),
    "II-PTT": (PINK, _DASH["dashdot"]),
    "optimum": (GREEN, "solid"),
    "limit": (GREEN, _DASH["dotted"]),
}


def figure(
    panels: int = 1, *, rows: int = 1, size: tuple[float, float] = (3.6, 2.9)
) -> tuple[Figure, list[Axes]]:
    """A figure of equal panels, without touching matplotlib's global state."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing the papers' figures", "analysis") from None
    columns = -(-panels // rows)
    drawn = Figure(figsize=(size[0] * columns, size[1] * rows), dpi=150, layout="constrained")
    FigureCanvasAgg(drawn)
    axes = [drawn.add_subplot(rows, columns, i + 1) for i in range(panels)]
    for one in axes:
        one.grid(True, color="#dddddd", linewidth=0.6)
        one.set_axisbelow(True)
        one.tick_params(which="both", labelsize=8)
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    return drawn, axes


def line(axes: Axes, x: Any, y: Any, label: str, **more: Any) -> None:
    """A curve in the colour and dash of its mechanism."""
    colour, dash = LINES.get(label.split(" ")[0].split(",")[0], (BLACK, "solid"))
    width = 2.4 if label == "optimum" else 1.6
    style = {"color": colour, "linestyle": dash, "linewidth": width, "label": label} | more
    axes.plot(x, y, **style)


def dress(axes: Axes, title: str, x: str, y: str, *, legend: bool | Any = True, columns: int = 1) -> None:
    """Title, axis names and the legend."""
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    if legend:
        place: Any = legend if isinstance(legend, str) else "best"
        axes.legend(fontsize=7, frameon=True, framealpha=0.9, loc=place, ncols=columns, handlelength=3.2)


def curves(x: Iterable[float], named: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a CSV file: the abscissa first."""
    return {"x": list(x), **{name: list(values) for name, values in named.items()}}
