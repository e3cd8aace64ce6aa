"""Numbering categories, compiled by numba: see `categories`."""

from __future__ import annotations

import numpy as np

from sottovoce.core.kernels.jit import compiled


@compiled
def number_rows(rows, numbers, first):
    """Number rows in the order in which different ones appear, and keep where each does first.

    Returns how many there are, or −1 if they are more than `first` has room for.
    """
    bits, many = np.int64(np.log2(first.size)) + 2, 0
    slots, odd = np.empty(1 << bits, np.int16), np.empty(rows.shape[1], np.uint64)
    slots[:] = -1
    for j in range(odd.size):
        odd[j] = np.uint64(2 * j + 1) * np.uint64(0x9E3779B97F4A7C15)
    for i in range(rows.shape[0]):
        key = np.uint64(0)
        for j in range(rows.shape[1]):
            key += np.uint64(rows[i, j]) * odd[j]
        slot = np.int64(key >> np.uint64(64 - bits))
        number = slots[slot]
        while number >= 0:
            same = True
            for j in range(rows.shape[1]):
                same &= rows[first[number], j] == rows[i, j]
            if same:
                break
            slot = (slot + 1) & (slots.size - 1)
            number = slots[slot]
        if number < 0:
            if many == first.size:
                return -1
            slots[slot] = number = many
            first[many] = i
            many += 1
        numbers[i] = number
    return many


@compiled
def renumber(numbers, by, out):
    """`by[numbers]`: every number has an entry."""
    for i in range(numbers.size):
        out[i] = by[numbers[i]]
