"""The honesty check: false alarms at finite n for people who differ, and what it catches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.estimates import honesty as module

RUNS = 25


@pytest.mark.parametrize(
    ("m", "x"),
    [
        (sv.sw(4.0), np.zeros(2000)),  # where a χ² on fitted residuals alarms far too often
        (sv.ogpm(1.0, (0, 24)), np.linspace(0, 24, 300)),
        (sv.ogpm(2.0, sv.Circle(24)), np.repeat([3.0, 23.5], [10, 500])),
        (sv.duchi(1.0, (-1, 1)), np.linspace(-1, 1, 50)),
        (sv.two_scale(1.0), np.full(400, 0.9)),
    ],
    ids=["edge", "all different", "circle", "duchi", "mixture"],
)
def test_honest_people_rarely_raise_an_alarm(m: sv.Mechanism, x: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    alarms = sum(module._Hull.of(sv.Tally(m, m.report(x, rng=rng)), 16).gap(0.05)[0] > 0 for _ in range(RUNS))
    assert alarms <= binom.ppf(1 - 1e-6, RUNS, 0.05)
    assert sv.honesty(sv.Tally(m, m.report(x, rng=2))).consistent


def test_a_distance_without_a_bound_would_alarm() -> None:
    """The mutant: asking for the hull itself (no allowance for chance) refuses honest people."""
    m = sv.sw(4.0)
    hull = module._Hull.of(sv.Tally(m, m.report(np.zeros(2000), rng=3)), 32)
    assert hull.gap(0.05)[0] <= 0
    assert hull.gap(1 - 1e-12)[0] <= 0 < hull.gap(1e9)[0]


def test_a_mixture_that_is_near_spares_the_linear_program_and_never_disagrees_with_it() -> None:
    m, x, looks = sv.sw(1.0), np.random.default_rng(8).beta(2, 5, 2000), []
    for fakes in (0, 60, 120, 240, 1000):
        cells = np.concatenate((m.report(x[fakes:], rng=fakes), np.full(fakes, 100)))
        hull = module._Hull.of(sv.Tally(m, cells), 32)
        looks.append(hull.is_near(0.999))
        assert not (hull.is_near(0.999) and hull.gap(0.999)[0] > 0)
    assert looks[0]
    assert not looks[-1]


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_fakes_are_seen_and_their_share_is_bounded(share: float) -> None:
    m, n = sv.sw(1.0), 20_000
    honest = m.report(np.random.default_rng(4).beta(2, 5, int(n * (1 - share))), rng=4)
    fake = np.full(int(n * share), 100)
    found = sv.honesty(sv.Tally(m, np.concatenate((honest, fake))))
    assert found.alarm
    assert not found.consistent
    assert found.p_value <= 1e-6
    assert 0.5 * share < found.fakes <= share
    assert found.cells is not None
    assert found.cells[0] <= 100 <= found.cells[1]
    assert "reports are not honest" in str(found)


def test_a_mixture_whose_coin_is_not_tossed_is_seen() -> None:
    m = sv.two_scale(1.0)
    one_part = m.parts[0].report(np.full(2000, 0.5), rng=5)
    assert not sv.honesty(sv.Tally(m, one_part)).consistent


def test_bad_input() -> None:
    t = sv.Tally(sv.sw(1.0), [1, 2, 3])
    with pytest.raises(ValueError, match="false_alarm must lie"):
        sv.honesty(t, false_alarm=0)
    with pytest.raises(ValueError, match="no reports"):
        sv.honesty(sv.Tally(sv.sw(1.0)))
