"""What every estimator works with: counts on a few groups of cells, their exact law, and likelihood.

A mechanism has 2^16 cells so that its noise is exact, not because an estimate needs them. `Coarse` sums them
to at most `most` groups and gives P(group | x) as an operator; nothing about the law is approximated, only
the position of a report within its group is forgotten.

`em` is expectation maximisation on a grid of inputs, plain (EM) or smoothed (EMS, Li et al. 2020):

    f ← f ∘ P(c / Pᵀf) / n,      EMS: then each bin becomes ¼, ½, ¼ of its neighbours and itself

EM climbs to the maximum of the likelihood, which is spiky: as a pilot it is stopped early. EMS stops where
climbing and smoothing balance. An iteration with an `Operator` costs O(groups + bins).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.kernels import products_compiled
from sottovoce.core.kernels.operator import Operator
from sottovoce.core.number import Number
from sottovoce.estimates.tally import Tally

DIAGONAL = 1 + 1e-12  # times a diagonal: sums of products may be singular
_ROUNDS = 10  # iterations between two looks at the likelihood
Smoothing = Callable[[FloatArray], FloatArray]


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
class Coarse:
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


@dataclass(frozen=True, eq=False)
class EmFit:
    """Where the iteration ended.

    Attributes:
        probabilities: Of the bins.
        reports: Of the groups of cells.
        iterations: How many there were.
        converged: Whether the likelihood had stopped to change.
        log_likelihood: Of the counts.
    """

    probabilities: FloatArray
    reports: FloatArray
    iterations: int
    converged: bool
    log_likelihood: float


def em(
    law: Operator | Products,
    counts: FloatArray | IntArray,
    *,
    start: FloatArray | None = None,
    smooth: Smoothing | None = None,
    tolerance: float = 1e-3,
    most: int = 10_000,
    compiled: bool | None = None,
) -> EmFit:
    """Fit bin probabilities to group counts until the log likelihood hardly changes.

    Args:
        law: P(group | bin).
        counts: Reports in each group.
        start: Where to start; by default all bins of an operator are equally likely.
        smooth: What follows every iteration: `smooth_line`, `smooth_circle` or a function of your own.
        tolerance: The change per iteration at which to stop, judged over ten. Li et al. take 10⁻³·e^ε for EM
            and 10⁻³ for EMS.
        most: How many iterations there may be.
        compiled: Which kernel; by default numba's if it knows the law and the smoothing and is worth loading.

    Returns:
        The fit.
    """
    c = np.asarray(counts, dtype=np.float64)
    if start is None:
        assert isinstance(law, Operator | Table)
        start = np.full(law.shape[0], 1.0 / law.shape[0])
    f = np.array(start, dtype=np.float64)
    iterate = _rounds(law, c, smooth, compiled)
    before, converged, steps = -np.inf, False, 0
    while steps < most and not converged:
        rounds = min(_ROUNDS, most - steps)
        value = iterate(f, rounds)
        steps, converged, before = steps + rounds, abs(value - before) < tolerance * rounds, value
    f /= f.sum()
    q = law.mix(f)
    return EmFit(f, q, steps, converged, float((c * np.log(q)).sum()))


def _rounds(
    law: Operator | Products, c: FloatArray, smooth: Smoothing | None, compiled: bool | None
) -> Callable[[FloatArray, int], float]:
    """So many iterations on f in place, giving the log likelihood before the last of them."""
    products: Products = law
    arrays: tuple[Any, ...] = ()
    if isinstance(law, Operator):
        from sottovoce.estimates.em_slots import OnSlots

        c, products = law.on_slots(c), OnSlots(law)
        if smooth in _KINDS:
            arrays = law.background, law.extra, law.places, law.steps, c
    n, seen = np.cumsum(c)[-1], c > 0

    def iterate(f: FloatArray, rounds: int) -> float:
        if arrays and (products_compiled(2 * rounds) if compiled is None else compiled):
            from sottovoce.estimates import em_kernel

            em_kernel.iterate(*arrays, f, q := np.empty_like(c), _KINDS[smooth], rounds)
        else:
            for _ in range(rounds):
                q = products.mix(f)
                f *= products.expect(c / q)
                f /= n
                np.maximum(f, 0.0, out=f)
                if smooth is not None:
                    f[...] = smooth(f)
        return float((c[seen] * np.log(q[seen])).sum())

    return iterate


def smooth_line(f: FloatArray) -> FloatArray:
    """¼, ½, ¼ of neighbours and itself; at the ends of an interval ⅔, ⅓; rescaled to the sum 1."""
    out = 0.5 * f
    out[1:-1] += 0.25 * (f[:-2] + f[2:])
    out[0] = (2 * f[0] + f[1]) / 3
    out[-1] = (2 * f[-1] + f[-2]) / 3
    out /= np.cumsum(out)[-1]
    return out


def smooth_circle(f: FloatArray) -> FloatArray:
    """¼, ½, ¼ of neighbours and itself around a circle, rescaled to the sum 1."""
    out = 0.25 * (np.roll(f, 1) + np.roll(f, -1)) + 0.5 * f
    out /= np.cumsum(out)[-1]
    return out


#: What the compiled kernel knows, and what it calls it.
_KINDS: dict[Smoothing | None, int] = {None: 0, smooth_line: 1, smooth_circle: 2}
