"""The exact law of what reports one number, by plain sums over cells: what `Number` is built on.

A kind of reporter supplies its integers (`counts`, `operator`, `bends`) and where its cells lie
(`cell_positions`). Errors, biases and variances follow from these; a kind that knows a shorter way takes it.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import loss_exponent, one_of, whole_number
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.law.cell_positions import power_loss
from sottovoce.reporters.question import Question
from sottovoce.values.checked_arrays import in_domain
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sottovoce.reporters.law.blanket import Opposed
    from sottovoce.reporters.law.operator import Operator

FEW = 3  # cells that tell no distribution
_EXACT = 1e-9  # how far an average may be from the truth by rounding
_ENTRIES = 1 << 21  # cells × inputs handled at a time by plain sums


class NumberLaw(ReporterBase):
    """What is known about the reports of one number, whatever draws them; `Number` adds the drawing."""

    domain: Domain

    # -- what a kind of reporter supplies ---------------------------------------------------------------

    @property
    @abstractmethod
    def total(self) -> int:
        """How many equally likely draws `counts` counts."""

    @property
    @abstractmethod
    def positions(self) -> FloatArray:
        """Where each cell's report lies, in the unit coordinate of the domain."""

    @abstractmethod
    def counts(self, x: ArrayLike) -> IntArray:
        """How many of the `total` equally likely draws give each cell.

        Args:
            x: Values in the domain.

        Returns:
            Exact integers, a row per x.
        """

    @abstractmethod
    def operator(self, x: ArrayLike) -> Operator:
        """P(cell | x) as an operator.

        Args:
            x: Values in the domain: the operator's inputs.

        Returns:
            An operator with O(cells + inputs) products.
        """

    @abstractmethod
    def bends(self, first: IntArray) -> FloatArray:
        """Values between which the probability of every bin of cells is linear in x.

        Args:
            first: The first cell of each bin.

        Returns:
            Values in the domain, increasing; at a bend the law may also jump.
        """

    @property
    @abstractmethod
    def cover(self) -> FloatArray:
        """How likely each cell is whatever the truth."""

    @abstractmethod
    def blanket(self) -> Opposed:
        """What hides one report, and two inputs that stand out of it more than any.

        Returns:
            Masses, and the ratios of both.
        """

    # -- what follows from it ------------------------------------------------------------------------

    @property
    def questions(self) -> tuple[Question, ...]:
        """What can be asked of a tally: by the domain, and of two or three cells by what they tell apart."""
        names: tuple[str, ...] = ("mean", "quantile", "standard_deviation", "distribution")
        if self.domain.is_circle:
            names = ("direction", "concentration", "distribution")
        elif self.domain.is_log:
            names = ("quantile", "mean", "distribution")
        said = [Question(name) for name in names if self.cells > FEW or name != "distribution"]
        if self.cells <= 2:
            told = [] if self.range is None else [Question("probability", between=self.range)]
            said = [Question("mean")] if self.unbiased else told
        said.sort(key=lambda question: question.name != self.made_for)  # what it was made for comes first
        return (*said, Question("honesty"))

    @cached_property
    def unbiased(self) -> bool:
        """Whether decoded reports average to the truth at every x, to rounding.

        On a circle they do not: an average of numbers means nothing there.
        """
        if self.domain.is_circle:
            return False
        ends = self.unit_table(np.array([0.0, 1.0]), np.arange(self.cells)) @ self.positions
        if np.abs(ends - (0.0, 1.0)).max() > _EXACT:
            return False
        # Points that no regular grid of cells shares.
        t = np.concatenate(([0.0, 1.0], np.mod(np.arange(1, 512) * 0.6180339887498949, 1.0)))
        law = self.operator(np.clip(self.domain.from_unit(t), self.domain.low, self.domain.high))
        return bool(np.abs(law.expect(self.positions) - t).max() < _EXACT)

    @property
    def range(self) -> tuple[float, float] | None:
        """Of two cells with one step: the range in which a value is told from all others, ends included."""
        return None

    @property
    def evened(self) -> NumberLaw:
        """The same reports, with the unit coordinate along which people are told apart evenly."""
        return self

    def from_even(self, t: FloatArray) -> FloatArray:
        """The values at unit coordinates of `evened`.

        Args:
            t: Numbers between 0 and 1.

        Returns:
            Values in the domain.
        """
        return self.domain.from_unit(t)

    def probabilities(self, x: ArrayLike) -> FloatArray:
        """The probability of each cell.

        Args:
            x: Values in the domain.

        Returns:
            A row per x.
        """
        return np.asarray(self.counts(x) / self.total)

    def table(self, x: ArrayLike, first: IntArray) -> FloatArray:
        """The probability of each bin of cells.

        Args:
            x: Values in the domain.
            first: The first cell of each bin.

        Returns:
            A row per x.
        """
        return self.operator(x).coarsen(first).dense()

    def unit_table(self, t: FloatArray, first: IntArray) -> FloatArray:
        """The same for unit coordinates, as an estimate needs it.

        Args:
            t: Unit coordinates of values.
            first: The first cell of each bin.

        Returns:
            A row per t.
        """
        return self.table(np.clip(self.domain.from_unit(t), self.domain.low, self.domain.high), first)

    def unit_bends(self, first: IntArray) -> FloatArray:
        """The `bends` as unit coordinates.

        Args:
            first: The first cell of each bin.

        Returns:
            Numbers between 0 and 1, in any order.
        """
        return self.domain.to_unit(self.bends(first))

    def bins(self, most: int, between: tuple[float, float] | None = None) -> IntArray:
        """Bins of neighbouring cells, of nearly equal size or placed to tell certain values apart.

        Args:
            most: How many bins there may be.
            between: Two unit coordinates, if values between them are to be told apart.

        Returns:
            The first cell of each bin.
        """
        many = min(whole_number(most, "most", least=1), self.cells)
        return np.arange(many, dtype=np.int64) * self.cells // many

    @abstractmethod
    def alike(self, t: float) -> tuple[float, float]:
        """Between which unit coordinates all values report like the one at t.

        Args:
            t: A unit coordinate.

        Returns:
            Both ends.
        """

    @property
    def edges(self) -> FloatArray | None:
        """Boundaries of the cells on the value axis, where a report has one cell only."""
        return None

    def error(self, x: ArrayLike, loss: str | float = "l2", distance: str | None = None) -> FloatArray:
        """E|y − x|^k of a report y.

        Args:
            x: Values in the domain.
            loss: "l1", "l2" or a number k ≥ 1.
            distance: "linear" or "circular"; by default the domain's own.

        Returns:
            One number per x, in the units of the domain to the power k.
        """
        k, circular = loss_exponent(loss), self._circular(distance)
        t = self._unit(x)
        flat, out = t.reshape(-1), np.empty(t.size)
        rows = max(1, _ENTRIES // self.cells)
        for first in range(0, flat.size, rows):
            part = flat[first : first + rows]
            p = self.probabilities(np.clip(self.domain.from_unit(part), self.domain.low, self.domain.high))
            out[first : first + rows] = np.einsum(
                "ij,ij->i", p, power_loss(self.positions, part, k, circular)
            )
        return np.asarray(self.domain.stretched(out, k)).reshape(t.shape)[()]

    def bias(self, x: ArrayLike) -> FloatArray:
        """E[y] − x, for reports as numbers on the line.

        Args:
            x: Values in the domain.

        Returns:
            One number per x, in the units of the domain.
        """
        t = self._unit(x)
        mean = self.operator(x).expect(self.positions - 0.5).reshape(t.shape)
        return np.asarray(self.domain.stretched(mean - (t - 0.5)))[()]

    def variance(self, x: ArrayLike) -> FloatArray:
        """The variance of a report.

        Args:
            x: Values in the domain.

        Returns:
            One number per x, in squared units of the domain.
        """
        law, v, t = self.operator(x), self.positions - 0.5, self._unit(x)
        mean = law.expect(v)
        variance = np.maximum(law.expect(v**2) - mean**2, 0.0)
        return np.asarray(self.domain.stretched(variance.reshape(t.shape), 2))[()]

    @abstractmethod
    def worst_error(self, loss: str | float = "l2", distance: str | None = None) -> float:
        """The largest error over the whole continuous domain.

        Args:
            loss: As in `error`.
            distance: As in `error`.

        Returns:
            The supremum, attained to rounding.
        """

    @abstractmethod
    def worst_variance(self) -> float:
        """The largest variance over the whole continuous domain.

        Returns:
            The supremum, in squared units of the domain.
        """

    @abstractmethod
    def density(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """The density of a report near y when the truth is x: cell probability over cell width.

        Args:
            x: Values in the domain.
            y: Places where a report may lie.

        Returns:
            Zero outside the range of reports, infinite on an atom (a report that several cells share).
        """

    def _circular(self, distance: str | None) -> bool:
        if distance is not None:
            one_of(distance, "distance", ("linear", "circular"))
        return self.domain.is_circle if distance is None else distance == "circular"

    def _unit(self, x: ArrayLike) -> FloatArray:
        return self.domain.to_unit(in_domain(x, self.domain, "x"))
