"""Sampling of explicit rows: which cell a word draws, for the row of the nearest input.

Both searches take as many steps for every value: tables are padded to a power of two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.kernels.dispatch import worth_compiling


class Prefixes(NamedTuple):
    """What the sampler looks up.

    Attributes:
        shift: How far a word is shifted: 64 minus the bits of a draw.
        borders: Where the nearest input changes, increasing.
        sums: Of every row, the draws that give a cell or one before it. A row for each side of a border.
    """

    shift: int
    borders: FloatArray
    sums: IntArray

    @classmethod
    def of(cls, rows: IntArray, borders: FloatArray) -> Prefixes:
        """The tables of rows; after the last border on a circle the first one comes again."""
        total = int(rows[0].sum())
        sums = np.cumsum(rows[np.arange(len(borders) + 1) % len(rows), :-1], axis=1)
        return cls(
            65 - total.bit_length(),
            np.pad(borders, (0, _padding(len(borders))), constant_values=np.inf),
            np.pad(sums, ((0, 0), (0, _padding(sums.shape[1]))), constant_values=total),
        )


def _padding(size: int) -> int:
    """How many entries are missing to the next power of two; at least one."""
    return (1 << size.bit_length()) - size


def fill(
    out: NDArray[Any],
    words: NDArray[np.uint64],
    t: FloatArray,
    tables: Prefixes,
    *,
    compiled: bool | None = None,
) -> None:
    """Fill `out` with the cells that `words` draw at unit coordinates; the words are used up."""
    if worth_compiling(out.size) if compiled is None else compiled:
        from sottovoce.core.kernels import compiled_rows

        compiled_rows.sample(words, t, out, *tables)
        return
    row = _steps(tables.borders[None], np.zeros(t.size, dtype=np.int64), t)
    np.right_shift(words, np.uint64(tables.shift), out=words)  # no copy: with a cell, a draw tells the row
    np.copyto(out, _steps(tables.sums, row, words.view(np.int64)), casting="unsafe")


def _steps(table: NDArray[Any], row: IntArray, number: NDArray[Any]) -> IntArray:
    """How many entries of a row are not above a number."""
    place, step = np.zeros(row.size, dtype=np.int64), table.shape[1] // 2
    while step:
        place += step * (table[row, place + (step - 1)] <= number)
        step //= 2
    return place
