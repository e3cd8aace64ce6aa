"""What every estimator works with: counts on a few groups of cells, and their exact law.

A mechanism has 2^16 cells so that its noise is exact, not because an estimate needs them. `Coarse` sums them
to at most `most` groups and gives P(group | x) as an operator; nothing about the law is approximated, only
the position of a report within its group is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.kernels import Operator
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.reporter import NumberReporter
from sottovoce.estimates.tally import Tally


@dataclass(frozen=True, eq=False)
class Coarse:
    """Counts of groups of neighbouring cells; `first` holds the first cell of each."""

    mechanism: NumberReporter
    first: IntArray
    counts: IntArray

    @classmethod
    def of(cls, tally: Tally, most: int = 1024) -> Coarse:
        """A tally (with at least one report) on at most `most` groups."""
        first = tally.required().mechanism.groups(most)
        return cls(tally.mechanism, first, tally.coarsen(first))

    @cached_property
    def n(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def shares(self) -> FloatArray:
        """The share of reports in each group."""
        return self.counts / self.n

    def law(self, x: ArrayLike) -> Operator:
        """P(group | x) for the given values x."""
        return self.mechanism.operator(x).coarsen(self.first)

    def law_of_bins(self, bins: int, inside: int | None = None) -> Operator:
        """P(group | x spread evenly over a bin) for `bins` equal bins of the domain.

        The average over a bin is taken at `inside` points of it; by default so many that there are at
        least 1024 points in all.
        """
        inside = max(1, -(-1024 // bins)) if inside is None else inside
        unit = (np.arange(bins * inside) + 0.5) / (bins * inside)
        return self.law(self.mechanism.domain.from_unit(unit)).averaged(inside)

    @cached_property
    def bends(self) -> FloatArray:
        """Values between which the law of the groups is linear in x."""
        return self.mechanism.bends(self.first)
