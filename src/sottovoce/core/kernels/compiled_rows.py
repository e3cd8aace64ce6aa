"""Sampling of explicit rows, compiled by numba: see `rows`."""

from __future__ import annotations

import numpy as np
from numba import njit

from sottovoce.core.kernels.jit import compiled

_CHUNK = 256  # values that take their steps together: none waits for the look-up of another


@njit(inline="always")
def _steps(table, width, place, numbers):
    """From the first entry of each row to the one after all that are not above a number."""
    step = width // 2
    while step:
        one = np.uint64(step)
        for i in range(numbers.size):
            place[i] += one * np.uint64(table[place[i] + one - np.uint64(1)] <= numbers[i])
        step //= 2


@compiled
def sample(words, t, out, shift, borders, sums):
    """The row of each value, and the cell of its draw there."""
    flat, width = sums.reshape(-1), np.uint64(sums.shape[1])
    place, draw = np.empty(_CHUNK, np.uint64), np.empty(_CHUNK, np.int64)
    for chunk in range(0, t.size, _CHUNK):
        part = slice(chunk, chunk + _CHUNK)
        values, drawn, cells = t[part], words[part], out[part]
        place[:] = np.uint64(0)
        _steps(borders, borders.size, place, values)
        for i in range(values.size):
            place[i] *= width
            draw[i] = np.int64(drawn[i] >> np.uint64(shift))
        _steps(flat, sums.shape[1], place, draw[: values.size])
        for i in range(values.size):
            cells[i] = place[i] & (width - np.uint64(1))
    draw[:] = 0
    place[:] = np.uint64(0)
