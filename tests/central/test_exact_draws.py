"""The primitive draws: thresholds settled bit by bit, tables against direct bounds, samples against laws."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from sottovoce.central.noise import exact_draws
from sottovoce.central.noise.discrete_laplace import SumAndCount, Transformed, discrete_laplace
from sottovoce.central.noise.exact_draws import ExactDraws
from sottovoce.central.noise.hourglass import Hourglass
from sottovoce.central.noise.integer_staircase import Staircase
from sottovoce.central.noise.plane_staircase import Staircase2D
from sottovoce.central.noise.thresholds import Thresholds
from sottovoce.exact.rational_bounds import exp_bounds
from sottovoce.randomness.word_source import SeededStream, WordSource

FALSE_ALARM = 1e-6


class Script(WordSource):
    """A source that hands out given narrow words and then runs dry."""

    def __init__(self, words: tuple[int, ...], width: int) -> None:
        self._words = [word << (64 - width) for word in words]
        self._width = width

    def words(self, count: int) -> Any:
        if count > len(self._words):
            raise EOFError
        found, self._words = self._words[:count], self._words[count:]
        return np.array(found, dtype=np.uint64)


def rational(*thresholds: F) -> Any:
    return lambda bits: [(math.floor(t * 2**bits), math.ceil(t * 2**bits)) for t in thresholds]


def real(*exponents: F) -> Any:
    """Thresholds e^exponent, irrational."""

    def bounds(bits: int) -> list[tuple[int, int]]:
        found = [exp_bounds(x, bits + 8) for x in exponents]
        return [(math.floor(low * 2**bits), math.ceil(high * 2**bits)) for low, high in found]

    return bounds


THRESHOLDS = {
    "thirds": (rational(F(1, 3), F(2, 3)), [F(1, 3), F(2, 3)]),
    "dyadic": (rational(F(1, 4), F(3, 4)), [F(1, 4), F(3, 4)]),
    "close together": (rational(F(1, 3), F(171, 512), F(1, 2)), [F(1, 3), F(171, 512), F(1, 2)]),
    "zero and one": (rational(F(0), F(1, 7), F(1)), [F(0), F(1, 7), F(1)]),
    "irrational": (real(F(-2), F(-1), F(-1, 50)), [exp_bounds(x, 90)[0] for x in (F(-2), F(-1), F(-1, 50))]),
}


@pytest.mark.parametrize(("bounds", "thresholds"), THRESHOLDS.values(), ids=THRESHOLDS)
def test_all_words_of_three_bits_give_each_outcome_its_share(bounds: Any, thresholds: list[F]) -> None:
    """Every sequence of four 3-bit words: what is settled never exceeds a share, and nearly all is."""
    width, depth = 3, 4
    table = Thresholds(bounds, width=width)
    settled = [0] * (len(thresholds) + 1)
    for words in product(range(1 << width), repeat=depth):
        try:
            settled[int(table.draw(1, Script(words, width))[0])] += 1
        except EOFError:
            continue
    total = (1 << width) ** depth
    shares = [b - a for a, b in zip([F(0), *thresholds], [*thresholds, F(1)], strict=True)]
    open_cases = total - sum(settled)
    assert open_cases <= len(thresholds)
    for share, found in zip(shares, settled, strict=True):
        assert found <= share * total <= found + open_cases


def test_a_rounding_instead_of_a_second_word_would_be_noticed() -> None:
    """The mutant that settles ties by the first word alone gives one third a share of 3/8."""

    class Hasty(Thresholds):
        def _settle(self, value: int, source: Any) -> int:
            return 0

    table = Hasty(rational(F(1, 3)), width=3)
    zeros = sum(int(table.draw(1, Script((word,), 3))[0]) == 0 for word in range(8))
    assert F(zeros, 8) > F(1, 3)


@pytest.mark.parametrize("rate", [F(1, 10**6), F(1, 2**32), F(1, 40), F(1, 3), F(1), F(16)])
def test_geometric_tables_hold_the_true_probabilities(rate: F) -> None:
    """First 64 bits of every threshold against e^x computed directly at 300 bits, for each digit's table."""
    while rate < exact_draws._SLOW:
        size = exact_draws._DIGIT
        lower, upper = zip(*(exp_bounds(-rate * j, 300) for j in range(1, size + 1)), strict=True)
        for j in range(size - 1):
            least, most = (1 - upper[j]) / (1 - lower[-1]), (1 - lower[j]) / (1 - upper[-1])
            assert math.floor(least * 2**64) == exact_draws._digit(rate)._first[j] == math.floor(most * 2**64)
        rate *= size
    table, length = exact_draws._run(rate)
    for j in range(length):
        low, high = exp_bounds(-rate * (j + 1), 300)
        expected = {min(math.floor((1 - p) * 2**64), 2**64 - 1) for p in (low, high)}
        assert expected == {int(table._first[j])}


@pytest.mark.parametrize("epsilon", [F(1, 2), F(1), F(8)])
def test_category_tables_hold_the_true_probabilities(epsilon: F) -> None:
    for noise in (Staircase.optimal(epsilon, 2**32), Staircase2D.optimal(epsilon, 2**32)):
        b = exp_bounds(-epsilon, 400)[0]
        weights = [F(w) for w in noise.weights(b)]
        table = exact_draws._categories(noise.weights, epsilon)
        shares = [sum(weights[: i + 1]) / sum(weights) for i in range(len(weights) - 1)]
        assert [math.floor(share * 2**64) for share in shares] == table._first.tolist()


def test_bounds_widen_when_more_bits_are_asked_for() -> None:
    """Refinement goes on for as long as it takes: bounds of 500 bits enclose those of 1000."""
    bounds = exact_draws._run(F(1, 3))[0]._bounds
    for (low, high), (lower, higher) in zip(bounds(500), bounds(1000), strict=True):
        assert low <= lower >> 500
        assert higher >> 500 <= high
        assert high - low <= 64


# Samples against laws: a chi-square test at false-alarm rate 1e−6 and the same test on a mutant.

N = 400_000


def p_value(found: Any, probabilities: dict[int, float]) -> float:
    """Pearson's test of integers against a law given on its main part; the rest is one cell."""
    counts = np.array([np.count_nonzero(found == z) for z in probabilities])
    p = np.array(list(probabilities.values()))
    counts, p = np.append(counts, len(found) - counts.sum()), np.append(p, 1 - p.sum())
    assert (p * len(found)).min() > 5
    return float(chi2.sf(((counts - p * len(found)) ** 2 / (p * len(found))).sum(), len(p) - 1))


def two_sided(rate: float) -> dict[int, float]:
    b = math.exp(-rate)
    reach = int(8 / rate)
    return {z: (1 - b) / (1 + b) * b ** abs(z) for z in range(-reach, reach + 1)}


def generator(seed: int) -> ExactDraws:
    return ExactDraws(SeededStream(np.random.default_rng(seed)))


@pytest.mark.parametrize("rate", [F(1, 10), F(1), F(2)])
def test_discrete_laplace_samples(rate: F) -> None:
    assert p_value(discrete_laplace(rate, N, generator(1)), two_sided(float(rate))) > FALSE_ALARM
    mutant = discrete_laplace(rate * F(102, 100), N, generator(1))
    assert p_value(mutant, two_sided(float(rate))) < FALSE_ALARM


def test_slow_geometric_numbers_come_from_digits_and_have_the_law() -> None:
    """Rate 1/5000 needs digits; binned by 1000 it is geometric at rate 1/5, and uniform enough within."""
    found = generator(2).geometric(F(1, 5000), N)
    b = math.exp(-1 / 5)
    assert p_value(found // 1000, {k: (1 - b) * b**k for k in range(40)}) > FALSE_ALARM
    ratio = math.exp(-1 / 5000)
    digit = {d: ratio**d * (1 - ratio) / (1 - ratio**50) for d in range(49)}
    assert p_value(found % 50, digit) > FALSE_ALARM
    assert p_value(found % 49, digit) < FALSE_ALARM


@pytest.mark.parametrize("bound", [1, 2, 3, 64, 1000])
def test_uniform_numbers(bound: int) -> None:
    found = generator(3).below(bound, N)
    assert found.min() == 0
    assert found.max() == bound - 1
    if bound > 2:
        assert p_value(found, dict.fromkeys(range(bound - 1), 1 / bound)) > FALSE_ALARM


def test_hourglass_samples() -> None:
    """Both released integers together, against the law in closed form."""
    noise = Hourglass(Staircase(F(1), 4, 2))
    total, size = noise.draw(N, generator(4))
    b = math.exp(-1)
    constant = (1 - b) / (3 * (1 - b) + 8 * b) * (1 - b) / (1 + b)
    law = {
        1000 * z + k: constant * math.exp(-float(noise.exponent(z, 4 * k) or 0))
        for z in range(-9, 10)
        for k in range(-2, 3)
    }
    assert p_value(1000 * total + size // 4, law) > FALSE_ALARM
    mutant, _ = Hourglass(Staircase(F(1), 4, 1)).draw(N, generator(4))
    assert p_value(1000 * mutant + size // 4, law) < FALSE_ALARM


@pytest.mark.parametrize(
    "noise",
    [
        Hourglass.optimal(F(1), 2**32),
        Staircase2D.optimal(F(1), 2**32),
        Transformed(F(1), 2**32),
        SumAndCount(F(1), 2**32, 5),
    ],
    ids=lambda noise: type(noise).__name__,
)
def test_python_integers_and_int64_draw_alike(noise: Any) -> None:
    small = noise.draw(50, generator(5))
    large = noise.draw(50, generator(5), object)
    for a, b in zip(small, large, strict=True):
        assert b.dtype == object
        assert all(isinstance(z, int) for z in b.tolist())
        assert a.tolist() == b.tolist()
