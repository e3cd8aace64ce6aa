"""Both bounds of a central ε: for everything that reports, where they meet, and why they do not elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.shuffling.blanket import blanket
from sottovoce.shuffling.shuffled import shuffled
from tests.reporters.catalogue import others
from tests.shuffling import small
from tests.shuffling.enumeration import delta, multisets, rows_of

EVERY = {name: make for name, make in others().items() if not name.endswith(("-0.3", "-truncated"))}


@pytest.mark.parametrize("name", EVERY)
def test_whatever_reports_has_both_bounds(name: str) -> None:
    """Discovered, not listed: a new kind of reporter goes through, or this fails."""
    curve = shuffled(EVERY[name](), 300, None)
    epsilon = 3 * curve.likely if curve.likely < curve.local / 4 else 0.6 * curve.local
    assert 0 < curve.below(epsilon) <= curve.delta(epsilon) < 1


@pytest.mark.parametrize("people", [10, 30])
def test_few_people_are_hidden_least_among_their_likes(people: int) -> None:
    """The others are at the same input, so that nobody else reports what would look like the second one."""
    result = shuffled(sv.ogpm(2.0, loss="l1"), people)
    assert result.epsilon <= 1.001 * result.lower
    assert result.witness.others in result.pair


@pytest.mark.parametrize(("people", "gap"), [(4, 1.03), (6, 1.04)])
def test_between_few_and_many_no_truth_attains_the_blanket(people: int, gap: float) -> None:
    """Why upper/lower ≤ 1.001 cannot hold there: all truths counted out, the lower bound is exact.

    Options are alike, so that one pair stands for all.
    """
    reporter, most = small.options(4), 0.05
    result, rows = shuffled(reporter, people, most), rows_of(reporter)
    for epsilon, reached in (
        (result.epsilon / gap, False),
        (result.lower, True),
        (1.001 * result.lower, False),
    ):
        exact = delta(rows, people, Fraction(math.exp(epsilon)), pairs=[(rows[0], rows[1])])
        assert (exact >= most) == reached


def test_where_few_become_many_a_mixture_is_worse_than_both_examples() -> None:
    """Three options, six people: the truth lies 3 % above the lower bound, and 3 % below the blanket."""
    reporter, people, most = small.options(3), 6, 0.05
    result, rows = shuffled(reporter, people, most), rows_of(reporter)
    for epsilon, reached in ((1.03 * result.lower, True), (result.epsilon / 1.03, False)):
        exact = delta(rows, people, Fraction(math.exp(epsilon)), pairs=[(rows[0], rows[1])])
        assert (exact >= most) == reached


def test_between_few_and_many_the_blanket_is_the_loose_side() -> None:
    """Sixty people, some of the others at the first input and the rest away: none is worse than our example.

    The counts in three windows, by their generating function at all roots of unity.
    """
    reporter, people, size = sv.ogpm(2.0, loss="l1"), 60, 64
    result, ratio = shuffled(reporter, people), math.exp(2.0)
    window = (1 - reporter.window.mass / reporter.window.total) / (ratio - 1)  # of the background
    roots = np.exp(-2j * np.pi * np.arange(size) / size)
    places = roots[:, None, None], roots[None, :, None], roots[None, None, : size // 2 + 1]
    laws = [
        1 + sum(window * (ratio if i == j else 1.0) * (root - 1) for j, root in enumerate(places))
        for i in range(3)
    ]
    for same in (0, 20, 40, 59):
        others = laws[2] ** (59 - same) * laws[0] ** same
        first, second = (np.fft.irfftn(others * law, (size,) * 3, axes=(0, 1, 2)) for law in laws[:2])
        excess = first - math.exp(1.001 * result.lower) * second
        assert excess[excess > 1e-16].sum() < result.delta
    assert result.epsilon > 1.03 * result.lower


@pytest.mark.parametrize(
    ("epsilon", "people"), [(1.5, 200), (2.0, 100), (2.0, 1000), (4.0, 200), (4.0, 1000)]
)
def test_how_far_the_blanket_is_above_three_windows(epsilon: float, people: int) -> None:
    """What the observer is told about the third window is worth a share of ((θ − 1)/(e^ε − 1))²/4."""
    result = shuffled(sv.ogpm(epsilon, loss="l1"), people)
    assert result.witness.others not in result.pair
    gap = (math.expm1(result.epsilon) / (2 * math.expm1(epsilon))) ** 2
    assert 1 < result.epsilon / result.lower < 1.0006 + gap


def test_others_elsewhere_are_worst_where_they_are_all_at_one_place() -> None:
    """Counted out: with windows that touch neither of the two inputs, no mixture is worse."""
    rows = rows_of(small.options(5))
    for theta in (Fraction(3, 2), Fraction(3)):
        worst = [
            sum(max(p[key] - theta * q[key], Fraction(0)) for key in p)
            for others in combinations_with_replacement(rows[2:], 4)
            for p, q in [[multisets((*others, target)) for target in rows[:2]]]
        ]
        assert max(worst) == worst[0] > worst[1]


def test_why_the_blanket_of_graded_rows_keeps_a_gap() -> None:
    """Many people hide like noise of the covariance of their counts, and d'C⁻¹d is convex in C.

    So a truth that mixes inputs is not worse than the worst one that does not; the blanket is 1.4 times that.
    """
    table = sv.laws.truncated_laplace(4.0).tabulate(inputs=17, cells=64)
    rows = table.rows / table.rows[0].sum()
    covariances = [(np.diag(row) - np.outer(row, row))[:-1, :-1] for row in rows]
    difference = (rows[0] - rows[-1])[:-1]

    def information(shares: np.ndarray) -> float:
        mixed = np.tensordot(shares, covariances, 1)
        return float(difference @ np.linalg.solve(mixed, difference))

    alone = [information(np.eye(17)[i]) for i in range(17)]
    mixtures = np.random.default_rng(2).dirichlet(np.full(17, 0.2), 50)
    assert all(information(shares) <= max(alone) * (1 + 1e-9) for shares in mixtures)
    assert alone[0] == pytest.approx(max(alone))
    assert 1.39 < blanket(table).distance() / math.sqrt(max(alone)) < 1.42


@pytest.mark.parametrize(("epsilon", "people"), [(2.0, 10**4), (8.0, 1000), (4.0, 10**8)])
def test_reports_of_two_kinds_have_no_gap(epsilon: float, people: int) -> None:
    """FACTS 13 has 0.087 to 0.114 at ε = 2 for 10^4 people: the larger one is the blanket's."""
    result = shuffled(sv.duchi(epsilon), people)
    assert result.lower <= result.epsilon <= 1.05 * result.lower
    if people == 10**4:
        assert abs(result.lower - 0.087) < 5e-4


@pytest.mark.parametrize(("epsilon", "people"), [(2.0, 10**4), (4.0, 1000), (4.0, 10**6), (8.0, 1000)])
def test_graded_rows_are_hidden_by_their_blanket(epsilon: float, people: int) -> None:
    """Laplace: the blanket is clean at both ends of the domain, while nobody's reports are."""
    result = shuffled(sv.laws.truncated_laplace(epsilon).tabulate(inputs=65, cells=256), people)
    assert result.lower <= result.epsilon < 1.5 * result.lower


def test_small_deltas_of_graded_rows() -> None:
    curve = shuffled(sv.laws.truncated_laplace(2.0).tabulate(inputs=17, cells=64), 10**5, None)
    assert 0 < curve.epsilon(1e-20) < 1.6 * curve.lower(1e-20)
