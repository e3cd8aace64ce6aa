"""Translates of base sets on a finite group: choices and places.

    m = sottovoce.choice(1.0, ["car", "bike", "train"])
    cells = m.report(["bike", "car"])
    m = sottovoce.place(1.0, radius=10.0)
    cells = m.report([[3.0, 4.0], [-8.0, 1.5]])

A cell is a base set b and a shift s, and holds the elements x with s − x in the set. Every cell is drawn
with the same background, and those that hold the person's element with more. The law is a convolution, so
sums over cells are products of Fourier transforms; a report is one word and one division, in a time that does
not depend on the element.

    {"background": a, "bits": 52, "blocks": [[…], …], "epsilon": ε, "extra": e, "format": "translates/1",
     "multipliers": […], "options": […]}

The base sets are `blocks`, each times every multiplier. With N cells, and M elements in all sets, the
R = 2^bits − N·a − M·e draws that are left over go to the first R cells, one each. A spec of places has an
"area" instead of multipliers and options, and its base sets are lengths of rows (`area`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce import compiling
from sottovoce.arrays import FloatArray, IntArray, Words
from sottovoce.errors import check_epsilon
from sottovoce.exact.exponential import MAX_BITS
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.randomness.threads import in_blocks
from sottovoce.randomness.word_source import Seeded, WordSource, word_source
from sottovoce.reporters.base import ReporterBase, check_claim
from sottovoce.reporters.base_sets import BaseSets, check_counts, check_sets
from sottovoce.reporters.question import Question
from sottovoce.reporters.sampling.dispatch import fill_translates
from sottovoce.reporters.sampling.tables import SetTables
from sottovoce.values.area import Area
from sottovoce.values.checked_arrays import as_cells, as_words
from sottovoce.values.missing_and_outside import Missing, Outside, Policy
from sottovoce.values.options import Options
from sottovoce.wire.canonical import TRANSLATES, canonical

if TYPE_CHECKING:
    from sottovoce.reporters.law.blanket import Opposed

Elements = Callable[[slice, Words], NDArray[Any]]  # of a part of the values, by their words
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Translates(BaseSets, ReporterBase):
    """An ε-LDP reporter of one element of a finite group. Immutable.

    Attributes:
        epsilon: The privacy parameter that is claimed; the counts are checked against it.
        domain: What people choose from, or where they are.
        blocks: The base sets: elements of the group as numbers; of places, the lengths of their rows.
        multipliers: Every base set is used times each of these.
        background: How many of the 2^bits draws every cell has.
        extra: How many more it has for an element that it holds.
        bits: The draws are numbers below 2^bits.
        name: Which design it is.
    """

    epsilon: float
    domain: Options | Area
    blocks: tuple[tuple[int, ...], ...]
    multipliers: tuple[int, ...]
    background: int
    extra: int
    bits: int = MAX_BITS
    name: str = field(default="translates", compare=False)

    draws = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(tuple(block) for block in self.blocks))
        object.__setattr__(self, "multipliers", tuple(self.multipliers))
        check_sets(self.domain, self.blocks, self.multipliers)
        check_counts(self.cells, self.elements, self.background, self.extra, self.bits)
        check_claim(self)

    @classmethod
    def of(
        cls,
        epsilon: float,
        domain: Options | Area,
        blocks: tuple[tuple[int, ...], ...],
        multipliers: tuple[int, ...] = (1,),
        *,
        name: str = "translates",
    ) -> Translates:
        """The reporter with the largest counts that keep ε.

        Args:
            epsilon: The privacy parameter.
            domain: What people choose from, or where they are.
            blocks: The base sets.
            multipliers: What every base set is multiplied with.
            name: What to call it.

        Returns:
            A reporter whose largest ratio is within 2^−30 of e^ε.
        """
        q, sets = exp_lower(check_epsilon(epsilon)), len(blocks) * len(multipliers)
        cells, elements = sets * math.prod(domain.group), check_sets(domain, blocks, multipliers)
        total = 1 << MAX_BITS
        background = math.ceil(total / (cells + elements * (q - 1)))
        extra = (total - cells * background) // elements
        return cls(epsilon, domain, blocks, multipliers, background, extra, name=name)

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """2^bits times the lots that round a position: the number of equally likely draws."""
        return (1 << self.bits) * self.domain.lots

    @property
    def left_over(self) -> int:
        """How many cells have one draw more than the background."""
        return (1 << self.bits) - self.cells * self.background - self.elements * self.extra

    @property
    def backgrounds(self) -> IntArray:
        """How many draws each cell has for an element that it does not hold."""
        return np.asarray(self.background + (np.arange(self.cells) < self.left_over), dtype=np.int64)

    @property
    def largest_ratio(self) -> Fraction:
        """The ratio of the counts of a cell for an element that it holds and one that it does not."""
        return Fraction(self.background + self.extra, self.background)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Shares, of ratings their mean too; of places a map, and the mean place unless edges are joined."""
        if isinstance(self.domain, Area):
            joined = self.domain.moduli == self.domain.points
            return (*((Question("position"),) if not joined else ()), Question("heatmap"))
        rated = () if self.ratings is None else (Question("mean"),)
        return (Question("shares"), *rated, Question("honesty"))

    @property
    def ratings(self) -> FloatArray | None:  # type: ignore[override]
        """The options as numbers, where people rate something."""
        return self.domain.ratings

    def as_choice(self) -> Translates:
        return super().as_choice() if isinstance(self.domain, Area) else self

    def as_places(self) -> Translates:
        return self if isinstance(self.domain, Area) else super().as_places()

    @property
    def items(self) -> Mapping[str, Translates]:
        """{"value": this}: one thing is asked."""
        return {"value": self}

    def to_json(self) -> str:
        named = {key: getattr(self, key) for key in ("epsilon", "bits", "background", "extra")}
        return canonical({"format": TRANSLATES, **named, **self._sets_content()})

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
        """Randomise choices or positions: one integer each.

        Args:
            values: Options of any shape, or positions x, y: an array whose last axis is 2.
            clip: Bring positions outside to the nearest inside. Not for options: there is no nearest one.
            missing: What stands in for missing values: "uniform"; refused by default.
            outside: What happens to what is not on the list or not in the area: "refuse", "missing" or, for
                positions, "clip".
            rng: A seed or generator, for simulations only.

        Returns:
            Unsigned integers, one for each value.

        Raises:
            DataError: If values are refused. It names how many and the first index, never a value.
        """
        policy = Policy.of(missing, outside, clip).checked(self.domain)
        source = word_source(rng)
        quick = self.domain.quick_elements(values)
        if quick is not None:
            out = np.empty(quick.size, dtype=self.dtype)
            if self._fill(out, source, lambda part, _: quick.reshape(-1)[part]):
                return out.reshape(quick.shape)
        numbers = policy.prepare(self.domain.numbers(values), self.domain, source)
        x = numbers.reshape(-1, *self.domain.shape)
        out = np.empty(len(x), dtype=self.dtype)
        self._fill(out, source, lambda part, words: self.domain.elements(x[part], words))
        return out.reshape(numbers.shape[: numbers.ndim - len(self.domain.shape)])[()]

    def _fill(self, out: NDArray[Any], source: WordSource, elements: Elements) -> bool:
        """Fill `out` block by block; False if an element was none."""

        def draw(part: slice, words: Words, _: WordSource) -> bool:
            return fill_translates(out[part], words, elements(part, words), self._tables) == 0

        compiling.load_for(out.size)
        return in_blocks(out.size, _BLOCK, 1, source, draw)

    def report_from(self, words: NDArray[np.uint64], values: Any) -> NDArray[Any]:
        """The cells that given words draw, for clients and engines that bring their own randomness.

        Args:
            words: Uniform 64-bit words that are used only here, one for each value.
            values: Options or positions.

        Returns:
            One cell per value.

        Raises:
            DataError: If something is not on the list, or not in the area.
        """
        x = self._inside(values, "values")
        out = np.empty(len(x), dtype=self.dtype)
        given = np.array(as_words(words, out.size)).reshape(-1)
        fill_translates(out, given, self.domain.elements(x, given), self._tables)
        return out

    def _inside(self, values: Any, name: str) -> FloatArray:
        """Values that are refused unless they are inside, a row each."""
        numbers = Policy().prepare(self.domain.numbers(values, name), self.domain, name=name)
        return numbers.reshape(-1, *self.domain.shape)

    @cached_property
    def _tables(self) -> SetTables:
        rows, columns = (1, *self.domain.group)[-2:]
        sets = self.sets
        entry = np.concatenate(sets)
        base = np.repeat(np.arange(len(sets)) * (rows * columns), [len(one) for one in sets])
        row, column = np.divmod(entry, columns)
        one_more, a = self.left_over, self.background
        return SetTables(
            shift=np.uint64(64 - self.bits),
            first=float(one_more * (a + 1)),
            rest=float(self.cells * a + one_more),
            one_more=float(one_more),
            background=float(a),
            extra=float(max(self.extra, 1)),
            rows=rows,
            columns=columns,
            row=row.astype(np.float64),
            column=column.astype(np.float64),
            base=base.astype(np.float64),
        )

    def decode(self, cells: ArrayLike) -> FloatArray:
        """Which options each cell holds, or the position in the middle of it.

        Args:
            cells: Integers that were reported.

        Returns:
            A 1 for each option that a cell holds and a 0 for each other, or x and y, on a last axis.
        """
        which, shift = np.divmod(as_cells(cells, self.cells), self._size)
        if isinstance(self.domain, Area):
            positions = np.empty((*shift.shape, 2))
            for i, block in enumerate(self.blocks):
                positions[which == i] = self.domain.middle(shift[which == i], block)
            return positions
        # Cell (b, s) holds x where s − x is in the set.
        x = (shift[..., None] - np.arange(self._size)) % self._size
        return self.indicator[which[..., None], x]

    # -- the exact law ----------------------------------------------------------------------------------

    def counts(self, x: Any) -> IntArray:
        """How many of the `total` equally likely draws give each cell.

        Args:
            x: Choices or positions.

        Returns:
            Exact integers, a row per value.
        """
        values = self._inside(x, "x")
        rows = np.tile(self.backgrounds * self.domain.lots, (len(values), 1))
        for row, elements, lots in zip(rows, *self.domain.lot(values), strict=True):
            for element, many in zip(elements.tolist(), lots.tolist(), strict=True):
                row[self.holding(element)] += many * self.extra
        return rows.reshape(*np.shape(x)[: np.ndim(x) - len(self.domain.shape)], self.cells)

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

    def hull(self, bins: int) -> tuple[IntArray, FloatArray]:
        """The laws of which that of any people is a mixture.

        Args:
            bins: How many bins of neighbouring cells there may be.

        Returns:
            The first cell of each bin, and a row for each option: the chances of the bins.
        """
        first = np.unique(np.linspace(0, self.cells, min(bins, self.cells), endpoint=False).astype(np.int64))
        bin_of = np.repeat(np.arange(first.size), np.diff(np.append(first, self.cells)))
        even, share = np.bincount(bin_of, self.backgrounds / self.total), self.extra / self.total
        held = (np.bincount(bin_of[self.holding(x)], minlength=first.size) for x in range(self._size))
        return first, np.unique(np.array([even + share * one for one in held]).round(12), axis=0)

    def probabilities(self, x: Any) -> FloatArray:
        """The probability of each cell.

        Args:
            x: Choices or positions.

        Returns:
            A row per value.
        """
        return np.asarray(self.counts(x) / self.total)

    @property
    def cover(self) -> FloatArray:
        """How likely each cell is whatever the truth."""
        return np.asarray(self.backgrounds / (1 << self.bits))

    def blanket(self) -> Opposed:
        """What hides one report, and the two choices or places that share the fewest cells.

        The draws left over are told apart from the others in their cells, so that all ratios are equal. With
        equal laws of ξ and η the difference ξ − θη is the more spread out, the less often both are large.

        Returns:
            Masses, and the ratios of both.
        """
        from sottovoce.reporters.law.blanket import Opposed

        both, ratio = int(self.together[1:].min()), float(self.largest_ratio)
        one, draws = self.elements - both, self.background
        rest = (self.cells - 2 * one - both) * draws + self.left_over
        mass = np.array([rest, one * draws, one * draws, both * draws]) / (1 << self.bits)
        return Opposed(mass, np.array([1.0, ratio, 1.0, ratio]), np.array([1.0, 1.0, ratio, ratio]))
