"""Look-up tables of a window mechanism, in the one form that every sampler reads.

All numbers are integers below 2^53 held as doubles, so numpy, numba and JavaScript compute the same.
A *guide* maps the leading bits of a number to the last entry that can precede it; a fixed number of
steps does the rest, the same for every number, so that the time it takes tells nothing about it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_GUIDE_BITS = 14
UNIT_FACTOR = 2.0**_GUIDE_BITS  # buckets of a table over [0, 1]

#: The bits of 2^52: an integer below 2^52 put into its low bits makes the double 2^52 + integer.
TWO_52_BITS = np.uint64(0x4330000000000000)
TWO_52 = 2.0**52


class Table(NamedTuple):
    """A sorted list of left edges with a guide: entry i covers [left[i], left[i+1])."""

    left: FloatArray  # one more than there are entries; the last is a sentinel
    guide: NDArray[np.uint32]
    per_bucket: float  # multiply by this power of two and truncate to find the bucket
    steps: int  # the most edges that lie in one bucket

    @classmethod
    def of(cls, left: FloatArray, end: float, per_bucket: float) -> Table:
        buckets = int(end * per_bucket) + 1
        first = np.ceil(left[:-1] * per_bucket).astype(np.int64)  # the first bucket that begins in an entry
        guide = np.maximum(np.cumsum(np.bincount(first, minlength=buckets)[:buckets]) - 1, 0)
        steps = int(np.diff(guide, append=len(left) - 2).max())
        return cls(left, guide.astype(np.uint32), per_bucket, steps)


class Runs(NamedTuple):
    """Runs of cells, those of the background before the extra ones, with one guide for both."""

    guide: NDArray[Any]
    back_factor: float
    more_factor: float
    second: np.int32  # where the buckets of the extra runs begin
    steps: int
    end: FloatArray
    begin: FloatArray
    weight: FloatArray
    first: FloatArray
    atoms: np.int32  # how many cells there are if every run is one cell, else 0


class _Numbers(NamedTuple):
    shift: int  # 64 − bits: the draw is the top bits of a word
    background: float  # A: draws below it pick a background cell
    around: float  # H = Σ extra
    top: float  # the largest allowed start
    wraps: bool
    knots: Table  # start table over t
    start: FloatArray
    slope: FloatArray
    back: Table  # runs over the background draw
    back_weight: FloatArray
    more: Table  # runs over the extra coordinate
    more_weight: FloatArray
    first: FloatArray  # first cell of each run
    cells: int
    atoms: bool  # every run is a single cell


class Tables(_Numbers):
    """Everything a sampler needs besides the domain."""

    @property
    def steps(self) -> int:
        """The most steps that a look-up takes after its guide."""
        return max(self.knots.steps, self.back.steps, self.more.steps)

    @cached_property
    def runs(self) -> Runs:
        """Both tables of runs as one: a draw takes the same steps in the background and in the window.

        A cell and how it was drawn tell more than the cell.
        """
        back, more = self.back, self.more
        return Runs(
            narrow(np.concatenate((back.guide, more.guide + np.uint32(len(self.first))))),
            back.per_bucket, more.per_bucket, np.int32(len(back.guide)), max(back.steps, more.steps),
            np.concatenate((back.left[1:], more.left[1:])),
            np.concatenate((back.left[:-1], more.left[:-1])),
            np.concatenate((self.back_weight, self.more_weight)),
            np.concatenate((self.first, self.first)),
            np.int32(self.cells if self.atoms else 0),
        )  # fmt: skip

    @cached_property
    def uniform(self) -> bool:
        """One run of equal cells, one slope.

        On a circle also: no start to clamp, and no sum above 2^53 even before it is brought back around.
        """
        return len(self.first) == 1 and len(self.start) == 1 and (not self.wraps or self._plain_circle)

    @property
    def _plain_circle(self) -> bool:
        room = 2 * self.around + 2.0 ** (64 - self.shift) <= 2.0**53
        ends = self.start[0] + np.floor((np.array([0.0, 1.0]) - self.knots.left[0]) * self.slope[0])
        return bool(room and ends[0] >= 0.0 and ends[1] <= self.top)


def narrow(guide: NDArray[np.uint32]) -> NDArray[Any]:
    """Half the size where it fits: a guide should stay in the first cache."""
    return guide.astype(np.uint16) if guide.max() < 1 << 16 else guide


def bucket_factor(total: int) -> float:
    """The power of two that maps [0, total] to at most 2^14 buckets."""
    return 2.0 ** min(0, _GUIDE_BITS - total.bit_length())
