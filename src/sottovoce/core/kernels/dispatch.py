"""Choosing between the plain and the compiled kernels."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.core.arrays import FloatArray
from sottovoce.core.domains import Domain
from sottovoce.core.kernels import plain
from sottovoce.core.kernels.tables import Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Fewer values than this are left to numpy, which is as quick.
_WORTH_COMPILING = 2048
#: The seconds that numba takes to load. numpy works as long before: so nobody waits much more than twice as
#: long as who knew what work is to come. Which kernel it is depends on how much work there was and on nothing
#: else, and results do not depend on it.
_LOADING = 0.25
_VALUE, _PRODUCT = 25e-9, 25e-6  # seconds that numpy takes for a value, and for a product of an operator
_worked = 0.0  # seconds that numpy took where compiled kernels would have served


@cache
def compiled_available() -> bool:
    """Whether numba is installed (and not switched off by SOTTOVOCE_PLAIN=1)."""
    from importlib.util import find_spec

    return os.environ.get("SOTTOVOCE_PLAIN") != "1" and find_spec("numba") is not None


def many(values: int) -> bool:
    """Whether compiled kernels, if there are any, are quicker with so many values."""
    return values >= _WORTH_COMPILING and compiled_available()


def serves_soon(values: int) -> bool:
    """Whether compiled kernels would serve so many values: they are loaded, or worth it."""
    return many(values) and _loaded_for(_VALUE * values)


def worth_compiling(values: int) -> bool:
    """The same, for values that are drawn now: what numpy has to do counts."""
    return many(values) and _counted_in(_VALUE * values)


def products_compiled(products: int = 1) -> bool:
    """Whether compiled kernels serve the next products of an operator."""
    return compiled_available() and _counted_in(_PRODUCT * products)


def _loaded_for(seconds: float) -> bool:
    return "numba" in sys.modules or _worked + seconds >= _LOADING


def _counted_in(seconds: float) -> bool:
    global _worked
    loaded = _loaded_for(seconds)
    _worked += seconds
    return loaded


class Sampler:
    """The sampling loop of one mechanism: words and values in, cells out.

    With a second side of a coin, which only the compiled loop of uniform tables knows, that of a mixture: a
    word names its tables if (word >> shift) & mask is at least `first`.
    """

    def __init__(
        self, tables: Tables, domain: Domain, second: tuple[Tables, int, int, int] | None = None
    ) -> None:
        self._tables, self._domain, self._second = tables, domain, second

    def fill(
        self, out: NDArray[Any], words: NDArray[np.uint64], x: FloatArray, *, compiled: bool | None = None
    ) -> int:
        """Fill `out` with the cells that `words` draw at `x`; returns how many values are not in the domain.

        When that number is not zero the content of `out` means nothing. The words are used up.
        """
        fast = self.serves(x.size) if compiled is None else compiled
        if fast and not self._domain.is_log:
            return self._fill_compiled(out, words, x)
        if not (x.min() >= self._domain.low and x.max() <= self._domain.high):
            return x.size - int(np.count_nonzero(self._domain.contains(x)))
        if fast:
            return self._fill_compiled(out, words, self._domain.line(x))
        places = plain.sample(self._tables, words, self._domain.to_unit(x))
        np.copyto(out, places, casting="unsafe")
        places.fill(0)  # where within a cell it fell tells more than the cell
        return 0

    def serves(self, values: int) -> bool:
        """Whether the compiled loop draws so many values: many of them, or any once it is there."""
        return "_loop" in self.__dict__ or worth_compiling(values)

    def _fill_compiled(self, out: NDArray[Any], words: NDArray[np.uint64], x: FloatArray) -> int:
        if self._domain.factor != 1.0:  # a power of two: the kernels compare and subtract scaled values
            x = x * self._domain.factor
        sample, arguments = self._loop
        return int(sample(words, x, out, *arguments))

    @cached_property
    def _loop(self) -> tuple[Callable[..., int], tuple[Any, ...]]:
        """The compiled loop, and what it takes beside words and values."""
        from sottovoce.core.kernels import compiled
        from sottovoce.core.kernels.arguments import arguments

        told = arguments(self._tables, self._domain, self._second)
        if not self._tables.uniform:
            return compiled.sample_general, told
        return compiled.sample_uniform if self._second is None else compiled.sample_coin, told
