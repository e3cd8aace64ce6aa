"""The error is that of the value, bias included: against simulated errors, and what must fail."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2

import sottovoce as sv
from sottovoce.estimates.limits.envelope import IDENTITY, CrossFit
from sottovoce.estimates.limits.weighted_counts import moments

RUNS = 60
#: A mean square over RUNS errors stays below this multiple of its expectation, but for one time in a million
#: (exact for a normal error without bias; a bias only makes the sum vary less).
MOST = chi2.isf(1e-6, RUNS) / RUNS


def people(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.beta(1, 8, n)


Ask = Callable[[sv.Tally], sv.Estimate]
TRUTH = {"mean": 1 / 9, "variance": 8 / 810, "probability": 0.8**8 - 0.4**8, "direction": 0.0, "R": 0.0}
TRUTH["standard deviation"] = TRUTH["variance"] ** 0.5
ASK: dict[str, Ask] = {
    "mean": sv.mean,
    "variance": sv.variance,
    "standard deviation": sv.standard_deviation,
    "probability": lambda t: sv.probability(t, 0.2, 0.6),
}


def simulated(m: sv.Mechanism | sv.Mixture, n: int, ask: Ask, truth: float) -> tuple[float, float]:
    """The mean square of the errors, and of those that the estimates say."""
    rng = np.random.default_rng([n, m.cells])
    estimates = [ask(sv.Tally(m, m.report(people(rng, n), rng=rng))) for _ in range(RUNS)]
    errors = np.array([e.value - truth for e in estimates])
    return float((errors**2).mean()), float(np.mean([e.error**2 for e in estimates]))


@pytest.mark.parametrize("what", ASK)
@pytest.mark.parametrize(
    ("m", "n"),
    [
        (sv.sw(1.0, cells=2048), 2000),
        (sv.ogpm(2.0, cells=2048), 20_000),
        (sv.two_scale(1.0, cells=1024), 2000),
    ],
    ids=["sw", "ogpm", "two_scale"],
)
def test_errors_are_no_larger_than_the_error_that_is_said(m: sv.Mechanism, n: int, what: str) -> None:
    seen, said = simulated(m, n, ASK[what], TRUTH[what])
    assert seen < MOST * said


def test_the_error_of_an_unbiased_mechanism_is_its_sampling_error() -> None:
    m = sv.pm(1.0, (0, 1), cells=2048)
    seen, said = simulated(m, 2000, sv.mean, TRUTH["mean"])
    assert chi2.ppf(1e-6, RUNS) / RUNS * said < seen < MOST * said


def two_cells(epsilon: float = 1.0) -> sv.Mechanism:
    """A design for one person's value: whoever is below the middle reports as if at one place."""
    return sv.ogpm(epsilon, (0, 24), cells=2)


def test_a_mechanism_that_does_not_suit_the_mean_says_so_in_numbers() -> None:
    """A million people at 8.00: two cells only tell that they are in the lower half.

    The mutant is the sampling error alone: a hundredth of an hour, where the value is wrong by hours.
    """
    m = two_cells()
    t = sv.Tally(m, m.report(np.full(1_000_000, 8.0), rng=1))
    e = sv.mean(t)
    assert e.low <= 8.0 <= e.high
    assert abs(e.value - 8.0) <= e.error <= e.half_width
    assert f"leave the mean open by ± {e.error:.2g}" in e.notes[0]
    fit = CrossFit(t)
    sampling = [24 * moments(fit.statistic(IDENTITY, side, 0.025)).error for side in (-1, 1)]
    assert abs(e.value - 8.0) > 20 * max(sampling)


def test_an_error_that_is_not_known_is_nan_with_a_note() -> None:
    m = sv.sw(1.0, cells=2048)
    t = sv.Tally(m, m.report(np.random.default_rng(1).random(2000), rng=1))
    e = sv.quantile(t, 0.5)
    assert math.isnan(e.error)
    assert "not known" in e.notes[0]
    c = sv.ogpm(1.0, sv.Circle(24), cells=2048)
    nowhere = sv.circular_mean(sv.Tally(c, c.report(np.linspace(0, 24, 2000), rng=1)))
    assert math.isnan(nowhere.error)
    assert "no direction" in nowhere.notes[0]


def test_errors_of_direction_and_concentration() -> None:
    m, n = sv.two_scale(2.0, sv.Circle(1), cells=1024), 2000
    rng = np.random.default_rng(5)
    squares = []
    for _ in range(RUNS):
        t = sv.Tally(m, m.report(np.mod(rng.normal(0.0, 0.1, n), 1.0), rng=rng))
        direction, length = sv.circular_mean(t), sv.concentration(t)
        off = (direction.value + 0.5) % 1.0 - 0.5
        gap = length.value - math.exp(-2 * (math.pi * 0.1) ** 2)
        squares.append([off**2, direction.error**2, gap**2, length.error**2])
    seen_direction, said_direction, seen_length, said_length = np.mean(squares, axis=0)
    assert seen_direction < MOST * said_direction
    assert seen_length < MOST * said_length
