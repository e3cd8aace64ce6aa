"""What the sampling loops look up, in the one form that numpy's and numba's read.

All numbers are integers below 2^53 held as doubles, so numpy, numba and JavaScript compute the same.
A *guide* maps a number to the last entry that can precede it; a fixed number of steps does the rest, the
same for every number, so that the time it takes tells nothing about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_BUCKETS, _EACH = 1 << 15, 64  # of a guide, and for each edge
_OCTAVES = 16  # below the end, where buckets begin to be as wide as numbers

#: The bits of 2^52: an integer below 2^52 put into its low bits makes the double 2^52 + integer.
TWO_52_BITS = np.uint64(0x4330000000000000)
TWO_52 = 2.0**52


class Table(NamedTuple):
    """A sorted list of left edges with a guide: entry i covers [left[i], left[i+1]).

    The bucket of a number are the leading bits of the double number + origin: buckets are finer where numbers
    are small. There are many for each edge, so that few edges share one.
    """

    left: FloatArray  # one more than there are entries; the last is a sentinel
    guide: NDArray[np.uint32]
    origin: float
    shift: np.uint64
    base: np.uint64
    steps: int  # the most edges that lie in one bucket

    @classmethod
    def of(cls, left: FloatArray, end: float) -> Table:
        """The table of numbers from 0 to `end`."""
        edges, top = left[1:-1], 2.0 ** int(np.ceil(np.log2(end)))
        if not edges.size:
            return cls(left, np.zeros(1, np.uint32), 0.0, np.uint64(63), np.uint64(0), 0)
        origin = top * 2.0**-_OCTAVES
        (low, high), places = _bits(np.array([0.0, end]), origin), _bits(edges, origin)
        most = min(_EACH * edges.size, _MOST_BUCKETS)
        shift = next(np.uint64(k) for k in range(64) if (high >> np.uint64(k)) - (low >> np.uint64(k)) < most)
        base = low >> shift
        places = (places >> shift) - base
        inside = np.bincount(places.astype(np.int64), minlength=int((high >> shift) - base) + 1)
        guide = np.cumsum(inside) - inside
        return cls(left, guide.astype(np.uint32), origin, shift, base, int(inside.max()))


def _bits(number: Any, origin: float) -> NDArray[np.uint64]:
    return np.asarray(number + np.float64(origin), dtype=np.float64).view(np.uint64)


class Units(NamedTuple):
    """From values to the unit coordinate: t = (x − low)·per_width, for x up to high."""

    low: float
    high: float
    per_width: float

    @classmethod
    def of(cls, domain: Domain) -> Self:
        """Those of a domain whose values are multiplied by its factor."""
        return cls(domain.scaled_low, domain.ends[1] * domain.factor, domain.per_width)


class Line(NamedTuple):
    """One run of equal cells and one rise: nothing has to be looked up."""

    shift: np.uint64  # 64 − bits: the draw is the top bits of a word
    background: float  # A: draws below it pick a background cell
    top: float  # the largest allowed start
    knot: float
    start: float
    rise: float
    back_weight: float  # how many draws a cell has in the background, and more in the window
    more_weight: float
    cells: float


class CoinBits(NamedTuple):
    """The second side of a coin in the bits of a word: (word >> shift) & mask ≥ first."""

    shift: np.uint64
    mask: np.uint64
    first: np.uint64
    offset: np.int32  # of its cells


class Tables(NamedTuple):
    """A window mechanism: its start table over t, and its runs of cells over draws.

    All runs are in one table: those of the background lie below A, the extra ones from A on. A draw takes the
    same steps in the background and in the window: a cell and how it was drawn tell more than the cell. A + H
    is at most 2^53, so that the sums are exact.
    """

    shift: np.uint64
    background: float
    around: float  # H = Σ extra
    top: float
    wraps: bool
    cells: int
    knot: FloatArray
    start: FloatArray
    rise: FloatArray
    knots: Table
    back: FloatArray  # edges of the runs over the background draw
    more: FloatArray  # edges of the runs over the extra coordinate
    runs: Table
    weight: FloatArray  # how many draws a cell of each entry of `runs` has
    first_cell: NDArray[np.int32]  # of each entry of `runs`
    single: bool  # every run is one cell
    line: Line | None  # all of it, if that is one run of equal cells and one rise

    @classmethod
    def of(
        cls, *, bits: int, top: int, wraps: bool, starts: tuple[FloatArray, FloatArray, FloatArray],
        count: IntArray, background: IntArray, extra: IntArray,
    ) -> Self:  # fmt: skip
        """The tables of runs of cells, and of a start table: knots, starts and rises."""
        knot, start, rise = starts
        back, more = (
            np.append(0, np.cumsum(count * weights)).astype(np.float64) for weights in (background, extra)
        )
        mass, around = float(back[-1]), float(more[-1])
        weight = np.concatenate((background, np.maximum(extra, 1))).astype(np.float64)
        first = np.cumsum(count) - count
        tables = cls(
            np.uint64(64 - bits), mass, around, float(top), wraps, int(count.sum()),
            knot, start, rise, Table.of(np.append(knot, np.inf), 1.0),
            back, more, Table.of(np.concatenate((back[:-1], mass + more)), mass + around),
            weight, np.concatenate((first, first)).astype(np.int32), bool((count == 1).all()), None,
        )  # fmt: skip
        return tables._replace(line=tables._line())

    def _line(self) -> Line | None:
        """On a circle: if no start is clamped, and no sum above 2^53 before it is brought back around."""
        if len(self.weight) > 2 or len(self.start) > 1:
            return None
        ends = self.start[0] + np.floor((np.array([0.0, 1.0]) - self.knot[0]) * self.rise[0])
        room = 2 * self.around + 2.0 ** (64 - int(self.shift)) <= 2.0**53
        if self.wraps and not (room and ends[0] >= 0.0 and ends[1] <= self.top):
            return None
        return Line(
            self.shift, self.background, self.top, self.knot[0], self.start[0], self.rise[0],
            self.weight[0], self.weight[1], float(self.cells),
        )  # fmt: skip


class Sums(NamedTuple):
    """Rows of increasing numbers, each with a guide of equal buckets: how many are not above a given one?

    Of the numbers of a row, fewer than 2^steps lie in one bucket. Rows end in numbers above all others.
    """

    entries: FloatArray  # of all rows, one after the other
    width: int
    guide: NDArray[np.uint32]  # of all rows: the first entry that may lie in a bucket
    buckets: int
    scale: float  # from a number to its bucket
    steps: int

    @classmethod
    def of(cls, entries: NDArray[Any], end: float) -> Self:
        """The table of rows of numbers from 0 to `end`, which is a power of two."""
        rows, inside = entries.shape
        buckets = (2 << inside.bit_length()) + 1  # twice as many as entries, and one for `end`
        scale = (buckets - 1) / end
        bucket = (entries * scale).astype(np.int64) + buckets * np.arange(rows)[:, None]
        counts = np.bincount(bucket.reshape(-1), minlength=buckets * rows).reshape(rows, buckets)
        bits = int(counts.max(initial=0)).bit_length()
        padded = np.pad(entries.astype(np.float64), ((0, 0), (0, 1 << bits)), constant_values=np.inf)
        guide = np.cumsum(counts, axis=1) - counts + padded.shape[1] * np.arange(rows)[:, None]
        return cls(
            padded.reshape(-1), padded.shape[1], guide.astype(np.uint32).reshape(-1), buckets, scale, bits,
        )  # fmt: skip


class RowTables(NamedTuple):
    """Explicit rows."""

    shift: np.uint64
    borders: Sums  # where the nearest input changes
    sums: Sums  # of every row, the draws that give a cell or one before it; a row for each side of a border

    @classmethod
    def of(cls, rows: IntArray, borders: FloatArray) -> Self:
        """The tables of rows; after the last border on a circle the first one comes again."""
        total = int(rows[0].sum())
        sums = np.cumsum(rows[np.arange(len(borders) + 1) % len(rows), :-1], axis=1)
        return cls(np.uint64(65 - total.bit_length()), Sums.of(borders[None], 1.0), Sums.of(sums, total))


class SetTables(NamedTuple):
    """Translates of base sets on the group Z_rows × Z_columns."""

    shift: np.uint64
    first: float  # draws below this give a cell of the first kind, of one more than the background
    rest: float  # draws below this give a cell of the background
    one_more: float  # how many cells are of the first kind
    background: float  # the draws of every other cell
    extra: float  # the draws that a cell has more for each element it holds
    rows: int
    columns: int
    row: FloatArray  # the element of each entry of a base set
    column: FloatArray
    base: FloatArray  # the first cell of each entry's set
