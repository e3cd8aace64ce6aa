"""Columns between Arrow and numpy: people's values on the way in, the cells of reports on the way out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentTypeError, DataError
from sottovoce.values.checked_arrays import from_arrow
from sottovoce.values.options import Options
from sottovoce.values.space import Space

Mask = NDArray[np.bool_]


# -- values -------------------------------------------------------------------------------------------------


def check_type(kind: pa.DataType, column: str, domain: Space) -> None:
    """Refuse a column that does not hold numbers, lists of them for positions, or texts for options."""
    if isinstance(domain, Options):
        element = kind.value_type if pa.types.is_dictionary(kind) else kind
        texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_null)
        truths = domain.takes_truths and pa.types.is_boolean(element)
        if not (truths or any(is_kind(element) for is_kind in texts)):
            raise ArgumentTypeError(
                f"column {column!r} must be texts or whole numbers, got {kind}", argument="mechanisms"
            )
        return
    rule, element = "numeric", kind
    if domain.shape:
        rule, element = f"lists of {domain.shape[0]} numbers", kind.value_type if is_list(kind) else None
    # A column without a single value has Arrow's null type, and is numeric as much as anything else.
    kinds = [pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null]
    kinds += [] if domain.shape else [pa.types.is_boolean]
    if element is None or not any(is_kind(element) for is_kind in kinds):
        raise ArgumentTypeError(f"column {column!r} must be {rule}, got {kind}", argument="mechanisms")


def value_type(domain: Space) -> pa.DataType:
    """What a column of a text file is read as."""
    return pa.string() if isinstance(domain, Options) else pa.float64()


def read_values(batch: pa.RecordBatch, column: str, domain: Space) -> FloatArray:
    """A column of numbers or positions as numpy, NaN where it is null."""
    array = batch.column(column)
    check_type(array.type, column, domain)
    if isinstance(domain, Options):
        return _places(array, domain)
    if not domain.shape:
        return from_arrow(array.cast(pa.uint8()) if pa.types.is_boolean(array.type) else array)
    (size,) = domain.shape
    check_sizes(array, size, f"column {column!r}")
    return np.stack([from_arrow(pc.list_element(array, i)) for i in range(size)], axis=-1)


def _places(array: pa.Array, options: Options) -> FloatArray:
    """Choices as places in the list: every different text is looked up once."""
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    places = np.append(options.numbers(array.dictionary.to_pylist(), "values"), np.nan)
    return places[from_arrow(array.indices.fill_null(len(places) - 1))]


# -- reports ------------------------------------------------------------------------------------------------


def cells_array(cells: NDArray[Any], mask: Mask | None) -> pa.Array:
    """Reports as an Arrow array, of lists where one is several cells; null under the mask."""
    if cells.ndim == 1 or cells.shape[1] == 1:
        return to_arrow(cells.reshape(-1), mask)
    nulls = None if mask is None else to_arrow(mask)
    return pa.FixedSizeListArray.from_arrays(to_arrow(cells.reshape(-1)), cells.shape[1], mask=nulls)


def to_arrow(numbers: NDArray[Any], mask: Mask | None = None) -> pa.Array:
    """Numbers or truth values as an Arrow array, null under the mask; `pa.array` would load pandas."""

    def bits(which: Mask) -> pa.Buffer:
        return pa.py_buffer(np.packbits(which, bitorder="little"))

    valid = None if mask is None else bits(~mask)
    if numbers.dtype == bool:
        return pa.Array.from_buffers(pa.bool_(), numbers.size, [valid, bits(numbers)])
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, numbers.size, [valid, pa.py_buffer(np.ascontiguousarray(numbers))])


# -- lists --------------------------------------------------------------------------------------------------


def is_list(kind: pa.DataType) -> bool:
    """Whether it is a type of lists, of one size or of any."""
    return pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)


def check_sizes(lists: pa.Array, size: int, where: str) -> None:
    """Refuse lists of another size; nulls are none."""
    lengths = from_arrow(pc.list_value_length(lists).drop_null())
    if wrong := int(np.count_nonzero(lengths != size)):
        raise DataError(f"{where} must hold lists of {size}: {wrong} of {len(lists)} have another length")


# -- texts -------------------------------------------------------------------------------------------------


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Text as offsets and bytes: most of Arrow's functions do not take the views that polars uses."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, plain_type(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else kind


def without_views(array: pa.Array) -> pa.Array:
    """The same values in the plain type of their kind."""
    plain = plain_type(array.type)
    if plain == array.type:
        return array
    if pa.types.is_dictionary(plain):
        words = array.dictionary.cast(plain.value_type)
        return pa.DictionaryArray.from_arrays(array.indices, words, ordered=plain.ordered)
    return array.cast(plain)
