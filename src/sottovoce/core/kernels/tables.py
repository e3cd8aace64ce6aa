"""Look-up tables of a window mechanism, in the one form that every sampler reads.

All numbers are integers below 2^53 held as doubles, so numpy, numba and JavaScript compute the same.
A *guide* maps the leading bits of a number to the last entry that can precede it; a fixed number of
steps does the rest, the same for every number, so that the time it takes tells nothing about it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sottovoce.core.arrays import FloatArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_BUCKETS = 1 << 15
_FINER = (0, 4, 8, 12, 16, 20, 24)  # octaves below the end at which buckets begin to be as wide as numbers

#: The bits of 2^52: an integer below 2^52 put into its low bits makes the double 2^52 + integer.
TWO_52_BITS = np.uint64(0x4330000000000000)
TWO_52 = 2.0**52


class Table(NamedTuple):
    """A sorted list of left edges with a guide: entry i covers [left[i], left[i+1]).

    The bucket of a number are the leading bits of the double number + origin. An origin as large as the
    numbers makes buckets even; a small one makes them finer where numbers are small. The guide is the
    smallest one that leaves the least steps: small ones stay in the first cache.
    """

    left: FloatArray  # one more than there are entries; the last is a sentinel
    guide: NDArray[Any]
    origin: float
    shift: np.uint64
    base: np.uint64
    steps: int  # the most edges that lie in one bucket
    end: float

    @classmethod
    def of(cls, left: FloatArray, end: float) -> Table:
        """The table of numbers from 0 to `end`."""
        edges, top = left[1:-1], 2.0 ** int(np.ceil(np.log2(end)))
        best: tuple[int, int, float, int] | None = None
        for octaves in _FINER:
            origin = top * 2.0**-octaves
            (low, high), places = _bits(np.array([0.0, end]), origin), _bits(edges, origin)
            finest = next(shift for shift in range(64) if _buckets(low, high, shift) <= _MOST_BUCKETS)
            steps, coarsest = _most_equal(places >> np.uint64(finest)), 52
            shift = finest
            while shift < coarsest:  # the coarsest that leaves as few steps: coarser buckets hold more edges
                middle = (shift + coarsest + 1) // 2
                if _most_equal(places >> np.uint64(middle)) == steps:
                    shift = middle
                else:
                    coarsest = middle - 1
            found = steps, _buckets(low, high, shift), origin, shift
            best = found if best is None else min(best, found)
            if best[0] <= 1 and best[1] <= _MOST_BUCKETS >> 4:
                break
        assert best is not None
        steps, buckets, origin, shift = best
        base = np.uint64(int(_bits(0.0, origin)) >> shift)
        places = (_bits(edges, origin) >> np.uint64(shift)) - base
        inside = np.bincount(places.astype(np.int64), minlength=buckets)
        guide = np.cumsum(inside) - inside
        return cls(
            left, guide.astype(np.min_scalar_type(len(left))), origin, np.uint64(shift), base, steps, end
        )


def _bits(number: Any, origin: float) -> NDArray[np.uint64]:
    return np.asarray(number + np.float64(origin), dtype=np.float64).view(np.uint64)


def _buckets(low: Any, high: Any, shift: int) -> int:
    return (int(high) >> shift) - (int(low) >> shift) + 1


def _most_equal(places: NDArray[np.uint64]) -> int:
    """How many of sorted numbers are equal, at most."""
    ends = np.flatnonzero(np.append(places[1:] != places[:-1], True)) if places.size else np.array([-1])
    return int(np.diff(ends, prepend=-1).max())


class _Numbers(NamedTuple):
    shift: int  # 64 − bits: the draw is the top bits of a word
    background: float  # A: draws below it pick a background cell
    around: float  # H = Σ extra
    top: float  # the largest allowed start
    wraps: bool
    knot: FloatArray  # left edges of the start table over t
    start: FloatArray
    slope: FloatArray
    back: FloatArray  # edges of the runs over the background draw
    back_weight: FloatArray
    more: FloatArray  # edges of the runs over the extra coordinate
    more_weight: FloatArray
    first: FloatArray  # first cell of each run
    cells: int
    atoms: bool  # every run is a single cell


class Tables(_Numbers):
    """Everything a sampler needs besides the domain."""

    @cached_property
    def knots(self) -> Table:
        """The start table over t."""
        return Table.of(np.append(self.knot, np.inf), 1.0)

    @cached_property
    def runs(self) -> Table:
        """All runs in one table: those of the background lie below A, the extra ones from A on.

        A draw takes the same steps in the background and in the window: a cell and how it was drawn tell more
        than the cell. A + H is at most 2^53, so that the sums are exact.
        """
        return Table.of(
            np.concatenate((self.back[:-1], self.back[-1] + self.more)), self.back[-1] + self.around
        )

    @cached_property
    def weight(self) -> FloatArray:
        """How many draws a cell of each entry of `runs` has."""
        return np.concatenate((self.back_weight, self.more_weight))

    @cached_property
    def first_cell(self) -> FloatArray:
        """The first cell of each entry of `runs`."""
        return np.concatenate((self.first, self.first))

    @cached_property
    def uniform(self) -> bool:
        """One run of equal cells, one slope.

        On a circle also: no start to clamp, and no sum above 2^53 even before it is brought back around.
        """
        return len(self.first) == 1 and len(self.start) == 1 and (not self.wraps or self._plain_circle)

    @property
    def _plain_circle(self) -> bool:
        room = 2 * self.around + 2.0 ** (64 - self.shift) <= 2.0**53
        ends = self.start[0] + np.floor((np.array([0.0, 1.0]) - self.knot[0]) * self.slope[0])
        return bool(room and ends[0] >= 0.0 and ends[1] <= self.top)
