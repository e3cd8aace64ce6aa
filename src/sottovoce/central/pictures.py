"""Pictures of the sensitivity space and of the hourglass (Figures 1, 2a and 2b of the paper)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sottovoce.central.analysis import staircase_level
from sottovoce.core.errors import MissingExtra

_RED, _ORANGE, _BLUE, _INK = "#b3372f", "#d98a1f", "#1f4e79", "#222222"


def sensitivity_space() -> Any:
    """Figure 1: what one person can change, and the balls that the Laplace mechanisms protect.

    From left to right: the sums of x and of 1 − x (Algorithm 3), sum and count, the shifted sum and half
    the count (Algorithm 2), for values in [0, 1]. Returns a matplotlib figure.
    """
    figure, axes = _new(3)
    titles = ("Algorithm 3's frame", "all three", "Algorithm 2's frame")
    labels = (("sum of x", "sum of 1 − x"), ("sum of x", "count"), ("sum of x − ½", "half the count"))
    frames = (np.array([[1, 0], [-1, 1]]), np.eye(2), np.array([[1, -0.5], [0, 0.5]]))
    one_person = np.array([[0, 1], [1, 1]])  # (sum, count) of one person at 0 and at 1
    diamond = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]])
    balls = {
        "Algorithm 1": (_RED, diamond * 2),
        "Algorithm 2": (_ORANGE, diamond @ np.linalg.inv(frames[2]).T),
        "Algorithm 3": (_BLUE, diamond @ np.linalg.inv(frames[0]).T),
    }
    shown = (("Algorithm 3",), tuple(balls), ("Algorithm 2",))
    for axis, title, label, frame, names in zip(axes, titles, labels, frames, shown, strict=True):
        for name in names:
            colour, ball = balls[name]
            x, y = (ball @ frame.T).T
            axis.fill(x, y, facecolor=colour, alpha=0.12)
            axis.plot(x, y, color=colour, label=name)
        for sign in (1, -1):
            x, y = (sign * one_person @ frame.T).T
            axis.plot(x, y, color=_INK, linewidth=3.5, solid_capstyle="round")
        _frame(axis, title, 2.2 if len(names) > 1 else 1.3)
        axis.set(xlabel=label[0], ylabel=label[1])
        axis.legend(frameon=False, fontsize="small", loc="lower right")
    return figure


def neighbouring_steps(ax: Any = None) -> Any:
    """Figure 2a: one person moves the two sums only onto the two solid segments; the rest takes two steps."""
    axis = _new(1)[1][0] if ax is None else ax
    for sign in (1, -1):
        axis.plot([0, sign], [sign, 0], color=_INK, linewidth=3.5, solid_capstyle="round")
        for end in np.linspace(0, 1, 5):
            _arrow(axis, (0, 0), (sign * end, sign * (1 - end)), _BLUE, "solid")
    for stop, end in (((0.75, 0.25), (0.5, -0.5)), ((0.25, 0.75), (-0.5, 0.5))):
        _arrow(axis, (0, 0), stop, _RED, "dashed")
        _arrow(axis, stop, end, _RED, "dashed")
    axis.plot([1, 0, -1, 0, 1], [0, 1, 0, -1, 0], color="0.7", linewidth=0.8)
    _frame(axis, "one neighbouring step, and two", 1.3)
    axis.set(xlabel="change of the sum of x", ylabel="change of the sum of 1 − x")
    return axis


def hourglass_segments(gamma: float = 0.4, reach: int = 4, ax: Any = None) -> Any:
    """Figure 2b: the hourglass lives on diagonals; a segment marked j has density ∝ e^(−jε)."""
    import matplotlib as mpl

    axis = _new(1)[1][0] if ax is None else ax
    colours = mpl.colormaps["viridis"]
    steps = [sign * (i + gamma) for sign in (-1, 1) for i in range(reach)]
    edges = np.unique([-reach, reach, *(edge for edge in steps if abs(edge) < reach)])
    for k in range(-2 * reach, 2 * reach + 1):
        for left, right in pairwise(edges):
            level = float(staircase_level((left + right) / 2, gamma))
            exponent = int(abs(level) + abs(k - level))
            x = np.array([max(left, k - reach), min(right, k + reach)])
            if x[0] < x[1]:
                _segment(axis, x, k - x, colours(1 - min(exponent, 9) / 10), str(exponent))
    _frame(axis, f"hourglass, γ = {gamma:g}: density ∝ e^(−jε)", reach * 1.05)
    axis.set(xlabel="noise of the sum of x", ylabel="noise of the sum of 1 − x")
    return axis


def _segment(axis: Any, x: Any, y: Any, colour: Any, mark: str) -> None:
    axis.plot(x, y, color=colour, linewidth=3, solid_capstyle="butt")
    if x[1] - x[0] > 0.35:
        box = {"boxstyle": "circle,pad=0.12", "facecolor": "white", "edgecolor": "none"}
        axis.text(x.mean(), y.mean(), mark, ha="center", va="center", fontsize=6.5, bbox=box)


def _new(panels: int) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a picture", "plots") from None
    figure, axes = plt.subplots(1, panels, figsize=(4.4 * panels, 4.4), layout="constrained", squeeze=False)
    return figure, axes[0]


def _frame(axis: Any, title: str, reach: float) -> None:
    axis.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axis.set_title(title, fontsize="medium")
    axis.axhline(0, color="0.85", linewidth=0.8, zorder=0)
    axis.axvline(0, color="0.85", linewidth=0.8, zorder=0)
    axis.spines[["top", "right"]].set_visible(False)


def _arrow(axis: Any, start: tuple[float, float], end: tuple[float, float], colour: str, style: str) -> None:
    properties = {"arrowstyle": "->", "color": colour, "linestyle": style, "shrinkA": 0, "shrinkB": 0}
    axis.annotate("", end, start, arrowprops=properties)
