"""Polar coordinates: division, certificate, joint ε, estimates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.designs.solver.error_floors import even_prior_limit
from sottovoce.errors import ArgumentError, DataError, NoDataError, PrivacyError
from sottovoce.estimates.polar_density import polar_density
from sottovoce.estimates.position import mean_position
from sottovoce.reporters.composites.polar import Polar
from sottovoce.surveys.polar import _distance, certificate
from sottovoce.values.disc import Disc

TOTAL = 1 + 2 * math.pi


def people(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    first = rng.random(n) < 0.6
    x = np.where(first, rng.normal(0.3, 0.1, n), rng.normal(-0.4, 0.08, n))
    y = np.where(first, rng.normal(0.2, 0.1, n), rng.normal(-0.2, 0.12, n))
    return x, y


def test_example_62_with_the_corrected_division() -> None:
    m = sv.polar(TOTAL, design="ogpm")
    # FACTS 7; cells of finite width cost a little, and the optimum is flat.
    assert m.worst_error() == pytest.approx(0.29863, rel=2e-4)
    assert m.distance.epsilon == pytest.approx(1.5298, abs=0.02)
    assert m.distance.epsilon + m.angle.epsilon == pytest.approx(TOTAL)
    printed = sv.ogpm(1.32, (0, 1), "l2").worst_error("l2") + sv.ogpm(5.69, sv.Circle(), "l2").worst_error(
        "l2"
    )
    assert printed > m.worst_error()


@pytest.mark.parametrize(("epsilon", "loss"), [(TOTAL, "l2"), (2.0, "l1")])
def test_the_certificate_is_close(epsilon: float, loss: str) -> None:
    m = sv.polar(epsilon, loss=loss)
    assert 1 <= certificate(m).ratio < 1.01
    other = sv.polar(epsilon, loss=loss, design="ogpm")
    assert m.worst_error() <= other.worst_error() * (1 + 1e-3)
    assert other.worst_error() >= certificate(other).limit


def test_there_are_positions_above_the_largest_epsilon_of_an_optimal_distance() -> None:
    m = sv.polar(16.0, design="unbiased")
    assert m.distance.epsilon + m.angle.epsilon == pytest.approx(16.0)
    assert _distance(12.5, 2.0).worst_error("l2") > even_prior_limit(12.5, 2.0)
    assert np.abs(_distance(12.5, 2.0, "unbiased").bias(np.linspace(0, 1, 9))).max() < 1e-9


def test_the_division_does_not_depend_on_the_unit_of_length() -> None:
    metres, kilometres = sv.polar(3.0, 5000.0), sv.polar(3.0, 5.0)
    assert metres.distance.epsilon == kilometres.distance.epsilon
    assert metres.worst_error() == pytest.approx(kilometres.worst_error())
    heavy = sv.polar(3.0, 5.0, weights=(20.0, 1.0))
    assert heavy.distance.epsilon > kilometres.distance.epsilon


def test_the_joint_epsilon_by_counting() -> None:
    """Every pair of cells under many pairs of inputs, in exact integers, against the claimed product."""
    m = sv.polar(1.5, design="unbiased")
    audit = sv.audit(m)
    assert audit.holds
    assert 1.499 < audit.epsilon <= 1.5
    small = Polar(1.5, "l2", sv.ogpm(0.5, (0, 1), cells=8), sv.ogpm(1.0, sv.Circle(), cells=8))
    r, theta = small.distance.counts(np.linspace(0, 1, 9)), small.angle.counts(np.linspace(0, 6.28, 9))
    joint = np.einsum("ai,bj->abij", r.astype(object), theta.astype(object)).reshape(81, -1)
    worst = max(max(column) / min(column) for column in joint.T)
    assert worst <= float(small.largest_ratio) <= math.exp(1.5)
    with pytest.raises(PrivacyError, match=r"epsilon=1\.5, more than the claimed epsilon=1\.4"):
        Polar(1.4, "l2", small.distance, small.angle)


def test_error_against_simulation() -> None:
    m = sv.polar(5.0, 2.0)
    n = 40_000
    here, elsewhere = (np.array([r * math.cos(6.0), r * math.sin(6.0)]) for r in (1.4, 0.2))
    y, angle = m.decode_polar(m.report(np.tile(here, (n, 1)), rng=3))
    turn = np.abs(np.mod(angle - 6.0 + math.pi, 2 * math.pi) - math.pi)
    loss = ((y - 1.4) / 2.0) ** 2 + turn**2
    sigma = float(loss.std() / math.sqrt(n))
    assert abs(float(loss.mean()) - float(m.error(here))) < 4.9 * sigma
    assert abs(float(loss.mean()) - float(m.error(elsewhere))) > 4.9 * sigma


def test_mean_position_covers() -> None:
    m = sv.polar(4.0, 1.0, design="unbiased")
    x, y = people(4000, 1)
    covered, runs = 0, 30
    for seed in range(runs):
        a, b = mean_position(sv.Tally(m, m.report(np.column_stack((x, y)), clip=True, rng=1000 + seed)))
        covered += int(a.low <= x.mean() <= a.high) + int(b.low <= y.mean() <= b.high)
    # The interval is for a population, and wider than the noise alone needs: only too little is an error.
    assert covered >= binom.ppf(1e-6, 2 * runs, 0.95)
    assert a.half_width < 0.1


@pytest.mark.parametrize("design", ["optimal", "ogpm"])
def test_mean_position_of_a_biased_design_says_so(design: str) -> None:
    m = sv.polar(4.0, 1.0, weights=(10.0, 1.0), design=design)
    x, y = people(20_000, 2)
    a, b = mean_position(sv.Tally(m, m.report(np.column_stack((x, y)), clip=True, rng=1)))
    assert a.low < x.mean() < a.high
    assert b.low < y.mean() < b.high
    assert "bias" in a.notes[0]


def test_density_finds_both_places() -> None:
    m = sv.polar(5.0, 1.0, design="unbiased")
    x, y = people(60_000, 3)
    d = polar_density(sv.Tally(m, m.report(np.column_stack((x, y)), clip=True, rng=4)))
    assert d.probabilities.sum() == pytest.approx(1)
    assert d.mean == pytest.approx((x.mean(), y.mean()), abs=0.05)
    middle = (d.angles[1:] + d.angles[:-1]) / 2
    upper = (middle > 0.1) & (middle < 1.2)
    lower = (middle > 3.2) & (middle < 4.2)
    assert d.probabilities[:, upper].sum() > 0.4
    assert d.probabilities[:, lower].sum() > 0.25
    # The truth on the same areas; with the binomial smoothing of every step the distance was 0.4.
    truth = np.histogram2d(np.hypot(x, y), np.mod(np.arctan2(y, x), 2 * np.pi), (d.radii, d.angles))[0] / len(
        x
    )
    assert np.abs(d.probabilities - truth).sum() / 2 < 0.2
    ax = d.plot()
    assert ax.name == "polar"
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


def test_density_of_nothing_in_particular_is_flat() -> None:
    """Smoothing is chosen by what predicts: where there is nothing to see it must not make peaks."""
    m, rng, n = sv.polar(3.0, 1.0, design="unbiased"), np.random.default_rng(5), 20_000
    t = sv.Tally(m, m.report_polar(np.sqrt(rng.random(n)), rng.uniform(0, 2 * math.pi, n), rng=6))
    d = polar_density(t)
    area = np.diff(d.radii**2)[:, None] * np.diff(d.angles)[None, :] / (2 * math.pi)
    assert np.abs(d.probabilities - area).sum() / 2 < 0.06
    alone = polar_density(sv.Tally(m, [5]))
    assert alone.probabilities.sum() == pytest.approx(1)


def test_the_mean_of_an_unbiased_design_is_known_and_improves() -> None:
    """0.1.0 gave the angle a hundredth of ε = 1, and the interval was the whole disc at every n."""
    m = sv.polar(1.0, 10.0, design="unbiased")
    assert 0.3 < m.angle.epsilon < 0.7
    people = np.clip(np.random.default_rng(1).normal([3, 4], 1.5, (40_000, 2)), -7, 7)
    cells = m.report(people, rng=2)
    few, many = (mean_position(sv.Tally(m, cells[:n]))[0] for n in (10_000, 40_000))
    assert many.low < people[:, 0].mean() < many.high
    assert many.half_width < 1.1
    assert many.half_width < 0.6 * few.half_width
    # The division of 0.1.0, for which this must fail: distance 0.99, angle 0.01.
    old = sv.Polar(1.0, "l2", m.distance, sv.ogpm(0.01, sv.Circle(2 * math.pi), cells=512))
    assert mean_position(sv.Tally(old, old.report(people, rng=2)))[0].half_width > 10


def test_density_improves_with_every_report() -> None:
    """In 0.1.0 it did not: smoothing never fell below a fixed share of neighbours."""
    m = sv.polar(2.0, 1.0, design="unbiased")

    def error(n: int) -> float:
        d = polar_density(sv.Tally(m, m.report(np.column_stack(people(n, 3)), clip=True, rng=4)))
        x, y = people(400_000, 5)
        grid = (d.radii[::4], d.angles[::4])
        truth = np.histogram2d(np.hypot(x, y), np.mod(np.arctan2(y, x), 2 * np.pi), grid)[0] / len(x)
        return float(np.abs(d.probabilities.reshape(4, 4, 8, 4).sum(axis=(1, 3)) - truth).sum() / 2)

    assert error(200_000) < 0.6 * error(5000)


def test_json() -> None:
    m = sv.polar(2.0, 10.0, "l1", weights=(3.0, 1.0))
    again = sv.from_json(m.to_json())
    assert isinstance(again, Polar)
    assert again == m
    assert again.worst_error() == m.worst_error()
    assert sv.audit(m.to_json()).ratio == m.largest_ratio
    assert not sv.audit(
        m.to_json().replace('"epsilon":2.0,"format":"polar', '"epsilon":1.9,"format":"polar')
    ).holds
    text = m.to_json()
    for there, other, sentence in (
        ('"loss":1.0', '"loss":0.5', "loss must be"),
        ('"weights":[3.0,1.0]', '"weights":3', "weights must be a list of 2"),
        ('"weights":[3.0,1.0]', '"weights":[3.0,-1.0]', "weights must be positive"),
        ('"domain":[0.0,10.0]', '"domain":[1.0,10.0]', "a distance from 0 on"),
        ("polar/1", "polar/2", "format must be .* or 'survey/1'"),
    ):
        assert there in text
        with pytest.raises(ValueError, match=sentence):
            sv.from_json(text.replace(there, other))


def test_bad_input() -> None:
    m = sv.polar(2.0)
    with pytest.raises(DataError, match=r"1 of 2 values are outside the disc .*, the first at index 1"):
        m.report([[0.5, 0.0], [0.9, 0.9]])
    with pytest.raises(DataError, match=r"1 of 1 values are missing .*, the first at index 0"):
        m.report([[math.nan, 0.0]])
    with pytest.raises(DataError, match="values must be positions x, y, got shape"):
        m.report([0.5, 0.1, 0.2])
    with pytest.raises(DataError, match="1 of 2 values are outside"):
        m.report_polar([0.5, 1.5], 0.0)
    with pytest.raises(DataError):
        m.report_polar([0.5], [math.inf])
    assert m.report_polar([0.5, 0.5], [-1.0, 100.0]).shape == (2,)  # any angle is an angle
    assert isinstance(m.report([0.5, 0.1]).item(), int)
    with pytest.raises(ValueError, match="design must be one of"):
        sv.polar(1.0, design="best")
    with pytest.raises(ValueError, match="loss must be 'l2'"):
        sv.polar(1.0, loss="l1", design="unbiased")
    with pytest.raises(ValueError, match="radius must be positive"):
        sv.polar(1.0, radius=0)
    with pytest.raises(NoDataError):
        mean_position(sv.Tally(m))
    with pytest.raises(DataError, match="not of places"):
        mean_position(sv.Tally(sv.ogpm(1.0), [1, 2, 3]))


def test_missing_positions_and_positions_outside_follow_the_rule() -> None:
    m = sv.polar(6.0, 5.0, weights=(10.0, 1.0))
    gaps = np.array([[math.nan, 1.0], [1.0, math.inf]] * 10_000)
    r, _ = m.decode_polar(m.report(gaps, missing="uniform", rng=1))
    middle = m.report([[0.0, 0.0]] * 20_000, rng=2)
    assert r.mean() > 1.2 * m.decode_polar(middle)[0].mean()  # spread over the area, not at the pole
    assert m.report([[None, 1.0], [1.0, 2.0]], missing="uniform").shape == (2,)
    assert m.report([[9.0, 9.0]], missing="uniform", outside="missing").shape == (1,)
    with pytest.raises(ArgumentError, match="missing must be 'uniform' or 'refuse' here"):
        m.report(gaps, missing=0.5)


@pytest.mark.parametrize("radius", [0.1, 1.0, math.pi, 1e300])
def test_what_is_clipped_lies_inside(radius: float) -> None:
    """Also after rounding, and where the distance itself is beyond doubles."""
    disc = Disc(radius)
    far = np.random.default_rng(1).normal(0.0, 3.0, (20_000, 2)) * radius
    far = np.concatenate((far[~disc.contains(far)], [[1.7e308, -1.7e308]]))
    near = disc.bring_inside(far)
    assert disc.contains(near).all()
    assert np.hypot(*(near / radius).T) == pytest.approx(1.0, abs=1e-14)
    assert np.arctan2(near[:, 1], near[:, 0]) == pytest.approx(np.arctan2(far[:, 1], far[:, 0]), abs=1e-14)
