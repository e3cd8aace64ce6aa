"""What every estimator works with: counts on a few groups of cells, their exact law, and likelihood.

A mechanism has 2^16 cells so that its noise is exact, not because an estimate needs them. `Coarse` sums them
to at most `most` groups and gives P(group | x) as an operator; nothing about the law is approximated, only
the position of a report within its group is forgotten.

`em` is expectation maximisation on a grid of inputs,

    f ← f ∘ P(c / Pᵀf) / n,

which climbs to the maximum of the likelihood. That is spiky: as a pilot it is stopped early.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.compact import Compact
from sottovoce.core.kernels.operator import Operator
from sottovoce.core.number import Number
from sottovoce.estimates.tally import Tally

DIAGONAL = 1 + 1e-12  # times a diagonal: sums of products may be singular
_ROUNDS = 10  # iterations between two looks at the likelihood


@dataclass(frozen=True, eq=False)
class Table:
    """P(group | input) as a matrix: for a few groups the quickest there is."""

    matrix: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(inputs, groups)."""
        return len(self.matrix), self.matrix.shape[1]

    def mix(self, w: FloatArray) -> FloatArray:
        """Pᵀ w: the probability of every group; w may have columns."""
        return np.asarray(self.matrix.T @ w)

    def expect(self, f: FloatArray) -> FloatArray:
        """P f: an expectation for every input."""
        return np.asarray(self.matrix @ f)


class Pairs(NamedTuple):
    """What Mᵀ diag(d) M is summed from where the rows of M are a background and a few windows.

    With v_j = Σ_{i ≥ j} e_i w_i and e the range of each column, M w = N v: N holds how a row steps from one
    column to the next. The upper triangle of NᵀDN is d[row]·value, added at `place`. Row −1−j is that of w_j.
    """

    unit: FloatArray  # 1/e
    row: IntArray
    place: IntArray
    value: FloatArray

    @classmethod
    def of_windows(cls, rows: FloatArray, m: int) -> Pairs | None:
        """The products of any two entries in a row, for the first m rows and w itself; None if many."""
        k, e = rows.shape[1], np.ptp(rows, axis=0)
        e[e <= 1e-6 * e.max()] = e.max() or 1.0  # any e will do: this one keeps v in proportion
        steps = np.diff(np.concatenate((rows, np.eye(k))) / e, axis=1, prepend=0.0)
        few = np.abs(steps) > 1e-12
        if 7 * np.count_nonzero(few[: len(rows), 1:]) > rows.size:
            return None
        few[m : len(rows)] = False
        flat = np.flatnonzero(few)
        (row, column), value = np.divmod(flat, k), steps.reshape(-1)[flat]
        many = np.searchsorted(row, row, side="right") - np.arange(len(row))  # itself and those after it
        one = np.repeat(np.arange(len(row)), many)
        other = one + np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many)
        product = value[one] * value[other] * np.where(one == other, DIAGONAL, 1.0)
        row = np.where(row < len(rows), row, len(rows) - 1 - row)
        return cls(1 / e, row[one], column[one] * k + column[other], product)

    def joined(self, rows: FloatArray, number: int) -> Pairs:
        """With a few rows more, numbered from there on; their products are in both triangles."""
        k, parts = len(self.unit), [self[1:]]
        for i, row in enumerate(rows * self.unit, number):
            steps = np.append(row[0], row[1:] - row[:-1])
            column = np.flatnonzero(np.abs(steps) > 1e-12)
            place, value = np.add.outer(column * k, column), np.multiply.outer(steps[column], steps[column])
            value.reshape(-1)[:: len(column) + 1] *= DIAGONAL
            parts.append((np.full(place.size, i), place.reshape(-1), value.reshape(-1)))
        return Pairs(self.unit, *map(np.concatenate, zip(*parts, strict=True)))


class LawAt(NamedTuple):
    """P(group | t) at some unit coordinates t in order, a row each."""

    t: FloatArray
    rows: FloatArray  # in another order
    order: IntArray  # where the row of each t is
    way: FloatArray  # how far a row has moved on the way to each t
    same: FloatArray  # neighbours are one constraint if the bound changes by no more; never where −1
    distinct: int = 0  # so many of the first rows are never one with others
    pairs: Pairs | None = None  # of those

    def in_order(self) -> LawAt:
        """The same with rows in the order of t."""
        return LawAt(self.t, self.rows[self.order], np.arange(len(self.t)), self.way, self.same)

    def by_row(self, values: FloatArray) -> FloatArray:
        """What each t has, in the order of the rows."""
        out = np.empty_like(values)
        out[self.order] = values
        return out


@dataclass(frozen=True, eq=False)
class Coarse(Compact):
    """Counts of groups of neighbouring cells.

    Attributes:
        mechanism: What the reports came from.
        first: The first cell of each group.
        counts: How many reports each group has.
    """

    mechanism: Number
    first: IntArray
    counts: IntArray

    @classmethod
    def of(cls, tally: Tally, most: int = 1024) -> Coarse:
        """A tally (with at least one report) on at most `most` groups."""
        mechanism = tally.mechanism if tally.n else tally.required().mechanism
        first = mechanism.groups(most)
        return cls(mechanism, first, np.add.reduceat(tally.counts, first))

    @classmethod
    def empty(cls, mechanism: Number, first: IntArray) -> Coarse:
        """Groups without reports."""
        return cls(mechanism, first, np.zeros(len(first), dtype=np.int64))

    @cached_property
    def n(self) -> int:
        """How many reports."""
        return int(self.counts.sum())

    @cached_property
    def shares(self) -> FloatArray:
        """The share of reports in each group."""
        return self.counts / self.n

    def law(self, x: ArrayLike) -> Operator:
        """P(group | x) for the given values x."""
        return self.mechanism.operator(x).coarsen(self.first)

    def grouped(self, counts: IntArray) -> IntArray:
        """Counts of cells on these groups."""
        return np.asarray(np.add.reduceat(counts, self.first))

    def table_of_bins(self, bins: int) -> Table:
        """P(group | the middle of a bin) for `bins` equal bins of the domain, as a matrix."""
        return Table(self.mechanism.unit_table((np.arange(bins) + 0.5) / bins, self.first))

    def law_of_bins(self, bins: int, inside: int | None = None) -> Operator:
        """P(group | x spread evenly over a bin) for `bins` equal bins of the domain.

        The average over a bin is taken at `inside` points of it; by default there are at least 1024 in all.
        """
        inside = max(1, -(-1024 // bins)) if inside is None else inside
        unit = (np.arange(bins * inside) + 0.5) / (bins * inside)
        return self.law(self.mechanism.domain.from_unit(unit)).averaged(inside)


class Products(Protocol):
    """Whatever can be multiplied by P and by its transpose; arrays may have any shape."""

    def mix(self, w: FloatArray, /) -> FloatArray:
        """Pᵀ w: the probability of every report."""

    def expect(self, f: FloatArray, /) -> FloatArray:
        """P f: an expectation for every input."""


def em(
    law: Products,
    counts: FloatArray | IntArray,
    start: FloatArray,
    *,
    tolerance: float = 0.05,
    most: int = 300,
) -> FloatArray:
    """A rough idea of the truth: EM, stopped long before it follows the noise.

    Args:
        law: P(group | bin).
        counts: Reports in each group.
        start: Probabilities of the bins to start from.
        tolerance: The change of the log likelihood per iteration at which to stop, judged over ten.
        most: How many iterations there may be.

    Returns:
        Probabilities of the bins.
    """
    c, f, before = np.asarray(counts, dtype=np.float64), start, -np.inf
    n, seen = c.sum(), c > 0
    for step in range(1, most + 1):
        q = law.mix(f)
        f = np.maximum(f * law.expect(c / q) / n, 0.0)
        if step % _ROUNDS == 0:
            value = float((c[seen] * np.log(q[seen])).sum())
            if abs(value - before) < tolerance * _ROUNDS:
                break
            before = value
    return np.asarray(f / f.sum())
