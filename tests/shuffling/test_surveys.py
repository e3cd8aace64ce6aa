"""What the counts of several questions reveal: the groups of a lot counted out, both bounds, scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from operator import le

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.shuffling import several_answers, upper_bound
from sottovoce.shuffling.blanket import blanket, common
from sottovoce.shuffling.input_pair import Contrast
from sottovoce.shuffling.lower_bound import witnesses
from sottovoce.shuffling.shuffled import shuffled
from sottovoce.shuffling.threshold_scores import score_test
from tests.shuffling.enumeration import Counts, Row, both, divergence, marks_of, multisets, rows_of

HEADS, TAILS = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
GROUPS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))  # four questions, two answers: all divisions


def four_coins() -> sv.Survey:
    coin = sv.Rows.of(2.0, [[0.75, 0.25], [0.25, 0.75]])
    return sv.Survey(4.0, dict.fromkeys("abcd", coin), 2)


def of_a_group(group: tuple[int, ...], people: list[tuple[Row, ...]]) -> Counts:
    """Everybody answers one of the questions of a group, by an even lot."""
    return multisets(tuple(tuple(p / 2 for q in group for p in one[q]) for one in people))


@pytest.mark.parametrize("theta", [Fraction(2), Fraction(6)])
def test_telling_the_groups_of_a_lot_helps_the_observer(theta: Fraction) -> None:
    """Two people, all four answers of one of them changed: the counts reveal less than those of the groups.

    Of the other's lots four in six meet both groups. Those that meet one only hide nothing in the other.
    """
    survey = four_coins()
    rows, marks = rows_of(survey), marks_of(survey)
    mutants = []
    for i, truth in enumerate(product((HEADS, TAILS), repeat=4)):
        counts = divergence(*(multisets((rows[i], rows[end]), marks) for end in (0, 15)), theta)
        told = {}
        for met in ((1, 1), (1, 0), (0, 1), (2, 2)):
            sides = [
                [
                    both(*(of_a_group(g, [target] + [truth] * m) for g, m in zip(groups, met, strict=True)))
                    for groups in GROUPS
                ]
                for target in ((HEADS,) * 4, (TAILS,) * 4)
            ]
            told[met] = sum(divergence(p, q, theta) for p, q in zip(*sides, strict=True)) / 3
        assert counts <= (4 * told[1, 1] + told[1, 0] + told[0, 1]) / 6
        mutants.append(counts <= told[2, 2])
    assert not all(mutants)  # as if the other's answers counted twice


@pytest.mark.parametrize("theta", [Fraction(2), Fraction(6)])
def test_telling_who_has_one_answer_in_a_group_helps_the_observer(theta: Fraction) -> None:
    """The same two people, where both answers of the other in one group count, and which they are is told."""
    survey = four_coins()
    rows, marks = rows_of(survey), marks_of(survey)
    mutants = []
    for i, truth in enumerate(product((HEADS, TAILS), repeat=4)):
        counts = divergence(*(multisets((rows[i], rows[end]), marks) for end in (0, 15)), theta)
        told = mutant = Fraction(0)
        twice = ((HEADS,) * 4, truth, truth), ((TAILS,) * 4, truth, truth)
        for groups in GROUPS:
            sides = [both(*(of_a_group(group, list(people)) for group in groups)) for people in twice]
            mutant += divergence(*sides, theta) / 3
            for share, met in ((Fraction(4, 6), None), (Fraction(1, 6), 0), (Fraction(1, 6), 1)):
                laws = []
                for target in ((HEADS,) * 4, (TAILS,) * 4):
                    if met is None:
                        laws.append(both(*(of_a_group(group, [target, truth]) for group in groups)))
                        continue
                    known: Counts = {}  # the question of the person in question shows in this group
                    for label, (q, other) in enumerate((groups[met], groups[met][::-1])):
                        pair = both(multisets((target[q], truth[q])), multisets((truth[other],)))
                        known |= {(label, *key): mass / 2 for key, mass in pair.items()}
                    laws.append(both(known, of_a_group(groups[1 - met], [target])))
                told += share * divergence(*laws, theta) / 3
        assert counts <= told
        mutants.append(counts <= mutant)
    assert not all(mutants)  # as if the other's answers counted twice


def who_meets(asked: int, sampled: int, others: int) -> Counts:
    """How likely so many of the others have an answer in each group, all lots counted out."""
    group = np.repeat(np.arange(sampled), several_answers._sizes(asked, sampled))
    lot_of = [
        tuple(int(i in group[list(lot)]) for i in range(sampled))
        for lot in combinations(range(asked), sampled)
    ]
    return multisets(((Fraction(1, len(lot_of)),) * len(lot_of),) * others, tuple(lot_of))


@pytest.mark.parametrize(("asked", "sampled"), [(4, 2), (7, 3), (6, 3)])
def test_groups_are_rarely_met_by_few_at_once(asked: int, sampled: int) -> None:
    """At most as often as if the groups were independent, for every number of each."""
    law = who_meets(asked, sampled, 3)

    def chance(most: tuple[int, ...]) -> Fraction:
        return sum((p for met, p in law.items() if all(map(le, met, most))), Fraction(0))

    for most in product(range(4), repeat=sampled):
        alone = [chance(tuple(n if i == j else 3 for j in range(sampled))) for i, n in enumerate(most)]
        assert chance(most) <= math.prod(alone)


@pytest.mark.parametrize(("asked", "sampled", "others"), [(4, 2, 9), (7, 3, 5), (6, 3, 5)])
def test_the_mean_over_all_meetings_is_bounded(asked: int, sampled: int, others: int) -> None:
    """For what falls with the number of people in each group, whatever its differences are like."""
    law, meeting = who_meets(asked, sampled, others), several_answers.Meeting.of(asked, sampled, others + 1)
    functions: dict[str, Callable[[Sequence[int]], float]] = {
        "product": lambda met: math.prod(0.6**n for n in met),
        "largest": lambda met: max(0.6**n for n in met),
        "all or nothing": lambda met: float(min(met) < meeting.levels[1]),
    }
    for name, function in functions.items():
        exact = sum(float(p) * function(met) for met, p in law.items())
        bound = meeting.expected(
            np.array([function([meeting.levels[i] for i in pattern]) for pattern in meeting.patterns])
        )
        assert exact <= bound < 4 * exact, name
        best = function([meeting.levels[0]] * sampled)
        assert best < exact  # as if everybody met every group


def test_ranges_are_rarely_missed() -> None:
    """The share of 400 tosses, against the exact tails; the person in question may add one."""
    people, rare = 400, 1e-9
    low, high = several_answers._ratio(np.array([1.0, 0.0]), np.ones(2), np.array([0.3, 0.7]), people, rare)
    tail = [math.comb(people, k) * 0.3**k * 0.7 ** (people - k) for k in range(people + 1)]
    assert sum(tail[: math.floor(low * people) + 1]) < rare
    assert sum(tail[math.ceil(high * (people + 1)) - 1 :]) < rare
    assert 0.16 < low < 0.3 < high < 0.46


def test_uneven_weights_are_largest_at_the_ends_of_their_range() -> None:
    """E(Σ wL)₊ for all weights 0.5, 1 or 1.5 of four answers, 1 on average, against pairs of both ends."""
    contrast = Contrast(np.array([0.4, 0.3]), np.array([1.0, 2.0]), np.array([2.0, 2.0 / 3]))

    def mean(laws: list[tuple[np.ndarray, np.ndarray]]) -> float:
        return sum(
            max(sum(loss for loss, _ in outcome), 0.0) * math.prod(mass for _, mass in outcome)
            for outcome in product(*(list(zip(*law, strict=True)) for law in laws))
        )

    def law(part: Contrast, weight: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        return np.append(weight * (part.first - part.second), 0.0), np.append(part.mass, part.silent)

    ends = 2 * mean([law(several_answers._uneven(contrast, 0.5))] * 2)
    even = mean([law(contrast)] * 4)
    for weights in product((0.5, 1.0, 1.5), repeat=4):
        if sum(weights) == 4:
            assert even * (1 - 1e-12) <= mean([law(contrast, w) for w in weights]) <= ends * (1 + 1e-12)
    assert ends > 1.05 * even


def test_different_questions_share_a_cover_above_all() -> None:
    covers = [blanket(question) for question in (sv.duchi(1.0), sv.ogpm(1.0), sv.optimal(2.0))]
    above = common(covers)
    for theta, t in product((1.0, 1.5), np.linspace(-6, 6, 25)):
        excess = [
            float(c.mass @ np.maximum(c.first - theta * c.second - t, 0)) + c.silent * max(-t, 0.0)
            for c in (above, *covers)
        ]
        assert max(excess[1:]) <= excess[0] * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(
    ("asked", "sampled", "people", "most"),
    [
        (2, 2, 10**4, 1.25),
        (4, 4, 10**4, 1.25),
        (10, 2, 100, 1.35),
        (10, 5, 100, 1.35),
        (10, 2, 1000, 1.39),
        (10, 2, 10**4, 1.35),
    ],
)
def test_both_bounds_of_a_survey(asked: int, sampled: int, people: int, most: float) -> None:
    survey = sv.Survey(sampled * 1.0, {f"q{i}": sv.optimal(1.0) for i in range(asked)}, sampled)
    result = shuffled(survey, people)
    assert result.lower < result.epsilon < most * result.lower
    rows = upper_bound._covered(blanket(survey), result.local, people, False).epsilon(result.delta)
    assert result.epsilon < 0.9 * rows


def test_scores_lose_little() -> None:
    """Of one question the best test is known: a sum of scores reaches nearly as much."""
    example = witnesses(sv.ogpm(2.0, loss="l1", cells=256))[0]
    for people in (1000, 10**6):
        epsilon = 4.5 * example.contrasts[0].distance() / math.sqrt(people)
        scored = score_test(example.contrasts, 1, people).below(epsilon)
        assert 0.9 < scored / example.below(people)(epsilon) <= 1.001
