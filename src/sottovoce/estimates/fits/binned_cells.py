"""What every estimator works with: counts on a few bins of cells, their exact law, and likelihood.

A mechanism has 2^16 cells so that its noise is exact, not because an estimate needs them. `Binned` sums them
to at most `most` bins and gives P(bin | x) as an operator; nothing about the law is approximated, only
the position of a report within its bin is forgotten.

`em` is expectation maximisation on a grid of inputs,

    f ← f ∘ P(c / Pᵀf) / n,

which climbs to the maximum of the likelihood. That is spiky: as a pilot it is stopped early.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.estimates.tally import Tally
from sottovoce.frozen import Compact
from sottovoce.reporters.law.operator import Operator
from sottovoce.reporters.number import Number

_ROUNDS = 10  # iterations between two looks at the likelihood


@dataclass(frozen=True, eq=False)
class Table:
    """P(bin | input) as a matrix: for a few bins the quickest there is."""

    matrix: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(inputs, bins)."""
        return len(self.matrix), self.matrix.shape[1]

    def mix(self, w: FloatArray) -> FloatArray:
        """Pᵀ w: the probability of every bin; w may have columns."""
        return np.asarray(self.matrix.T @ w)

    def expect(self, f: FloatArray) -> FloatArray:
        """P f: an expectation for every input."""
        return np.asarray(self.matrix @ f)


@dataclass(frozen=True, eq=False)
class Binned(Compact):
    """Counts of bins of neighbouring cells.

    Attributes:
        mechanism: What the reports came from.
        first: The first cell of each bin.
        counts: How many reports each bin has.
    """

    mechanism: Number
    first: IntArray
    counts: IntArray

    @classmethod
    def of(cls, tally: Tally, most: int = 1024) -> Binned:
        """A tally (with at least one report) on at most `most` bins."""
        mechanism = tally.law.as_number() if tally.n else tally.required().law.as_number()
        first = mechanism.bins(most)
        return cls(mechanism, first, np.add.reduceat(tally.counts, first))

    @classmethod
    def empty(cls, mechanism: Number, first: IntArray) -> Binned:
        """Bins without reports."""
        return cls(mechanism, first, np.zeros(len(first), dtype=np.int64))

    @cached_property
    def n(self) -> int:
        """How many reports."""
        return int(self.counts.sum())

    @cached_property
    def shares(self) -> FloatArray:
        """The share of reports in each bin."""
        return self.counts / self.n

    def law(self, x: ArrayLike) -> Operator:
        """P(bin | x) for the given values x."""
        return self.mechanism.operator(x).coarsen(self.first)

    def in_bins(self, counts: IntArray) -> IntArray:
        """Counts of cells on these bins."""
        return np.asarray(np.add.reduceat(counts, self.first))

    def table_of_parts(self, parts: int) -> Table:
        """P(bin | the middle of a part) for `parts` equal parts of the domain, as a matrix."""
        return Table(self.mechanism.unit_table((np.arange(parts) + 0.5) / parts, self.first))

    def law_of_parts(self, parts: int, inside: int | None = None) -> Operator:
        """P(bin | x spread evenly over a part) for `parts` equal parts of the domain.

        The average over a part is taken at `inside` points of it; by default there are at least 1024 in all.
        """
        inside = max(1, -(-1024 // parts)) if inside is None else inside
        unit = (np.arange(parts * inside) + 0.5) / (parts * inside)
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
        law: P(bin of cells | part of the domain).
        counts: Reports in each bin.
        start: Probabilities of the parts to start from.
        tolerance: The change of the log likelihood per iteration at which to stop, judged over ten.
        most: How many iterations there may be.

    Returns:
        Probabilities of the parts.
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
