"""The central ε of shuffled reports: against exhaustive enumeration, known values and published bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, ArgumentTypeError
from sottovoce.reporters.contract import Reporter
from sottovoce.shuffling import blanket as blankets
from sottovoce.shuffling.blanket import blanket
from sottovoce.shuffling.convolution import divergence
from sottovoce.shuffling.input_pair import Contrast
from sottovoce.shuffling.privacy_curve import Curve
from sottovoce.shuffling.shuffled import shuffled
from tests.shuffling import small
from tests.shuffling.enumeration import Row, blanket_law, delta, marks_of, multisets, rows_of
from tests.shuffling.enumeration import divergence as hockey_stick

Draw = Callable[[np.random.Generator], Reporter]

KINDS: dict[str, tuple[Draw, int]] = {  # how to draw one, and the most people that are counted out
    "window": (lambda rng: small.mechanism(rng), 6),
    "options": (lambda rng: small.options(int(rng.integers(2, 5))), 4),
    "two cells": (lambda rng: small.mechanism(rng, cells=2), 8),
    "circle": (lambda rng: small.mechanism(rng, wraps=True), 5),
    "rows": (lambda rng: small.rows(rng), 4),
    "mixture": (lambda rng: small.mixture(rng), 4),
    "choice": (lambda rng: small.choice(rng), 5),
    "one of two": (lambda rng: small.survey(rng, 1), 3),
    "two of two": (lambda rng: small.survey(rng, 2), 3),
    "two of three": (lambda rng: small.survey(rng, 2, "abc"), 2),
}


def brackets(curve: Curve, rows: list[Row], people: int, epsilon: float, **options: Any) -> bool:
    exact = delta(rows, people, Fraction(math.exp(epsilon)), **options)
    return curve.below(epsilon) <= exact <= curve.above(epsilon)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_exact_divergence_lies_between(kind: str, seed: int) -> None:
    draw, most = KINDS[kind]
    reporter = draw(np.random.default_rng([seed, len(kind)]))
    rows, marks = rows_of(reporter), marks_of(reporter)
    for people in sorted({1, 2, most}):
        curve = shuffled(reporter, people, None)
        for share in (0.0, 0.3, 0.8):
            assert brackets(curve, rows, people, share * curve.local, marks=marks)


@pytest.mark.parametrize("kind", ["window", "circle", "rows", "mixture", "choice"])
@pytest.mark.parametrize("seed", range(4))
def test_exact_divergence_of_a_removal(kind: str, seed: int) -> None:
    draw, most = KINDS[kind]
    reporter = draw(np.random.default_rng([seed, 77]))
    rows, people = rows_of(reporter), min(most, 4)
    least = reporter.cover  # at most that of each input, so that it may stand for an answer without a value
    assert all(float(p) >= m * (1 - 1e-15) for row in rows for p, m in zip(row, least, strict=True))
    weights = [Fraction(float(m)) for m in least]
    empty = tuple(m / sum(weights) for m in weights)
    pairs = [pair for row in rows for pair in ((row, empty), (empty, row))]
    curve = shuffled(reporter, people, None, neighbours="remove")
    for share in (0.05, 0.3, 0.8):
        assert brackets(curve, rows, people, share * curve.local, pairs=pairs)


def test_the_blanket_of_rows_is_the_least_of_each_column() -> None:
    reporter = small.rows(np.random.default_rng(5))
    least = reporter.cover
    assert np.allclose(least / least.sum(), [float(p) for p in blanket_law(rows_of(reporter))], rtol=1e-15)


MUTANTS: dict[str, Callable[[Contrast], Contrast]] = {
    "none": lambda c: c,
    "a blanket of a hundredth more": lambda c: Contrast(c.mass * 1.01, c.first / 1.01, c.second / 1.01),
    "inputs that do not oppose each other": lambda c: Contrast(c.mass, c.first, np.sort(c.second)),
    "a smaller ratio": lambda c: Contrast(c.mass, np.minimum(c.first, 0.99 * c.first.max()), c.second),
    "somebody more": lambda c: c,
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_fall_below_the_exact_divergence(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With four options the bound is exact for a small ε, so that the enumeration sees what is too good."""
    original = blankets.blanket
    monkeypatch.setattr(
        "sottovoce.shuffling.upper_bound.blanket", lambda r, **words: MUTANTS[mutant](original(r, **words))
    )
    reporter, people = small.options(4), 4
    curve = shuffled(reporter, people + (mutant == "somebody more"), None)
    exact = delta(rows_of(reporter), people, Fraction(math.exp(0.3)))
    assert (curve.above(0.3) >= exact) == (mutant == "none")
    assert curve.above(0.3) < 1.001 * exact


@pytest.mark.parametrize("seed", range(4))
def test_epsilon_at_a_delta(seed: int) -> None:
    """The ε that is found has a δ of at most what was asked for, the lower one has more."""
    reporter = small.mechanism(np.random.default_rng([seed, 9]))
    rows = rows_of(reporter)
    result = shuffled(reporter, 5, delta=0.02)
    assert delta(rows, 5, Fraction(math.exp(result.epsilon))) <= Fraction(2, 100)
    if result.lower > 0:
        assert delta(rows, 5, Fraction(math.exp(result.lower))) >= Fraction(2, 100)
    assert 0 <= result.lower <= result.epsilon <= result.local


# FACTS 13: OGPM at δ = 1e-6.
KNOWN = {
    1.0: {10**3: 0.1362, 10**4: 0.0396, 10**5: 0.0114},
    2.0: {10**3: 0.3567, 10**4: 0.1035, 10**5: 0.0300},
    4.0: {10**4: 0.386, 10**6: 0.0323},
}


@pytest.mark.parametrize(("epsilon", "people"), [(e, n) for e in KNOWN for n in KNOWN[e]])
def test_known_values(epsilon: float, people: int) -> None:
    result = shuffled(sv.ogpm(epsilon, loss="l1"), people)
    known = KNOWN[epsilon][people]
    assert result.lower <= known * 1.01 + 5e-5
    assert abs(result.epsilon - known) < 1e-3 * known + 5e-5
    disjoint = epsilon >= 2 * math.log(2)  # three windows fit
    assert result.epsilon <= (1.001 if disjoint else 1.35) * result.lower


def test_the_unbiased_optimum() -> None:
    """FACTS 13: 0.116 at ε = 4 for 10^5 people."""
    assert abs(shuffled(sv.optimal(4.0), 10**5).epsilon - 0.116) < 1e-3


def clones(epsilon: float, people: int, delta: float) -> float:
    """Feldman, McMillan and Talwar 2021, Theorem 3.1."""
    assert epsilon <= math.log(people / (16 * math.log(2 / delta)))
    e = math.exp(epsilon)
    root = 8 * math.sqrt(e * math.log(4 / delta)) / math.sqrt(people)
    return math.log(1 + (e - 1) / (e + 1) * (root + 8 * e / people))


def numerical_clones(epsilon: float, people: int, central: float) -> float:
    """The δ of Feldman, McMillan and Talwar 2021, Theorem 3.2, bounded from below.

    Others report like either input with probability 1/(2e^ε) each; what else they report is known.
    """
    e = math.exp(epsilon)
    share, r = np.array([e, 1]) / (e + 1), 1 / (2 * e)
    return divergence(Contrast(np.array([r, r]), share / r, share[::-1] / r), people, central).lower


@pytest.mark.parametrize("design", [sv.ogpm, sv.sw, sv.duchi])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_never_above_the_clones(design: Callable[..., sv.Mechanism], epsilon: float) -> None:
    central = shuffled(design(epsilon), 10**5, None).epsilon(1e-6)
    assert central < clones(epsilon, 10**5, 1e-6)
    assert numerical_clones(epsilon, 10**5, central) > 1e-6


def variation_ratio(rows: list[Row]) -> list[Row]:
    """The laws of the public code of Wang et al.: of both inputs and of the others, with p = q the ratio.

    What is typical of neither input is one kind of report, as if that of the person in question and those of
    the others looked alike.
    """
    first, second = rows[0], rows[-1]
    alpha = sum((q for p, q in zip(first, second, strict=True) if p > q), Fraction(0))
    more = alpha * max(p / q for p, q in zip(first, second, strict=True))
    return [(more, alpha, 1 - alpha - more), (alpha, more, 1 - alpha - more), (alpha, alpha, 1 - 2 * alpha)]


def of_formula(rows: list[Row], people: int, theta: Fraction) -> Fraction:
    first, second, other = variation_ratio(rows)
    p, q = (multisets((other,) * (people - 1) + (target,)) for target in (first, second))
    return hockey_stick(p, q, theta)


@pytest.mark.parametrize(
    ("many", "wide", "theta", "formula", "exact"),
    [
        (4, 1, Fraction(3), Fraction(23, 256), Fraction(27, 256)),
        (5, 2, Fraction(6), Fraction(32, 4096), Fraction(169, 4096)),
    ],
)
def test_the_variation_ratio_is_not_a_bound(
    many: int, wide: int, theta: Fraction, formula: Fraction, exact: Fraction
) -> None:
    """Three people, counted out: four options, and windows of two of five cells, where no third one fits."""
    reporter = small.options(many, wide)
    rows = rows_of(reporter)
    assert of_formula(rows, 3, theta) == formula
    assert delta(rows, 3, theta) == exact > formula
    assert shuffled(reporter, 3, None).above(math.log(theta)) >= exact


@pytest.mark.parametrize("people", [2, 3, 5])
def test_the_variation_ratio_is_at_most_the_truth_where_three_windows_fit(people: int) -> None:
    """It is what others at a third option leave to an observer who does not look at all reports."""
    rows = rows_of(small.options(4))
    first, second, away = rows[0], rows[-1], rows[1]
    seen = [(law[0], law[-1], sum(law[1:-1])) for law in (first, second, away)]
    assert seen == variation_ratio(rows)
    gaps = []
    for theta in (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4)):
        p, q = (multisets((away,) * (people - 1) + (target,)) for target in (first, second))
        gaps.append(hockey_stick(p, q, theta) - of_formula(rows, people, theta))
    assert min(gaps) >= 0
    assert max(gaps) > 0


def test_more_people_hide_better_and_one_hides_nobody() -> None:
    m = sv.ogpm(1.0, cells=256)
    central = [shuffled(m, people).epsilon for people in (1, 10, 100, 1000)]
    assert central == sorted(central, reverse=True)
    assert 0 <= sv.audit(m).epsilon - central[0] < 1e-5  # δ = 1e-6 is worth that much
    removed = shuffled(m, 1000, neighbours="remove")
    assert removed.epsilon < central[-1] <= 2 * removed.epsilon


def test_choices_have_a_lower_bound_beside_the_upper_one() -> None:
    """Every two options of a balanced family share as many cells, so that the pair is exact."""
    few = shuffled(sv.choice(4.0, ["car", "bike", "train"]), 10**4)
    assert few.lower <= few.epsilon <= 1.001 * few.lower
    many = shuffled(sv.choice(1.0, list(range(20))), 10**4)
    assert many.lower <= many.epsilon <= 1.1 * many.lower
    assert many.witness.others not in many.pair


def test_an_audit_tells_both() -> None:
    m = sv.pm(1.0)
    alone, among = sv.audit(m.to_json()), sv.audit(m.to_json(), people=1000)
    assert alone.central is None
    assert (among.epsilon, among.holds) == (alone.epsilon, alone.holds)
    assert among.central is not None
    assert among.central.epsilon == shuffled(m, 1000).epsilon
    assert "1,000 honest people" in str(among)


def test_what_a_cell_decodes_to_does_not_matter() -> None:
    m = sv.pm(1.0)
    assert shuffled(m.compressed(), 1000).epsilon == shuffled(m, 1000).epsilon


def test_a_start_table_that_reaches_less_hides_more() -> None:
    """Starts that no input has are not counted: part of the window is then sure."""
    m = sv.ogpm(1.0, cells=512)
    w = m.window
    narrow = replace(m, window=replace(w, knot_s=np.array([w.top // 3, w.top // 2])))
    assert blanket(narrow).total > blanket(m).total
    assert shuffled(narrow, 1000).epsilon < shuffled(m, 1000).epsilon


def test_refusals() -> None:
    m = sv.duchi(1.0)
    for people, found in ((0, "people"), (10**10, "people")):
        with pytest.raises(ArgumentError) as refusal:
            shuffled(m, people)
        assert refusal.value.argument == found
    for wrong in (0.0, 1.0, -1.0):
        with pytest.raises(ArgumentError) as refusal:
            shuffled(m, 10, wrong)
        assert refusal.value.argument == "delta"
    with pytest.raises(ArgumentError) as refusal:
        shuffled(m, 10, neighbours="both")  # type: ignore[call-overload]
    assert refusal.value.argument == "neighbours"
    with pytest.raises(ArgumentTypeError) as refusal_of_type:
        shuffled(sv.laws.laplace(1.0), 10)
    assert refusal_of_type.value.argument == "reporter"


def test_the_sentence_says_what_it_needs() -> None:
    """At (ε, δ) two laws are guessed apart in at most (e^ε + δ)/(1 + e^ε) of cases; rounded up."""
    found = shuffled(sv.ogpm(2.0, loss="l1"), 10**4)
    most = 100 * (math.exp(found.epsilon) + found.delta) / (1 + math.exp(found.epsilon))
    assert 52 < most < 53
    readers = "Readers of these counts guess right between two answers of one person in at most 53 of 100"
    assert found.sentence.startswith(f"{readers} cases, if at least 10,000 people answered honestly.")
    assert found.sentence.endswith("The operator receives single reports: at most 89 of 100.")
    other = shuffled(sv.ogpm(2.0, loss="l1"), 10**4, neighbours="remove").sentence
    assert "one person's answer and a random one" in other
