"""A public coin: which side each word names, and values sorted by it and back.

A mixture samples each of its parts on its own stretch of memory, so values are brought together by the side
of their coin first and cells are brought back afterwards. Both keep the order within a side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import IntArray
from sottovoce.core.kernels.dispatch import worth_compiling

MAX_COIN_BITS = 10  # with 52 bits of a part, counts of a mixture still fit 63 bits


class Coin:
    """A coin whose sides have integer weights that add up to 2^k: the top k bits of a word toss it."""

    def __init__(self, weights: Sequence[int]) -> None:
        self._bits = sum(weights).bit_length() - 1
        self._ends = np.cumsum(weights)[:-1].astype(np.uint64)

    def toss(self, words: NDArray[np.uint64], *, compiled: bool | None = None) -> Toss:
        """The sides that these words name. `compiled` chooses the kernel."""
        shift = np.uint64(64 - max(self._bits, 1))  # with one side there are no ends to compare with
        if worth_compiling(words.size) if compiled is None else compiled:
            from sottovoce.core.kernels import compiled_coin

            sides = np.empty(words.size, dtype=np.uint8)
            return Toss(sides, compiled_coin.toss(words, shift, self._ends, sides))
        draw = words >> shift
        sides = np.zeros(words.size, dtype=np.uint8)
        for end in self._ends:
            sides += draw >= end
        # Several times faster than a stable argsort.
        places = [np.flatnonzero(sides == side) for side in range(len(self._ends) + 1)]
        begin = np.cumsum([0, *(len(place) for place in places)])
        return Toss(sides, begin, np.concatenate(places))


class Toss:
    """Sides of a coin, one per value; sorted, side i is what lies from begin[i] to begin[i+1].

    `order` sorts; without it the compiled kernels do.
    """

    def __init__(self, sides: NDArray[np.uint8], begin: IntArray, order: IntArray | None = None) -> None:
        self.sides, self.begin, self._order = sides, begin, order

    def sort(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values by side."""
        if self._order is not None:
            return np.asarray(values[self._order])
        from sottovoce.core.kernels import compiled_coin

        out = np.empty_like(values)
        compiled_coin.gather(self.sides, self.begin, values, out)
        return out

    def put_back(self, out: NDArray[Any], cells: NDArray[Any], offsets: IntArray) -> None:
        """out = the sorted cells where they came from, each plus the offset of its side."""
        if self._order is not None:
            for first, end, offset in zip(self.begin, self.begin[1:], offsets, strict=False):
                cells[first:end] += offset.astype(cells.dtype)
            out[self._order] = cells
            return
        from sottovoce.core.kernels import compiled_coin

        compiled_coin.scatter(self.sides, self.begin, cells, offsets.astype(cells.dtype), out)
