"""The picture of a plan: error against ε and against the number of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.errors import MissingExtra

if TYPE_CHECKING:
    from sottovoce.planning.planner import Plan, Progress

_COLOURS = ("#1f4e79", "#c0562b", "#3b7d4f", "#7a4fa0", "#8a8a8a")
_STYLES = ("-", "--", "-.", ":", (0, (1, 1)))


def draw_plan(p: Plan, axes: Any, progress: Progress | None) -> Any:
    """Two panels with logarithmic axes; the planned point is marked."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a picture", "plots") from None
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    from sottovoce.planning.planner import ERROR_NAMES

    few = p.question.task != "mean"
    scale = p.question.domain.width
    for i, option in enumerate(p.options):
        if progress is not None:
            progress(option.name)
        epsilons = np.unique(np.append(np.geomspace(0.25, 4, 4 if few else 9), option.epsilon))
        people = np.unique(np.rint(option.people * np.geomspace(0.1, 10, 4 if few else 9)).astype(int))
        people = people[people >= 1]
        style = {"color": _COLOURS[i % 5], "linestyle": _STYLES[i % 5], "label": option.name}
        expected = p.question.expected
        errors = [scale * expected(option.candidate, float(e), option.people).error for e in epsilons]
        axes[0].loglog(epsilons, errors, **style)
        errors = [scale * expected(option.candidate, option.epsilon, int(n)).error for n in people]
        axes[1].loglog(people, errors, **style)
        axes[0].plot(option.epsilon, option.error, "o", color=style["color"], markersize=4)
        axes[1].plot(option.people, option.error, "o", color=style["color"], markersize=4)
    best = p.best
    axes[0].set(xlabel="ε", ylabel=f"{ERROR_NAMES[p.question.task]}, in units of the domain")
    axes[0].set_title(f"{best.people:,} people", fontsize="medium")
    axes[1].set(xlabel="people")
    axes[1].set_title(f"ε = {best.epsilon:g}", fontsize="medium")
    axes[0].set_xticks([0.25, 0.5, 1, 2, 4], ["0.25", "0.5", "1", "2", "4"])
    axes[0].minorticks_off()
    for ax in axes:
        if p.target is not None:
            ax.axhline(p.target, color="#444444", linewidth=0.8, label=f"target {p.target:g}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, which="major", linewidth=0.3)
    axes[1].legend(frameon=False, fontsize="small")
    return axes
