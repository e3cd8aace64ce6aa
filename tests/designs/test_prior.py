"""Designs for a prior: least expected error, its certificate, and what a prior must be."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.designs.prior import Prior


@pytest.fixture(scope="module")
def samples() -> np.ndarray:
    return np.random.default_rng(5).beta(5, 2, 2000) * 24


@pytest.mark.parametrize("options", [{"question": "value", "loss": "l1"}, {"question": "value"}, {}])
def test_expected_error_meets_its_limit(samples: np.ndarray, options: dict[str, object]) -> None:
    m = sv.optimal(1.0, (0, 24), prior=samples, **options)  # type: ignore[arg-type]
    worst_case = sv.optimal(1.0, (0, 24), **options)  # type: ignore[arg-type]
    points, chances = m.certificate.prior
    assert chances.sum() == pytest.approx(1)
    assert points @ chances * 24 == pytest.approx(samples.mean(), rel=1e-9)

    def expected(mechanism: sv.Mechanism) -> float:
        x = points * 24
        if not options:
            return float(chances @ mechanism.variance(x))
        return float(chances @ mechanism.error(x, options.get("loss", "l2")))  # type: ignore[arg-type]

    assert expected(m) == pytest.approx(m.certificate.worst, rel=1e-9)
    assert 1 <= m.certificate.ratio <= 1.002
    assert m.certificate.verify() >= m.certificate.limit
    assert expected(m) < expected(worst_case)
    assert sv.audit(m).epsilon <= 1.0


@pytest.mark.parametrize("options", [{"question": "value", "loss": "l1"}, {"question": "value"}, {}])
@pytest.mark.parametrize("guess", [[0.1, 0.7, 0.7, 0.9, 0.3, 0.3], np.linspace(0, 1, 11)], ids=len)
def test_half_of_a_symmetric_guess_is_enough(
    guess: list[float], options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same limit as with all points, for whatever the points are in the last bit."""
    half = sv.optimal(1.5, prior=guess, **options)  # type: ignore[arg-type]
    assert Prior(*half.certificate.prior).folded[2]
    monkeypatch.setattr(Prior, "folded", property(lambda self: (self.points, self.chances, False)))
    monkeypatch.setenv("SOTTOVOCE_CACHE", "")
    whole = sv.optimal(1.5, prior=guess, **options)  # type: ignore[arg-type]
    assert half.certificate.limit == pytest.approx(whole.certificate.limit, rel=0.002)
    for design in (half, whole):
        assert 1 <= design.certificate.ratio <= 1.002
        assert design.certificate.verify() >= design.certificate.limit


def test_two_points_have_the_answer_of_randomised_response() -> None:
    """Two equally likely inputs d apart, absolute error: tell them apart by randomised response."""
    m = sv.optimal(1.0, question="value", loss="l1", prior=[0.2, 0.3])
    assert m.certificate.limit == pytest.approx(0.1 / (1 + math.e), rel=1e-6)


def test_without_unbiasedness_reports_shrink_towards_the_prior() -> None:
    m = sv.optimal(1.0, question="value", prior=[0.4, 0.5, 0.6])
    assert m.bias(1.0) < -0.3
    unbiased = sv.optimal(1.0, prior=[0.4, 0.5, 0.6])
    assert np.abs(unbiased.bias(np.linspace(0, 1, 101))).max() < 1e-12


def test_one_point_is_answered_by_a_constant() -> None:
    m = sv.optimal(1.0, question="value", loss="l1", prior=[0.25])
    assert m.certificate.limit == 0
    assert m.certificate.worst == 0
    assert m.certificate.ratio == 1


def test_weights_are_samples_in_short() -> None:
    long = sv.optimal(1.0, question="value", loss="l1", prior=[0.2, 0.2, 0.8])
    short = sv.optimal(1.0, question="value", loss="l1", prior=([0.2, 0.8], [2, 1]))
    assert long == short


@pytest.mark.parametrize(
    ("prior", "error", "sentence"),
    [
        ([0.5, 1.5], ValueError, r"prior must lie in the domain \[0.0, 1.0\], got the value 1.5"),
        ([0.5, float("nan")], ValueError, "prior must lie in the domain"),
        ([], TypeError, "prior must be samples"),
        ("0.5", TypeError, "prior must be samples"),
        ([[0.5]], TypeError, "prior must be samples"),
        (([0.5, 0.6], [0, 0]), ValueError, "not all zero"),
        (([0.5, 0.6], [1, -1]), ValueError, "not negative"),
        (([0.5, 0.6], [1, 2, 3]), ValueError, "one weight per value"),
    ],
)
def test_bad_priors(prior: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        sv.optimal(1.0, prior=prior)  # type: ignore[arg-type]


def test_where_there_is_no_search_there_is_no_prior() -> None:
    with pytest.raises(ValueError, match=r"prior needs epsilon between 1e-06 and 8\.0"):
        sv.optimal(9.0, question="value", prior=[0.5, 0.6])
    with pytest.raises(ValueError, match="prior does not belong to a circle"):
        sv.optimal(1.0, sv.Circle(), prior=[0.5, 0.6])
