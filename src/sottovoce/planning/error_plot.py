"""Two panels: the error of some mechanisms against ε, and against the number of people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from sottovoce.estimates.density_plot import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#1f4e79", "#c0562b", "#3b7d4f", "#7a4fa0", "#8a8a8a")
_STYLES = ("-", "--", "-.", ":", (0, (1, 1)))


class Point(Protocol):
    """A mechanism at the ε and the number of people that were planned."""

    @property
    def name(self) -> str: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def people(self) -> int: ...

    @property
    def error(self) -> float: ...


P = TypeVar("P", bound=Point)


def draw_errors(
    points: Sequence[P],
    error: Callable[[P, float, int], float],
    *,
    spots: int,
    label: str,
    target: float | None = None,
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """A line per mechanism through so many spots, logarithmic both ways; the planned point is marked."""
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")[1]
    against_epsilon, against_people = axes
    for i, point in enumerate(points):
        epsilons = np.unique(np.append(np.geomspace(0.25, 4, spots), point.epsilon))
        people = np.unique(np.rint(point.people * np.geomspace(0.1, 10, spots)).astype(int))
        people = np.unique(np.append(people[people >= 1], point.people))
        style = {"color": _COLOURS[i % 5], "linestyle": _STYLES[i % 5], "label": point.name}
        against_epsilon.loglog(epsilons, [error(point, float(e), point.people) for e in epsilons], **style)
        against_people.loglog(people, [error(point, point.epsilon, int(n)) for n in people], **style)
        against_epsilon.plot(point.epsilon, point.error, "o", color=_COLOURS[i % 5], markersize=4)
        against_people.plot(point.people, point.error, "o", color=_COLOURS[i % 5], markersize=4)
    against_epsilon.set(xlabel="ε", ylabel=label)
    against_epsilon.set_title(f"{points[0].people:,} people", fontsize="medium")
    against_people.set(xlabel="people")
    against_people.set_title(f"ε = {points[0].epsilon:g}", fontsize="medium")
    against_epsilon.set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
    against_epsilon.minorticks_off()
    for ax in axes:
        if target is not None:
            ax.axhline(target, color="#444444", linewidth=0.8, label=f"target {target:g}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, which="major", linewidth=0.3)
    against_people.legend(frameon=False, fontsize="small")
    return axes
