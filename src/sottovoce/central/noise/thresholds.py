"""Exact choices: a uniform real number U, revealed 64 bits at a time, against real thresholds.

The outcome is the number of thresholds T_i ≤ U. One random word settles it unless the word is the
first 64 bits of some T_i; then more words are drawn, and the thresholds are computed further, until it
is settled. A threshold may be any real number that rational arithmetic can bound (here: rational
functions of e^−ε), so the law is the stated one and not a rounding of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sottovoce.arrays import IntArray
from sottovoce.randomness.word_source import WordSource

#: Lower and upper bounds of each threshold, in units of 2^−bits, ascending; bits is the argument.
Bounds = Callable[[int], list[tuple[int, int]]]


class Thresholds:
    """Sorted thresholds in [0, 1], given by rational bounds of any precision.

    >>> from sottovoce.randomness.word_source import word_source
    >>> third = Thresholds(lambda bits: [((1 << bits) // 3, -(-(1 << bits) // 3))])
    >>> third.draw(8, word_source(1)).tolist()
    [1, 1, 1, 0, 0, 1, 1, 1]
    """

    def __init__(self, bounds: Bounds, *, width: int = 64) -> None:
        self._bounds = bounds
        self._width = width  # bits per word; less than 64 only where a test enumerates all words
        self._first = np.array(self._prefixes(width), dtype=np.uint64)

    def _prefixes(self, width: int) -> list[int]:
        """The first `width` bits of each threshold (all ones for the threshold 1)."""
        extra = 64
        while True:
            found = [(low >> extra, high >> extra) for low, high in self._bounds(width + extra)]
            if all(low == high for low, high in found):
                return [min(low, (1 << width) - 1) for low, _ in found]
            extra *= 2

    def draw(self, count: int, source: WordSource) -> IntArray:
        """How many thresholds lie at or below each of `count` uniform numbers."""
        words = source.words(count) >> np.uint64(64 - self._width)
        outcome = np.searchsorted(self._first, words, side="right")
        tied = np.flatnonzero((outcome > 0) & (self._first[outcome - 1] == words))
        for index in tied.tolist():
            outcome[index] = self._settle(int(words[index]), source)
        return outcome.astype(np.int64, copy=False)

    def _settle(self, value: int, source: WordSource) -> int:
        """The outcome for a number of which the first bits are `value`."""
        known = self._width
        while True:
            bounds = self._bounds(known + 64)
            passed = sum(value << 64 >= high for _, high in bounds)
            missed = sum((value + 1) << 64 <= low for low, _ in bounds)
            if passed + missed == len(bounds):
                return passed
            word = int(source.words(1)[0]) >> (64 - self._width)
            value, known = value << self._width | word, known + self._width
