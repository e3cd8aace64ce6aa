"""The picture of a plan: error against ε and against the number of people."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.core.errors import MissingExtra

if TYPE_CHECKING:
    from sottovoce.planning.plans import Option, Plan, Progress

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
    from sottovoce.planning.plans import ERROR_NAMES, ROUGH

    few = p.question.task != "mean"
    scale = p.question.domain.width
    # Lines are simulated roughly, the planned points as well as they were planned.
    question = replace(p.question, repetitions=p.question.repetitions or ROUGH)
    spots, looks = 4 if few else 9, itertools.count(1)

    def error(option: Option, epsilon: float, people: int) -> float:
        if (epsilon, people) == (option.epsilon, option.people):
            found = option.error
        else:
            found = scale * question.expected(option.candidate, epsilon, people).error
        if progress is not None:  # spots and the planned point on two lines
            progress(option.name, min(next(looks) / (len(p.options) * 2 * (spots + 1)), 1.0))
        return found

    for i, option in enumerate(p.options):
        epsilons = np.unique(np.append(np.geomspace(0.25, 4, spots), option.epsilon))
        people = np.unique(np.rint(option.people * np.geomspace(0.1, 10, spots)).astype(int))
        people = np.unique(np.append(people[people >= 1], option.people))
        style = {"color": _COLOURS[i % 5], "linestyle": _STYLES[i % 5], "label": option.name}
        axes[0].loglog(epsilons, [error(option, float(e), option.people) for e in epsilons], **style)
        axes[1].loglog(people, [error(option, option.epsilon, int(n)) for n in people], **style)
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
