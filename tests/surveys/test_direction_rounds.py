"""A mean direction in two rounds: narrower than in one, and right whatever the first round said."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DataError

DAY, N, TRUE = sv.Circle(24), 20_000, 23.0
PLAN = sv.rounds("direction", 2.0, DAY)


def around(hour: float, n: int, seed: int) -> np.ndarray:
    return (hour + np.random.default_rng(seed).vonmises(0, 8, n) * 12 / np.pi) % 24


def holds(e: sv.Estimate) -> bool:
    return (TRUE - e.low) % 24 <= e.high - e.low


def asked(m: sv.Reporter, x: np.ndarray, rng: int) -> sv.Tally:
    return sv.Tally(m, m.report(x, rng=rng))


def test_two_rounds_are_narrower_and_hold() -> None:
    x = around(TRUE, N, 1)
    first = asked(PLAN.first, x[:2000], 2)
    second = PLAN.second(first)
    assert sv.audit(second).epsilon <= 2.0
    both = PLAN.estimate(first, asked(second, x[2000:], 3))
    one = sv.circular_mean(asked(PLAN.first, x, 4))
    assert holds(both)
    assert both.high - both.low < 0.95 * (one.high - one.low)
    assert (both.n, both.method) == (N, "two rounds")
    # The same table, reported by people who are elsewhere: their direction is not the one of the first round.
    turned = PLAN.estimate(first, asked(second, around(TRUE + 2, N, 5), 6))
    assert not holds(turned)


@pytest.mark.parametrize(("epsilon", "origin"), [(0.5, -12.0), (2.0, 0.0)])
def test_the_mean_report_is_the_sine(epsilon: float, origin: float) -> None:
    """For some weights of the cells, everywhere on the circle; and the spec is small."""
    circle = sv.Circle(24, origin)
    plan = sv.rounds("direction", epsilon, circle)
    x = around(TRUE, 2000, 12)
    first = asked(plan.first, np.where(x < circle.high, x, x - 24), 13)
    second, (_, about) = plan.second(first), plan._guess(first)
    assert len(second.to_json()) < 1 << 14
    t = np.linspace(0, 1, 1001)
    rows, sine = second.probabilities(circle.from_unit(t)), np.sin(2 * np.pi * (t - about))
    weights, *_ = np.linalg.lstsq(rows, sine, rcond=None)
    assert np.abs(rows @ weights - sine).max() < 5e-4


def test_a_first_round_that_misleads_costs_width_only() -> None:
    """The table was made for people around 19 o'clock."""
    second = PLAN.second(asked(PLAN.first, around(19.0, 2000, 7), 8))
    x = around(TRUE, N, 9)
    assert holds(PLAN.estimate(asked(PLAN.first, x[:2000], 10), asked(second, x[2000:], 11)))


def test_what_is_asked_is_checked() -> None:
    with pytest.raises(ValueError, match="no direction"):
        sv.rounds("direction", 1.0, (0, 24))
    tally = asked(PLAN.first, np.full(50, 3.0), 1)
    with pytest.raises(DataError, match="second"):
        PLAN.estimate(tally, tally)
    with pytest.raises(DataError, match="first"):
        PLAN.second(asked(sv.ogpm(2.0, DAY), np.full(50, 3.0), 1))
