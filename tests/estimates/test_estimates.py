"""Estimates: laws they obey, every reporter, and what is refused. Coverage is in test_coverage.py."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.errors import DataError, NoDataError
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.limits.envelope import Envelope, Nodes, Target
from sottovoce.estimates.limits.every_n import betting_limit
from sottovoce.estimates.limits.limit import limit
from sottovoce.estimates.limits.weighted_counts import Part

HOURS = np.random.default_rng(1).beta(2, 5, 5000) * 24


def tally(m: sv.Mechanism | sv.Mixture, x: np.ndarray, seed: int = 1) -> sv.Tally:
    return sv.Tally(m, m.report(x, rng=seed))


EVERY = [
    sv.pm(1.0, (0, 24)),
    sv.sw(1.0, (0, 24)),
    sv.ogpm(1.0, (0, 24)),
    sv.duchi(1.0, (0, 24)),
    sv.two_scale(1.0, (0, 24)),
    sv.sw(4.0, (0, 24)).truncated(),
    sv.laws.laplace(2.0, (0, 24)).tabulate(inputs=65, cells=128),
]


@pytest.mark.parametrize("m", EVERY, ids=repr)
def test_every_mechanism_gives_every_estimate(m: sv.Mechanism) -> None:
    """Intervals with an error of 1e-7 each: a false alarm would be no chance."""
    t, sure = tally(m, HOURS), {"confidence": 1 - 1e-7}
    inside = {
        "mean": (sv.mean(t, **sure), HOURS.mean()),
        "variance": (sv.variance(t, **sure), HOURS.var()),
        "quantile": (sv.quantile(t, 0.9, **sure), np.quantile(HOURS, 0.9)),
        "probability": (sv.probability(t, 6, 12, **sure), ((HOURS >= 6) & (HOURS <= 12)).mean()),
    }
    for name, (found, truth) in inside.items():
        assert found.low <= truth <= found.high, name
        assert found.low <= found.value <= found.high, name
        assert found.n == 5000
        json.dumps(found.to_dict(), allow_nan=False)
        assert "99.99999 % interval" in str(found)
    d = sv.distribution(t, 2)
    assert d.probabilities.sum() == pytest.approx(1)
    assert sv.honesty(t).consistent


ENVELOPES = {
    "mean": Target(lambda t: t),
    "square": Target(lambda t: (t - 0.3) ** 2, curvature=(2.0, 2.0)),
    "indicator": Target(lambda t: (t <= 0.4).astype(float), jumps=(0.4,)),
    "cosine": Target(lambda t: np.cos(2 * np.pi * t), curvature=(-40.0, 40.0)),
}


@pytest.mark.parametrize("target", ENVELOPES, ids=str)
@pytest.mark.parametrize(
    "m",
    [
        sv.sw(2.0),
        sv.ogpm(1.0),
        sv.ogpm(1.0, sv.Circle(1.0)),
        sv.two_scale(2.0),
        sv.optimal(2.0, question="value"),
    ],
    ids=repr,
)
def test_an_envelope_lies_above_its_target_at_every_x(m: sv.Mechanism, target: str) -> None:
    """At points that the solver never saw, with and without a step table."""
    t = tally(m, np.random.default_rng(2).random(500))
    binned = Binned.of(t, 48)
    problem = Envelope(Nodes(binned), binned.law_of_parts(64).mix(np.full(64, 1 / 64)), 10**6)
    tau = ENVELOPES[target]
    x = np.sort(np.random.default_rng(3).random(5000))
    law = binned.law(x)
    above, below = problem.weights(tau, 1, 1.96), problem.weights(tau, -1, 1.96)
    assert (law.expect(above) - tau.at(x)).min() > -1e-7
    assert (tau.at(x) - law.expect(below)).min() > -1e-7
    # It is not the trivial envelope, and a mutant that is lowered by a little does not pass.
    assert np.ptp(above) > 0
    assert (law.expect(above - 0.05) - tau.at(x)).min() < 0


def two_peaks(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.4, rng.beta(20, 60, n), rng.beta(60, 20, n))


def test_several_quantiles_at_once() -> None:
    """Each with its own interval; widths of the size that the coverage benchmark reports."""
    m = sv.sw(1.0, cells=4096)
    t = tally(m, two_peaks(np.random.default_rng(3), 100_000))
    found = sv.quantile(t, [0.25, 0.9])
    assert [e.what for e in found] == ["0.25-quantile", "0.9-quantile"]
    assert all(0.01 < e.high - e.low < 0.3 for e in found)


def test_the_finite_interval_holds_for_people_who_differ() -> None:
    m = sv.pm(2.0, (0, 1), cells=4096)
    people = np.repeat([0.0, 0.2, 1.0], [50, 20, 10])
    rng, held = np.random.default_rng(9), 0
    for _ in range(100):
        e = sv.mean(sv.Tally(m, m.report(people, rng=rng)), interval="finite")
        held += e.low <= people.mean() <= e.high
    assert held / 100 >= binom.ppf(1e-6, 100, 0.95) / 100


def test_limits_agree_with_each_other_and_with_theory() -> None:
    m = sv.pm(1.0, (0, 1))
    t = tally(m, np.full(100_000, 0.4))
    normal, finite, boot = (sv.mean(t, interval=i) for i in ("normal", "finite", "bootstrap"))
    assert normal.error == pytest.approx(math.sqrt(m.variance(0.4) / 100_000), rel=0.02)
    assert boot.half_width == pytest.approx(normal.half_width, rel=0.1)
    assert 1.2 < finite.half_width / normal.half_width < 1.8
    assert sv.mean(t, confidence=0.99).half_width > normal.half_width
    assert sv.mean(t) == sv.mean(t)


def test_respondents_are_surer_than_the_population() -> None:
    m = sv.pm(4.0, (0, 1))
    t = tally(m, np.repeat([0.0, 1.0], 5000))
    people, population = sv.mean(t, estimand="respondents"), sv.mean(t)
    assert people.half_width < 0.6 * population.half_width
    exact = math.sqrt((m.variance(0.0) + m.variance(1.0)) / 2 / 10_000)
    assert exact * 0.98 < people.error < exact * 1.3


def test_betting_excludes_at_most_as_often_as_promised_and_shrinks() -> None:
    widths = []
    for n in (100, 10_000):
        part = Part(np.array([0.0, 1.0]), np.array([n // 2, n - n // 2]), 0.0, 0.25)
        low, high = (betting_limit([part], side, 0.025) for side in (-1, 1))
        assert low < 0.5 < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 5
    part = Part(np.array([0.0, 1.0]), np.array([10, 0]), 0.0, 0.25)
    # Ten zeros: a mean of p gives them with probability (1 − p)^10 ≥ 0.025 up to p = 0.308.
    assert 0.308 <= betting_limit([part], 1, 0.025) <= 0.6
    assert limit([part], 1, 0.025) == 0.0


def test_very_few_reports_still_get_an_answer_and_a_warning() -> None:
    for m in (sv.pm(1.0, (0, 24)), sv.sw(1.0, (0, 24))):
        one = sv.mean(sv.Tally(m, [m.cells // 2]))
        assert (one.low, one.high) == (0.0, 24.0)
        assert "too few" in one.notes[0]
        assert math.isnan(one.error)
        assert "small" in sv.mean(sv.Tally(m, [0, 1, 2])).notes[0]
        assert sv.mean(sv.Tally(m, [m.cells // 2] * 2), interval="finite").notes == ()  # it holds at every n
        few = sv.Tally(m, [m.cells // 2])
        assert sv.quantile(few, 0.5).high == 24.0
        assert sv.variance(few).n == 1
        assert sv.probability(few, 0, 5).high == 1.0
    circle = sv.ogpm(1.0, sv.Circle(24))
    alone = sv.circular_mean(sv.Tally(circle, [5]))
    assert alone.high - alone.low == pytest.approx(24.0)


def test_the_whole_circle_when_there_is_no_direction() -> None:
    m = sv.ogpm(1.0, sv.Circle(24))
    e = sv.circular_mean(tally(m, np.linspace(0, 24, 2000)))
    assert e.high - e.low == pytest.approx(24.0)
    assert "whole circle" in e.notes[0]
    assert sv.concentration(tally(m, np.linspace(0, 24, 2000))).low == 0.0


def test_units_do_not_matter() -> None:
    one, other = sv.sw(1.0, (0, 1)), sv.sw(1.0, (-50, 150))
    cells = one.report(np.random.default_rng(5).random(2000), rng=5)
    a, b = sv.mean(sv.Tally(one, cells)), sv.mean(sv.Tally(other, cells))
    # The halves are drawn by digest, so the two differ by chance, not by scale.
    assert b.half_width == pytest.approx(200 * a.half_width, rel=0.2)
    assert abs((b.value + 50) / 200 - a.value) < a.half_width


CIRCLE = sv.Tally(sv.ogpm(1.0, sv.Circle(24)), [1, 2, 3])
LINE = sv.Tally(sv.sw(1.0), [1, 2, 3])
TWO = sv.survey(1.0, [(0, 1), (0, 24)])
SURVEY = sv.Tally(TWO, TWO.report(np.full((20, 2), 0.5), rng=1))


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: sv.mean(sv.Tally(sv.pm(1.0))), NoDataError, "no reports"),
        (lambda: sv.quantile(sv.Tally(sv.sw(1.0)), 0.5), NoDataError, "no reports"),
        (lambda: sv.circular_mean(sv.Tally(sv.ogpm(1.0, sv.Circle(1)))), NoDataError, "no reports"),
        (lambda: sv.mean(CIRCLE), ValueError, "use circular_mean"),
        (lambda: sv.quantile(CIRCLE, 0.5), ValueError, "not defined on a circle"),
        (lambda: sv.circular_mean(LINE), ValueError, "Circle"),
        (lambda: sv.quantile(LINE, 1.5), ValueError, "p must lie between 0 and 1, got p=1.5"),
        (lambda: sv.quantile(LINE, [0.5, math.nan]), ValueError, "finite"),
        (lambda: sv.mean(LINE, confidence=1.0), ValueError, "confidence"),
        (lambda: sv.mean(LINE, interval="exact"), ValueError, "interval must be one of"),
        (lambda: sv.mean(LINE, estimand="them"), ValueError, "estimand must be one of"),
        (lambda: sv.mean([1, 2]), TypeError, "must be a Tally"),  # type: ignore[arg-type]
        (lambda: sv.honesty([1, 2]), TypeError, "must be a Tally"),  # type: ignore[arg-type]
        (lambda: sv.fakes([1, 2], 1), TypeError, "must be a Tally"),  # type: ignore[arg-type]
        (lambda: sv.quantile(LINE, "0.5"), TypeError, "p must be a real number, got p='0.5'"),
        (lambda: sv.probability(LINE, 0.5, 0.2), ValueError, "low must not exceed high"),
        (lambda: sv.probability(LINE, 0.5, 2), ValueError, "high must lie in the domain"),
        (lambda: sv.mean(SURVEY), DataError, "ask one of its items, such as tally\\['0'\\]"),
        (lambda: sv.honesty(SURVEY), DataError, "a tally of a survey of 2 items, not of one number"),
        (lambda: sv.distribution(SURVEY), DataError, "not of one number"),
    ],
)
def test_bad_input_is_refused_in_words(make, error, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=says):
        make()


def test_a_median_is_a_quantile_and_a_standard_deviation_a_root() -> None:
    t = tally(sv.sw(2.0, (0, 24)), HOURS)
    assert sv.median(t, confidence=0.9) == sv.quantile(t, 0.5, confidence=0.9)
    shaped = sv.median(t, shape="unimodal", estimand="population")
    assert shaped == sv.quantile(t, 0.5, shape="unimodal")
    spread, square = sv.standard_deviation(t), sv.variance(t)
    assert spread.value == pytest.approx(math.sqrt(square.value))
    roots = math.sqrt(square.low), math.sqrt(square.high)
    assert (spread.low, spread.high) == pytest.approx(roots)
    assert spread.error == pytest.approx(square.error / (2 * spread.value))
    assert (spread.notes, spread.sources, spread.sides) == (square.notes, square.sources, None)
    with pytest.raises(ValueError, match="not estimated on a log scale"):
        sv.standard_deviation(sv.Tally(sv.sw(1.0, sv.Interval(1, 10, scale="log")), [1, 2]))
    with pytest.raises(ValueError, match="use circular_mean"):
        sv.standard_deviation(CIRCLE)


def test_the_error_of_a_standard_deviation_near_zero() -> None:
    """A derivative would be without limit: everybody is at one place, and the value may be zero."""
    m = sv.sw(4.0, (0, 24))
    for n in (20, 20_000):
        t = tally(m, np.full(n, 24.0))
        e = sv.standard_deviation(t)
        assert e.low == 0.0
        assert 0 <= e.value <= e.error * 3
        assert e.error <= math.sqrt(sv.variance(t).error) * (1 + 1e-9)


def test_a_standard_deviation_where_its_square_is_beyond_doubles() -> None:
    for domain in ((-1e308, 1e308), (0, 1e-200)):
        m = sv.sw(4.0, domain)
        e = sv.standard_deviation(tally(m, np.array([m.domain.low, m.domain.high] * 2000)))
        half = domain[1] / 2 - domain[0] / 2
        assert 0 < e.low < half <= e.high * (1 + 1e-9)


def test_an_estimate_counts_as_its_value() -> None:
    e = sv.mean(LINE)
    assert float(e) == e.value
    assert f"{e:.3f} {e:8.2e}" == f"{e.value:.3f} {e.value:8.2e}"
    assert f"{e}" == format(e) == str(e)
    assert (round(e, 1), round(e)) == (round(e.value, 1), round(e.value))
    assert isinstance(round(e, 1), float)
    assert math.isfinite(e)
    assert np.array([e, 2 * e], dtype=float).tolist() == [e.value, 2 * e.value]
