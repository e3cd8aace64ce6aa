"""The pictures show what the formulas say."""

from __future__ import annotations

import runpy
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from papers.hourglass_formulas import hourglass_density
from tools.figures import FOLDER

mpl.use("Agg")
PICTURES = SimpleNamespace(**runpy.run_path(str(FOLDER / "hourglass.py")))


@pytest.fixture(autouse=True)
def _close() -> object:
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_every_ball_holds_what_one_person_can_change() -> None:
    """In the frame of sum and count each ball holds the two segments, and Algorithm 3's is the smallest."""
    axis = PICTURES.sensitivity_space().axes[1]
    balls = {
        line.get_label(): np.column_stack(line.get_data())
        for line in axis.lines
        if len(line.get_xdata()) == 5
    }

    def area(polygon: np.ndarray) -> float:
        x, y = polygon.T
        return abs(float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))) / 2

    for ball in balls.values():
        sides = np.diff(ball, axis=0)
        for corner in ((0, 1), (1, 1), (0, -1), (-1, -1)):
            x, y = (corner - ball[:-1]).T
            turn = sides[:, 0] * y - sides[:, 1] * x
            assert (turn >= -1e-12).all() or (turn <= 1e-12).all()  # inside, or on the edge
    assert area(balls["Algorithm 1"]) == pytest.approx(8)
    assert area(balls["Algorithm 2"]) == pytest.approx(4)
    assert area(balls["Algorithm 3"]) == pytest.approx(2)  # the convex hull of the two segments


@pytest.mark.parametrize("gamma", [0.25, 0.4, 0.8])
def test_marks_of_the_hourglass_are_its_exponents(gamma: float) -> None:
    axis = PICTURES.hourglass_segments(gamma, reach=3)
    top = float(hourglass_density(0.0, 0, 1.0, gamma))
    assert len(axis.texts) > 20
    for text in axis.texts:
        x, y = text.get_position()
        density = float(hourglass_density(x, round(x + y), 1.0, gamma))
        assert -np.log(density / top) == pytest.approx(int(text.get_text()), abs=1e-9)


def test_two_steps_reach_what_one_cannot() -> None:
    axis = PICTURES.neighbouring_steps()
    assert len(axis.texts) == 14
