"""Estimates at the edges: one report, all in one cell, 10^12 of them, any ε, odd domains, odd confidence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.estimates.answer.units import CONTRADICTION, Query

MECHANISMS = {
    "two cells, nothing told": lambda: sv.duchi(0.01),
    "nothing told": lambda: sv.sw(0.01, cells=4096),
    "everything told": lambda: sv.pm(16.0),
    "steps": lambda: sv.optimal(1.0, question="value"),
    "far from zero": lambda: sv.ogpm(1.0, (1e9, 1e9 + 1), cells=4096),
    "tiny": lambda: sv.two_scale(1.0, (0, 1e-12), cells=2048),
    "clock": lambda: sv.ogpm(16.0, sv.Circle(24), cells=4096),
    "two widths around": lambda: sv.two_scale(1.0, sv.Circle(1, origin=-0.3), cells=2048),
}


def tallies(m: sv.Mechanism | sv.Mixture) -> Iterator[sv.Tally]:
    for n in (1, 2, 15, 16, 10**12):
        yield sv.Tally.from_pairs(m, [(m.cells - 1, n)])
    law = np.maximum(m.operator([m.domain.high]).mix(np.ones(1)), 0.0)
    yield sv.Tally.from_counts(m, np.rint(law / law.sum() * 1e12).astype(np.int64))


def asked(t: sv.Tally, **how: object) -> list[sv.Estimate]:
    """Every estimate that there is."""
    d = t.law.as_number().domain
    at = [d.low + share * d.width for share in (0.0, 0.2, 0.9)]
    if d.is_circle:
        across = sv.probability(t, at[2], at[1], **how)  # over the seam
        return [sv.circular_mean(t, **how), sv.concentration(t, **how), across]
    means = [sv.mean(t, interval=kind, **how) for kind in ("normal", "finite", "bootstrap")]
    ranges = [sv.probability(t, at[0], at[1], **how), sv.probability(t, at[0], at[0], **how)]
    spread = [sv.variance(t, **how), sv.standard_deviation(t, **how)]
    return [*means, *spread, *sv.quantile(t, [0.0, 0.5, 1.0], **how), *ranges]


def bounds(e: sv.Estimate, d: sv.Interval | sv.Circle) -> tuple[float, float]:
    if e.what == "variance":
        return 0.0, d.width**2 / 4
    if e.what == "standard deviation":
        return 0.0, d.width / 2
    return (0.0, 1.0) if e.what.startswith(("probability", "concentration")) else (d.low, d.high)


CONFIDENCE = (0.95, 0.5, 0.95, 0.999999, 0.95, 0.5)
WHOSE = ("respondents", "respondents", "population", "population", "respondents", "population")


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_answer_is_finite_ordered_and_inside(name: str) -> None:
    m = MECHANISMS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t, confidence, estimand in zip(tallies(m), CONFIDENCE, WHOSE, strict=True):
            for e in asked(t, estimand=estimand, confidence=confidence):
                low, high = bounds(e, m.domain)
                assert e.low <= e.value <= e.high
                assert low <= e.value <= high
                if e.what != "circular mean":  # whose ends may run past the seam
                    assert low <= e.low
                    assert e.high <= high
                assert e.high - e.low <= (high - low) * (1 + 1e-12)
                unknown = t.n == 1 or "quantile" in e.what or "no direction" in " ".join(e.notes)
                assert math.isfinite(e.error) or unknown
                assert math.isnan(e.error) or (t.n > 1 and "quantile" not in e.what)


@pytest.mark.parametrize("name", ["two cells, nothing told", "steps", "two widths around"])
def test_answers_repeat(name: str) -> None:
    m = MECHANISMS[name]()
    t = sv.Tally(m, m.report(np.full(40, m.domain.high), rng=1))
    again = sv.Tally.from_json(t.to_json())
    assert repr(asked(t)) == repr(asked(again))


def test_confidence_up_to_the_last_digit() -> None:
    """1 − tail is 1.0 there: quantiles of the normal have to be taken from the tail."""
    m = sv.sw(1.0, cells=512)
    t = sv.Tally(m, m.report(np.full(5000, 0.4), rng=1))
    widths = [sv.mean(t, confidence=1 - tail).half_width for tail in (1e-3, 1e-9, 1e-15, 1.2e-16)]
    assert widths == sorted(widths)
    assert math.isfinite(widths[-1])
    assert sv.quantile(t, np.array(0.5)) == sv.quantile(t, 0.5)  # and an array without axes is a number


def test_reports_that_no_truth_explains_are_said_to_contradict() -> None:
    """10^12 reports in one cell of a mechanism that gives each of them about the same chance."""
    m = sv.pm(0.01, (-1, 1), cells=4096)
    t = sv.Tally.from_pairs(m, [(m.cells - 1, 10**12)])
    e = sv.probability(t, 0, 0.2)
    assert CONTRADICTION in e.notes
    assert CONTRADICTION in str(e)
    assert sv.honesty(t).alarm
    query = Query(t, "mean")
    crossed, outside = (
        query.answer(limits, value, 9.0, power=0) for limits, value in (((0.3, 0.1), 0.2), ((0.1, 0.3), 0.4))
    )
    assert (crossed.low, crossed.value, crossed.high) == pytest.approx((0.1, 0.2, 0.3))
    assert (outside.low, outside.value, outside.high) == pytest.approx((0.1, 0.3, 0.3))
    assert (crossed.notes, outside.notes) == ((CONTRADICTION,), ())
    assert outside.error == pytest.approx(0.7)  # no further than the end of the domain


def shown(value: float, low: float, high: float) -> str:
    return str(sv.Estimate(value, low, high, 0.1, 0.95, 100, "mean", "population", "decoded")).split(" (")[0]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((8.123456, 8.0, 8.25), "mean: 8.123, 95 % interval 8.000 to 8.250"),
        ((3e-13, 2e-13, 4.05e-13), "mean: 3.00e-13, 95 % interval 2.00e-13 to 4.05e-13"),
        ((3e300, 2e300, 4e300), "mean: 3.00e+300, 95 % interval 2.00e+300 to 4.00e+300"),
        ((12345.6, 12000.0, 12999.0), "mean: 12346, 95 % interval 12000 to 12999"),
        ((0.5, 0.5, 0.5), "mean: 0.5000, 95 % interval 0.5000 to 0.5000"),
        ((0.0, 0.0, 0.0), "mean: 0.0000, 95 % interval 0.0000 to 0.0000"),
    ],
)
def test_numbers_of_any_size_are_readable(numbers: tuple[float, float, float], text: str) -> None:
    assert shown(*numbers) == text


@pytest.mark.parametrize("name", ["two cells, nothing told", "everything told", "two widths around"])
def test_distributions_stay_distributions(name: str) -> None:
    m = MECHANISMS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for t in [*tallies(m)][:4:3]:  # one report, 16 of them
            d = sv.distribution(t, band=False)
            assert d.probabilities.min() >= 0
            assert d.probabilities.sum() == pytest.approx(1.0)
