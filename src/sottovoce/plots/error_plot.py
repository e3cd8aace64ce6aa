"""Two panels: the error of some mechanisms against ε, and against the number of people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.plots.distribution_plot import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#1f4e79", "#c0562b", "#3b7d4f", "#7a4fa0", "#8a8a8a")
_STYLES = ("-", "--", "-.", ":", (0, (1, 1)))


def draw_errors(
    points: Sequence[tuple[str, float, int, float]],
    error: Callable[[int, float, int], float],
    *,
    spots: int,
    label: str,
    target: float | None = None,
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Lines through so many spots, logarithmic both ways; the planned points are marked.

    `points` are the name, ε, people and error of every mechanism, the best first; `error` takes its place
    among them, ε and people.
    """
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")[1]
    against_epsilon, against_people = axes
    for i, (name, epsilon, people, planned) in enumerate(points):
        epsilons = np.unique(np.append(np.geomspace(0.25, 4, spots), epsilon))
        crowds = np.rint(people * np.geomspace(0.1, 10, spots)).astype(int)
        crowds = np.unique(np.append(crowds[crowds >= 1], people))
        style = {"color": _COLOURS[i % 5], "linestyle": _STYLES[i % 5], "label": name}
        against_epsilon.loglog(epsilons, [error(i, float(e), people) for e in epsilons], **style)
        against_people.loglog(crowds, [error(i, epsilon, int(n)) for n in crowds], **style)
        against_epsilon.plot(epsilon, planned, "o", color=_COLOURS[i % 5], markersize=4)
        against_people.plot(people, planned, "o", color=_COLOURS[i % 5], markersize=4)
    against_epsilon.set(xlabel="ε", ylabel=label)
    against_epsilon.set_title(f"{points[0][2]:,} people", fontsize="medium")
    against_people.set(xlabel="people")
    against_people.set_title(f"ε = {points[0][1]:g}", fontsize="medium")
    against_epsilon.set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
    against_epsilon.minorticks_off()
    for ax in axes:
        if target is not None:
            ax.axhline(target, color="#444444", linewidth=0.8, label=f"target {target:g}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, which="major", linewidth=0.3)
    against_people.legend(frameon=False, fontsize="small")
    return axes
