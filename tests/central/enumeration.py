"""The exact law of a sampler: its draws replaced by all their outcomes, with rational probabilities.

A mechanism asks for a fixed list of draws. Given a rational value of e^−unit, the probability of every
outcome of every draw is a rational number, so running the sampler once on all combinations adds up the
exact law of the code that runs. Geometric numbers of `longest` and more are lumped together: the outputs
that use such a number are far out and must be left aside; all others are exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

Law = dict[tuple[int, ...], Fraction]


class Recorded:
    """First pass: which draws are asked for, with their outcomes and probabilities."""

    def __init__(self, base: Fraction, unit: Fraction, longest: int) -> None:
        self._base, self._unit, self._longest = base, unit, longest
        self.laws: list[list[Fraction]] = []

    def _power(self, rate: Fraction) -> Fraction:
        exponent = rate / self._unit
        assert exponent.denominator == 1
        return self._base ** int(exponent)

    def choose(self, weights: Any, rate: Fraction, count: int) -> Any:
        found = [Fraction(w) for w in weights(self._power(rate))]
        self.laws.append([w / sum(found) for w in found])
        return np.zeros(count, dtype=np.int64)

    def geometric(self, rate: Fraction, count: int, dtype: Any = np.int64) -> Any:
        b = self._power(rate)
        self.laws.append([*((1 - b) * b**k for k in range(self._longest)), b**self._longest])
        return np.zeros(count, dtype=dtype)

    def below(self, bound: int, count: int) -> Any:
        self.laws.append([Fraction(1, bound)] * bound)
        return np.zeros(count, dtype=np.int64)


class Replayed:
    """Second pass: every combination of outcomes, one per element of the arrays."""

    def __init__(self, columns: list[Any]) -> None:
        self._columns = iter(columns)

    def choose(self, weights: Any, rate: Fraction, count: int) -> Any:
        return next(self._columns)

    def geometric(self, rate: Fraction, count: int, dtype: Any = np.int64) -> Any:
        return next(self._columns).astype(dtype)

    def below(self, bound: int, count: int) -> Any:
        return next(self._columns)


def law_of(sample: Callable[[int, Any], Any], base: Fraction, unit: Fraction, longest: int) -> Law:
    """P(output), exact for outputs that use no geometric number of `longest` or more."""
    recorded = Recorded(base, unit, longest)
    sample(1, recorded)
    outcomes = list(product(*(range(len(law)) for law in recorded.laws)))
    columns = [np.array(column, dtype=np.int64) for column in zip(*outcomes, strict=True)]
    outputs = np.stack(sample(len(outcomes), Replayed(columns)))
    found: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    weights = [[(w.numerator, w.denominator) for w in law] for law in recorded.laws]
    for combination, output in zip(outcomes, outputs.T.tolist(), strict=True):
        numerator = denominator = 1
        for law, outcome in zip(weights, combination, strict=True):
            numerator *= law[outcome][0]
            denominator *= law[outcome][1]
        found[tuple(output)] += Fraction(numerator, denominator)
    return dict(found)


def largest_ratio(law: Law, shifts: list[tuple[int, ...]], inside: Callable[[tuple[int, ...]], bool]) -> Any:
    """The largest P(z)/P(z + shift) or its inverse, over outputs z with z and z + shift inside.

    Infinite when one of the two is possible and the other is not.
    """
    worst: Any = Fraction(0)
    for z in filter(inside, law):
        for shift in shifts:
            for sign in (1, -1):
                moved = tuple(a + sign * s for a, s in zip(z, shift, strict=True))
                if inside(moved):
                    worst = max(worst, law[z] / law[moved]) if moved in law else float("inf")
    return worst
