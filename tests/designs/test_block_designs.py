"""Families of blocks against plain counting and the proven limit."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.designs.block_designs import block_size, family
from sottovoce.designs.choice import least_total_variance


@pytest.mark.parametrize(("options", "size"), [(2, 1), (4, 2), (5, 2), (7, 3), (10, 3), (20, 5), (24, 6)])
def test_balanced_by_counting(options: int, size: int) -> None:
    blocks, multipliers, ratio = family(options, size)
    differences = Counter(
        (x - y) % options
        for block in blocks
        for h in multipliers
        for x, y in permutations([e * h % options for e in block], 2)
    )
    assert ratio == pytest.approx(1.0, abs=1e-9)
    assert len(set(differences.values())) <= 1
    assert not differences or len(differences) == options - 1


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0, 8.0])
@pytest.mark.parametrize(
    ("options", "most"), [(3, 1.001), (10, 1.001), (30, 1.001), (200, 1.01), (1000, 1.01)]
)
def test_total_error_beside_the_limit(options: int, epsilon: float, most: float) -> None:
    m = sv.choice(epsilon, range(options))
    assert total_variance(m) <= most * least_total_variance(epsilon, options)
    assert m.cells <= 1 << 16


def total_variance(m: sv.Translates) -> float:
    """n times the total variance at the even truth, from the integers."""
    power = (np.abs(np.fft.fft(m.indicator)) ** 2).sum(axis=0)[1:]
    slope = m.extra / m.total
    chance = m.background / m.total + slope * m.elements / m.cells  # of any cell, at the even truth
    # Parseval: the squares of the weights of an option add up to the mean of 1/(slope²·power).
    return float(chance * np.sum(1 / power) / slope**2)


def test_a_block_of_another_size_is_worse() -> None:
    best = block_size(20, 1.0)
    assert least_total_variance(1.0, 20) == pytest.approx(66.634, abs=1e-3)
    for size in (best - 2, best + 2):
        blocks, multipliers, _ = family(20, size)
        worse = sv.Translates.of(1.0, sv.Options(tuple(range(20))), blocks, multipliers)
        assert total_variance(worse) > 1.02 * least_total_variance(1.0, 20)
