"""What all reporters of one number share: the report loop, decoding, and a law by plain sums over cells.

A kind of reporter supplies its integers (`counts`, `operator`, `bends`, `largest_ratio`), where its cells lie
(`positions`) and how random words become cells (`_fill`). Everything else follows from these.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.cores import in_blocks
from sottovoce.core.domains import Domain
from sottovoce.core.errors import DataError, loss_exponent, one_of, whole_number
from sottovoce.core.kernels import worth_compiling
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.policy import Missing, Outside, Policy
from sottovoce.core.positions import power_loss
from sottovoce.core.randomness import SecureStream, Seeded, Words, WordSource, as_words, word_source
from sottovoce.core.reporting import Reporting
from sottovoce.core.values import as_cells, as_numbers, in_domain, numbers_or_nan

if TYPE_CHECKING:
    from sottovoce.core.kernels.operator import Operator

_BLOCK = {True: 1 << 17, False: 1 << 14}  # values per block, compiled or not
_SEEDED_BLOCK = {True: 1 << 16, False: 1 << 14}  # a seed stands for the words of a mixture block by block
_ENTRIES = 1 << 21  # cells × inputs handled at a time by plain sums


class Number(Reporting):
    """An ε-LDP reporter of one number, in exact integers. Immutable."""

    domain: Domain
    task: str | None
    #: Random 64-bit words that one report takes.
    draws = 1

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
        """Values between which the probability of every group of cells is linear in x.

        Args:
            first: The first cell of each group.

        Returns:
            Values in the domain, increasing; at a bend the law may also jump.
        """

    @abstractmethod
    def _fill(
        self, out: NDArray[Any], x: FloatArray, words: NDArray[np.uint64], *, paired: bool = False
    ) -> bool:
        """Fill `out` with cells, using up the words; false if a value is not in the domain.

        Words are `draws` × values. They are independent of each other, so any of them may serve any value,
        unless they are `paired`. Fresh ones are one for each value: there the bits below a draw toss coins.
        """

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def questions(self) -> Mapping[str, Number]:
        """{"value": this}: one thing is asked."""
        return {"value": self}

    def __repr__(self) -> str:
        identity = f"cells={self.cells} digest={self.digest[:12]}"
        return f"<{self.name} epsilon={self.epsilon!r} {self.domain!r} {identity}>"

    # -- what the device does ---------------------------------------------------------------------------

    def report(
        self,
        values: ArrayLike,
        *,
        clip: bool = False,
        missing: Missing = "refuse",
        outside: Outside = "refuse",
        rng: Seeded = None,
    ) -> NDArray[Any]:
        """Randomise values: one integer cell each.

        Args:
            values: Numbers of any shape.
            clip: Bring values outside into the domain: the nearest end of an interval, the same angle on a
                circle. Short for `outside="clip"`.
            missing: What stands in for missing values (None, NaN, infinite): a number, or "uniform" for a
                uniform draw of the domain. By default they are refused.
            outside: What happens to numbers outside the domain: "refuse", "clip", or "missing".
            rng: A seed or generator, for simulations only. By default words come from the operating
                system's entropy.

        Returns:
            Unsigned integers of the same shape.

        Raises:
            DataError: If values are refused. It names how many and the first index, never a value.
        """
        policy = Policy.of(missing, outside, clip).checked(self.domain)
        read = as_numbers if policy.missing == "refuse" else numbers_or_nan
        numbers = read(values, "values")
        source = word_source(rng)
        out = np.empty(numbers.shape, dtype=self.dtype)
        flat, cells = numbers.reshape(-1), out.reshape(-1)

        fresh = isinstance(source, SecureStream)
        draws = 1 if fresh else self.draws
        block = (_BLOCK if fresh else _SEEDED_BLOCK)[worth_compiling(flat.size)]

        def draw(part: slice, words: Words, more: WordSource) -> bool:
            x = self._prepared(flat, part, policy, more)
            return self._fill(cells[part], x, words.reshape(draws, -1))

        if not in_blocks(flat.size, block, draws, source, draw):
            policy.judge(flat.astype(np.float64), self.domain)
        return out[()]

    def _prepared(self, flat: NDArray[Any], part: slice, policy: Policy, source: Seeded) -> FloatArray:
        """A block of values after the policy; refusals count over all values."""
        x = np.ascontiguousarray(flat[part], dtype=np.float64)
        if policy.refuses or (x.min() >= self.domain.low and x.max() <= self.domain.high):
            return x  # the kernel itself refuses what is not in the domain
        try:
            return policy.prepare(x, self.domain, source)
        except DataError:
            policy.judge(flat.astype(np.float64), self.domain)
            raise

    def report_from(
        self, words: NDArray[np.uint64], values: ArrayLike, *, clip: bool = False
    ) -> NDArray[Any]:
        """The cells that given words draw, for clients and engines that bring their own randomness.

        Args:
            words: Uniform 64-bit words that are used only here: `draws` for each value, one row each.
            values: Numbers in the domain.
            clip: Bring values outside into the domain.

        Returns:
            One cell per value.

        Raises:
            DataError: If values are not in the domain.
        """
        flat = as_numbers(values, "values").reshape(-1)
        given = as_words(words, self.draws * flat.size).reshape(flat.size, self.draws)
        out = np.empty(flat.size, dtype=self.dtype)
        policy = Policy.of(clip=clip)
        x = self._prepared(flat, slice(None), policy, None) if flat.size else flat.astype(np.float64)
        if flat.size and not self._fill(out, x, np.ascontiguousarray(given.T), paired=True):
            policy.judge(flat.astype(np.float64), self.domain)
        return out

    def decode(self, cells: ArrayLike) -> FloatArray:
        """The value that each cell stands for.

        Args:
            cells: Integers that were reported.

        Returns:
            Values in the units of the domain; they may lie beyond its ends.

        Raises:
            DataError: If something is not a cell.
        """
        return np.asarray(self._decoded[as_cells(cells, self.cells)])[()]

    @cached_property
    def _decoded(self) -> FloatArray:
        return self.domain.from_unit(self.positions)

    # -- the exact law ----------------------------------------------------------------------------------

    def probabilities(self, x: ArrayLike) -> FloatArray:
        """The probability of each cell.

        Args:
            x: Values in the domain.

        Returns:
            A row per x.
        """
        return np.asarray(self.counts(x) / self.total)

    def table(self, x: ArrayLike, first: IntArray) -> FloatArray:
        """The probability of each group of cells.

        Args:
            x: Values in the domain.
            first: The first cell of each group.

        Returns:
            A row per x.
        """
        return self.operator(x).coarsen(first).dense()

    def unit_table(self, t: FloatArray, first: IntArray) -> FloatArray:
        """The same for unit coordinates, as an estimate needs it.

        Args:
            t: Unit coordinates of values.
            first: The first cell of each group.

        Returns:
            A row per t.
        """
        return self.table(np.clip(self.domain.from_unit(t), self.domain.low, self.domain.high), first)

    def unit_bends(self, first: IntArray) -> FloatArray:
        """The `bends` as unit coordinates.

        Args:
            first: The first cell of each group.

        Returns:
            Numbers between 0 and 1, in any order.
        """
        return self.domain.to_unit(self.bends(first))

    def groups(self, most: int, between: tuple[float, float] | None = None) -> IntArray:
        """Groups of neighbouring cells, of nearly equal size or placed to tell certain values apart.

        Args:
            most: How many groups there may be.
            between: Two unit coordinates, if values between them are to be told apart.

        Returns:
            The first cell of each group.
        """
        many = min(whole_number(most, "most", least=1), self.cells)
        return np.arange(many, dtype=np.int64) * self.cells // many

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
