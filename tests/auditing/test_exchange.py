"""Graded rows: standing at somebody else's place, counted out, and what it gains over the blanket."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.auditing.blanket import blanket
from sottovoce.auditing.exchange import Exchange
from sottovoce.auditing.hiding import _covered
from sottovoce.auditing.shuffled import shuffled
from tests.auditing import small
from tests.auditing.enumeration import Row, divergence, multisets, rows_of


def mean_gain(places: Sequence[Row], pair: tuple[Row, Row], theta: Fraction) -> Fraction:
    """E[(ΣL)₊] over the number of places; what is missing from a place says nothing."""
    sums = {Fraction(0): Fraction(1)}
    for place in places:
        more: dict[Fraction, Fraction] = defaultdict(Fraction)
        for total, mass in sums.items():
            more[total] += mass * (1 - sum(place))
            for q, first, second in zip(place, *pair, strict=True):
                if q:
                    more[total + (first - theta * second) / q] += mass * q
        sums = more
    return sum((total * mass for total, mass in sums.items() if total > 0), Fraction(0)) / len(places)


def less(law: Row, least: Row, share: Fraction) -> Row:
    """A law without a share of draws that never look at the value."""
    return tuple(p - share * m / sum(least) for p, m in zip(law, least, strict=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("theta", [Fraction(11, 10), Fraction(3, 2)])
def test_telling_all_but_a_place_helps_the_observer(seed: int, theta: Fraction) -> None:
    """For every truth of three others: who drew without a look is told, and one of them is stood in for."""
    rows = rows_of(small.rows(np.random.default_rng(seed), inputs=2, cells=3))
    least = tuple(min(column) for column in zip(*rows, strict=True))
    share = sum(least) / 2
    mutants = []
    for truth in combinations_with_replacement(rows, 3):
        looked = [tuple(p / (1 - share) for p in less(law, least, share)) for law in truth]
        for pair in permutations(rows, 2):
            counts = divergence(*(multisets((*truth, target)) for target in pair), theta)
            told = (1 - share) ** 3  # nobody to stand in for
            for size in (1, 2, 3):
                alike = [
                    mean_gain([looked[i] for i in who], pair, theta) for who in combinations(range(3), size)
                ]
                chance = (
                    math.comb(3, size) * share ** (4 - size) * (1 - share) ** (size - 1) * size / (4 - size)
                )
                told += chance * sum(alike) / len(alike)
            assert counts <= told
            for aside in (share / 2, share):
                places = [less(law, least, aside) for law in truth]
                assert counts <= (1 - aside) ** 3 + mean_gain(places, pair, theta)
            mutants.append(counts <= mean_gain([*truth, *truth[:2]], pair, theta))
    assert not all(mutants)  # as if there were five others


@pytest.mark.parametrize("seed", range(4))
def test_the_product_bounds_every_truth(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reporter = small.rows(np.random.default_rng(seed), inputs=3, cells=3)
    rows, theta, aside = rows_of(reporter), 1.3, Fraction(1, 2)
    exchange = Exchange.of(reporter.rows, 40)
    assert exchange is not None
    exchange = Exchange(exchange.laws, exchange.least, exchange.places, 3, exchange.square, exchange.worst)
    least = tuple(min(column) for column in zip(*rows, strict=True))
    places = [less(law, least, aside / 3) for law in rows]
    worst = max(
        mean_gain(truth, pair, Fraction(theta))
        for truth in combinations_with_replacement(places, 3)
        for pair in permutations(rows, 2)
    )
    bound = exchange._hidden(theta, float(aside))
    assert worst <= bound < 8 * worst
    smoother = Exchange(exchange.laws, exchange.least, exchange.places, 60, exchange.square, exchange.worst)
    assert smoother._hidden(theta, float(aside)) < worst
    for tilt in (0.1, 1.0, 4.0):  # any other is fair too
        monkeypatch.setattr(Exchange, "_tilt", lambda *_, tilt=tilt: (tilt, 0.0))
        assert exchange._hidden(theta, float(aside)) >= worst


@pytest.mark.parametrize(
    ("epsilon", "people", "gain"), [(2.0, 10**4, 1.15), (4.0, 1000, 1.05), (4.0, 10**6, 1.25)]
)
def test_whole_reports_hide_better_than_the_blanket(epsilon: float, people: int, gain: float) -> None:
    """Laplace: the bounds lie within 1.2, where the blanket alone leaves up to 1.46."""
    table = sv.laws.truncated_laplace(epsilon).tabulate(inputs=65, cells=256)
    result = shuffled(table, people)
    alone = _covered(blanket(table), result.local, people, False).epsilon(result.delta)
    assert result.lower <= result.epsilon <= min(1.2 * result.lower, alone / gain)


def test_inputs_in_blocks_are_as_good_as_one_by_one() -> None:
    """The worst of all pairs of 65 inputs at a place: the same from blocks, and never less than it is."""
    table = sv.laws.truncated_laplace(4.0).tabulate(inputs=65, cells=64)
    exchange = Exchange.of(table.rows, 1000)
    assert exchange is not None
    theta, tilt, place = 2.5, 0.015, exchange.places[0]
    ratio = tilt * exchange.laws / place
    chances = 1 - place.sum() + (place * np.exp(ratio)) @ np.exp(-theta * ratio).T
    worst = float(chances.max())
    for known in (0.0, float(np.sort(chances, axis=None)[-3]), worst + 1e-3):
        largest = exchange._largest(theta, tilt, place, known)
        assert max(largest, known) == pytest.approx(max(worst, known), rel=1e-13)


def test_few_people_are_hidden_better_than_by_one_share_aside() -> None:
    """Laplace at ε = 8: where few become many the bounds lie within 1.25; with two shares it was 1.39."""
    result = shuffled(sv.laws.truncated_laplace(8.0).tabulate(inputs=65, cells=256), 1000)
    assert result.lower < result.epsilon < 1.25 * result.lower


def test_small_deltas_are_left_to_the_blanket() -> None:
    table = sv.laws.truncated_laplace(2.0).tabulate(inputs=17, cells=64)
    curve = shuffled(table, 10**5, None)
    assert 0 < curve.epsilon(1e-20) < 1.6 * curve.lower(1e-20)
