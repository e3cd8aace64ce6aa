"""Values that differ by factors: a logarithm that every language rounds alike, answers in people's unit."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.exact.logarithm import natural_log

INCOMES = sv.Interval(100, 10**6, scale="log")
N = 8000


@pytest.fixture(scope="module")
def people() -> np.ndarray:
    return np.clip(np.exp(np.random.default_rng(5).normal(9.0, 0.8, N)), 100, 10**6)


@pytest.fixture(scope="module")
def tally(people: np.ndarray) -> sv.Tally:
    m = sv.sw(2.0, INCOMES)
    return sv.Tally(m, m.report(people, rng=3))


def test_the_logarithm_is_one() -> None:
    x = np.exp(np.random.default_rng(1).uniform(-690, 700, 100_000))
    assert np.abs(natural_log(x) - np.log(x)).max() <= 4 * np.spacing(700.0)
    near = np.linspace(0.5, 2.0, 20_001)
    assert np.abs(natural_log(near) - np.log(near)).max() <= 4e-16
    assert natural_log(np.array([0.0, -1.0])).tolist() == [-math.inf, -math.inf]
    assert math.isnan(natural_log(np.array([math.nan]))[0])


def test_the_unit_coordinate_is_measured_along_factors() -> None:
    domain = sv.Interval(1, 10_000, scale="log")
    assert np.allclose(domain.to_unit([1, 10, 100, 10_000]), [0, 0.25, 0.5, 1], rtol=0, atol=1e-15)
    assert domain.from_unit([0.0, 1.0]).tolist() == [1.0, 10_000.0]  # the ends themselves
    neighbours = np.nextafter([1.0, 10_000.0], [2.0, 0.0])
    assert ((domain.to_unit(neighbours) >= 0) & (domain.to_unit(neighbours) <= 1)).all()
    assert domain != sv.Interval(1, 10_000)
    assert repr(domain) == "Interval(low=1.0, high=10000.0, scale='log')"


def test_compiled_and_plain_loops_draw_the_same(people: np.ndarray) -> None:
    for m in (sv.sw(1.0, INCOMES), sv.optimal(1.0, INCOMES)):
        words = np.random.default_rng(4).integers(0, 1 << 64, people.size, dtype=np.uint64)
        plain, compiled = (np.empty(people.size, dtype=np.uint32) for _ in range(2))
        assert m._sampler.fill(plain, words.copy(), people, compiled=False) == 0
        assert m._sampler.fill(compiled, words.copy(), people, compiled=True) == 0
        assert np.array_equal(plain, compiled)
        outside = np.append(people[:4], [np.nextafter(10**6, math.inf), 99.0, math.nan])
        for loop in (True, False):
            assert (
                m._sampler.fill(np.empty(7, dtype=np.uint32), words[:7].copy(), outside, compiled=loop) == 3
            )


def test_the_scale_is_part_of_the_spec_and_of_nothing_else() -> None:
    m = sv.ogpm(1.0, INCOMES)
    assert sv.from_json(m.to_json()).domain == INCOMES
    assert m.digest != sv.ogpm(1.0, (100, 10**6)).digest
    assert "scale" not in sv.ogpm(1.0, (100, 10**6)).to_json()


def test_answers_come_back_in_the_unit_of_the_people(people: np.ndarray, tally: sv.Tally) -> None:
    for p in (0.25, 0.5, 0.9):
        estimate = sv.quantile(tally, p)
        assert estimate.low <= np.quantile(people, p) <= estimate.high
        assert estimate.high < 3 * estimate.low
    share = sv.probability(tally, 5_000, 20_000)
    assert share.low <= ((people >= 5_000) & (people <= 20_000)).mean() <= share.high
    d = sv.distribution(tally, bins=32, band=False)
    assert np.allclose(d.edges[1:] / d.edges[:-1], 10_000 ** (1 / 32))
    assert abs(d.quantile(0.5) / np.median(people) - 1) < 0.15
    assert abs(float(d.cdf(d.quantile(0.3))) - 0.3) < 1e-12
    assert abs(d.mean / people.mean() - 1) < 0.15
    assert abs(d.density @ np.diff(d.edges) - 1) < 1e-12


def test_a_linear_scale_does_worse_on_the_same_people(people: np.ndarray, tally: sv.Tally) -> None:
    m = sv.sw(2.0, (100, 10**6))
    straight = sv.quantile(sv.Tally(m, m.report(people, rng=3)), 0.5)
    assert sv.quantile(tally, 0.5).half_width < straight.half_width / 2


def test_a_mean_says_that_it_is_geometric_and_a_variance_is_refused(
    people: np.ndarray, tally: sv.Tally
) -> None:
    for m in (tally.law.as_number(), sv.optimal(2.0, INCOMES)):
        estimate = sv.mean(sv.Tally(m, m.report(people, rng=3)))
        assert estimate.what == "geometric mean"
        assert "mean of the logarithms" in estimate.notes[0]
        assert estimate.low <= math.exp(np.log(people).mean()) <= estimate.high < people.mean()
        assert math.isnan(estimate.error)
        assert estimate.reach is None
    with pytest.raises(ValueError, match="variance is not estimated on a log scale; use quantile"):
        sv.variance(tally)
    assert sv.fakes(sv.Tally(m, m.report(people, rng=3)), k=10, places=3).kind == "search"


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (1e-301, 1)])
def test_a_log_scale_needs_positive_values(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="a log scale needs values above 0: low must be at least"):
        sv.Interval(low, high, scale="log")
    with pytest.raises(ValueError, match="scale must be one of 'linear', 'log', got scale='ln'"):
        sv.Interval(1, 2, scale="ln")
    with pytest.raises(TypeError, match="domain must be"):
        sv.central.mean([5.0], epsilon=1.0, domain=INCOMES)


def test_a_plan_says_where_a_log_scale_helps() -> None:
    ask = {"epsilon": 2.0, "people": N, "p": 0.5}
    straight = sv.plan("quantile", domain=(100, 10**6), **ask)
    words = r"factor of (\S+) instead of ± (\S+): narrower if the quantile is below (\S+)"
    said = re.search(words, straight.log_hint)
    assert said is not None
    assert straight.log_hint in str(straight)
    factor, half, below = map(float, said.groups())
    log = sv.plan("quantile", domain=INCOMES, **ask)
    assert math.exp(log.best.half_width) == pytest.approx(factor, rel=0.01)
    assert below * (factor - 1) == pytest.approx(half, rel=0.05)
    assert not log.log_hint
    assert not sv.plan("quantile", domain=(0, 24), **ask).log_hint
