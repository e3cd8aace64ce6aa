"""Data to integers: the number of people and the sum of their positions, per declared group or once.

Totals are Python integers for a single release. For groups they are int64 while that is certain to hold
them, and Python integers beyond.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.central.grid import Grid, Wrong, chunks_of
from sottovoce.central.group_keys import Keys
from sottovoce.central.noise.exact_draws import Integers
from sottovoce.errors import ArgumentError, ArgumentTypeError

EVERYBODY = Keys(["everybody"])
_ROWS = 1 << 20  # 2^20 positions of at most 2^32 add up exactly in doubles


@dataclass(frozen=True)
class Totals:
    """(n, Σ j) of every group in the keys' order, or of everybody as one group."""

    people: Integers
    positions: Integers
    keys: Keys = EVERYBODY

    @property
    def grouped(self) -> bool:
        return self.keys is not EVERYBODY

    def fit_for(self, reach: int, epsilon: float) -> Totals:
        """The same in Python integers, if numbers of size `reach` per person and noise may pass 64 bits."""
        if self.people.dtype == object or reach * (int(self.people.sum()) + 64 / epsilon) < 1 << 62:
            return self
        return Totals(self.people.astype(object), self.positions.astype(object), self.keys)


#: Numbers (an array, a column of pandas, polars or Arrow, an iterator of such), a table that holds them, or
#: what was gathered elsewhere.
Data = ArrayLike | Iterable[object] | Totals


def gather(values: Any, grid: Grid, column: str | None, by: Any, groups: Any) -> Totals:
    """One pass over the data. `column` and a textual `by` name columns of a table (or of its batches).

    Totals that were gathered elsewhere (on a cluster) pass as they are.
    """
    if isinstance(values, Totals):
        return values
    if not _asks_for_groups(by, groups):
        people, total = grid.total(_columns(values, column))
        return Totals(np.array([people], dtype=object), np.array([total], dtype=object))
    return _by_group(_pairs(values, column, by), grid, Keys(groups))


def count_rows(values: Any, by: Any, groups: Any) -> Totals:
    """Numbers of rows only."""
    if not _asks_for_groups(by, groups):
        parts = values if isinstance(values, Iterator) else [values]
        people = np.array([sum(_length(part) for part in parts)], dtype=object)
        return Totals(people, 0 * people)
    keys = Keys(groups)
    people = np.zeros(len(keys) + 1, dtype=np.int64)
    for part in _batches(values) if isinstance(by, str) else [None]:
        codes = keys.codes(by if part is None else _column(part, by))
        if part is None and codes.size != _length(values):
            raise ArgumentError(
                f"by must give one key per row, got {codes.size} keys for {_length(values)} rows",
                argument="by",
            )
        people += np.bincount(codes, minlength=people.size)
    return Totals(people[:-1], 0 * people[:-1], keys)


def _asks_for_groups(by: Any, groups: Any) -> bool:
    if (by is None) != (groups is None):
        rule = "by and groups go together: which rows belong where, and which keys are public"
        raise ArgumentError(rule, argument="by" if groups is None else "groups")
    return by is not None


def _length(rows: Any) -> int:
    if isinstance(rows, str | bytes) or not hasattr(rows, "__len__"):
        raise ArgumentTypeError(
            f"values must be a sequence or a table, got {type(rows).__name__}", argument="values"
        )
    return len(next(iter(rows.values()), ())) if isinstance(rows, dict) else len(rows)


def _by_group(pairs: Iterator[tuple[Any, Any]], grid: Grid, keys: Keys) -> Totals:
    people = np.zeros(len(keys) + 1, dtype=np.int64)  # the last entry: keys nobody declared
    positions = np.zeros(len(keys) + 1, dtype=np.int64)
    wrong, buffer = Wrong(), np.empty(_ROWS)
    for values, row_keys in pairs:
        if len(row_keys) != values.size:
            sizes = f"{len(row_keys)} keys for {values.size} values"
            raise ArgumentError(f"by must give one key per value, got {sizes}", argument="by")
        for first in range(0, values.size, _ROWS):
            rows = slice(first, first + _ROWS)
            found, kept = grid.positions(values[rows], wrong, buffer)
            codes = keys.codes(row_keys.iloc[rows] if hasattr(row_keys, "iloc") else row_keys[rows])
            part = codes if kept is None else codes[kept]
            people += np.bincount(part, minlength=people.size)
            positions += np.bincount(part, weights=found, minlength=people.size).astype(np.int64)
            if positions.dtype != object and int(people.sum()) * grid.steps >= 1 << 61:
                positions = positions.astype(object)
    wrong.refuse(grid.domain)
    return Totals(people[:-1].astype(positions.dtype), positions[:-1], keys)


def _columns(values: Any, column: str | None) -> Any:
    """The named column of a table, or of each of its batches; without a name, the values themselves."""
    if column is None:
        return values
    return (_column(part, column) for part in _batches(values))


def _pairs(values: Any, column: str | None, by: Any) -> Iterator[tuple[Any, Any]]:
    """Arrays of values with their rows' keys."""
    if isinstance(by, str):
        if column is None:
            raise ArgumentError("column must name the values when by names a column", argument="column")
        for part in _batches(values):
            yield _whole(_column(part, column)), _column(part, by)
    elif not hasattr(by, "__len__"):
        rule = "by must be a column's name or one key per value"
        raise ArgumentTypeError(f"{rule}, got {type(by).__name__}", argument="by")
    else:
        yield _whole(_columns(values, column)), by


def _whole(values: Any) -> Any:
    """One array of all the chunks of a column."""
    chunks = list(chunks_of(values))
    return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0), *chunks])


def _batches(table: Any) -> Iterator[Any]:
    """A table, or the batches of a reader or iterator."""
    if isinstance(table, Iterator) or type(table).__name__ == "RecordBatchReader":
        yield from table
    else:
        yield table


def _column(table: Any, name: str) -> Any:
    if not isinstance(name, str):
        raise ArgumentTypeError(f"column must be a name, got column={name!r}", argument="column")
    names = next((list(getattr(table, at)) for at in ("column_names", "columns") if hasattr(table, at)), None)
    if isinstance(table, dict):
        names = list(table)
    if names is None:
        raise ArgumentTypeError(
            f"a column was named, so values must be a table, got {type(table).__name__}", argument="column"
        )
    if names.count(name) != 1:
        have = "are several columns" if name in names else "is no column"
        raise ArgumentError(
            f"there {have} {name!r}; there are {', '.join(map(repr, names))}", argument="column"
        )
    return table[name]
