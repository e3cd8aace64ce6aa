"""Intervals: coverage by simulation at every size, mechanism and mean, and that the check can fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from papers.trials import simulate

from sottovoce.central import release_intervals
from sottovoce.central.grid import Grid
from sottovoce.central.noise.by_name import NAMES, noise_of
from sottovoce.central.noise.noise import Noise
from sottovoce.central.release_intervals import quantiles

RUNS = 50_000
Z = 4.8  # one-sided normal quantile at 1e−6


def bound(confidence: float) -> float:
    return confidence - Z * math.sqrt(confidence * (1 - confidence) / RUNS)


@pytest.mark.parametrize("mechanism", NAMES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_coverage(mechanism: str, epsilon: float) -> None:
    for seed, (people, mean) in enumerate([(1, 0.0), (1, 0.7), (3, 0.5), (20, 0.01), (1000, 0.9)]):
        trials = simulate(mechanism, epsilon, people, mean, runs=RUNS, rng=seed)
        for confidence in (0.5, 0.95):
            assert trials.coverage(confidence) >= bound(confidence)


@pytest.mark.parametrize("mechanism", NAMES)
def test_coverage_is_not_wasteful_for_many_people(mechanism: str) -> None:
    trials = simulate(mechanism, 1.0, 100_000, 0.3, runs=RUNS, rng=3)
    assert trials.coverage() <= 0.955 + Z * math.sqrt(0.95 * 0.05 / RUNS)


@pytest.mark.parametrize("mechanism", ["hourglass", "swap", "staircase2d", "transformed", "shifted"])
def test_coverage_on_a_coarse_grid(mechanism: str) -> None:
    for steps in (1, 2, 7):
        trials = simulate(mechanism, 1.0, 50, 0.5, runs=RUNS, steps=steps, rng=5)
        assert trials.coverage() >= bound(0.95)


def test_coverage_far_from_zero() -> None:
    trials = simulate("independent", 1.0, 400, 0.25, runs=RUNS, low=100.0, rng=6)
    assert trials.coverage() >= bound(0.95)


def test_the_coverage_check_notices_a_few_per_cent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quantiles of the noise at ε × 1.1 instead of ε."""

    def wrong(noise: Noise, confidence: float) -> np.ndarray:
        return quantiles(noise_of("hourglass", 1.1 * noise.rate, Grid.of((0, 1))), confidence)

    trials = simulate("hourglass", 1.0, 1000, 0.9, runs=RUNS, rng=4)
    monkeypatch.setattr(release_intervals, "quantiles", wrong)
    release_intervals._largest_between.cache_clear()
    coverage = trials.coverage()
    release_intervals._largest_between.cache_clear()
    assert coverage < bound(0.95)


@pytest.mark.parametrize("mechanism", NAMES)
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.3, 16.0])
def test_tails_fall_from_one_to_nothing(mechanism: str, epsilon: float) -> None:
    noise = noise_of(mechanism, epsilon, Grid.of((3, 4)))
    t = np.linspace(0, 120 / min(epsilon, 1), 200)
    for alpha in (0.0, 0.2, 0.5):
        tail = noise.tail(t, np.full(200, alpha), 1e-6)
        assert tail[0] == pytest.approx(1, abs=0.03)
        assert (np.diff(tail) <= 1e-12).all()
        assert tail[-1] < 1e-3


def test_estimates_without_people() -> None:
    """n ≤ 0: the end that the sums point to, the middle if they point nowhere; always inside."""
    s = np.array([2.0, -1.0, -1.0, 0.0, -3.0, 5.0])
    n = np.array([-3.0, 4.0, -2.0, 0.0, 1.0, 4.0])
    assert release_intervals.estimate(s, n).tolist() == [1.0, 0.0, 0.5, 0.5, 0.0, 1.0]


def test_intervals_lie_in_the_bounds_and_hold_the_estimate() -> None:
    rng = np.random.default_rng(1)
    s, n = rng.normal(0, 5, 10_000), np.round(rng.normal(0, 5, 10_000))
    noise = noise_of("hourglass", 1.0, Grid.of((0, 1)))
    alpha = release_intervals.estimate(s, n)
    low, high = release_intervals.interval(s, n, alpha, noise, 0.95, 1 << 32)
    assert ((low >= 0) & (low <= alpha) & (alpha <= high) & (high <= 1)).all()
