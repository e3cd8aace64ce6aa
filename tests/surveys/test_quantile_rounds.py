"""A quantile in two rounds: narrower than one, and right whatever the first round said."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.surveys.rounds.quantile_rounds import QuantileRounds

N, P = 50_000, 0.9


def people(seed: int, n: int = N) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).gamma(9, 0.9, n), 0, 24)


TRUE = 11.692  # of gamma(9, 0.9)


def ask(plan: QuantileRounds, x: np.ndarray, seed: int, misled: np.ndarray | None = None) -> sv.Estimate:
    k = int(plan.asked_first * len(x))
    first = sv.Tally(plan.first, plan.first.report(x[:k] if misled is None else misled, rng=seed))
    second = plan.second(first, len(x) - k)
    assert sv.audit(second).epsilon <= plan.epsilon
    assert sv.from_json(second.to_json()) == second
    return plan.estimate(first, sv.Tally(second, second.report(x[k:], rng=seed + 1000)))


def test_two_rounds_are_narrower_and_hold() -> None:
    plan = sv.rounds("quantile", epsilon=1.0, domain=(0, 24), p=P)
    m = plan.first
    answers = [ask(plan, people(seed), seed) for seed in range(4)]
    one = sv.quantile(sv.Tally(m, m.report(people(9), rng=9)), P)
    assert (
        sum(e.low <= TRUE <= e.high for e in answers) >= 3
    )  # P(two of four miss) is 1.4 %, the seed is fixed
    assert np.median([e.high - e.low for e in answers]) < 0.75 * (one.high - one.low)
    assert answers[0].n == N


def test_a_first_round_that_misleads_costs_width_only() -> None:
    """The pairs were chosen by people who are elsewhere and miss the quantile: it is not excluded."""
    plan = sv.rounds("quantile", epsilon=1.0, domain=(0, 24), p=P)
    x = people(3)
    second = plan.second(sv.Tally(plan.first, plan.first.report(np.full(15_000, 3.0), rng=1)), 35_000)
    tally = sv.Tally(second, second.report(x[15_000:], rng=2))
    honest = sv.Tally(plan.first, plan.first.report(x[:15_000], rng=3))
    e = plan.estimate(honest, tally)
    assert e.low <= TRUE <= e.high


def test_what_is_asked_is_checked() -> None:
    with pytest.raises(ValueError, match="p must"):
        sv.rounds("quantile", 1.0, p=1.5)
    with pytest.raises(ValueError, match="circle"):
        sv.rounds("quantile", 1.0, sv.Circle(24), p=0.5)
    with pytest.raises(ValueError, match="question"):
        sv.rounds("mode", 1.0)
    plan = sv.rounds("quantile", 1.0, p=0.5)
    with pytest.raises(ValueError, match="first"):
        plan.second(sv.Tally(sv.pm(1.0), [1, 2, 3]), 10)
