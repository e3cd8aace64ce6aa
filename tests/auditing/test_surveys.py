"""What the counts of several questions reveal: the groups of a lot counted out, both bounds, scores."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

import sottovoce as sv
from sottovoce.auditing import hiding
from sottovoce.auditing.blanket import blanket
from sottovoce.auditing.scores import score_test
from sottovoce.auditing.shuffled import shuffled
from sottovoce.auditing.witness import witnesses
from tests.auditing.enumeration import Counts, Row, both, divergence, marks_of, multisets, rows_of

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


def test_how_many_lots_meet_a_group() -> None:
    assert hiding._met(4, 2, 2) == pytest.approx(5 / 6)
    assert hiding._met(3, 2, 1) == pytest.approx(2 / 3)
    assert hiding._met(3, 2, 2) == 1


def test_how_many_people_answer_at_least() -> None:
    """The binomial tail below the number is rarer than said."""
    people = 1000
    for yes, no in ((1, 1), (5, 1)):
        share = yes / (yes + no)
        least = hiding._at_least(people, share)
        tail = sum(math.comb(people, k) * yes**k * no ** (people - k) for k in range(least + 1))
        assert tail / (yes + no) ** people < hiding._RARE
        assert least > 0.7 * people * share


@pytest.mark.parametrize(("asked", "sampled", "most"), [(2, 2, 1.25), (4, 4, 1.25), (4, 2, 1.4)])
def test_both_bounds_of_a_survey(asked: int, sampled: int, most: float) -> None:
    survey = sv.Survey(sampled * 1.0, {f"q{i}": sv.optimal(1.0) for i in range(asked)}, sampled)
    result = shuffled(survey, 10**4)
    assert result.lower < result.epsilon < most * result.lower
    rows = hiding._covered(blanket(survey), result.local, 10**4, False).epsilon(result.delta)
    assert result.epsilon < 0.9 * rows


def test_scores_lose_little() -> None:
    """Of one question the best test is known: a sum of scores reaches nearly as much."""
    example = witnesses(sv.ogpm(2.0, loss="l1", cells=256))[0]
    for people in (1000, 10**6):
        epsilon = 4.5 * example.contrasts[0].distance() / math.sqrt(people)
        scored = score_test(example.contrasts, 1, people).below(epsilon)
        assert 0.9 < scored / example.below(people)(epsilon) <= 1.001
