"""Worst cases of any loss and distance, against a fine grid, on windows that nobody would design."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core import expectations
from sottovoce.core.expectations import WindowLaw
from sottovoce.core.maxima import Bulge
from sottovoce.core.window import Window

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


def test_corners_alone_are_not_enough_around_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bulge, "__call__", lambda self, t0, t1, s0, s1: np.zeros_like(t0))
    assert misses() > 0


def test_the_part_of_the_start_is_needed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bulge, "_report", lambda self, u: np.full_like(u, 1e9))  # never reaches round
    assert misses() > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 16.0])
def test_any_loss_on_a_circle_of_many_cells(epsilon: float) -> None:
    """The same for every input up to the width of a cell."""
    m = sv.ogpm(epsilon, sv.Circle(24), loss=3)
    x = 24 / m.cells * np.linspace(0, 1, 33)
    seen = float(m.error(x, 3).max())
    assert m.worst_error(3) == pytest.approx(seen, rel=1e-6)


MANY_CELLS = {
    "sw": sv.sw(1.0),
    "narrow": sv.ogpm(4.0),
    "truncated": sv.pm(4.0, (0, 1)).truncated(),
    "in the middle": sv.ptt(2.0, (0, 1)).truncated(),
    "mixture": sv.two_scale(1.0),
}


@pytest.mark.parametrize("m", MANY_CELLS.values(), ids=MANY_CELLS)
@pytest.mark.parametrize("loss", [1.5, 3.0])
def test_any_loss_of_many_cells(m: sv.Mechanism, loss: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest error is looked for with wider cells; what is said is that of the cells there are."""
    near = np.random.default_rng(3).random(200) ** 4
    seen = float(m.error(np.concatenate((near, 1 - near, np.linspace(0, 1, 201))), loss).max())
    worst = m.worst_error(loss)
    assert seen * (1 - 1e-6) <= worst <= seen * 1.001
    monkeypatch.setattr(expectations, "_coarser", lambda window: window)
    assert worst == pytest.approx(m.worst_error(loss), rel=1e-6)
