"""Groups of people and several campaigns: curves against exhaustive enumeration."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.shuffling import composition
from sottovoce.shuffling.shuffled import shuffled
from tests.shuffling import small
from tests.shuffling.enumeration import Row, both, divergence, multisets, rows_of


def two_campaigns(rows: list[Row], people: int, theta: Fraction) -> Fraction:
    """The largest divergence when everybody answers twice, each time with a fresh draw."""
    worst = Fraction(0)
    for x, y, others in product(rows, repeat=3):
        if x != y:
            p, q = (multisets((*[others] * (people - 1), row)) for row in (x, y))
            worst = max(worst, divergence(both(p, p), both(q, q), theta))
    return worst


def test_two_campaigns() -> None:
    reporter, people = small.options(3), 4
    rows = rows_of(reporter)
    curve = shuffled(reporter, people, None)
    assert curve.composed().epsilon(0.01) < 1.003 * curve.epsilon(0.01)
    twice = curve.composed(curve)
    for epsilon in (0.2, 0.8, 1.6):
        exact = two_campaigns(rows, people, Fraction(math.exp(epsilon)))
        assert twice.below(epsilon) <= exact <= twice.above(epsilon)
        assert exact > curve.above(epsilon)  # once is not enough
    assert twice.local == pytest.approx(2 * curve.local)


def test_a_mutant_without_the_infinite_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cutting the loss off where δ is still large must show."""
    reporter = small.options(3)
    curve = shuffled(reporter, 4, None)
    exact = two_campaigns(rows_of(reporter), 4, Fraction(math.exp(1.6)))
    monkeypatch.setattr(composition, "_LEAST", 0.7)
    sound = curve.composed(curve)
    assert sound.above(1.6) >= exact
    original = composition._losses
    monkeypatch.setattr(composition, "_losses", lambda c, *a: replace(original(c, *a), infinite=0.0))
    assert curve.composed(curve).above(1.6) < exact


def test_groups() -> None:
    """Two people change their answers at once."""
    reporter, people = small.options(3), 4
    rows = rows_of(reporter)
    pair = shuffled(reporter, people, None).group(2)
    for epsilon in (0.5, 1.5):
        theta, worst = Fraction(math.exp(epsilon)), Fraction(0)
        for a, b, c, d, others in product(rows, repeat=5):
            p = multisets((*[others] * (people - 2), a, b))
            q = multisets((*[others] * (people - 2), c, d))
            worst = max(worst, divergence(p, q, theta))
        assert pair.below(epsilon) <= worst <= pair.above(epsilon)
        assert worst > shuffled(reporter, people, None).above(
            epsilon
        )  # one person's bound does not cover two


def test_many_campaigns_add_up_like_a_square_root() -> None:
    curve = shuffled(sv.ogpm(2.0, cells=256), 10**3, None)
    four = curve.composed(curve, curve, curve)
    assert 1.9 < four.epsilon(1e-6) / curve.epsilon(1e-6) < 2.2
    assert four.people == 10**3


def test_different_campaigns() -> None:
    strong, weak = (shuffled(sv.ogpm(e, cells=256), 10**3, None) for e in (0.5, 2.0))
    together = strong.composed(weak)
    assert weak.epsilon(1e-6) < together.epsilon(1e-6) < 1.1 * weak.epsilon(1e-6)


def test_the_lower_hull() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    assert composition._lower_hull(x, np.array([1.0, 0.9, 0.1, 0.05])) == [0, 2, 3]


def test_the_picture() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    axes = shuffled(sv.pm(1.0), 1000, None).plot()
    upper, lower = (line.get_ydata() for line in axes.lines)
    assert (np.asarray(lower) < np.asarray(upper)).all()
