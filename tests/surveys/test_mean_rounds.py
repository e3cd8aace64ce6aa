"""Two rounds: unbiased whatever the truth, and better where values lie close together."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.errors import BudgetError, DataError


def test_two_rounds_cover_and_pay() -> None:
    plan = sv.two_rounds(epsilon=3.0, domain=(0, 24))
    truth = np.random.default_rng(1).normal(7.5, 1.0, 6000).clip(0, 24)
    rng, covered, errors, runs = np.random.default_rng(2), 0, [], 150
    first = sv.Tally(plan.first, plan.first.report(truth[:600], rng=rng))
    second = plan.second(first)
    for _ in range(runs):
        t1 = sv.Tally(plan.first, plan.first.report(truth[:600], rng=rng))
        e = plan.mean(t1, sv.Tally(second, second.report(truth[600:], rng=rng)))
        covered += e.low <= truth.mean() <= e.high
        errors.append(e.value - truth.mean())
    assert covered >= binom.ppf(1e-6, runs, 0.95)
    assert second.variance(truth).mean() < 0.75 * plan.first.variance(truth).mean()
    # Against everyone in one round: the exact variance of that, and the variance seen here.
    single = float(plan.first.variance(truth).mean()) / len(truth)
    assert np.mean(np.square(errors)) < single
    assert sv.audit(second).epsilon <= 3.0


def test_a_misleading_first_round_costs_accuracy_only() -> None:
    plan = sv.two_rounds(epsilon=2.0, domain=(0, 1))
    misled = sv.Tally(plan.first, plan.first.report(np.full(2000, 0.1), rng=1))
    second = plan.second(misled)
    x = np.array([0.0, 0.5, 0.9, 1.0])
    assert np.abs(second.bias(x)).max() < 1e-9
    t = sv.Tally(second, second.report(np.full(40_000, 0.9), rng=2))
    decoded = second.decode(np.arange(second.cells))
    off = t.counts @ decoded / t.n - 0.9
    assert abs(off) < 5 * math.sqrt(float(second.variance(0.9)) / t.n)


def test_one_round_per_person_is_what_the_ledger_pays_for(tmp_path: Path) -> None:
    plan = sv.two_rounds(epsilon=1.0)
    first = sv.Tally(plan.first, plan.first.report(np.full(500, 0.3), rng=1))
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=1)
    ledger.enrol("first round", plan.first)
    ledger.enrol("second round", plan.second(first))
    ledger.report("second round", 0.3)
    assert ledger.spent == 1
    with pytest.raises(BudgetError, match="0 is left of the budget of 1"):
        ledger.report("first round", 0.3)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="caution must lie in"):
        sv.two_rounds(1.0, caution=0.0)
    with pytest.raises(ValueError, match="a circle has no mean on the line"):
        sv.two_rounds(1.0, sv.Circle(24))
    plan = sv.two_rounds(1.0)
    with pytest.raises(DataError, match="first round's mechanism"):
        plan.second(sv.Tally(sv.duchi(1.0), [0, 1]))
