"""Tossing a coin and sorting by its sides, compiled by numba: see `coin`."""

from __future__ import annotations

import numpy as np
from numba import njit

from sottovoce.core.kernels.jit import compiled


@compiled
def toss(words, shift, ends, sides):
    """The side that each word names; returns where each side begins once they are sorted."""
    sides[:] = 0
    begin = np.zeros(ends.size + 2, np.int64)
    begin[-1] = words.size
    for k in range(ends.size):
        end, above = ends[k], np.int64(0)
        for i in range(words.size):
            over = (words[i] >> shift) >= end
            sides[i] += np.uint8(over)
            above += np.int64(over)
        begin[k + 1] = words.size - above
    return begin


@njit(inline="always")
def _place(i, side, ones, second):
    """Where value i of two sides goes, after so many of the second: in arithmetic, a coin is no branch."""
    return i - ones + side * (second + 2 * ones - i)


@compiled
def gather(sides, begin, values, out):
    """out = values, those of the first side first, otherwise in their order."""
    if begin.size == 3:  # two sides: counting one of them is enough, and stays in a register
        second, ones = begin[1], np.int64(0)
        for i in range(sides.size):
            side = np.int64(sides[i])
            out[np.uint64(_place(i, side, ones, second))] = values[i]
            ones += side
        return
    at = begin.copy()
    for i in range(sides.size):
        side = sides[i]
        out[at[side]] = values[i]
        at[side] += 1


@compiled
def scatter(sides, begin, values, offsets, out):
    """The way back: every value to its place, plus the offset of its side."""
    if begin.size == 3:
        second, more, ones = begin[1], np.int64(offsets[1]), np.int64(0)
        for i in range(sides.size):
            side = np.int64(sides[i])
            out[i] = values[np.uint64(_place(i, side, ones, second))] + side * more
            ones += side
        return
    at = begin.copy()
    for i in range(sides.size):
        side = sides[i]
        out[i] = values[at[side]] + offsets[side]
        at[side] += 1
