"""Translates of base sets on a finite group: choices, and whatever else is a few elements of one.

    m = sottovoce.choice(1.0, ["car", "bike", "train"])
    cells = m.report(["bike", "car"])

A cell is a base set b and a shift s, and holds the elements x with s − x in the set. Every cell is drawn
with the same background, and those that hold the person's element with more. The law is a convolution, so
sums over cells are products of Fourier transforms; a report is one word and one division, in a time that does
not depend on the element.

    {"background": a, "bits": 52, "blocks": [[…], …], "epsilon": ε, "extra": e, "format": "translates/1",
     "multipliers": […], "options": […]}

The base sets are `blocks`, each times every multiplier. With N cells, and M elements in all sets, the
R = 2^bits − N·a − M·e draws that are left over go to the first R cells, one each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core import spec
from sottovoce.core.base_sets import check_counts, check_sets
from sottovoce.core.errors import check_epsilon
from sottovoce.core.exact import exp_lower
from sottovoce.core.kernels import blocks as kernel
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.options import Options
from sottovoce.core.policy import Missing, Outside, Policy
from sottovoce.core.randomness import Seeded, as_words, word_source
from sottovoce.core.reporting import Reporting
from sottovoce.core.values import as_cells
from sottovoce.core.window import MAX_BITS

_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Translates(Reporting):
    """An ε-LDP reporter of one element of a finite group. Immutable.

    Attributes:
        epsilon: The privacy parameter that is claimed; the counts are checked against it.
        domain: What people choose from.
        blocks: The base sets: elements of the group, as numbers.
        multipliers: Every base set is used times each of these.
        background: How many of the 2^bits draws every cell has.
        extra: How many more it has for an element that it holds.
        bits: The draws are numbers below 2^bits.
        name: Which design it is.
    """

    epsilon: float
    domain: Options
    blocks: tuple[tuple[int, ...], ...]
    multipliers: tuple[int, ...]
    background: int
    extra: int
    bits: int = MAX_BITS
    name: str = field(default="translates", compare=False)

    #: Random 64-bit words that one report takes.
    draws = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(tuple(block) for block in self.blocks))
        object.__setattr__(self, "multipliers", tuple(self.multipliers))
        check_sets(self.domain.group, self.blocks, self.multipliers)
        check_counts(self.cells, self.elements, self.background, self.extra, self.bits)
        self._check_claim()

    @classmethod
    def of(
        cls,
        epsilon: float,
        domain: Options,
        blocks: tuple[tuple[int, ...], ...],
        multipliers: tuple[int, ...] = (1,),
        *,
        name: str = "translates",
    ) -> Translates:
        """The reporter with the largest counts that keep ε.

        Args:
            epsilon: The privacy parameter.
            domain: What people choose from.
            blocks: The base sets.
            multipliers: What every base set is multiplied with.
            name: What to call it.

        Returns:
            A reporter whose largest ratio is within 2^−30 of e^ε.
        """
        q, sets = exp_lower(check_epsilon(epsilon)), len(blocks) * len(multipliers)
        cells, elements = sets * math.prod(domain.group), len(multipliers) * sum(map(len, blocks))
        total = 1 << MAX_BITS
        background = math.ceil(total / (cells + elements * (q - 1)))
        extra = (total - cells * background) // elements
        return cls(epsilon, domain, blocks, multipliers, background, extra, name=name)

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """How many different reports there are: a shift of the group for each set."""
        return len(self.blocks) * len(self.multipliers) * self._size

    @property
    def elements(self) -> int:
        """How many elements all sets have: the cells that hold one choice."""
        return len(self.multipliers) * sum(map(len, self.blocks))

    @property
    def total(self) -> int:
        """2^bits: the number of equally likely draws."""
        return 1 << self.bits

    @property
    def left_over(self) -> int:
        """How many cells have one draw more than the background."""
        return self.total - self.cells * self.background - self.elements * self.extra

    @property
    def largest_ratio(self) -> Fraction:
        """The ratio of the counts of a cell for an element that it holds and one that it does not."""
        return Fraction(self.background + self.extra, self.background)

    @property
    def questions(self) -> Mapping[str, Translates]:
        """{"value": this}: one thing is asked."""
        return {"value": self}

    def to_json(self) -> str:
        content = {
            "format": spec.TRANSLATES,
            "epsilon": self.epsilon,
            "bits": self.bits,
            "background": self.background,
            "extra": self.extra,
            "blocks": self.blocks,
            "multipliers": self.multipliers,
            "options": self.domain.names,
        }
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def __repr__(self) -> str:
        identity = f"cells={self.cells} digest={self.digest[:12]}"
        return f"<{self.name} epsilon={self.epsilon!r} {self.domain} {identity}>"

    # -- what the device does ---------------------------------------------------------------------------

    def report(
        self,
        values: Any,
        *,
        clip: bool = False,
        missing: Missing = "refuse",
        outside: Outside = "refuse",
        rng: Seeded = None,
    ) -> NDArray[Any]:
        """Randomise choices: one integer each.

        Args:
            values: Options, of any shape.
            clip: Not for options: there is no nearest one.
            missing: What stands in for missing choices: "uniform"; refused by default.
            outside: What happens to what is not on the list: "refuse" or "missing".
            rng: A seed or generator, for simulations only.

        Returns:
            Unsigned integers of the same shape.

        Raises:
            DataError: If choices are refused. It names how many and the first index, never a choice.
        """
        policy = Policy.of(missing, outside, clip).checked(self.domain)
        source = word_source(rng)
        numbers = policy.prepare(self.domain.numbers(values), self.domain, source)
        element = self.domain.elements(numbers.reshape(-1))
        out = np.empty(element.size, dtype=self.dtype)
        fresh = source.blocks(out.size, _BLOCK)
        for words, first in zip(fresh, range(0, out.size, _BLOCK), strict=True):
            part = slice(first, first + _BLOCK)
            kernel.fill(out[part], words, element[part], self._tables)
        return out.reshape(numbers.shape)[()]

    def report_from(self, words: NDArray[np.uint64], values: Any) -> NDArray[Any]:
        """The cells that given words draw, for clients and engines that bring their own randomness.

        Args:
            words: Uniform 64-bit words that are used only here, one for each choice.
            values: Options.

        Returns:
            One cell per choice.

        Raises:
            DataError: If something is not on the list.
        """
        numbers = Policy().prepare(self.domain.numbers(values), self.domain).reshape(-1)
        out = np.empty(numbers.size, dtype=self.dtype)
        given = as_words(words, out.size).reshape(-1)
        kernel.fill(out, np.array(given), self.domain.elements(numbers), self._tables)
        return out

    @cached_property
    def _tables(self) -> kernel.Blocks:
        rows, columns = (1, *self.domain.group)[-2:]
        sets = self.sets
        entry = np.concatenate(sets)
        base = np.repeat(np.arange(len(sets)) * (rows * columns), [len(one) for one in sets])
        row, column = np.divmod(entry, columns)
        one_more, a = self.left_over, self.background
        return kernel.Blocks(
            64 - self.bits, float(one_more * (a + 1)), float(self.cells * a + one_more), float(one_more),
            float(a), float(max(self.extra, 1)), rows, columns,
            row.astype(np.int32), column.astype(np.int32), base.astype(np.int32),
        )  # fmt: skip

    @cached_property
    def sets(self) -> list[IntArray]:
        """The base sets, each block times each multiplier."""
        return [
            np.array(block, dtype=np.int64) * h % self._size
            for block in self.blocks
            for h in self.multipliers
        ]

    def decode(self, cells: ArrayLike) -> FloatArray:
        """Which elements each cell holds.

        Args:
            cells: Integers that were reported.

        Returns:
            A 1 for each element that a cell holds and a 0 for each other, on a last axis.
        """
        which, shift = np.divmod(as_cells(cells, self.cells), self._size)
        # Cell (b, s) holds x where s − x is in the set.
        columns = self.domain.group[-1]
        at, x = np.divmod(shift[..., None], columns), np.divmod(np.arange(self._size), columns)
        row, column = (np.mod(at[i] - x[i], (self._size // columns, columns)[i]) for i in (0, 1))
        return self.indicator.reshape(len(self.sets), -1)[which[..., None], row * columns + column]

    @property
    def _size(self) -> int:
        return math.prod(self.domain.group)

    @cached_property
    def indicator(self) -> FloatArray:
        """1 where a base set has an element, 0 elsewhere: sets × group."""
        table = np.zeros((len(self.sets), self._size))
        for row, one in zip(table, self.sets, strict=True):
            row[one] = 1.0
        return table.reshape(len(self.sets), *self.domain.group)

    # -- the exact law ----------------------------------------------------------------------------------

    def counts(self, x: Any) -> IntArray:
        """How many of the `total` equally likely draws give each cell.

        Args:
            x: Choices.

        Returns:
            Exact integers, a row per choice.
        """
        number = Policy().prepare(self.domain.numbers(x, "x"), self.domain, name="x")
        rows = np.empty((number.size, self.cells), dtype=np.int64)
        rows[:] = self.background + (np.arange(self.cells) < self.left_over)
        for row, element in zip(rows, self.domain.elements(number.reshape(-1)), strict=True):
            row[self.holding(int(element))] += self.extra
        return rows.reshape(*number.shape, self.cells)

    def holding(self, element: int) -> IntArray:
        """The cells that hold an element.

        Args:
            element: Its number.

        Returns:
            Cells, as many as `elements` for every element.
        """
        tables = self._tables
        at = divmod(element, tables.columns)
        row, column = (tables.row + at[0]) % tables.rows, (tables.column + at[1]) % tables.columns
        return np.asarray(tables.base + row * tables.columns + column, dtype=np.int64)

    def probabilities(self, x: Any) -> FloatArray:
        """The probability of each cell.

        Args:
            x: Choices.

        Returns:
            A row per choice.
        """
        return np.asarray(self.counts(x) / self.total)

    def held(self, counts: ArrayLike) -> FloatArray:
        """For every element the sum of the counts of the cells that hold it, by Fourier transforms.

        Args:
            counts: One number per cell.

        Returns:
            One sum per element of the group.
        """
        return self.correlated(counts, self.indicator)

    def correlated(self, counts: ArrayLike, weights: FloatArray) -> FloatArray:
        """For every element x the sum over cells of count(b, s)·weight(b, s − x).

        Args:
            counts: One number per cell.
            weights: Sets × group.

        Returns:
            One sum per element of the group.
        """
        table = np.asarray(counts, dtype=np.float64).reshape(weights.shape)
        return self._inverse((self._transform(table) * np.conj(self._transform(weights))).sum(axis=0))

    @cached_property
    def together(self) -> IntArray:
        """How many cells hold both element 0 and δ, for every δ; in a balanced family all δ ≠ 0 agree."""
        spectrum = (np.abs(self._transform(self.indicator)) ** 2).sum(axis=0)
        return np.rint(self._inverse(spectrum)).astype(np.int64)

    def _transform(self, table: FloatArray) -> NDArray[np.complex128]:
        return np.fft.rfftn(table, axes=tuple(range(1, table.ndim)))

    def _inverse(self, transform: NDArray[Any]) -> FloatArray:
        return np.fft.irfftn(transform, self.domain.group, axes=tuple(range(transform.ndim))).reshape(-1)
