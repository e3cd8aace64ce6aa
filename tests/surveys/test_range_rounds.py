"""An unknown range: found from a guess 10^6 times too wide, with what lies beyond in the open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DataError
from sottovoce.surveys.rounds.range_rounds import RangeRounds, _opened

PLAN = sv.rounds("range", 2.0, largest=24e6, unit=0.1)
X = np.random.default_rng(1).gamma(9, 0.9, 40_000)


def asked(m: sv.Reporter, x: np.ndarray, rng: int) -> sv.Tally:
    return sv.Tally(m, m.report(x, outside="clip", rng=rng))


def test_a_range_is_found_and_means_say_what_is_beyond() -> None:
    assert isinstance(PLAN, RangeRounds)
    first = asked(PLAN.first, X[:8000], 2)
    domain = PLAN.range(asked(PLAN.next(first), X[8000:16_000], 3))
    inside = np.mean((domain.low <= X) & (domain.high >= X))
    assert inside > 0.95
    assert domain.width < 40  # of 48 million
    beyond = asked(PLAN.beyond(domain), X[16_000:20_000], 4)
    last = asked(sv.design("mean", 2.0, domain), X[20_000:], 5)
    e = PLAN.mean(beyond, last, trimmed=True)
    assert e.low < np.clip(X, domain.low, domain.high).mean() < e.high
    assert e.what.startswith("mean of values brought into")
    assert "lie at most" in str(e)
    # The mean of all values: wider, by what a standard deviation of 3 leaves open.
    wide = PLAN.mean(beyond, last, spread=3.0)
    assert wide.low < e.low < 8.1 < e.high < wide.high
    assert "standard deviation is at most 3, as declared" in str(wide)
    with pytest.raises(ValueError, match="a mean of values without limits is not identified"):
        PLAN.mean(beyond, last)
    with pytest.raises(DataError, match=r"at most 0\.35 of a range"):
        PLAN.mean(beyond, last, spread=30.0)
    with pytest.raises(DataError, match="about the range of the last round"):
        PLAN.mean(first, last, trimmed=True)


@pytest.mark.parametrize("side", [-1, 1])
def test_no_truth_of_the_spread_has_a_mean_beyond(side: int) -> None:
    """Two points, one of them far away: the worst case is reached to a hundredth, and never passed."""
    domain, spread, slack = sv.Interval(-10, 10), 4.0, []
    for far in np.linspace(10.5, 400, 200):
        for share in np.geomspace(1e-5, 0.4, 200):
            deviation = far * np.sqrt(share * (1 - share))
            if deviation <= spread:
                mean, brought = far * share, 10 * share
                slack.append(_opened(side * brought, domain, spread, side) * side - mean)
    assert min(slack) > 0
    assert min(slack) < 0.05


@pytest.mark.parametrize("far", [-3e5, 700.0])
def test_people_of_either_sign_are_found(far: float) -> None:
    """All at one value, whatever its size: the range holds it, and is of its size."""
    first = PLAN.first
    assert len(first.to_json()) < 1 << 16
    assert sv.audit(first).epsilon <= 2.0
    domain = PLAN.range(asked(first, np.full(4000, far), 6))
    assert domain.low < far < domain.high
    assert domain.width < 50 * abs(far)


def test_what_is_asked_is_checked() -> None:
    for unit in (2.0, 1e-15):
        with pytest.raises(ValueError, match="unit must be positive and below largest"):
            sv.rounds("range", 1.0, largest=1.0, unit=unit)


def test_an_end_that_touches_the_range_is_open() -> None:
    m = sv.sw(4.0, (0, 10))
    e = sv.quantile(asked(m, X[:2000], 6), 0.5)
    assert PLAN.quantile(e, m.domain) == e
    touching = PLAN.quantile(replace(e, high=10.0), m.domain)
    assert (touching.low, touching.high) == (e.low, 24e6)
    assert "open" in str(touching)
