"""What every law promises, checked on every law that exists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest
from tests.laws.every import makers

import sottovoce as sv
from sottovoce.laws import Law

EPSILONS = (0.05, 0.5, 1.0, 4.0)
FALSE_ALARM = 1e-6


def points(law: Law) -> np.ndarray:
    low, high = law.domain.low, law.domain.high
    return low + (high - low) * np.array([0.0, 0.1, 0.37, 0.5, 0.93, 1.0])


@pytest.fixture(params=EPSILONS)
def law(law_name: str, request: pytest.FixtureRequest) -> Law:
    return makers()[law_name](request.param)


@lru_cache(maxsize=64)
def nodes(law: Law, x: float) -> tuple[np.ndarray, np.ndarray]:
    """Reports and weights that integrate against the distribution function, atoms apart."""
    low, high = law._range()
    wide = 2.5 * (high - low) if law._cdf(np.array(0.5), np.array(high)) < 1 - 1e-12 else 0.0
    edges = law.domain.from_unit(np.linspace(low - wide, high + wide, 60_001))
    cumulative, atoms = law.cdf(x, edges), law.atoms(x)
    for where, mass in atoms:
        cumulative = cumulative - mass * (edges >= where)
    y = np.append((edges[1:] + edges[:-1]) / 2, [where for where, _ in atoms])
    return y, np.append(np.diff(cumulative), [mass for _, mass in atoms])


def expectation(law: Law, x: float, f: Callable[[np.ndarray], np.ndarray]) -> float:
    y, weight = nodes(law, float(x))
    return float((weight * f(y)).sum())


def test_discovery_finds_the_published_names() -> None:
    assert set(makers()) == {
        "bounded_laplace", "hybrid", "laplace", "ptt2", "purkayastha", "staircase", "truncated_laplace",
        "von_mises",
    }  # fmt: skip


def test_density_is_the_slope_of_the_cdf(law: Law) -> None:
    low, high = law._range()
    y = law.domain.from_unit(np.random.default_rng(1).uniform(low, high, 400))
    step = 1e-6 * law.domain.width
    for x in points(law):
        left, right = law.cdf(x, y - step), law.cdf(x, y + step)
        slope = (right - left) / (2 * step)
        density = law.density(x, y)
        smooth = np.abs(law.density(x, y - step) - law.density(x, y + step)) < 1e-3 * density + 1e-12
        atoms = np.array([where for where, _ in law.atoms(x)])
        clear = smooth & np.all(np.abs(y[:, None] - atoms) > 2 * step, axis=1) & np.isfinite(density)
        assert clear.sum() > 350
        np.testing.assert_allclose(slope[clear], density[clear], rtol=1e-3, atol=1e-7)


def test_mass_is_one(law: Law) -> None:
    for x in points(law):
        assert expectation(law, x, np.ones_like) == pytest.approx(1.0, abs=1e-9)


def test_quantile_inverts_the_cdf(law: Law) -> None:
    p = np.linspace(0.001, 0.999, 501)
    for x in points(law):
        y = law.quantile(x, p)
        assert (np.diff(y) >= 0).all()
        below = law.cdf(x, np.nextafter(y, -np.inf) - 1e-12 * law.domain.width)
        assert (law.cdf(x, y) >= p - 1e-12).all()
        assert (below <= p + 1e-9).all()


def test_errors_are_the_expectations(law: Law) -> None:
    for x, k in itertools.product(points(law), (1.0, 1.5, 2.0, 3.0)):
        expected = expectation(law, x, lambda y, x=x, k=k: np.abs(y - x) ** k)
        assert law.error(x, k, "linear") == pytest.approx(expected, rel=2e-5)
        if law.domain.is_circle:
            expected = expectation(
                law,
                x,
                lambda y, x=x, k=k: np.minimum(np.abs(y - x), law.domain.width - np.abs(y - x)) ** k,
            )
            assert law.error(x, k) == pytest.approx(expected, rel=2e-5)


def test_bias_and_variance_are_the_moments(law: Law) -> None:
    for x in points(law):
        mean = expectation(law, x, lambda y: y)
        square = expectation(law, x, lambda y, mean=mean: (y - mean) ** 2)
        scale = math.sqrt(square)
        assert law.bias(x) == pytest.approx(mean - x, abs=1e-4 * scale)
        assert law.variance(x) == pytest.approx(square, rel=2e-5)


def largest_log_ratio(law: Law) -> float:
    """The ε of a law, on a grid of inputs and reports and at its atoms."""
    x = law.domain.from_unit(np.linspace(0, 1, 201))
    low, high = law._range()
    y = law.domain.from_unit(np.linspace(low, high, 2003))
    density = law.density(x[:, None], y[None, :])
    density = density[:, np.isfinite(density).all(axis=0) & (density > 0).all(axis=0)]
    found = [np.log(density.max(axis=0) / density.min(axis=0)).max()] if density.size else []
    masses = np.array([[mass for _, mass in law.atoms(one)] for one in x])
    masses = masses[:, (masses > 0).all(axis=0)] if masses.size else masses
    found += np.log(masses.max(axis=0) / masses.min(axis=0)).tolist() if masses.size else []
    return float(max(found))


def test_epsilon_holds_and_is_used_up(law: Law) -> None:
    found = largest_log_ratio(law)
    assert found <= law.epsilon * (1 + 1e-9) + 1e-12
    assert found >= law.epsilon * 0.98


def test_support_does_not_depend_on_the_input(law: Law) -> None:
    """A report possible for one input is possible for all: zero density anywhere would break any ε."""
    x = law.domain.from_unit(np.linspace(0, 1, 33))
    low, high = law._range()
    y = law.domain.from_unit(np.linspace(low, high, 999)[1:-1])
    possible = law.density(x[:, None], y[None, :]) > 0
    assert (possible.all(axis=0) | ~possible.any(axis=0)).all()


@pytest.mark.parametrize("mutant", [1.02])
def test_a_law_of_more_epsilon_is_caught(law_name: str, mutant: float) -> None:
    assert largest_log_ratio(makers()[law_name](1.0 * mutant)) > 1.0 * (1 + 1e-9)


def worst_gap(law: Law, reports: np.ndarray, x: float) -> float:
    """sup |empirical − cdf|, on a grid that includes both sides of the atoms."""
    low, high = law._range()
    y = law.domain.from_unit(np.linspace(low, high, 4001))
    y = np.concatenate([y, *([where - 1e-9, where] for where, _ in law.atoms(x))])
    empirical = np.searchsorted(np.sort(reports), y, side="right") / reports.size
    return float(np.abs(empirical - law.cdf(x, y)).max())


N = 200_000
TOLERANCE = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * N))  # Dvoretzky–Kiefer–Wolfowitz–Massart


def test_the_sampler_follows_the_cdf_and_the_moments(law_name: str) -> None:
    law, rng = makers()[law_name](1.0), np.random.default_rng(5)
    for x in points(law)[[0, 2, 4]]:
        reports = law.sample(np.full(N, x), rng)
        assert worst_gap(law, reports, x) <= TOLERANCE
        spread = math.sqrt(law.variance(x) / N)
        assert abs(reports.mean() - x - law.bias(x)) <= 4.9 * spread  # two-sided 1e-6
        square = np.abs(reports - x) ** 2
        deviation = math.sqrt((law.error(x, 4.0, "linear") - law.error(x, "l2", "linear") ** 2) / N)
        assert abs(square.mean() - law.error(x, "l2", "linear")) <= 4.9 * deviation


def test_a_sampler_of_other_epsilon_is_caught(law_name: str) -> None:
    law, other = makers()[law_name](1.0), makers()[law_name](1.15)
    x = law.domain.low
    gap = worst_gap(law, other.sample(np.full(4 * N, x), np.random.default_rng(6)), x)
    assert gap > TOLERANCE / 2  # four times the reports: half the tolerance


def test_worst_cases_are_worst(law: Law) -> None:
    x = law.domain.from_unit(np.linspace(0, 1, 1501))
    for loss in ("l1", "l2", 1.5):
        values = law.error(x, loss)
        assert law.worst_error(loss) >= values.max() * (1 - 1e-12)
        assert law.worst_error(loss) <= values.max() * (1 + 1e-6)
    assert law.worst_variance() >= law.variance(x).max() * (1 - 1e-12)
    assert law.worst_variance() <= law.variance(x).max() * (1 + 1e-6)


def test_other_domains_are_the_same_law(law_name: str) -> None:
    maker = makers()[law_name]
    unit = maker(1.0)
    other = maker(1.0, sv.Circle(24.0, origin=-7.0) if unit.domain.is_circle else (-7.0, 17.0))
    scale = 24.0 / unit.domain.width
    t = np.linspace(0, 1, 9)
    x, z = unit.domain.from_unit(t), other.domain.from_unit(t)
    np.testing.assert_allclose(other.error(z, "l1"), unit.error(x, "l1") * scale, rtol=1e-9)
    np.testing.assert_allclose(other.variance(z), unit.variance(x) * scale**2, rtol=1e-9)
    np.testing.assert_allclose(other.bias(z), unit.bias(x) * scale, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        other.density(z, other.domain.from_unit(t * 0.9 + 0.03)) * scale,
        unit.density(x, unit.domain.from_unit(t * 0.9 + 0.03)),
        rtol=1e-9,
    )


def test_shapes_and_scalars(law: Law) -> None:
    x = np.full((2, 3), law.domain.low)
    assert law.error(x).shape == (2, 3)
    assert law.sample(x, 7).shape == (2, 3)
    assert law.quantile(x, 0.5).shape == (2, 3)
    assert np.ndim(law.error(law.domain.low)) == 0
    assert law.sample(x, 7).tolist() == law.sample(x, 7).tolist()
    assert law.error(np.empty(0)).shape == (0,)


def test_bad_arguments_are_named(law_name: str) -> None:
    maker = makers()[law_name]
    for wrong in (0, -1.0, math.nan, math.inf, 1e-9, 99):
        with pytest.raises(ValueError, match="epsilon must"):
            maker(wrong)
    with pytest.raises(TypeError, match="epsilon must be a real number"):
        maker("1")
    law = maker(1.0)
    with pytest.raises(ValueError, match=r"defined on (a circle|an interval)"):
        maker(1.0, (0, 1) if law.domain.is_circle else sv.Circle())
    with pytest.raises(ValueError, match="x must lie in the domain: 1 of 2 do not, the first at index 1"):
        law.error([law.domain.low, math.nan])
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        law.quantile(law.domain.low, 1.0)
    with pytest.raises(ValueError, match="distance must be"):
        law.error(law.domain.low, "l2", "manhattan")
    with pytest.raises(TypeError, match="rng must be"):
        law.sample(law.domain.low, None)  # type: ignore[arg-type]
