"""Places by question: the design, the plan, the command line and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.designs.place import expected_distance
from sottovoce.errors import ArgumentError


def test_a_design_for_places() -> None:
    assert sv.design("place", 1.0, sv.Disc(3.0)) == sv.place(1.0, 3.0)
    assert sv.design("place", 1.0, ((0, 4), (0, 1))) == sv.place(1.0, box=((0, 4), (0, 1)))
    with pytest.raises(TypeError, match="box must be"):
        sv.design("place", 1.0, (0, 1))


def test_the_plan_says_which_to_take() -> None:
    p = sv.plan("place", epsilon=2.0, people=10_000, domain=sv.Disc(10.0))
    place, polar = p.options
    assert p.best is place
    assert place.error < polar.error
    assert "for maps" in str(p)
    assert [row["name"] for row in p.rows] == ["place", "polar"]
    # The predicted error is that of the estimate itself.
    rng = np.random.default_rng(1)
    x = sv.Disc(10.0).spread(rng.integers(0, 1 << 64, 10_000, dtype=np.uint64))
    for option, mean in ((place, sv.mean_position), (polar, _polar_mean)):
        tally = sv.Tally(option.design, option.design.report(x, rng=2))
        assert option.error == pytest.approx(mean(tally)[0].half_width / 1.96, rel=0.15)


def _polar_mean(tally: sv.Tally) -> Any:
    from sottovoce.estimates.position import mean_position

    return mean_position(tally)


def test_the_distance_of_one_report_against_simulation() -> None:
    m, at = sv.place(4.0, box=((0, 4), (0, 2)), points=24), np.array([0.3, 1.7])
    away = np.hypot(*(m.perturb(np.tile(at, (20_000, 1)), rng=1) - at).T)
    far = expected_distance(m, at)
    assert abs(away.mean() - far) < 5 * away.std() / np.sqrt(20_000)
    assert abs(away.mean() - expected_distance(m, [2.0, 1.0])) > 5 * away.std() / np.sqrt(20_000)
    degrees = sv.place(4.0, 8.0, centre=(13.4, 52.5), degrees=True, points=16)
    assert 1 < expected_distance(degrees, [13.4, 52.5]) < 5  # km


def test_options_that_contradict() -> None:
    from sottovoce.cli.shared_options import Request

    both = Request(None, 1.0, (0, 1), None, False, None, None, None, None, (0, 1, 0, 1))
    with pytest.raises(ValueError, match="--place says where people are"):
        both.reporter()
    across = Request(None, 1.0, None, None, False, None, None, None, None, (170, -170, 0, 1), True)
    with pytest.raises(ArgumentError, match="date line"):
        across.reporter()
