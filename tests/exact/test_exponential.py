"""Counting a claim in integers decides as fractions do."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from sottovoce.exact.exponential import counts_keep, written
from sottovoce.exact.rational_bounds import exp_lower, rational_epsilon

EPSILONS = [
    1e-6,
    2.5e-06,
    0.1,
    0.3,
    1.0,
    16.0,
    *np.exp(np.random.default_rng(5).uniform(-13, 2.7, 500)).tolist(),
]


def test_what_is_written_is_the_smaller_of_double_and_decimal() -> None:
    for epsilon in EPSILONS:
        smaller = min(Fraction(epsilon), Fraction(Decimal(repr(epsilon))))
        assert Fraction(*written(epsilon)) == rational_epsilon(epsilon) == smaller
    assert any(Fraction(*written(epsilon)) != Fraction(epsilon) for epsilon in EPSILONS)


def test_a_claim_is_kept_up_to_the_last_count() -> None:
    for epsilon in EPSILONS:
        least = 1 << 52
        most = math.floor(least * exp_lower(epsilon))
        assert counts_keep(most, least, epsilon)
        assert not counts_keep(most + 1, least, epsilon)
