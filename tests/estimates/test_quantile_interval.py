"""Where limits of F cross p: the search, the placed bins, and the bound against another program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls

import sottovoce as sv
from sottovoce.estimates.answer.better_design import quantile_width
from sottovoce.estimates.limits.false_position import Bracket, false_position

HOURS = np.diff(np.array([0.0, *(np.linspace(0, 1, 513)[1:] ** 2 * (3 - 2 * np.linspace(0, 1, 513)[1:]))]))


@pytest.mark.parametrize("m", [sv.sw(1.0), sv.two_scale(2.0), sv.ogpm(1.0, sv.Circle(1))], ids=repr)
def test_the_law_of_placed_bins_is_the_operators(m: sv.Mechanism) -> None:
    first, x = m.bins(96, (0.4, 0.45)), np.random.default_rng(1).random(50)
    assert len(first) <= 100
    assert np.abs(m.table(x, first) - m.operator(x).coarsen(first).dense()).max() < 1e-12
    # Most bins are near the ends of windows of those values.
    assert np.median(np.diff(first)) < m.cells / 130


@pytest.mark.parametrize("zero", [0.001, 0.31, 0.9])
def test_a_search_ends_just_below_the_crossing(zero: float) -> None:
    def excess(at: float) -> float:
        return float(np.tanh(5 * (at - zero)))

    crossing = false_position(excess, Bracket(0.0, 1.0), 0.5, 1.0, 0.01)
    assert zero - 0.02 < crossing.below < zero
    assert abs(crossing.at - zero) < 0.01


def distance(m: sv.Mechanism, f: np.ndarray, t: float, p: float) -> float:
    """The least χ distance to the reports of f of a truth with F(t) = p: non-negative least squares."""
    first, x = m.bins(256), np.unique(np.clip([*np.linspace(0, 1, 201), t, t + 1e-9], 0, 1))
    rows = m.table(x, first)
    q = f @ m.table((np.arange(len(f)) + 0.5) / len(f), first)
    sums = 1e3 * np.stack([x <= t, x > t]).astype(float)
    weights, _ = nnls(np.vstack([rows.T / np.sqrt(q)[:, None], sums]), [*np.sqrt(q), 1e3 * p, 1e3 * (1 - p)])
    return float(np.sqrt((((weights @ rows) - q) ** 2 / q).sum()))


def test_the_bound_is_that_of_the_dual_program() -> None:
    """A truth whose quantile lies at the end of the interval looks like the pilot: at distance z/√n."""
    m, n, p = sv.sw(1.0), 100_000, 0.5
    width = quantile_width(m, n, HOURS, p)
    ends = 0.5 - width.bound / 2, 0.5 + width.bound / 2  # the truth is symmetric
    for end in ends:
        assert distance(m, HOURS, end, p) * np.sqrt(n) == pytest.approx(1.96, rel=0.12)
    assert distance(m, HOURS, 0.5 - width.bound / 3, p) * np.sqrt(n) < 1.6
    assert width.bound <= width.expected < 1.06 * width.bound


def test_a_bound_that_the_interval_contradicts_is_not_printed() -> None:
    """It is a median, of a distribution that is estimated: one interval may well be narrower."""
    m = sv.sw(1.0, (0, 24), cells=256)
    answer = sv.quantile(sv.Tally(m, m.report(np.full(2000, 8.0), rng=1)), 0.5)
    width = answer.high - answer.low
    assert "at best about" in str(replace(answer, bound=0.9 * width))
    assert "at best about" not in str(replace(answer, bound=1.1 * width))


def test_ends_go_to_the_steps_of_a_table_only_without_a_shape() -> None:
    """Values of a step report alike: what excludes one excludes all, unless a shape binds their people."""
    m = sv.design("quantile", 1.0, (0, 1), p=0.9)
    tally = sv.Tally(m, m.report(np.random.default_rng(7).gamma(9, 0.9, 20_000).clip(0, 24) / 24, rng=3))

    def off(estimate: sv.Estimate) -> np.ndarray:
        steps = 98 * np.array([estimate.low, estimate.high])
        return np.asarray(np.abs(steps - np.rint(steps)))

    assert off(sv.quantile(tally, 0.9)).max() < 1e-6
    assert off(sv.quantile(tally, 0.9, shape="unimodal")).min() > 1e-3


def two_groups(m: sv.Mechanism, low: float, high: float, n: int, seed: list[int]) -> sv.Tally:
    chances = m.operator([low, high]).mix(np.array([0.5, 0.5]))
    return sv.Tally.from_counts(m, np.random.default_rng(seed).multinomial(n, chances / chances.sum()))


@pytest.mark.parametrize("seed", [8, 26, 34, 77, 104])
def test_an_end_is_the_first_place_that_is_not_excluded(seed: int) -> None:
    """F stays at p for long here, and some limit on the way excludes it in each of these samples."""
    m = sv.sw(1.0)
    answer = sv.quantile(two_groups(m, 0.3, 0.8, 20_000, [11, seed]), 0.5)
    assert answer.low <= 0.3 < 0.8 <= answer.high


@pytest.mark.parametrize("seed", [10, 19])
def test_a_limit_of_one_excludes_nothing(seed: int) -> None:
    """Beyond the last person F is 1, and so is its limit, but for rounding."""
    answer = sv.quantile(two_groups(sv.sw(2.0), 0.1, 0.95, 1_000_000, [seed]), 1.0)
    assert answer.low <= 0.95 <= answer.high


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_a_heap_at_an_end_leaves_quantiles_narrow(p: float) -> None:
    """80 % at one end, 20 % at the other: ends are expected closely, and bins must reach beyond."""
    m = sv.sw(4.0, (0, 10))
    people = np.repeat([0.0, 10.0], [16_000, 4_000])
    for seed in range(6):
        answer = sv.quantile(sv.Tally(m, m.report(people, rng=seed)), p)
        assert answer.low <= (0 if p < 0.8 else 10) <= answer.high
        assert answer.high - answer.low < 0.1
