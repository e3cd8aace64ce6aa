"""Every figure, really drawn: curves are those of its CSV, every axis is named, all ink is on the paper."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from papers.findings import Result

from papers import Run, entries

DRAWN = [
    one.key for one in entries() if "figure" in one.name or one.key in ("beyond-variance", "ptt-theorem-7")
]
#: Columns of a CSV that the picture shows otherwise: as ratios, times ε², or as points and areas.
OTHERWISE = {
    "ogpm-figure-2": {"left", "right", "density"},
    "ogpm-figure-6": {"window from", "window to", "density inside", "density outside"},
    "ogpm-figure-7": {"r", "angle", "radius from", "radius to", "angle from", "angle to"},
    "ptt-figure-1": {"A"},
    "ptt-theorem-7": {"I-PTT", "II-PTT"},
    "hourglass-figure-5": {"independent", "shifted", "transformed", "swap", "staircase2d", "hourglass"},
    "beyond-variance": {"OGPM-U", "Laplace", "PM", "I-PTT, best", "Duchi", "Hybrid", "optimum", "limit"},
}
UNNAMED = {"ogpm-figure-6"}  # a circle without coordinates


@cache
def made(key: str) -> Result:
    return next(one for one in entries() if one.key == key).make(Run(quick=True))


def axes_of(result: Result) -> list[Any]:
    return [axes for picture in result.pictures.values() for axes in picture.axes]


def unseen(result: Result) -> set[str]:
    """The columns of the tables that no curve of the pictures shows."""
    drawn = [np.asarray(line.get_ydata(), float) for axes in axes_of(result) for line in axes.lines]
    return {
        name
        for table in result.tables.values()
        for name, column in table.items()
        if name != "x"
        and not any(np.array_equal(line, np.asarray(column, float), equal_nan=True) for line in drawn)
    }


@pytest.mark.parametrize("key", DRAWN)
def test_a_picture_shows_its_table(key: str) -> None:
    result = made(key)
    assert result.tables
    assert result.pictures
    assert unseen(result) <= OTHERWISE.get(key, set())
    for table in result.tables.values():
        assert np.isfinite([np.asarray(column, float) for column in table.values()]).any(axis=1).all()


@pytest.mark.parametrize("key", DRAWN)
def test_a_picture_can_be_read(key: str) -> None:
    """Named axes, a legend for several curves, and of every curve's colour some ink where the curve is."""
    for axes in axes_of(made(key)):
        assert axes.get_title()
        assert key in UNNAMED or (axes.get_xlabel() and axes.get_ylabel())
        labelled = [line for line in axes.lines if not line.get_label().startswith("_")]
        legend = axes.get_legend()
        assert len(labelled) < 2 or legend is not None
        if legend is not None:
            assert len({text.get_text() for text in legend.get_texts()}) == len(legend.get_texts())
    for picture in made(key).pictures.values():
        canvas = FigureCanvasAgg(picture)
        canvas.draw()  # not `savefig`, which lays everything out twice
        pixels = np.asarray(canvas.buffer_rgba())[..., :3]
        high = len(pixels)
        for axes in picture.axes:
            box = axes.get_window_extent()
            part = pixels[high - int(box.y1) : high - int(box.y0), int(box.x0) : int(box.x1)].reshape(-1, 3)
            for line in axes.lines:
                colour = np.round(255 * np.array(to_rgb(line.get_color())))
                assert (np.abs(part - colour).max(axis=1) <= 24).sum() >= 4, line.get_label()


def test_a_curve_that_is_not_drawn_is_noticed() -> None:
    """The mutant: a number of the table that is not the one in the picture."""
    result = made("ogpm-figure-8")
    name, table = next(iter(result.tables.items()))
    wrong = {**table, "OGPM": [*table["OGPM"][:-1], 0.5]}
    assert unseen(result) == set()
    assert unseen(replace(result, tables={**result.tables, name: wrong})) == {"OGPM"}
