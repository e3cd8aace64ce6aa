"""What every mechanism has to satisfy, over every design, kind of domain and ε from 0.01 to 16."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import sottovoce as sv
from sottovoce.core.exact import exp_lower
from tests.core.catalogue import Case, cases, designs

CASES = cases()
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def some_inputs(case: Case, count: int = 7) -> np.ndarray:
    """Both ends, the middle and a few inputs in between."""
    domain = case.mechanism.domain
    t = np.concatenate(([0.0, 1.0, 0.5, 1e-9], np.random.default_rng(5).random(count - 4)))
    return np.clip(domain.from_unit(t), domain.low, domain.high)


def test_the_catalogue_is_not_empty() -> None:
    assert {"ogpm", "pm", "sw", "ptt", "duchi", "ogpm_unbiased"} <= set(designs())
    assert any(case.kind == "circle" for case in CASES)


@every_case
def test_mass_is_one_in_integers(case: Case) -> None:
    rows = case.mechanism.counts(some_inputs(case))
    assert set(rows.sum(axis=1).tolist()) == {case.mechanism.window.total}
    assert rows.min() >= 1


@every_case
def test_ratio_of_counts_is_at_most_exp_epsilon(case: Case) -> None:
    rows = case.mechanism.counts(some_inputs(case, 32))
    most, least = rows.max(axis=0), rows.min(axis=0)
    worst = np.argsort(most / least)[-5:]
    bound = exp_lower(case.epsilon)
    audit = sv.audit(case.mechanism)
    for cell in worst:
        assert Fraction(int(most[cell]), int(least[cell])) <= audit.ratio <= bound
    assert audit.holds
    assert audit.epsilon <= case.epsilon


@every_case
def test_sampler_follows_the_exact_probabilities(case: Case) -> None:
    """χ² on at most 200 groups of cells, at a false-alarm rate of 1e−6 per case."""
    m = case.mechanism
    rng = np.random.default_rng(20240501)
    for x in some_inputs(case)[[0, 2, -1]]:
        exact = m.probabilities(x)
        groups = np.minimum((np.cumsum(exact) * 200).astype(int), 199)
        expected = np.bincount(groups, exact)
        group_of, expected = np.unique(groups, return_inverse=True)[1], expected[expected > 0]
        n = 200_000
        seen = np.bincount(group_of[m.report(np.full(n, x), rng=rng)], minlength=len(expected))
        enough = n * expected >= 5
        observed = np.append(seen[enough], seen[~enough].sum())
        wanted = np.append(n * expected[enough], n * expected[~enough].sum())
        observed, wanted = observed[wanted > 0], wanted[wanted > 0]
        statistic = ((observed - wanted) ** 2 / wanted).sum()
        assert statistic < stats.chi2.isf(1e-6 / 3, max(len(wanted) - 1, 1))


@every_case
def test_round_trip_through_json(case: Case) -> None:
    m = case.mechanism
    again = sv.from_json(m.to_json())
    assert again.digest == m.digest
    assert again.to_json() == m.to_json()
    assert again == m
    x = some_inputs(case)
    assert np.array_equal(m.report(x, rng=1), again.report(x, rng=1))
    if case.mechanism.window.count[0] > 1:
        assert len(m.to_json()) < 2048


@every_case
def test_decoded_values_and_edges(case: Case) -> None:
    m = case.mechanism
    every = m.decode(np.arange(m.cells))
    assert (np.diff(every) >= 0).all()
    assert m.edges.shape == (m.cells + 1,)
    assert (m.edges[:-1] <= every + 1e-9).all()
    assert (every <= m.edges[1:] + 1e-9).all()


@every_case
def test_density_integrates_to_one(case: Case) -> None:
    m = case.mechanism
    middle = (m.edges[1:] + m.edges[:-1]) / 2
    width = np.diff(m.edges)
    real = width > 0
    for x in some_inputs(case)[:2]:
        assert (m.density(x, middle[real]) * width[real]).sum() == pytest.approx(1, rel=1e-9)
        assert m.density(x, m.edges[-1] + 1 + m.domain.width) == 0


@every_case
def test_errors_agree_with_the_probabilities(case: Case) -> None:
    """The prefix-sum formulas against a plain sum over the cells, in both distances."""
    m = case.mechanism
    x = some_inputs(case, 5)
    y, p = m.decode(np.arange(m.cells)), m.probabilities(x)
    gap = np.abs(y - x[:, None])
    around = np.minimum(gap % m.domain.width, m.domain.width - gap % m.domain.width)
    for distance, d in (("linear", gap), ("circular", around)):
        for loss, k in (("l1", 1), ("l2", 2), (1.5, 1.5)):
            assert m.error(x, loss, distance) == pytest.approx((p * d**k).sum(axis=1), rel=1e-9)
    mean = (p * y).sum(axis=1)
    spread = np.ptp(y)
    assert m.bias(x) == pytest.approx(mean - x, abs=1e-9 * spread)
    assert m.variance(x) == pytest.approx((p * (y - mean[:, None]) ** 2).sum(axis=1), rel=1e-8)


@every_case
def test_worst_error_is_the_supremum(case: Case) -> None:
    """No input of a fine grid or near a knot exceeds it, and some input comes close."""
    m = case.mechanism
    knots = m.domain.from_unit(np.clip(m.window.knot_t[:, None] + np.array([-1e-7, 0, 1e-7]), 0, 1).ravel())
    grid = np.linspace(m.domain.low, m.domain.high, 4001)
    x = np.clip(np.concatenate((grid, knots)), m.domain.low, m.domain.high)
    for loss in ("l1", "l2") if case.kind == "interval" else ("l2",):
        worst = m.worst_error(loss)
        seen = m.error(x if case.kind == "interval" else x[::200], loss).max()
        assert seen <= worst * (1 + 1e-9)
        assert seen >= worst * (1 - 1e-3)
    seen = m.variance(x).max()
    assert seen * (1 - 1e-9) <= m.worst_variance() <= seen * (1 + 1e-3)


UNBIASED = [case for case in CASES if case.design in ("pm", "ptt", "duchi", "ogpm_unbiased")]


@pytest.mark.parametrize("case", UNBIASED, ids=str)
def test_unbiased_designs_are_unbiased_everywhere(case: Case) -> None:
    m = case.mechanism
    t = np.concatenate((np.linspace(0, 1, 2001), np.random.default_rng(3).random(2000), m.window.knot_t))
    x = np.clip(m.domain.from_unit(t), m.domain.low, m.domain.high)
    assert np.abs(m.bias(x)).max() <= 1e-12 * (m.edges[-1] - m.edges[0])
