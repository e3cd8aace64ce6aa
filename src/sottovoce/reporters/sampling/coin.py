"""A public coin: which side each word names, and values sorted by it and back.

A mixture samples each of its parts on its own stretch of memory, so values are brought together by the side
of their coin first and cells are brought back afterwards. Both keep the order within a side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import IntArray

MAX_COIN_BITS = 10  # with 52 bits of a part, counts of a mixture still fit 63 bits


class Coin:
    """A coin whose sides have integer weights that add up to 2^k: the top k bits of a word toss it."""

    def __init__(self, weights: Sequence[int]) -> None:
        self._bits = sum(weights).bit_length() - 1
        self._ends = np.cumsum(weights)[:-1].astype(np.uint64)

    def sides(self, words: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """The sides that these words name."""
        draw = words >> np.uint64(64 - max(self._bits, 1))  # with one side there are no ends to compare with
        sides = np.zeros(words.size, dtype=np.uint8)
        for end in self._ends:
            sides += draw >= end
        return sides

    def toss(self, words: NDArray[np.uint64]) -> Toss:
        """What sorts values by the sides that these words name."""
        sides = self.sides(words)
        # Several times faster than a stable argsort.
        places = [np.flatnonzero(sides == side) for side in range(len(self._ends) + 1)]
        return Toss(np.cumsum([0, *(len(place) for place in places)]), np.concatenate(places))


class Toss:
    """Values by the sides of a coin: side i is what lies from begin[i] to begin[i+1]."""

    def __init__(self, begin: IntArray, order: IntArray) -> None:
        self.begin, self._order = begin, order

    def sort(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values by side."""
        return np.asarray(values[self._order])

    def put_back(self, out: NDArray[Any], cells: NDArray[Any], offsets: IntArray) -> None:
        """out = the sorted cells where they came from, each plus the offset of its side."""
        for first, end, offset in zip(self.begin, self.begin[1:], offsets, strict=False):
            cells[first:end] += offset.astype(cells.dtype)
        out[self._order] = cells
