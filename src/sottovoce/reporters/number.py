"""The base of reporters of one number: the report loop and decoding, on top of the law in `law/number_law`.

A kind of reporter supplies its law, its `largest_ratio` and how random words
become cells (`_fill`). Everything else follows from these.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce import compiling
from sottovoce.arrays import FloatArray, Words
from sottovoce.errors import DataError
from sottovoce.randomness.secure_stream import SecureStream
from sottovoce.randomness.threads import in_blocks
from sottovoce.randomness.word_source import Seeded, WordSource, word_source
from sottovoce.reporters.law.number_law import NumberLaw
from sottovoce.values.checked_arrays import as_cells, as_numbers, as_words, numbers_or_nan
from sottovoce.values.missing_and_outside import Missing, Outside, Policy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_BLOCK = {True: 1 << 17, False: 1 << 14}  # values per block, compiled or not
_SEEDED_BLOCK = 1 << 16  # a seed stands for the words of a mixture block by block


class Number(NumberLaw):
    """An ε-LDP reporter of one number, in exact integers; `Mechanism`, `Mixture` and `Rows` build on it."""

    draws: int = 1

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
    def items(self) -> Mapping[str, Number]:
        """{"value": this}: one thing is asked."""
        return {"value": self}

    def as_number(self) -> Number:
        return self

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
        compiling.load_for(flat.size)
        block = _BLOCK[compiling.compiled(flat.size)] if fresh else _SEEDED_BLOCK

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
            return x  # the loop itself refuses what is not in the domain
        try:
            return policy.prepare(x, self.domain, source)
        except DataError:
            policy.judge(flat.astype(np.float64), self.domain)
            raise

    def report_from(self, words: NDArray[np.uint64], values: ArrayLike) -> NDArray[Any]:
        """The cells that given words draw, for clients and engines that bring their own randomness.

        Args:
            words: Uniform 64-bit words that are used only here: `draws` for each value, one row each.
            values: Numbers in the domain.

        Returns:
            One cell per value.

        Raises:
            DataError: If values are not in the domain.
        """
        flat = as_numbers(values, "values").reshape(-1)
        given = as_words(words, self.draws * flat.size).reshape(flat.size, self.draws)
        out = np.empty(flat.size, dtype=self.dtype)
        x = flat.astype(np.float64)
        if x.size and not self._fill(out, x, np.ascontiguousarray(given.T), paired=True):
            Policy().judge(x, self.domain)
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
