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
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.kernels import compiled_available
from sottovoce.core.kernels.operator import Operator
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.number import Number
from sottovoce.estimates.tally import Tally

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
    def of(cls, rows: FloatArray, unit: FloatArray) -> Pairs:
        """The products of any two entries in a row of N."""
        steps, k = np.diff(rows * unit, axis=1, prepend=0.0), len(unit)
        flat = np.flatnonzero(np.abs(steps) > 1e-12)
        (row, column), value = np.divmod(flat, k), steps.reshape(-1)[flat]
        many = np.searchsorted(row, row, side="right") - np.arange(len(row))  # itself and those after it
        one = np.repeat(np.arange(len(row)), many)
        other = one + np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many)
        return cls(unit, row[one], column[one] * k + column[other], value[one] * value[other])

    @classmethod
    def of_windows(cls, rows: FloatArray) -> Pairs | None:
        """Those of the rows and of w itself, or None if there are many."""
        (m, k), e = rows.shape, np.ptp(rows, axis=0)
        e[e <= 1e-6 * e.max()] = e.max() or 1.0  # any e will do: this one keeps v in proportion
        if 7 * np.count_nonzero(np.abs(np.diff(rows / e, axis=1)) > 1e-12) > m * k:
            return None
        pairs = cls.of(np.concatenate((rows, np.eye(k))), 1 / e)
        return pairs._replace(row=np.where(pairs.row < m, pairs.row, m - 1 - pairs.row))

    def renamed(self, names: IntArray) -> Pairs:
        """With other numbers for the rows; those that get len(names) are left out."""
        row = np.append(names, np.arange(-len(self.unit), 0))[self.row]
        kept = row < len(names)
        return Pairs(self.unit, row[kept], self.place[kept], self.value[kept])


class LawAt(NamedTuple):
    """P(group | t) at some unit coordinates t in order, a row each."""

    t: FloatArray
    rows: FloatArray
    same: FloatArray  # neighbours are one constraint if the bound changes by no more; never where −1
    pairs: Pairs | None = None


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
        compiled: Which kernel; numba's where it is installed and knows the law and the smoothing.

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


Rounds = Callable[[FloatArray, int], float]


def _rounds(
    law: Operator | Products, c: FloatArray, smooth: Smoothing | None, compiled: bool | None
) -> Rounds:
    """So many iterations on f in place, giving the log likelihood before the last of them."""
    if isinstance(law, Operator):
        c = law.on_slots(c)
        if smooth in _KINDS and (compiled_available() if compiled is None else compiled):
            from sottovoce.estimates import em_kernel

            arrays = law.background, law.extra, law.places, law.steps, c
            return lambda f, rounds: float(em_kernel.iterate(*arrays, f, _KINDS[smooth], rounds))
        law = _OnSlots(law)

    def iterate(f: FloatArray, rounds: int) -> float:
        n, value = c.sum(), 0.0
        for turn in range(rounds):
            q = law.mix(f)
            if turn == rounds - 1:
                value = float((c * np.log(q)).sum())
            f *= np.maximum(law.expect(c / q), 0.0)
            f /= n
            if smooth is not None:
                f[...] = smooth(f)
        return value

    return iterate


class _OnSlots:
    """An operator's products on its slots by sparse matrices: the quickest that numpy does."""

    def __init__(self, law: Operator) -> None:
        self.law = law
        self.positive = law.background + 1.0 - law.on_slots(np.ones(law.shape[1]))  # 1 on spare slots

    def mix(self, w: FloatArray) -> FloatArray:
        q = np.cumsum(self.law.differences[0] @ w)
        q *= self.law.extra
        q += self.positive * w.sum()
        return q

    def expect(self, f: FloatArray) -> FloatArray:
        tail = np.cumsum((self.law.extra * f)[::-1])[::-1]
        return np.asarray(self.law.differences[1] @ tail + self.law.background @ f)


def smooth_line(f: FloatArray) -> FloatArray:
    """¼, ½, ¼ of neighbours and itself; at the ends of an interval ⅔, ⅓; rescaled to the sum 1."""
    out = np.convolve(f, (0.25, 0.5, 0.25), "same")
    out[0] = (2 * f[0] + f[1]) / 3
    out[-1] = (2 * f[-1] + f[-2]) / 3
    out /= out.sum()
    return out


def smooth_circle(f: FloatArray) -> FloatArray:
    """¼, ½, ¼ of neighbours and itself around a circle, rescaled to the sum 1."""
    out = np.convolve(f, (0.25, 0.5, 0.25), "same")
    out[0] += 0.25 * f[-1]
    out[-1] += 0.25 * f[0]
    out /= out.sum()
    return out


#: What the compiled kernel knows, and what it calls it.
_KINDS: dict[Smoothing | None, int] = {None: 0, smooth_line: 1, smooth_circle: 2}
