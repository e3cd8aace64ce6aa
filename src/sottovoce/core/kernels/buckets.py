"""Equal buckets of numbers, of which each leads to the cell that begins in it: look-ups without a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sottovoce.core.arrays import IntArray

_BUCKETS = 1 << 14  # of numbers, at most, if one step is enough: they stay in the second cache beside words
_CLOSEST = 32  # edges that most widths put into one bucket: judged before all others
_TWICE = (0, 4, 3, 2, 1)  # factors 1 + 2^i: within an octave buckets are 1, 16/17, 8/9, 4/5, 2/3 as wide
_LARGEST = 1 << 62  # number
_PLACES = 32  # between the two closest edges, where a bucket may begin


class Buckets(NamedTuple):
    """Equal buckets of numbers: how these are computed, and where those of the window begin."""

    steps: int  # edges in a bucket, at most
    finer: int
    twice: int
    bits: int  # that a bucket leaves out
    window: int

    @property
    def factor(self) -> int:
        return (1 << self.twice) + 1


def numbers(buckets: Buckets, back: IntArray, more: IntArray) -> tuple[IntArray, IntArray]:
    """The numbers of draws of the background, and of places in the window."""
    return (back << buckets.finer) * buckets.factor, (more + buckets.window) * buckets.factor


def buckets_of(back: IntArray, more: IntArray, most: int | None = None) -> Buckets | None:
    """The widest buckets with the fewest edges in each, at most so many.

    Draws within a run of cells are divided, which is exact for doubled numbers.
    """
    entries, steps, total = len(back) + len(more), 0, int(more.sum())
    while most is None or steps < most:
        steps = steps + 1 if steps < 4 else 2 * steps
        limit = max(_BUCKETS << (steps - 1), 4 * entries) // steps
        widest = min((total * min(steps, len(more)) // len(more)).bit_length(), 58 - entries.bit_length())
        narrowest = 0 if steps >= entries else (total // limit).bit_length()
        for octave in range(widest, narrowest - 1, -1):
            for twice in _TWICE if most is not None else _TWICE[:1]:
                widths = Buckets(steps, 0, twice, octave + max(twice, 1), 0)
                buckets = _placed(widths, np.cumsum(back), np.cumsum(more), limit)
                if buckets is not None:
                    return buckets
    return None


def _placed(buckets: Buckets, back: IntArray, more: IntArray, limit: int) -> Buckets | None:
    """Numbers for which no bucket has too many edges: where the window begins, and a finer background."""
    steps, bits = buckets.steps, buckets.bits
    low, high = more[: -1 - steps], more[steps:-1]
    close = np.argsort(high - low)
    close = close[(high - low)[close] * buckets.factor < 1 << bits]
    low, high = low[close], high[close]
    places = np.linspace(low[0] + 1, high[0], _PLACES).astype(np.int64) if len(close) else more[:1]
    finer = 0
    while ((int(back[-1]) << finer) * buckets.factor >> bits) * steps < len(back) - 1 - steps:
        finer += 1

    def windows(first: int) -> IntArray:
        """Where a window after these buckets may begin: a place of it at the beginning of another."""
        begin = (first + 1 + (places * buckets.factor >> bits)) << bits
        window = -(-begin // buckets.factor) - places
        for some in slice(_CLOSEST), slice(None):
            number = [(edges[some] + window[:, None]) * buckets.factor >> bits for edges in (low, high)]
            window = window[(number[0] != number[1]).all(axis=1)]
        return window

    if not windows(1).size:
        return None
    while (first := ((int(back[-1]) << finer) * buckets.factor - 1 >> bits) + 1) <= max(limit, steps):
        if (first + 3 << bits) + int(more[-1]) * buckets.factor > _LARGEST:
            return None
        edges = (back[:-1] << finer) * buckets.factor >> bits
        if (edges[steps:] != edges[:-steps]).all():
            window = windows(first)
            return buckets._replace(finer=finer, window=int(window[0])) if window.size else None
        finer += 1
    return None


def leading(back: IntArray, more: IntArray, second: int, buckets: Buckets) -> IntArray:
    """What leads from buckets to entries with these weights, those of the window from `second` on."""
    steps, bits, parts, bucket = buckets.steps, buckets.bits, [], 0
    for edges, first in zip(numbers(buckets, np.cumsum(back), np.cumsum(more)), (0, second), strict=True):
        begin = np.arange(bucket, (int(edges[-1]) - 1 >> bits) + 1) << bits
        edges = np.append(edges[:-1], [_LARGEST] * steps)
        entry = np.searchsorted(edges, begin, side="right")
        part = np.maximum(begin[:, None] + (1 << bits) - edges[entry[:, None] + np.arange(steps)], 0)
        part[:, 0] += ((first + entry) << bits) - begin
        part[:, 1:] -= begin[:, None]
        parts.append(part)
        bucket += len(begin)
    return np.concatenate(parts).reshape(-1)
