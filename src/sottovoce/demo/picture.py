"""The demo's one picture: the truth that nobody collected, and what the collector could reconstruct."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.demo import Answers, Known
from sottovoce.errors import MissingExtra
from sottovoce.plots.distribution_plot import Curve, draw_ribbon

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TRUTH, _ESTIMATE, _MEAN = "#9a9a9a", "#0b5fa5", "#c4510c"
_TRUE: dict[str, Any] = {"color": _TRUTH, "alpha": 0.5, "label": "the truth (never collected)"}


def save(answers: Answers, known: Known, epsilon: float, path: Path) -> None:
    """Draw the true answers and what the collector answers, item by item, into a PNG."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise MissingExtra("the picture", "analysis") from error

    figure = Figure(figsize=(13, 4.4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    time, airport, temperature = figure.subplots(1, 3, width_ratios=(4, 3, 4))
    time.hist(answers.time, bins=24, range=(0, 24), density=True, **_TRUE)
    _shape(time, known["time", "distribution"]["data"])
    _interval(time, known["time", "direction"], _MEAN)
    time.set_xticks(range(0, 25, 6), [f"{hour}:00" for hour in range(0, 25, 6)])
    time.set(title="time of departure", xlim=(0, 24), xlabel="", ylabel="share per hour")
    _options(airport, answers.airport, known["airport", "shares"]["numbers"])
    airport.set(title="airport", ylabel="share of the people")
    temperature.hist(answers.temperature, bins=24, range=(-20, 40), density=True, **_TRUE)
    _interval(temperature, known["temperature", "mean"], _MEAN)
    _interval(temperature, known["temperature", "quantile"], _ESTIMATE)
    temperature.set(title="temperature, °C", ylabel="share per °C")
    for axes, room in ((time, 1.55), (airport, 1.0), (temperature, 1.3)):  # for the legends
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(0, room * axes.get_ylim()[1])
    for axes in (time, temperature):
        axes.legend(frameon=False, loc="upper left", fontsize="small")
    figure.suptitle(f"{len(answers.time):,} people, ε = {epsilon:g}, one randomised report each")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _shape(axes: Axes, shape: dict[str, Any] | None) -> None:
    """A distribution of hours in its ribbon, as the dashboard draws it."""
    if shape is None:
        return
    shares, low, high = (np.array(shape[name]) for name in ("probability", "ribbon_low", "ribbon_high"))
    ranges = [(start, min(end, 24.0)) for start, end in shape["most_common"]]
    ranges += [(0.0, end - 24) for _, end in shape["most_common"] if end > 24]  # after midnight
    edges = np.array(shape["edges"])
    draw_ribbon(Curve(edges, shares, (low, high), shape["shaped"], ranges, "the likeliest curve"), ax=axes)


def _interval(axes: Axes, answer: dict[str, Any], color: str) -> None:
    """An estimate as a line within its interval, if there is one."""
    for one in answer["numbers"]:
        axes.axvspan(
            one["low"], one["high"], color=color, alpha=0.18, label=f"{answer['label']}, 95 % interval"
        )
        axes.axvline(one["value"], color=color, linewidth=1.5)


def _options(axes: Axes, values: list[str], shares: list[dict[str, Any]]) -> None:
    """The true and the estimated share of each option."""
    names = [one["of"] for one in shares]
    axes.bar(names, [values.count(name) / len(values) for name in names], **_TRUE)
    centres = np.array([one["value"] for one in shares])
    reach = np.abs([[one["low"], one["high"]] for one in shares] - centres[:, None]).T
    axes.errorbar(names, centres, reach, fmt="o", color=_ESTIMATE, capsize=6, linewidth=2)
