"""Worst cases of any loss and distance, against a fine grid, on windows that nobody would design."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.reporters.law import worst_case
from sottovoce.reporters.law.moments import WindowLaw
from sottovoce.reporters.window import Window

LOSSES = (1.0, 1.5, 2.0, 7.0)


def odd_window(seed: int, *, wraps: bool) -> Window:
    """A few cells of any weight anywhere, and a start that moves by fits and starts."""
    rng = np.random.default_rng(seed)
    cells, bits = int(rng.integers(2, 7)), 40
    background = rng.integers(1, 1 << 36, cells)
    length = (1 << bits) - int(background.sum())
    extra = rng.dirichlet(np.ones(cells)) * length * rng.uniform(1.05, 4)
    extra = np.ceil(extra).astype(np.int64)
    around = int(extra.sum())
    top = 2 * around - 1 if wraps else around - length
    knots = int(rng.integers(2, 5))
    value = np.sort(rng.random(cells)) if wraps else np.sort(rng.uniform(-1.5, 2.5, cells))
    return Window(
        wraps=wraps, bits=bits, count=np.ones(cells, dtype=int), background=background, extra=extra,
        value=value, step=np.zeros(cells), knot_t=np.append(0.0, np.sort(rng.random(knots - 1))),
        knot_s=np.sort(rng.integers(0, top + 1, knots)), stepwise=bool(rng.random() < 0.3),
    )  # fmt: skip


def misses(parts: int = 1) -> int:
    """How many worst cases lie below what a fine grid of inputs finds, or above all that it could."""
    t = np.linspace(0, 1, 5001)
    wrong = 0
    for seed in range(16):
        windows = [odd_window(seed + 100 * part, wraps=seed % 2 == 0) for part in range(parts)]
        law = WindowLaw(windows, [0.7, 0.3] if parts == 2 else [1.0])
        starts = law.starts(t)
        wrong += not law.variance(starts).max() * (1 - 1e-9) <= law.worst_variance()
        for k in LOSSES:
            for circular in (False, True):
                seen = float(law.error(t, starts, k, circular).max())
                wrong += not seen * (1 - 2e-6) <= law.worst_error(k, circular) <= seen * (1 + 1e-2)
    return wrong


def test_no_input_is_worse_than_the_worst_case() -> None:
    assert misses() == 0
    assert misses(parts=2) == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_what_a_leap_of_the_start_ends_is_seen(loss: float) -> None:
    """Below 0.9 the window holds the report at 0, from there on the one at 1."""
    most = (1 << 40) - (1 << 38)
    window = Window(
        wraps=False, bits=40, count=[1, 1], background=[1 << 37, 1 << 37], extra=[most, most],
        value=[0.0, 1.0], step=[0.0, 0.0], knot_t=[0.0, 0.9], knot_s=[0, most], stepwise=True,
    )  # fmt: skip
    worst = (7 * 0.9**loss + 0.1**loss) / 8
    assert WindowLaw([window], [1.0]).worst_error(loss, False) == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize(("name", "value"), [("_SAME", 1.0), ("_GRID", 2)])
def test_around_a_circle_neither_a_grid_nor_halving_is_enough(
    name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worst_case, name, value)
    assert misses() > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 16.0])
def test_any_loss_on_a_circle_of_many_cells(epsilon: float) -> None:
    """The same for every input up to the width of a cell."""
    m = sv.ogpm(epsilon, sv.Circle(24), loss=3)
    x = 24 / m.cells * np.linspace(0, 1, 33)
    seen = float(m.error(x, 3).max())
    assert m.worst_error(3) == pytest.approx(seen, rel=1e-6)


FEW = {"epsilon": 4.0, "domain": (0, 1), "cells": 2048}
MANY_CELLS = {
    "at the ends": sv.sw(**FEW),
    "inside": sv.pm(**FEW).truncated(),
    "in the middle": sv.ptt(**FEW).truncated(),
    "mixture": sv.two_scale(**FEW),
}


@pytest.mark.parametrize("m", MANY_CELLS.values(), ids=MANY_CELLS)
@pytest.mark.parametrize("distance", ["linear", "circular"])
@pytest.mark.parametrize("loss", [1.5, 3.0])
def test_any_loss_of_many_cells(
    m: sv.Mechanism, loss: float, distance: Literal["linear", "circular"]
) -> None:
    places = np.random.default_rng(3).random(2000)
    places = np.concatenate(
        (places, places**4, 1 - places**4, [0.5])
    )  # around a circle a sharp peak is there
    worst = m.worst_error(loss, distance)
    seen = float(m.error(places, loss, distance).max())
    assert seen * (1 - 1e-6) <= worst <= seen * (1 + 1e-4)
