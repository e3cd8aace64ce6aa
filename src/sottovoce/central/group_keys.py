"""Public group keys, declared by the caller: what is released depends on the data only through noise.

A key that occurs only in the data is never released, and a declared key without data gets an answer like
any other. Each person is in one group, so all groups together cost one ε (parallel composition).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ArgumentError, ArgumentTypeError, UnknownKey
from sottovoce.values.checked_arrays import from_arrow, one_column

Codes = NDArray[np.int64]
_FAR = 1 << 62  # integer keys beyond this are looked up one by one


class Keys:
    """Declared keys in their order. Rows become codes 0 … G−1, and G for a key that nobody declared.

    Args:
        groups: The keys: distinct, of one type, none of them missing.

    Raises:
        ArgumentError: If there are none, one is missing, or one occurs twice.
        ArgumentTypeError: If they are no sequence, or of several types.

    Example:
        >>> Keys(["a", "b"]).codes(np.array(["b", "x", "a"], dtype=object)).tolist()
        [1, 2, 0]
    """

    def __init__(self, groups: Iterable[Hashable]) -> None:
        self.keys, self._kind = _declared(groups)
        self._table = _Table.of(self.keys) if self._kind is int else None

    def __len__(self) -> int:
        return len(self.keys)

    def __reduce__(self) -> tuple[Any, ...]:
        return Keys, (self.keys,)

    @cached_property
    def _positions(self) -> dict[Any, int]:
        return {key: position for position, key in enumerate(self.keys)}

    def position(self, key: Hashable) -> int:
        """Where a key was declared.

        Raises:
            KeyError: If it was not.
        """
        if key not in self._positions:
            raise UnknownKey(f"{key!r} is not among the declared groups", argument="key")
        return self._positions[key]

    def codes(self, rows: Any) -> Codes:
        """The code of every row.

        Args:
            rows: One key per row: an array, a list, or a column of pandas, polars or Arrow.

        Raises:
            ArgumentTypeError: If the rows' keys could never equal the declared ones, as text and numbers.
        """
        match type(rows).__module__.partition(".")[0]:
            case "polars":
                return self._arrow_codes(rows.to_arrow())
            case "pyarrow":
                return self._arrow_codes(rows)
            case "pandas":
                return self._pandas_codes(rows)
        array = np.asarray(one_column(rows, "by"))
        if array.ndim != 1:
            raise ArgumentError(
                f"by must be one-dimensional, one key per person, got shape={array.shape}",
                code="shape",
                argument="by",
            )
        self._check_kind(array.dtype.kind, array.dtype)
        if self._table is not None and array.dtype.kind in "iu":
            return self._table.codes(array)
        return self._one_by_one(array.tolist())

    def _one_by_one(self, keys: list[Any]) -> Codes:
        other = len(self.keys)
        return np.fromiter((self._positions.get(key, other) for key in keys), np.int64, len(keys))

    def _at(self, places: NDArray[Any], categories: Any) -> Codes:
        """Codes of rows that are given as places among categories, −1 for a missing one."""
        return np.append(self.codes(categories), len(self.keys))[places]

    def _pandas_codes(self, rows: Any) -> Codes:
        import pandas as pd

        if rows.dtype.kind in "iu" and isinstance(rows.dtype, np.dtype):
            return self.codes(rows.to_numpy())
        if isinstance(rows.dtype, pd.CategoricalDtype):
            return self._at(rows.cat.codes.to_numpy(), rows.cat.categories)
        text = isinstance(rows.dtype, pd.StringDtype)
        self._check_kind("U" if text else rows.dtype.kind, rows.dtype)
        places = pd.Index(self.keys).get_indexer(pd.Index(rows))
        return np.where(places < 0, len(self.keys), places)

    def _arrow_codes(self, rows: Any) -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(rows, pa.ChunkedArray):
            rows = rows.combine_chunks()
        if pa.types.is_integer(rows.type):
            codes = self.codes(from_arrow(pc.fill_null(rows, 0)))
            return np.where(rows.is_null(), len(self.keys), codes) if rows.null_count else codes
        if pa.types.is_string_view(rows.type):  # polars' text, which Arrow does not encode
            rows = rows.cast(pa.string())
        if pa.types.is_dictionary(rows.type):
            places = from_arrow(pc.fill_null(rows.indices.cast(pa.int64()), -1))
            return self._at(places, rows.dictionary)
        try:
            declared = pa.array(self.keys, type=rows.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise self._mismatch(rows.type) from None
        places = pc.index_in(rows, value_set=declared)
        return from_arrow(pc.fill_null(places, len(self.keys))).astype(np.int64)

    def _check_kind(self, kind: str, dtype: object) -> None:
        """Numbers never equal text: such a mistake would look like a release of empty groups.

        Decided by the type of the column, never by what is in it.
        """
        text, numbers = self._kind is str, self._kind in (int, float, bool)
        if (text and kind in "iufb") or (numbers and kind in "US"):
            raise self._mismatch(dtype)

    def _mismatch(self, dtype: object) -> ArgumentTypeError:
        return ArgumentTypeError(
            f"groups are of type {self._kind.__name__} but the rows' keys are {dtype}", argument="groups"
        )


def _declared(groups: Iterable[Hashable]) -> tuple[tuple[Any, ...], type]:
    """The keys as plain Python values, and their type."""
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise ArgumentTypeError(
            f"groups must be a sequence of keys, got groups={groups!r}", argument="groups"
        )
    if isinstance(groups, np.ndarray) and groups.ndim != 1:
        raise ArgumentError(
            f"groups must be one-dimensional, got shape={groups.shape}", code="shape", argument="groups"
        )
    keys = tuple(groups) if isinstance(groups, range) else tuple(map(_plain, groups))
    if not keys:
        raise ArgumentError("groups must name at least one key, got none", code="empty", argument="groups")
    kinds = {type(key) for key in keys}
    if any(key is None or key != key for key in keys):
        raise ArgumentError("groups must not contain a missing key (None or NaN)", argument="groups")
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ArgumentTypeError(f"groups must be of one type, got {names}", argument="groups")
    if len(set(keys)) != len(keys):
        raise ArgumentError("groups must be distinct: a key occurs twice", code="repeated", argument="groups")
    return keys, kinds.pop()


def _plain(key: Any) -> Any:
    """A numpy or Arrow scalar as the Python value it holds, so that it equals the keys of any table."""
    if type(key).__module__.partition(".")[0] == "pyarrow":
        return key.as_py()
    return key.item() if isinstance(key, np.generic) else key


@dataclass(frozen=True)
class _Table:
    """Codes of integers that lie close together, by look-up.

    Attributes:
        least: The smallest key.
        entries: Codes of least − 1, least, … and one more than the largest: both ends say "not declared".
        consecutive: Whether the keys are least, least + 1, … in this order: then a code is a difference.
    """

    least: int
    entries: Codes
    consecutive: bool

    @staticmethod
    def of(keys: tuple[int, ...]) -> _Table | None:
        """The table, unless the keys lie too far apart for one."""
        least, most = min(keys), max(keys)
        if most - least > 16 * len(keys) + (1 << 16) or max(-least, most) >= _FAR:
            return None
        entries = np.full(most - least + 3, len(keys), dtype=np.int64)
        entries[np.array(keys, dtype=np.int64) - least + 1] = np.arange(len(keys))
        return _Table(least, entries, keys == tuple(range(least, least + len(keys))))

    def codes(self, rows: NDArray[Any]) -> Codes:
        """The code of every integer."""
        if rows.dtype == np.uint64:
            rows = np.minimum(rows, np.uint64(_FAR))
        rows, most = rows.astype(np.int64, copy=False), self.least + self.entries.size - 3
        if rows.size and not (rows.min() >= self.least and rows.max() <= most):
            rows = np.clip(rows, self.least - 1, most + 1)
        elif self.consecutive:
            return rows - self.least
        return self.entries[rows - (self.least - 1)]
