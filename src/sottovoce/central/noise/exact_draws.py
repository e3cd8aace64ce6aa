"""The three draws that all noise is made of, exact and vectorised.

`choose` picks a category whose weight is a polynomial in b = e^−rate, `geometric` counts successes of
probability b before the first failure, `below` is a uniform integer. Mechanisms are written on these
three, without rejection and without branches on what was drawn, so a test can replace the draws by all
their outcomes and add up the exact law of the code that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import IntArray
from sottovoce.central.noise.thresholds import Thresholds
from sottovoce.exact.rational_bounds import exp_bounds
from sottovoce.randomness.word_source import Seeded, WordSource, word_source

Integers = NDArray[Any]  # int64, or Python integers where 64 bits might not do

#: Weights of the categories as a function of b; every ratio of a later one to an earlier one must grow
#: with b, so that bounds of b give bounds of the cumulative probabilities.
Weights = Callable[[Fraction], tuple[Fraction | int, ...]]

_DIGIT = 1 << 10
_SLOW = Fraction(1, 32)  # below this rate a digit is split off first


class Draws(Protocol):
    """What a mechanism's sampler may ask for."""

    def choose(self, weights: Weights, rate: Fraction, count: int) -> IntArray: ...

    def geometric(self, rate: Fraction, count: int, dtype: Any = np.int64) -> Integers: ...

    def below(self, bound: int, count: int) -> IntArray: ...


@dataclass(frozen=True)
class ExactDraws:
    """Draws from a source of random words: the secure stream unless a seeded one is passed."""

    source: WordSource

    @staticmethod
    def using(rng: Seeded = None) -> ExactDraws:
        return ExactDraws(word_source(rng))

    def choose(self, weights: Weights, rate: Fraction, count: int) -> IntArray:
        """Category i with probability weights(e^−rate)[i] / their sum."""
        return _categories(weights, rate).draw(count, self.source)

    def geometric(self, rate: Fraction, count: int, dtype: Any = np.int64) -> Integers:
        """P(G = k) = (1 − b)·b^k, b = e^−rate.

        For a small rate the low digits of G come from tables: G mod m and G div m are independent, the
        first a geometric cut off at m, the second geometric at rate·m.
        """
        total = np.zeros(count, dtype=dtype)
        unit = 1
        while rate < _SLOW:
            total += _digit(rate).draw(count, self.source).astype(dtype) * unit
            unit *= _DIGIT
            rate *= _DIGIT
        table, length = _run(rate)
        active = np.arange(count)
        while active.size:  # a run that reached the end of the table goes on afresh: no memory
            more = table.draw(active.size, self.source)
            total[active] += more.astype(dtype) * unit
            active = active[more == length]
        return total

    def below(self, bound: int, count: int) -> IntArray:
        """Uniform on 0 … bound−1, for bound ≤ 2^63; rejection unless bound is a power of two."""
        bits = (bound - 1).bit_length()
        if not bits:
            return np.zeros(count, dtype=np.int64)
        shift = np.uint64(64 - bits)
        out = (self.source.words(count) >> shift).astype(np.int64)
        again = np.flatnonzero(out >= bound)
        while again.size:
            out[again] = (self.source.words(again.size) >> shift).astype(np.int64)
            again = again[out[again] >= bound]
        return out


@lru_cache(maxsize=256)
def _categories(weights: Weights, rate: Fraction) -> Thresholds:
    def bounds(bits: int) -> list[tuple[int, int]]:
        low, high = exp_bounds(-rate, bits + 16)
        return [
            (int(least * 2**bits), int(-(-most * 2**bits // 1)))
            for least, most in zip(_cumulative(weights(high)), _cumulative(weights(low)), strict=True)
        ]

    return Thresholds(bounds)


def _cumulative(weights: tuple[Fraction | int, ...]) -> list[Fraction]:
    """Cumulative shares, without the last one, which is 1."""
    sums = list(accumulate(map(Fraction, weights)))
    return [part / sums[-1] for part in sums[:-1]]


def _powers(rate: Fraction, length: int, bits: int) -> tuple[list[int], list[int]]:
    """Bounds of e^(−rate·j)·2^bits for j = 0 … length, each product rounded outwards."""
    low, high = exp_bounds(-rate, bits)
    below, above = int(low * 2**bits), int(-(-high * 2**bits // 1))
    lows, highs = [1 << bits], [1 << bits]
    for _ in range(length):
        lows.append(lows[-1] * below >> bits)
        highs.append(-(-highs[-1] * above >> bits))
    return lows, highs


@lru_cache(maxsize=64)
def _digit(rate: Fraction) -> Thresholds:
    """P(D ≤ j) = (1 − b^(j+1)) / (1 − b^m) for j < m: a geometric number modulo m."""

    def bounds(bits: int) -> list[tuple[int, int]]:
        work = bits + 96
        one = 1 << work
        lows, highs = _powers(rate, _DIGIT, work)
        return [
            (
                ((one - highs[j]) << bits) // (one - lows[-1]),
                -(-((one - lows[j]) << bits) // (one - highs[-1])),
            )
            for j in range(1, _DIGIT)
        ]

    return Thresholds(bounds)


@lru_cache(maxsize=64)
def _run(rate: Fraction) -> tuple[Thresholds, int]:
    """P(G ≤ j) = 1 − b^(j+1) for j < length; outcome `length` means: at least that many."""
    length = max(1, int(12 / rate) + 1)

    def bounds(bits: int) -> list[tuple[int, int]]:
        work = bits + 32
        lows, highs = _powers(rate, length, work)
        one = 1 << work
        return [
            ((one - high) >> 32, -((low - one) >> 32)) for low, high in zip(lows[1:], highs[1:], strict=True)
        ]

    return Thresholds(bounds), length
