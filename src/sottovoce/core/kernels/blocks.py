"""Sampling of translates: which cell a word draws, for one element of a finite group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import FloatArray, IntArray
from sottovoce.core.kernels.dispatch import worth_compiling
from sottovoce.core.kernels.tables import TWO_52, TWO_52_BITS


class Blocks(NamedTuple):
    """What the sampler looks up.

    Attributes:
        shift: How far a word is shifted: 64 minus the bits of a draw.
        first: Draws below this give a cell of the first kind, of one more than the background.
        rest: Draws below this give a cell of the background.
        one_more: How many cells are of the first kind.
        background: The draws of every other cell.
        extra: The draws that a cell has more for each element it holds.
        rows, columns: The size of the group, Z_rows × Z_columns.
        row, column: The element of each entry of a base set.
        base: The first cell of each entry's set.
        packed: On one axis: the cell that each entry gives element 0, and in its last ten bits the last
            element that does not go around.
    """

    shift: int
    first: float
    rest: float
    one_more: float
    background: float
    extra: float
    rows: int
    columns: int
    row: NDArray[np.int32]
    column: NDArray[np.int32]
    base: NDArray[np.int32]
    packed: NDArray[np.int32]


def fill(
    out: NDArray[Any],
    words: NDArray[np.uint64],
    element: IntArray,
    blocks: Blocks,
    *,
    compiled: bool | None = None,
) -> bool:
    """Fill `out` with the cells that `words` draw for these elements; the words are used up.

    Returns False if an element of a group of one axis is outside: then `out` means nothing.
    """
    if worth_compiling(out.size) if compiled is None else compiled:
        from sottovoce.core.kernels import compiled_blocks

        element = np.ascontiguousarray(element).view()
        element.flags.writeable = False  # one kind of array: each is compiled
        if blocks.rows == 1:
            return not compiled_blocks.sample_options(words, element, out, blocks)
        compiled_blocks.sample_blocks(words, element, out, blocks)
        return True
    if element.size and not (element.min() >= 0 and element.max() < blocks.rows * blocks.columns):
        return False
    np.right_shift(words, np.uint64(blocks.shift), out=words)
    np.bitwise_or(words, TWO_52_BITS, out=words)
    draw = words.view(np.float64)
    draw -= TWO_52
    # Three kinds of draws, each a division by a number of its own.
    begin = np.where(draw < blocks.first, 0.0, np.where(draw < blocks.rest, blocks.one_more, blocks.rest))
    size = np.where(
        draw < blocks.first,
        blocks.background + 1,
        np.where(draw < blocks.rest, blocks.background, blocks.extra),
    )
    in_set = draw >= blocks.rest
    draw -= begin
    place = divided(draw, size)
    entry = np.where(in_set, place, 0.0).astype(np.int64)
    row, column = np.divmod(element, blocks.columns)
    row = row + blocks.row[entry]
    row -= blocks.rows * (row >= blocks.rows)
    column = column + blocks.column[entry]
    column -= blocks.columns * (column >= blocks.columns)
    cell = blocks.base[entry] + row * blocks.columns + column
    np.copyto(out, np.where(in_set, cell, place), casting="unsafe")
    for array in (draw, place, entry, cell):
        array.fill(0)  # where within a cell a draw fell tells more than the cell
    return True


def divided(number: FloatArray, by: FloatArray) -> FloatArray:
    """⌊number / by⌋ of whole doubles below 2^53, exactly.

    The quotient of doubles is right to one rounding, so its floor is right or one too large.
    """
    quotient = np.floor(number / by)
    quotient -= quotient * by > number
    return quotient
