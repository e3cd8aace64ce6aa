"""Choosing between the loops of numpy and those of numba, which give the same cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce import compiling
from sottovoce.arrays import FloatArray, IntArray
from sottovoce.reporters.sampling import numpy_loops
from sottovoce.reporters.sampling.tables import CoinBits, RowTables, SetTables, Tables, Units
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sampler:
    """The sampling loop of one window mechanism: words and values in, cells out.

    With a second part, which only the compiled loop knows, that of a mixture of two whose tables are lines:
    a coin in the bits below a draw names the part.
    """

    def __init__(self, tables: Tables, domain: Domain, second: tuple[Tables, CoinBits] | None = None) -> None:
        self._tables, self._domain, self._second = tables, domain, second

    def fill(
        self, out: NDArray[Any], words: NDArray[np.uint64], x: FloatArray, *, compiled: bool | None = None
    ) -> int:
        """Fill `out` with the cells that `words` draw at `x`; returns how many values are not in the domain.

        When that number is not zero the content of `out` means nothing. The words are used up.
        """
        fast = compiling.compiled(x.size) if compiled is None else compiled
        if fast and not self._domain.is_log:
            return self._fill_compiled(out, words, x)
        if not (x.min() >= self._domain.low and x.max() <= self._domain.high):
            return x.size - int(np.count_nonzero(self._domain.contains(x)))
        if fast:
            return self._fill_compiled(out, words, self._domain.line(x))
        places = numpy_loops.sample(self._tables, words, self._domain.to_unit(x))
        np.copyto(out, places, casting="unsafe")
        places.fill(0)  # where within a cell it fell tells more than the cell
        return 0

    def _fill_compiled(self, out: NDArray[Any], words: NDArray[np.uint64], x: FloatArray) -> int:
        from sottovoce.reporters.sampling import numba_loops

        if self._domain.factor != 1.0:  # a power of two: the loops compare and subtract scaled values
            x = x * self._domain.factor
        x, units, line = _read_only(x), Units.of(self._domain), self._tables.line
        if line is None:
            return int(numba_loops.general(words, x, out, units, self._tables))
        if self._second is None:
            return int(numba_loops.uniform(words, x, out, units, line))
        other, toss = self._second
        return int(numba_loops.coin(words, x, out, units, line, other.line, toss))


def fill_rows(
    out: NDArray[Any],
    words: NDArray[np.uint64],
    t: FloatArray,
    tables: RowTables,
    *,
    compiled: bool | None = None,
) -> None:
    """Fill `out` with the cells that `words` draw at unit coordinates; the words are used up."""
    if compiling.compiled(out.size) if compiled is None else compiled:
        from sottovoce.reporters.sampling import numba_loops

        numba_loops.rows(words, _read_only(t), out, tables)
    else:
        numpy_loops.rows(words, t, out, tables)


def fill_translates(
    out: NDArray[Any],
    words: NDArray[np.uint64],
    element: IntArray,
    sets: SetTables,
    *,
    compiled: bool | None = None,
) -> int:
    """Fill `out` with the cells that `words` draw; returns how many elements are outside the group.

    When that number is not zero the content of `out` means nothing. The words are used up.
    """
    if compiling.compiled(out.size) if compiled is None else compiled:
        from sottovoce.reporters.sampling import numba_loops

        whole = np.ascontiguousarray(element, dtype=np.int64)
        return int(numba_loops.translates(words, _read_only(whole), out, sets))
    return numpy_loops.translates(words, element, out, sets)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """One kind of array, whatever people pass: each kind is compiled."""
    array = array.view()
    array.flags.writeable = False
    return array
