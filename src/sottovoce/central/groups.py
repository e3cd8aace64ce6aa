"""Public group keys, declared by the caller: what is released depends on the data only through noise.

A key that occurs only in the data is never released, and a declared key without data gets an answer like
any other. Each person is in one group, so all groups together cost one ε (parallel composition).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.central.thresholds import IntArray

Codes = NDArray[np.int64]


def _plain(key: Any) -> Any:
    """A numpy or Arrow scalar as the Python value it holds, so that it equals the keys of any table."""
    if type(key).__module__.partition(".")[0] == "pyarrow":
        return key.as_py()
    return key.item() if isinstance(key, np.generic) else key


class Keys:
    """Declared keys in their order; rows become codes 0 … G−1, and G for a key nobody declared.

    >>> Keys(["a", "b"]).codes(np.array(["b", "x", "a"], dtype=object)).tolist()
    [1, 2, 0]
    """

    def __init__(self, groups: Iterable[Any]) -> None:
        if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
            raise TypeError(f"groups must be a sequence of keys, got groups={groups!r}")
        array = np.asarray(groups) if isinstance(groups, range | np.ndarray) else None
        if array is not None and array.ndim != 1:
            raise ValueError(f"groups must be one-dimensional, got shape={array.shape}")
        whole = array is not None and array.dtype.kind in "iu"
        self.keys: tuple[Any, ...] = tuple(map(_plain, groups) if array is None else array.tolist())
        if not self.keys:
            raise ValueError("groups must name at least one key, got none")
        kinds = {int} if whole else {type(key) for key in self.keys}
        if any(key is None or key != key for key in (() if whole else self.keys)):
            raise ValueError("groups must not contain a missing key (None or NaN)")
        if len(kinds) > 1:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(f"groups must be of one type, got {names}")
        if len(set(self.keys)) != len(self.keys):
            raise ValueError("groups must be distinct: a key occurs twice")
        self._kind: type = kinds.pop()
        self._table = self._dense_table() if self._kind is int else None

    @cached_property
    def _consecutive(self) -> bool:
        """Whether the keys are whole numbers in order without a gap: then a code is a difference."""
        return self.keys == tuple(range(self.keys[0], self.keys[0] + len(self.keys)))

    @cached_property
    def _index(self) -> dict[Any, int]:
        return {key: code for code, key in enumerate(self.keys)}

    def __len__(self) -> int:
        return len(self.keys)

    def position(self, key: Any) -> int:
        """Where a key was declared."""
        if key not in self._index:
            raise KeyError(f"{key!r} is not among the declared groups")
        return self._index[key]

    def _dense_table(self) -> tuple[int, IntArray] | None:
        """Codes by key, when the keys are integers close together."""
        least, most = min(self.keys), max(self.keys)
        if most - least > 16 * len(self.keys) + (1 << 16) or max(-least, most) >= 1 << 62:
            return None
        table = np.full(most - least + 3, len(self.keys), dtype=np.int64)
        table[np.array(self.keys, dtype=np.int64) - least + 1] = np.arange(len(self.keys))
        return least, table

    def _dense_codes(self, keys: NDArray[Any], least: int, table: IntArray) -> Codes:
        """Look codes up; a key beyond either end meets an entry that says: not declared."""
        most = least + table.size - 3  # below 2^62
        keys = (np.minimum(keys, np.uint64(1 << 62)) if keys.dtype == np.uint64 else keys).astype(
            np.int64, copy=False
        )
        if keys.size and not (keys.min() >= least and keys.max() <= most):
            keys = np.where(keys < least, least - 1, np.where(keys > most, most + 1, keys))
        elif self._consecutive:
            return keys - least
        return table[keys - (least - 1)]

    def codes(self, keys: Any) -> Codes:
        """The code of every row."""
        module = type(keys).__module__.partition(".")[0]
        if module == "polars":
            keys, module = keys.to_arrow(), "pyarrow"
        if module == "pyarrow":
            return self._arrow_codes(keys)
        if module == "pandas":
            return self._pandas_codes(keys)
        array = np.asarray(keys)
        if array.ndim != 1:
            raise ValueError(f"by must be one-dimensional, one key per person, got shape={array.shape}")
        self._check_kind(array.dtype)
        if self._table is not None and array.dtype.kind in "iu":
            return self._dense_codes(array, *self._table)
        other = len(self.keys)
        return np.fromiter((self._index.get(key, other) for key in array.tolist()), np.int64, array.size)

    def _arrow_codes(self, keys: Any) -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_integer(keys.type) and self._kind is int:
            # Not by Arrow, which refuses a declared key that the rows' type cannot hold.
            if not keys.null_count:
                return self.codes(keys.to_numpy())
            found = self.codes(pc.fill_null(keys, 0).to_numpy())
            return np.where(keys.is_null(), len(self.keys), found)
        if pa.types.is_dictionary(keys.type):
            keys = keys.cast(keys.type.value_type)
        if pa.types.is_string_view(keys.type):  # polars' text, which Arrow's functions do not all take
            keys = keys.cast(pa.string())
        try:
            declared = pa.array(self.keys, type=keys.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            self._mismatch(keys.type)
        found = pc.fill_null(pc.index_in(keys, value_set=declared), len(self.keys))
        return np.asarray(found).astype(np.int64)

    def _pandas_codes(self, keys: Any) -> Codes:
        import pandas as pd

        if isinstance(keys.dtype, pd.CategoricalDtype):
            by_category = np.append(self._pandas_codes(keys.cat.categories), len(self.keys))
            return by_category[keys.cat.codes.to_numpy()]
        if keys.dtype.kind in "iu":
            return self.codes(keys.to_numpy())
        self._check_kind(keys.dtype)
        found = pd.Index(self.keys).get_indexer(pd.Index(keys))
        return np.where(found < 0, len(self.keys), found).astype(np.int64)

    def _check_kind(self, dtype: Any) -> None:
        """Numbers never equal text: such a mistake would look like a release of empty groups."""
        kind = getattr(dtype, "kind", "O")
        if (self._kind is str and kind in "iufb") or (self._kind in (int, float, bool) and kind in "US"):
            self._mismatch(dtype)

    def _mismatch(self, found: Any) -> None:
        raise TypeError(f"groups are of type {self._kind.__name__} but the rows' keys are {found}")


def parse_keys(texts: Sequence[str], kind: Any) -> list[Any]:
    """Keys given as text, as values of an Arrow type."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        keys: list[Any] = pa.array(texts, pa.string()).cast(kind).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TypeError(f"the keys of the data are {kind}, which not all declared groups are") from None
    return keys
