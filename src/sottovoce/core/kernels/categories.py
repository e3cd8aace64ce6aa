"""Columns of texts as numbers of their categories: every different text is looked at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels.dispatch import worth_compiling

_MOST = 1024  # different ones: more are no categories


def categorised(array: NDArray[Any]) -> tuple[NDArray[np.int16], NDArray[Any]] | None:
    """The number of each value's category, and the categories in the order in which they appear.

    Texts of one width are compared by their characters. Objects are told apart by their addresses alone:
    equal texts that are two objects are two categories.

    Args:
        array: Texts or objects.

    Returns:
        Numbers in the array's shape, and objects. None for few values, without numba, for other kinds of
        arrays, or where there are too many categories.
    """
    if array.dtype.kind not in "OU" or not array.itemsize or not worth_compiling(array.size):
        return None
    from sottovoce.core.kernels import compiled_categories

    flat = np.ascontiguousarray(array).reshape(-1)
    is_text = flat.dtype.kind == "U"
    word = np.uint32 if flat.itemsize % 8 else np.uint64
    rows = flat.view(word) if is_text else np.ndarray(flat.shape, np.uintp, flat)
    numbers, first = np.empty(flat.size, np.int16), np.empty(_MOST, np.int64)
    many = compiled_categories.number_rows(rows.reshape(flat.size, -1), numbers, first)
    return None if many < 0 else (numbers.reshape(array.shape), flat[first[:many]].astype(object))


def renumbered(numbers: NDArray[Any], by: NDArray[Any]) -> NDArray[Any]:
    """Other numbers in the place of numbers.

    Args:
        numbers: Whole numbers from −1 on.
        by: What 0, 1, 2, … become.

    Returns:
        `by[numbers]`, and −1 for −1.
    """
    if numbers.itemsize > 2 or not worth_compiling(numbers.size):
        return np.append(by, by.dtype.type(-1))[numbers]
    from sottovoce.core.kernels import compiled_categories

    table = np.full(1 << 8 * numbers.itemsize, -1, by.dtype)  # every number has an entry: none is checked
    table[: by.size] = by
    out = np.empty(numbers.size, by.dtype)
    compiled_categories.renumber(
        np.ascontiguousarray(numbers).reshape(-1).view(f"u{numbers.itemsize}"), table, out
    )
    return out.reshape(numbers.shape)
