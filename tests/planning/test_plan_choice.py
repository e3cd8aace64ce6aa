"""Plans of choices: which design serves shares and which the mean of ratings."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError

STARS = [1, 2, 3, 4, 5]
KNOWN = [(1.0, 17.97, 30.57, 12.23), (2.0, 5.43, 6.36, 2.54), (4.0, 2.51, 2.39, 0.956)]


@pytest.mark.parametrize(("epsilon", "window", "block", "shares"), KNOWN)
def test_ratings_as_computed_elsewhere(epsilon: float, window: float, block: float, shares: float) -> None:
    """FACTS 15, times n, at the even truth."""
    plan = sv.plan("choice", epsilon, 1000, STARS)
    choice, numbers = plan.options
    assert 5 * 1000 * choice.errors["share"] ** 2 == pytest.approx(shares, rel=2e-3)
    assert 1000 * choice.errors["mean"] ** 2 == pytest.approx(block, rel=2e-3)
    assert 1000 * numbers.errors["mean"] ** 2 == pytest.approx(window, rel=2e-3)
    assert plan.best_for("share") is choice
    assert plan.best_for("mean") is (numbers if window < block else choice)
    assert ("choice for the share, window for the mean" in str(plan)) == (window < block)


def test_both_answers_are_as_good_as_planned() -> None:
    """200 tallies: standard deviations within 20 % (a mutant of twice the variance is 41 % off)."""
    option = sv.plan("choice", 2.0, 2000, STARS).options[0]
    shares, means = [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        cells = option.design.report(rng.integers(1, 6, 2000), rng=rng)
        answer = sv.shares(sv.Tally(option.design, cells))
        assert answer.mean is not None
        means.append(answer.mean.value)
        shares += [one.value for one in answer.estimates]
    assert np.std(means) == pytest.approx(option.errors["mean"], rel=0.2)
    assert np.std(shares) == pytest.approx(option.errors["share"], rel=0.2)


def test_designs_by_question() -> None:
    assert sv.design("choice", 1.0, ["car", "bike"]) == sv.choice(1.0, ["car", "bike"])
    assert sv.plan("choice", 1.0, 1000, ["car", "bike"]).best_for("mean") is None
    with pytest.raises(ArgumentError, match="needs epsilon and people"):
        sv.plan("choice", 1.0, None, STARS)
    with pytest.raises(ArgumentError, match="options must be 2 to 1000"):
        sv.design("choice", 1.0, ["car"])
