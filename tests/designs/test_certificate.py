"""Certificates stand on their own: checked in exact fractions, and a forged one is caught."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.designs.solver.certificate import Certificate, upper_e
from sottovoce.designs.solver.cut_sums import least_sum, lows
from sottovoce.designs.solver.cuts import Cuts
from sottovoce.errors import SpecError
from sottovoce.exact.rational_bounds import exp_upper


@pytest.fixture(params=["l1", 1.5, "l2", "mean"])
def certificate(request: pytest.FixtureRequest) -> Certificate:
    return (
        sv.optimal(1.0) if request.param == "mean" else sv.optimal(1.0, question="value", loss=request.param)
    ).certificate


def weighted_sum(certificate: Certificate, y: np.ndarray) -> np.ndarray:
    """r(y), written out."""
    cuts, e = certificate.cuts, upper_e(certificate.epsilon)
    total = np.zeros(len(y))
    for x, a, b, kappa, w in zip(cuts.x, cuts.a, cuts.b, cuts.kappa, certificate.weights, strict=True):
        d = a * np.abs(y - x) ** certificate.exponent + b * (y - x) - kappa
        total += w * np.where(d < 0, e * d, d)
    return total


def test_the_sum_of_cuts_is_nowhere_negative(certificate: Certificate) -> None:
    y = np.concatenate([np.linspace(-4, 5, 60_001), [-1e3, 1e3], certificate.cuts.roots()])
    least = weighted_sum(certificate, y).min()
    assert least >= -1e-13
    proved = least_sum(certificate.cuts, certificate.weights, upper_e(certificate.epsilon))
    assert proved <= least + 1e-12
    assert proved >= 0


def test_exactly_in_fractions() -> None:
    """Absolute error: r is piecewise linear, so its corners decide, in rational arithmetic."""
    certificate = sv.optimal(1.0, question="value", loss="l1").certificate
    cuts, e = certificate.cuts, exp_upper(1.0)
    rows = [
        (Fraction(float(x)), Fraction(float(kappa)), Fraction(float(w)))
        for x, kappa, w in zip(cuts.x, cuts.kappa, certificate.weights, strict=True)
    ]
    corners = {point for x, kappa, _ in rows for point in (x, x - kappa, x + kappa)}
    for y in corners:
        r = sum(w * (d * e if (d := abs(y - x) - kappa) < 0 else d) for x, kappa, w in rows)
        assert r >= 0
    total = sum(w for _, _, w in rows)
    assert total <= 1 + Fraction(1, 10**12)
    assert sum(w * kappa for _, kappa, w in rows) >= Fraction(certificate.unit_limit)


@pytest.mark.parametrize("forgery", ["higher", "heavier", "limit", "elsewhere", "more private"])
def test_forgeries_are_caught(certificate: Certificate, forgery: str) -> None:
    cuts = certificate.cuts
    forged = {
        "higher": lambda: replace(certificate, cuts=cuts.lowered(-1e-3 * float(cuts.kappa.max()))),
        "heavier": lambda: replace(certificate, weights=certificate.weights * 1.001),
        "limit": lambda: replace(certificate, unit_limit=certificate.unit_limit * 1.001),
        "elsewhere": lambda: replace(certificate, cuts=replace(cuts, x=cuts.x * 1.2)),
        "more private": lambda: replace(certificate, epsilon=certificate.epsilon * 1.02),
    }[forgery]()
    assert certificate.verify() >= certificate.limit
    with pytest.raises(ArithmeticError):
        forged.verify()


def test_an_error_bound_must_not_lean_on_unbiasedness() -> None:
    certificate = sv.optimal(1.0).certificate
    with pytest.raises(ArithmeticError, match="weights"):
        replace(certificate, unbiased=False).verify()


@pytest.mark.parametrize("seed", range(5))
def test_no_mechanism_goes_below_the_limit(seed: int) -> None:
    """Random ε-LDP mechanisms (finite reports, explicit rows) against the limit."""
    rng = np.random.default_rng(seed)
    epsilon, limit = 1.0, sv.optimal(1.0, question="value", loss="l1").certificate.limit
    x, y = np.linspace(0, 1, 101), np.sort(rng.random(12))
    y[[0, -1]] = 0, 1
    base = rng.random(12) ** 3
    reach = rng.uniform(0.05, 0.6)
    likelihood = base * np.where(np.abs(y - x[:, None]) < reach, np.exp(epsilon / 2), 1.0)
    probability = likelihood / likelihood.sum(axis=1, keepdims=True)
    assert (probability.max(axis=0) / probability.min(axis=0) <= np.e).all()
    assert (probability * np.abs(y - x[:, None])).sum(axis=1).max() >= limit


def test_tangents_find_the_least_of_a_random_sum() -> None:
    rng = np.random.default_rng(3)
    for k in (1.0, 1.3, 2.0, 4.0):
        cuts = Cuts.of(k, rng.random(9), rng.uniform(0.01, 0.3, 9))
        weights = rng.random(9)
        fine = cuts.coefficients(np.linspace(-2, 3, 400_001), 3.0)
        least = (weights[:, None] * fine).sum(axis=0).min()
        assert least_sum(cuts, weights, 3.0) == pytest.approx(least, abs=2e-5)
        assert least_sum(cuts, weights, 3.0) <= least


def test_it_reads_well() -> None:
    certificate = sv.optimal(1.0, (0, 24), "value", loss="l1").certificate
    assert str(certificate).splitlines() == [
        "worst-case absolute error of this mechanism  7.58806",
        "limit for every ε-LDP mechanism  7.58803",
        "ratio  1.00000",
    ]
    assert repr(certificate).startswith("<Certificate worst-case absolute error limit=7.58")


def test_it_survives_json(certificate: Certificate) -> None:
    again = Certificate.from_json(certificate.to_json())
    assert again.verify() == certificate.verify()
    assert str(again) == str(certificate)
    for text in ("", "[]", "{}", certificate.to_json().replace('"kappa"', '"kapa"')):
        with pytest.raises(SpecError, match="this is not a certificate"):
            Certificate.from_json(text)


@pytest.mark.parametrize("k", [1.0, 2.0])
def test_many_cuts_are_summed_as_few_are(k: float) -> None:
    """The sweep over corners finds the least that the table of every cut at every corner finds."""
    rng = np.random.default_rng(11)
    for unbiased in (False, k == 2):
        cuts = Cuts.of(k, rng.random(60), rng.uniform(0.001, 0.05, 60))
        if unbiased:
            cuts = Cuts.of(k, cuts.x, cuts.kappa, b=rng.normal(0, 0.1, 60))
            cuts += Cuts.of(k, np.array([0.0, 1.0]), np.array([0.05, 0.05]), a=0.0, b=np.array([1.0, -1.0]))
        weights = rng.random(len(cuts))
        for shift in (0.0, 0.005):  # lowered, some cuts are negative nowhere
            lowered = cuts.lowered(shift)
            y, r = lows(lowered, weights, 300.0)
            assert r.min() == pytest.approx(least_sum(lowered, weights, 300.0), rel=1e-9)
            at = (weights[:, None] * lowered.coefficients(y, 300.0)).sum(axis=0)
            assert (r <= at).all()
            np.testing.assert_allclose(r, at, atol=1e-9 * np.abs(at).max())


def test_a_sum_without_an_error_is_bounded_by_nothing() -> None:
    cuts = Cuts.of(2.0, np.array([0.0]), np.array([0.1]), a=0.0, b=np.array([1.0]))
    assert lows(cuts, np.ones(1), 3.0)[1].min() == -np.inf
