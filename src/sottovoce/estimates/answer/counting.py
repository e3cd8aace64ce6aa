"""Cells and counts in whatever form they come, as one whole number per cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import IntArray
from sottovoce.errors import ArgumentTypeError, DataError, MissingExtra, whole_number
from sottovoce.reporters.contract import Reporter, as_reporter
from sottovoce.values.checked_arrays import as_cells, one_column

MOST = 1 << 53  # reports in one tally: every sum of counts is then an exact integer in any engine
TOO_MANY = "counts must add up to at most 2^53"


def counts_of(reporter: Reporter, batches: Iterable[tuple[ArrayLike, ArrayLike | None]]) -> IntArray:
    """One count for every cell, from batches of reports, or of cells and how often each occurred."""
    counts = np.zeros(as_reporter(reporter, "reporter").cells, dtype=np.int64)
    for cells, amounts in batches:
        if amounts is None:
            _count_reports(counts, cells, reporter)
            continue
        places, times = as_cells(cells, counts.size), whole_counts(amounts)
        if places.ndim != 1 or places.shape != times.shape:
            shapes = f"{places.shape} and {times.shape}"
            raise DataError(f"cells and counts must be lists of equal length, got shapes {shapes}")
        np.add.at(counts, places, times)
        if counts.sum() > MOST:  # before it can wrap around
            raise DataError(TOO_MANY)
    return counts


def _count_reports(counts: IntArray, cells: ArrayLike, reporter: Reporter) -> None:
    """Count reports, in place."""
    given = _without_nulls(cells, "cells")
    plain = isinstance(given, np.ndarray) and given.dtype.kind in "iu" and given.ndim == reporter.width == 1
    many = plain and given.size * 8 >= counts.size
    if many and (more := counted(given, counts.size)) is not None:
        counts += more
        return
    flat = reporter.checked(given).reshape(-1)  # says what is wrong
    if flat.size * 8 < counts.size:
        np.add.at(counts, flat, 1)
    else:
        counts += np.bincount(flat, minlength=counts.size)


def counted(cells: NDArray[Any], size: int) -> IntArray | None:
    """How often each of `size` cells occurs in a row of integers; None if one is no cell."""
    if cells.size and not (cells.min() >= 0 and cells.max() < size):
        return None
    return np.bincount(cells.astype(np.int64, copy=False), minlength=size)


def whole_counts(counts: ArrayLike) -> IntArray:
    """Whole numbers from 0 to 2^53 that add up to hardly more (PostgreSQL returns a SUM as Decimal)."""
    array = np.asarray(one_column(counts, "counts"))
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "O":
        try:
            whole = [int(c) if isinstance(c, Decimal) and c == int(c) else c for c in array.reshape(-1)]
            array = np.array([whole_number(c, "counts", 0, MOST) for c in whole]).reshape(array.shape)
        except (TypeError, ValueError, OverflowError):
            raise DataError("counts must be whole numbers from 0 to 2^53") from None
    if array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"counts must be whole numbers, got {array.dtype}", argument="counts")
    wrong = (array < 0) | (array > MOST)
    if wrong.any():
        first = int(np.argmax(wrong.reshape(-1)))
        raise DataError(
            f"counts must lie between 0 and 2^53: {int(wrong.sum())} of {array.size} do not, "
            f"the first at index {first}"
        )
    if array.sum(dtype=np.float64) > 2.0 * MOST:  # as integers the sum could wrap around
        raise DataError(TOO_MANY)
    return array.astype(np.int64)


def arrow_columns(data: object, cell: str, count: str | None) -> Iterator[tuple[Any, Any]]:
    """Batches of cells, with their counts where there is a column of them."""
    for batch in _arrow_batches(data):
        _validate(batch)
        columns = getattr(batch, "schema", None)
        if columns is None:
            yield _without_nulls(batch, "cells"), None
            continue
        missing = [name for name in (cell, count) if name is not None and name not in columns.names]
        if missing:
            raise DataError(f"there is no column {missing[0]!r}; columns are {columns.names}")
        if max(map(columns.names.count, {cell, count or cell})) > 1:
            raise DataError("there are several columns of one name: which one is meant cannot be said")
        counts = None if count is None else _without_nulls(batch.column(count), count)
        yield _without_nulls(batch.column(cell), cell), counts


def _validate(batch: Any) -> None:
    """Before a byte of it is used: it may be a stranger's."""
    try:
        batch.validate(full=True)
    except (ValueError, OSError):
        raise DataError("data must be valid Arrow data", code="invalid", argument="data") from None


def _without_nulls(column: Any, name: str) -> Any:
    """A column of another library as numpy; lists and arrays as they came."""
    if isinstance(column, np.ndarray) or not hasattr(column := one_column(column, name), "__array__"):
        return column
    array: Any = np.asarray(column)
    nulls = np.isnan(array) if array.dtype.kind == "f" else array == np.array(None)
    if nulls.any():
        raise DataError(f"{name} must not be null: {np.count_nonzero(nulls)} of {len(array)} are")
    return array


def _arrow_batches(data: Any) -> Any:
    """Record batches (or plain arrays) of whatever speaks Arrow."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("reading Arrow data", "files") from None
    if isinstance(data, pa.Array | pa.RecordBatch):
        return [data]
    if isinstance(data, pa.ChunkedArray):
        return data.iterchunks()
    if isinstance(data, pa.RecordBatchReader):
        return data
    if hasattr(data, "__arrow_c_stream__"):
        try:
            return pa.RecordBatchReader.from_stream(data)
        except Exception:  # of whatever library gives it, whose reason may quote a value
            pass
    raise ArgumentTypeError(f"data must be Arrow data, got {type(data).__name__}", argument="data")
