"""Sums of coin tosses: both bounds against all counts in fractions, and what the rounding may cost."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from sottovoce.shuffling import two_outcomes
from sottovoce.shuffling.two_outcomes import Coin
from tests.shuffling.enumeration import delta


def rows(least: Fraction, most: Fraction) -> list[tuple[Fraction, ...]]:
    return [(1 - least, least), (1 - most, most)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("people", [1, 2, 5, 9])
def test_exact_for_the_worst_truth(people: int, seed: int) -> None:
    least, most = (
        Fraction(int(k), 64) for k in np.sort(np.random.default_rng(seed).choice(63, 2, False) + 1)
    )
    laws = rows(least, most)
    for first, second in (laws, laws[::-1]):
        coin = Coin(float(first[1]), float(second[1]), float(least), float(most))
        largest = max(p / q for p, q in zip(first, second, strict=True))
        for share in (0.0, 0.4, 0.9):
            epsilon = share * math.log(largest)
            exact = delta(laws, people, Fraction(math.exp(epsilon)), pairs=[(first, second)])
            low, high = coin.divergence(people, epsilon)
            assert low <= exact <= high
            assert high - low < 1e-12


@pytest.mark.parametrize("people", [40, 400])
def test_blocks_of_truths_are_above_each_of_them(people: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few blocks give away more: never less than the worst truth, and less with more of them."""
    coin, epsilon = Coin(0.75, 0.25, 0.25, 0.75), 0.5
    exact = max(coin._against(math.exp(epsilon), k, people - 1 - k).upper for k in range(people))
    bounds = []
    for blocks in (4, 16, 64):
        monkeypatch.setattr(two_outcomes, "MOST_BLOCKS", blocks)
        bounds.append(coin.divergence(people, epsilon).upper)
    assert bounds == sorted(bounds, reverse=True)
    assert exact <= bounds[-1] < 2 * exact


def test_those_in_doubt_hide_with_what_both_ends_share() -> None:
    """Two are at the upper end, three at the lower one, six at either: who took what both share is told."""
    coin, theta, shared = Coin(0.75, 0.25, 0.25, 0.75), 1.3, 0.5
    worst = max(coin._against(theta, 2 + k, 9 - k).lower for k in range(7))
    told = sum(
        math.comb(6, j) * shared**j * (1 - shared) ** (6 - j) * coin._against(theta, 2, 3, j).upper
        for j in range(7)
    )
    assert coin._against(theta, 2, 3, 6).upper < worst <= told < coin._against(theta, 2, 3).upper


@pytest.mark.parametrize(("many", "p"), [(60, 0.5), (400, 0.9), (900, 0.25)])
def test_rarely_fewer(many: int, p: float) -> None:
    least = two_outcomes._at_least(many, p)
    tail = math.fsum(math.comb(many, k) * p**k * (1 - p) ** (many - k) for k in range(least))
    assert tail <= two_outcomes._RARE
    assert least < many * p


def test_a_mutant_with_one_truth_only_falls_below() -> None:
    """Others at one end are not always the worst truth, so that they alone would be no bound."""
    coin, people = Coin(0.75, 0.25, 0.25, 0.75), 5
    exact = delta(rows(Fraction(1, 4), Fraction(3, 4)), people, Fraction(1))
    assert max(coin._against(1.0, k, 4 - k).upper for k in (0, 4)) < 0.95 * exact
    assert coin.divergence(people, 0.0).upper >= exact


def test_against_the_normal_limit() -> None:
    """δ(ε) of a Gaussian mechanism of the same variance, to within the skewness."""
    people = 10**6
    shift = 0.5 / math.sqrt((people - 1) * 0.1875)
    gaussian = NormalDist().cdf
    limit = gaussian(-4 + shift / 2) - math.exp(4 * shift) * gaussian(-4 - shift / 2)
    assert Coin(0.75, 0.25, 0.25, 0.75).divergence(people, 4 * shift).lower == pytest.approx(limit, rel=0.04)


def test_far_tails_stay_relative() -> None:
    low, high = Coin(0.75, 0.25, 0.25, 0.75).divergence(200, 1.0)
    assert 0 < low <= high < 1e-13
    assert high < 1.01 * low
