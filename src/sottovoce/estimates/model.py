"""What every estimator works with: counts on a few groups of cells, and their exact law.

A mechanism has 2^16 cells so that its noise is exact, not because an estimate needs them. `Coarse` sums them
to at most `most` groups and gives P(group | x) as an operator; nothing about the law is approximated, only
the position of a report within its group is forgotten. `Nodes` holds that law where it decides for every x.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.kernels.operator import Operator
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.number import Number
from sottovoce.estimates.shapes import Shape
from sottovoce.estimates.tally import Tally

_NEAR = 1e-9  # how far from a bend or jump its sides are looked at, in widths of the domain
_JUMP = 1e-8  # a law that changes by less from one side of a bend to the other is continuous there
_CURVED = 512  # inputs at which a curved target is held down between bends
_FINER = 128  # the same for the variance of weights, which bends less


@dataclass(frozen=True, eq=False)
class Table:
    """P(group | input) as a matrix: for a few groups the quickest there is."""

    matrix: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(inputs, groups)."""
        inputs, groups = self.matrix.shape
        return inputs, groups

    def mix(self, w: FloatArray) -> FloatArray:
        """Pᵀ w: the probability of every group; w may have columns."""
        return np.asarray(self.matrix.T @ w)

    def expect(self, f: FloatArray) -> FloatArray:
        """P f: an expectation for every input."""
        return np.asarray(self.matrix @ f)


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
        mechanism = tally.required().mechanism
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

        The average over a bin is taken at `inside` points of it; by default so many that there are at
        least 1024 points in all.
        """
        inside = max(1, -(-1024 // bins)) if inside is None else inside
        unit = (np.arange(bins * inside) + 0.5) / (bins * inside)
        return self.law(self.mechanism.domain.from_unit(unit)).averaged(inside)


LawAt = tuple[FloatArray, FloatArray]


class Nodes:
    """Unit coordinates and the law of the groups there, a row each: what holds at them holds everywhere.

    P(group | x) is linear in x between the mechanism's bends, so it is computed at them and follows
    elsewhere. At a bend the law may jump: both of its sides are nodes too. `near` is how far away a side is
    looked at: no less than two of the floating-point numbers that values can be.
    """

    def __init__(self, coarse: Coarse) -> None:
        self.coarse = coarse
        domain = coarse.mechanism.domain
        self.near = max(_NEAR, 2 * domain.grain)
        self._around: dict[tuple[float, ...], LawAt] = {}

    @cached_property
    def straight(self) -> LawAt:
        """Every bend, with its sides where the law jumps."""
        domain, near = self.coarse.mechanism.domain, self.near
        bends = np.unique(self.coarse.mechanism.unit_bends(self.coarse.first))
        between = (bends[1:] + bends[:-1])[np.diff(bends) < 2 * near] / 2  # where sides overlap
        t = np.clip(np.concatenate((bends - near, bends, bends + near, between, [0.0, 1.0])), 0.0, 1.0)
        x = np.unique(np.clip(domain.from_unit(t), domain.low, domain.high))
        t = domain.to_unit(x)
        rows = self.coarse.mechanism.unit_table(t, self.coarse.first)
        close = np.diff(t) < 1.5 * near
        same = close & (np.abs(np.diff(rows, axis=0)).max(axis=1) < _JUMP)
        middle = np.concatenate(([False], same[1:] & same[:-1], [False]))  # a bend whose sides are like it
        beside = np.append(middle[1:], False) | np.insert(middle[:-1], 0, False)
        beside[[0, -1]] = False
        return t[middle | ~beside], rows[middle | ~beside]

    def around(self, jumps: tuple[float, ...], shape: Shape | None = None) -> LawAt:
        """The bends, both sides of some jumps, and what a declared shape needs."""
        at = np.array(jumps)
        sides = np.concatenate((at - self.near, at + self.near))
        if shape is not None:
            return self._with(np.append(sides, shape.places(jumps, self.near)))
        if jumps not in self._around:
            self._around[jumps] = self._with(sides)
        return self._around[jumps]

    @cached_property
    def curved(self) -> LawAt:
        """The bends and a grid for what is curved in between."""
        return self._with(np.arange(_CURVED + 1) / _CURVED)

    @cached_property
    def finer(self) -> LawAt:
        """The bends and a grid for the variance of weights."""
        return self._with(np.arange(_FINER + 1) / _FINER)

    def _with(self, more: FloatArray) -> LawAt:
        """The bends and more, in order."""
        t, rows = self.straight
        more = np.setdiff1d(np.clip(more, 0.0, 1.0), t)
        left = np.clip(np.searchsorted(t, more) - 1, 0, len(t) - 2)
        apart = np.diff(t)[left] > 3 * self.near  # within a bend its two sides speak for it
        more, left = more[apart], left[apart]
        share = ((more - t[left]) / (t[left + 1] - t[left]))[:, None]
        law = (1 - share) * rows[left] + share * rows[left + 1]
        order = np.argsort(np.concatenate((t, more)), kind="stable")
        return np.concatenate((t, more))[order], np.concatenate((rows, law))[order]
