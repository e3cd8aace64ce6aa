"""Arrays that come from outside, judged once: numbers to randomise, cells to decode or count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.domains import Domain
from sottovoce.errors import DataError
from sottovoce.kernels.tables import FloatArray, IntArray

_BLOCK = 1 << 16


def as_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Real numbers of any shape, not copied when they are an array already."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array: decide first what a masked value means")
    try:
        array = np.asarray(values)
    except ValueError:
        raise TypeError(f"{name} must be numbers of a regular shape, got a ragged sequence") from None
    if array.size == 0 and array.dtype == object:
        array = array.astype(np.float64)
    if array.dtype.kind not in "iuf":
        kind = {"c": "complex numbers", "b": "booleans", "O": "objects", "U": "text", "S": "bytes"}
        raise TypeError(f"{name} must be real numbers, got {kind.get(array.dtype.kind, str(array.dtype))}")
    return array


def count_outside(flat: NDArray[Any], allowed: Callable[[FloatArray], NDArray[np.bool_]]) -> tuple[int, int]:
    """How many values are not allowed, and the index of the first (−1 if none)."""
    count, first = 0, -1
    for begin in range(0, flat.size, _BLOCK):
        wrong = ~allowed(flat[begin : begin + _BLOCK].astype(np.float64, copy=False))
        found = int(np.count_nonzero(wrong))
        if found and first < 0:
            first = begin + int(np.argmax(wrong))
        count += found
    return count, first


def in_domain(values: ArrayLike, domain: Domain, name: str) -> FloatArray:
    """Numbers of any shape that all lie in the domain."""
    array = np.asarray(as_numbers(values, name), dtype=np.float64)
    outside, first = count_outside(array.reshape(-1), domain.contains)
    if outside:
        raise DataError(
            f"{name} must lie in the domain: {outside} of {array.size} do not, the first at index {first}"
        )
    return array


def as_cells(cells: ArrayLike, limit: int) -> IntArray:
    """Integer cells 0 … limit−1 of any shape."""
    array = np.asarray(cells)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"cells must be integers, got {array.dtype}")
    wrong = (array < 0) | (array >= limit)
    if wrong.any():
        first = int(np.argmax(wrong.reshape(-1)))
        found = f"{int(wrong.sum())} of {array.size} do not, the first at index {first}"
        raise DataError(f"cells must lie in 0..{limit - 1}: {found}")
    return array.astype(np.int64, copy=False)
