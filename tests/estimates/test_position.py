"""Mean positions and shares of regions: bounds that hold at every position, and intervals that cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, NoDataError
from sottovoce.estimates.fits.nonnegative_quadratic import least_quadratic
from sottovoce.estimates.fits.spatial_density import PlaceLaw
from sottovoce.estimates.limits.regions import LOT, corners
from sottovoce.estimates.position import _Fit, _unbiased

BOX = ((2.3, 6.1), (1.0, 4.05))
TRIANGLE = [(1.0, 1.0), (8.0, 2.0), (4.0, 4.5)]


@pytest.fixture(scope="module")
def m() -> sv.Translates:
    return sv.place(2.0, box=((0, 10), (0, 5)), points=21)


def people(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.clip(rng.normal([4.0, 3.0], [1.5, 1.0], (n, 2)), 0, [10, 5])


def inside(region: Any, x: np.ndarray) -> np.ndarray:
    if len(region) == 2:
        return np.all([(x[:, i] >= region[i][0]) & (x[:, i] <= region[i][1]) for i in (0, 1)], axis=0)
    from matplotlib.path import Path

    return Path(region).contains_points(x)


def test_the_mean_is_right_wherever_everybody_is(m: sv.Translates) -> None:
    """The expectation by the exact law at positions between points, within what the interval allows for."""
    x = m.domain.spread(np.random.default_rng(1).integers(0, 1 << 64, 300, dtype=np.uint64))
    law = m.probabilities(x)
    for axis in (0, 1):
        weights, bias = _unbiased(m, axis, 1e-7)
        assert np.abs(law @ weights - x[:, axis]).max() <= bias
        assert bias < 0.5 * 2 * LOT  # half of a step is 0.25: hardly more than the lots' own
        assert np.abs(law @ np.roll(weights, 1) - x[:, axis]).max() > bias


@pytest.mark.parametrize("region", [BOX, TRIANGLE], ids=["box", "polygon"])
def test_a_share_is_bounded_at_every_position(m: sv.Translates, region: Any) -> None:
    rng = np.random.default_rng(2)
    tally = sv.Tally(m, m.report(people(5000, rng), rng=3))
    law = PlaceLaw.of(tally)
    near = np.array(region).T if len(region) == 2 else np.array(region)
    beside = near[rng.integers(0, len(near), 500)] + rng.choice([-1e-9, 0, 1e-9, 0.01, -0.01], (500, 2))
    x = np.concatenate((m.domain.spread(rng.integers(0, 1 << 64, 1500, dtype=np.uint64)), beside))
    truth, probabilities = inside(region, x), m.probabilities(x)
    fit = _Fit(law, tally)
    for side in (-1, 1):
        for part in fit.statistic(corners(law, region, side), side, 0.025):
            h = probabilities @ part.weights[fit.block]
            assert (side * (h - truth)).min() >= -1e-6
        for part in fit.statistic(corners(law, region, -side), side, 0.025):  # the other side's corners
            h = probabilities @ part.weights[fit.block]
            assert (side * (h - truth)).min() < -1e-3


def test_intervals_hold(m: sv.Translates) -> None:
    """Of 16 tallies at 90 %: fewer than 9 hits come once in 10⁵."""
    rng = np.random.default_rng(4)
    truth = people(400_000, rng)
    share = inside(BOX, truth).mean()
    hits = np.zeros(3, dtype=int)
    for run in range(16):
        tally = sv.Tally(m, m.report(people(3000, rng), rng=run))
        answers = [*sv.mean_position(tally, confidence=0.9), sv.region_share(tally, BOX, confidence=0.9)]
        hits += [
            one.low <= value <= one.high
            for one, value in zip(answers, [*truth.mean(axis=0), share], strict=True)
        ]
    assert hits.min() >= 9
    assert answers[0].high - answers[0].low < 1.0
    assert answers[2].high - answers[2].low < 0.8


def test_degrees_and_differences() -> None:
    m = sv.place(4.0, 8.0, centre=(13.4, 52.5), degrees=True, points=16)
    one, two = (
        sv.Tally(m, m.report(np.tile(x, (2000, 1)), rng=i))
        for i, x in enumerate(([13.42, 52.51], [13.38, 52.51]))
    )
    x, y = sv.mean_position(one)
    assert x.low < 13.42 < x.high
    assert y.low < 52.51 < y.high
    moved = x - sv.mean_position(two)[0]
    assert moved.low < 0.04 < moved.high
    assert moved.p_value is not None
    assert moved.p_value < 1e-6


def test_what_is_refused(m: sv.Translates) -> None:
    tally = sv.Tally(m, m.report(people(10, np.random.default_rng(1)), rng=1))
    for region, words in (
        (((1, 1), (0, 1)), "ends in order"),
        (((20, 30), (0, 1)), "a part in the box"),
        ([(20, 20), (21, 20), (20, 21)], "a part in the box"),
    ):
        with pytest.raises(ArgumentError, match=words):
            sv.region_share(tally, region)
    for wrong in ([(1, 2)], "box", [(1, 2, 3), (3, 4, 5)], [(1, 2), (3, float("nan")), (4, 4)]):
        with pytest.raises(ArgumentTypeError, match="region must be a box"):
            sv.region_share(tally, wrong)  # type: ignore[arg-type]
    with pytest.raises(NoDataError):
        sv.mean_position(sv.Tally(m, [0]))
    assert sv.region_share(sv.Tally(m, [0]), BOX).high == 1.0
    torus = sv.place(1.0, 1.0, edge="torus", points=8)
    with pytest.raises(ArgumentError, match="edge='margin'"):
        sv.mean_position(sv.Tally(torus, [0, 1]))
    with pytest.raises(DataError, match="not of places"):
        sv.mean_position(sv.Tally(sv.choice(1.0, ["a", "b"]), [0, 1]))


def test_the_quadratic_program() -> None:
    from scipy.optimize import nnls

    rng = np.random.default_rng(6)
    a, b = rng.random((40, 25)), rng.normal(size=40)
    f = least_quadratic(a.T @ a, a.T @ b, 1e-9)
    assert np.linalg.norm(a @ f - b) == pytest.approx(nnls(a, b)[1], abs=1e-6)
    assert (f > 0).all()
