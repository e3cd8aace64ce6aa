"""Tabulated laws: exact, ε by counting, close to the law they come from."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.laws.every import makers

import sottovoce as sv
from sottovoce.errors import PrivacyError
from sottovoce.exact.exponential import MAX_BITS
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.exact.rows_that_keep_epsilon import repaired
from sottovoce.reporters.rows import Rows

FALSE_ALARM = 1e-6


@pytest.fixture(params=[0.3, 1.0, 4.0])
def table(law_name: str, request: pytest.FixtureRequest) -> Rows:
    return makers()[law_name](request.param).tabulate(inputs=32, cells=300)


def counted_ratio(rows: np.ndarray) -> Fraction:
    """Every cell, every pair of inputs, in integers."""
    return max(Fraction(int(c.max()), int(c.min())) for c in rows.T)


def test_epsilon_by_counting(table: Rows) -> None:
    assert (table.rows.sum(axis=1) == table.total).all()
    assert counted_ratio(table.rows) <= exp_lower(table.epsilon)
    assert table.largest_ratio == counted_ratio(table.rows)
    assert table.epsilon * 0.98 <= sv.audit(table).epsilon <= table.epsilon


def test_one_more_count_is_refused(table: Rows) -> None:
    cell = int(np.argmax(table.rows.max(axis=0) / table.rows.min(axis=0)))
    row = int(np.argmax(table.rows[:, cell]))
    rows = table.rows.copy()
    most = math.floor(int(rows[:, cell].min()) * exp_lower(table.epsilon))
    giver = int(np.argmax(np.where(np.arange(table.cells) == cell, 0, rows[row])))
    rows[row, giver] -= most + 1 - rows[row, cell]
    rows[row, cell] = most + 1
    with pytest.raises(PrivacyError, match="more than the claimed"):
        replace(table, rows=rows)
    rows[row, giver] += 1
    with pytest.raises(ValueError, match="add up to"):
        replace(table, rows=rows)


def test_the_rows_follow_the_law(law_name: str) -> None:
    law = makers()[law_name](1.0)
    table = law.tabulate(inputs=33, cells=2000)
    x = law.domain.from_unit(table.inputs)
    for loss in ("l1", "l2"):
        np.testing.assert_allclose(table.error(x, loss), law.error(x, loss), rtol=5e-3)
    np.testing.assert_allclose(table.variance(x), law.variance(x), rtol=5e-3)
    spread = math.sqrt(law.worst_variance())
    np.testing.assert_allclose(table.bias(x), law.bias(x), atol=2e-3 * spread)
    assert table.worst_error("l2") >= table.error(x).max()
    assert table.worst_variance() == pytest.approx(law.worst_variance(), rel=5e-3)


def test_reports_follow_the_counts(law_name: str) -> None:
    table = makers()[law_name](1.0).tabulate(inputs=17, cells=40)
    n, x = 200_000, table.domain.from_unit(0.3)
    for rng in (11, None):  # seeded, and the secure stream
        cells = table.report(np.full(n, x), rng=rng)
        seen, p = np.bincount(cells, minlength=table.cells), table.probabilities(x)
        statistic = ((seen - n * p) ** 2 / (n * p)).sum()
        from scipy.stats import chi2

        assert statistic < chi2.isf(FALSE_ALARM, table.cells - 1)
        assert ((seen - n * np.roll(p, 1)) ** 2 / (n * np.roll(p, 1))).sum() > statistic  # a shifted mutant


def test_repair_is_needed() -> None:
    """Plain rounding of a staircase's rows breaks ε; the repair is not decoration."""
    law = makers()["staircase"](1.0)
    t, edges = np.linspace(0, 1, 33), np.linspace(-5, 6, 301)
    cumulative = law.cdf(t[:, None], edges[None, :])
    cumulative[:, 0], cumulative[:, -1] = 0.0, 1.0
    p = np.diff(cumulative, axis=1)
    plain = np.rint(p * 2.0**MAX_BITS).astype(np.int64)
    assert counted_ratio(plain) > exp_lower(1.0)
    assert counted_ratio(repaired(p, 1.0)) <= exp_lower(1.0)
    assert np.abs(repaired(p, 1.0) - plain).max() < 1e-9 * 2.0**MAX_BITS


def test_repair_of_rows_that_are_slightly_off() -> None:
    rng = np.random.default_rng(2)
    for epsilon in (0.1, 1.0, 8.0):
        p = rng.uniform(1.0, math.exp(epsilon * 1.1), size=(20, 50))
        p /= p.sum(axis=1, keepdims=True)
        rows = repaired(p, epsilon)
        assert (rows.sum(axis=1) == 1 << MAX_BITS).all()
        assert counted_ratio(rows) <= exp_lower(epsilon)


def test_rows_that_are_not_private_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="too far from"):
        repaired(np.eye(20) * 0.9 + 0.1 / 20, 1.0)


def test_a_law_becomes_a_reporter_like_any_other(law_name: str) -> None:
    table = makers()[law_name](2.0).tabulate(inputs=17, cells=64)
    assert repr(table).startswith(f"<{law_name} epsilon=2.0")
    assert sv.from_json(table.to_json()) == table
    reports = table.report(np.full(1000, table.domain.from_unit(0.25)), rng=3)
    tally = sv.Tally(table, reports)
    estimate = sv.circular_mean(tally) if table.domain.is_circle else sv.mean(tally)
    assert estimate.low <= estimate.value <= estimate.high
    assert estimate.n == 1000


def test_bad_tables_are_refused() -> None:
    law = sv.laws.laplace(1.0)
    with pytest.raises(ValueError, match="inputs must be at least 2"):
        law.tabulate(inputs=1)
    with pytest.raises(ValueError, match="inputs times cells"):
        law.tabulate(inputs=2**13, cells=2**13)
    with pytest.raises(TypeError, match="cells must be a whole number"):
        law.tabulate(cells=12.5)  # type: ignore[arg-type]
