"""Choosing between the plain and the compiled kernels."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache, cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.domains import Domain
from sottovoce.core.kernels import plain
from sottovoce.core.kernels.tables import FloatArray, Tables

#: Fewer values than this do not load numba, which takes half a second: numpy, which is there, draws them. The
#: choice depends on how many values there are and on which loops there are already, on nothing else.
_WORTH_COMPILING = 2048
#: Products of an operator that numpy forms before numba is loaded for them: what they take more is less.
_PRODUCTS = 4096
_products = count()


@cache
def compiled_available() -> bool:
    """Whether numba is installed (and not switched off by SOTTOVOCE_PLAIN=1)."""
    from importlib.util import find_spec

    return os.environ.get("SOTTOVOCE_PLAIN") != "1" and find_spec("numba") is not None


def worth_compiling(values: int) -> bool:
    """Whether compiled kernels serve so many values."""
    return values >= _WORTH_COMPILING and compiled_available()


def products_compiled() -> bool:
    """Whether compiled kernels serve the next product: once numba is loaded, or after many products."""
    return compiled_available() and ("numba" in sys.modules or next(_products) >= _PRODUCTS)


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
