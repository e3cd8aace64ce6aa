"""Arrays that come from outside, judged once: numbers to randomise, cells to decode or count, words."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, MissingExtra

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sottovoce.arrays import FloatArray, IntArray, Words
    from sottovoce.values.domain import Domain

_BLOCK = 1 << 16
_ARROW_NUMBERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"}


def number_or_nan(value: object, name: str = "value") -> float:
    """A person's number, NaN where it is missing (None), infinite where it is beyond doubles.

    Never an error because of what the number is: that would tell. What is no number at all is an error of
    the program, and only its type is named.
    """
    if value is None:
        return math.nan
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ArgumentTypeError(f"{name} must be a number or None, got {type(value).__name__}", argument=name)
    try:
        return float(value)
    except OverflowError:
        return math.inf


def numbers_or_nan(values: object, name: str) -> FloatArray:
    """The same for many, of any shape."""
    array = _regular(values, name)
    if array.dtype == object:
        truths = bool, np.bool_
        numbers = [
            float(value) if isinstance(value, truths) else number_or_nan(value, name)
            for value in array.reshape(-1).tolist()
        ]
        return np.array(numbers, dtype=np.float64).reshape(array.shape)
    return np.asarray(as_numbers(array, name), dtype=np.float64)


def as_numbers(values: ArrayLike, name: str) -> NDArray[Any]:
    """Real numbers of any shape, not copied when they are an array already; truth values are 0 and 1."""
    array = _regular(values, name)
    if array.size == 0 and array.dtype == object:
        array = array.astype(np.float64)
    if array.dtype == object and bool in map(type, array.reshape(-1).tolist()):  # a column with nulls
        return numbers_or_nan(array, name)
    if array.dtype.kind not in "iufb":
        kind = {"c": "complex numbers", "O": "objects", "U": "text", "S": "bytes"}
        raise ArgumentTypeError(
            f"{name} must be real numbers, got {kind.get(array.dtype.kind, str(array.dtype))}", argument=name
        )
    return array


def from_arrow(array: Any) -> NDArray[Any]:
    """The numbers of an Arrow array, NaN where they are null; not copied if they need not be.

    What pyarrow itself does loads pandas if that is installed, which takes longer than most work on a file.
    """
    array = array.combine_chunks() if hasattr(array, "chunks") else array
    if str(array.type).startswith(("decimal", "null")):  # a column without a single value has the latter
        array = array.cast("float64")
    if str(array.type) not in _ARROW_NUMBERS:
        return np.asarray(array.to_numpy(zero_copy_only=False))
    if array.null_count:
        array = array.cast("float64", safe=False).fill_null(math.nan)
    numbers = np.from_dlpack(array)
    numbers.flags.writeable = False
    return numbers


def one_column(values: Any, name: str) -> Any:
    """A column of another library as numpy reads it, its nulls None or NaN; anything else as it came.

    What has no array of its own, such as a relation of DuckDB, gives its only column as an Arrow stream.
    """
    if isinstance(values, np.ndarray):
        return values
    kind = getattr(values, "dtype", getattr(values, "type", None))
    if str(kind).lower().startswith("decimal"):  # of Arrow, polars or pandas: numpy has no such numbers
        return np.asarray(values, dtype=np.float64)
    letter = getattr(kind, "kind", "") if hasattr(kind, "na_value") else "-"
    nulls = letter == "b" and values.isna().any()
    if (letter in "OU" or nulls) and not hasattr(kind, "categories"):
        return values.to_numpy(dtype=object, na_value=None)  # pandas' NA is no value that others know
    if hasattr(values, "__array__") or not hasattr(values, "__arrow_c_stream__"):
        return values
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("reading Arrow data", "files") from None
    try:
        table = pa.table(values)
    except Exception:  # of whatever library gives it, whose reason may quote a value
        table = pa.table({})
    if table.num_columns != 1:
        raise ArgumentTypeError(f"{name} must be one column, got a table", argument=name)
    return from_arrow(table.column(0))


def _regular(values: object, name: str) -> NDArray[Any]:
    """An array, not copied when it is one already; not one with holes."""
    # Looking at `np.ma` loads it; while it is not, nobody can have made a masked array.
    if "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray):
        raise ArgumentTypeError(
            f"{name} must not be a masked array: decide first what a masked value means", argument=name
        )
    try:
        return np.asarray(one_column(values, name))
    except ValueError:
        raise ArgumentTypeError(
            f"{name} must be numbers of a regular shape, got a ragged sequence", argument=name
        ) from None


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
    array = _regular(cells, "cells")
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"cells must be integers, got {array.dtype}", argument="cells")
    wrong = (array < 0) | (array >= limit)
    if wrong.any():
        first = int(np.argmax(wrong.reshape(-1)))
        found = f"{int(wrong.sum())} of {array.size} do not, the first at index {first}"
        raise DataError(f"cells must lie in 0..{limit - 1}: {found}")
    return array.astype(np.int64, copy=False)


def as_words(words: NDArray[np.uint64], count: int) -> Words:
    """A copy of given words, one for each of `count` draws: a loop reads so many without looking."""
    array = np.asarray(words)
    if array.dtype != np.uint64:
        raise ArgumentTypeError(
            f"words must be unsigned 64-bit integers, got {array.dtype}", argument="words"
        )
    if array.size != count:
        raise ArgumentError(
            f"words must be one for each value, got {array.size} for {count}", argument="words"
        )
    return np.array(array.reshape(-1), dtype="<u8")
