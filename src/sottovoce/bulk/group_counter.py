"""Counting by group: (group, cell) pairs, batch by batch, in one array while that is small."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute

from sottovoce.arrays import IntArray
from sottovoce.bulk.tables.arrow_columns import to_arrow, without_views
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError
from sottovoce.values.checked_arrays import as_cells, from_arrow

CELL, COUNT = "cell", "count"
_DENSE = 1 << 24  # groups × cells up to which counts are one array
_SPARSE = 1 << 22  # rows kept before equal (group, cell) pairs are added up

Key = tuple[object, ...]


def check_keys(by: Sequence[str], taken: Iterable[str]) -> None:
    """Key columns named once, and not like the columns that stand beside them in the result."""
    if clash := [name for name in by if name in taken or list(by).count(name) > 1]:
        rule = f"by must name columns once, and not {' or '.join(taken)} as the result does"
        raise ArgumentError(f"{rule}, got by={clash[0]!r}", argument="by")


class Rows(NamedTuple):
    """A batch: the keys of its groups, a column each, and for every row the group's place and the cell."""

    keys: list[pa.Array]
    group: IntArray
    cell: IntArray


class GroupCounter:
    """Counts (group, cell) pairs batch by batch: one array while that is small, sorted pairs beyond."""

    def __init__(self, cells: int, by: Sequence[str]) -> None:
        check_keys(by, (CELL, COUNT))
        self._cells, self._by = cells, list(by)
        self._codes: dict[object, int] = {}
        self._keys: list[pa.RecordBatch] = []
        self._dense: IntArray | None = np.zeros(0, dtype=np.int64)
        self._parts: list[tuple[IntArray, IntArray]] = []
        self._part_rows = 0

    def rows(self, batch: pa.RecordBatch, column: str) -> Rows:
        """What `add` takes of a record batch: the work that several threads can share."""
        cell = as_cells(from_arrow(batch.column(column)), self._cells)
        return Rows(*self._groups(batch), cell)

    def add(self, rows: Rows, amounts: IntArray | None = None) -> None:
        """Count rows; with `amounts` each stands for that many reports."""
        pairs = (self._registered(self._as_keys(rows.keys)) * self._cells)[rows.group] + rows.cell
        size = len(self._codes) * self._cells
        if self._dense is not None and size > _DENSE:
            occurred = np.flatnonzero(self._dense)
            self._parts, self._dense = [(occurred, self._dense[occurred])], None
        if self._dense is not None:
            if size > self._dense.size:
                more = np.zeros(size - self._dense.size, dtype=np.int64)
                self._dense = np.concatenate((self._dense, more))
            np.add.at(self._dense, pairs, 1 if amounts is None else amounts)
            return
        self._parts.append((pairs, np.ones_like(pairs) if amounts is None else amounts))
        self._part_rows += len(pairs)
        if self._part_rows > _SPARSE:
            self._parts, self._part_rows = [self._merged()], 0

    def result(self) -> tuple[pa.Table, IntArray, IntArray]:
        """The groups' keys in order, the pairs group·cells + cell that occurred, and how often each did."""
        keys = pa.Table.from_batches(self._keys) if self._keys else pa.table({name: [] for name in self._by})
        try:
            order = from_arrow(pa.compute.sort_indices(keys, [(name, "ascending") for name in self._by]))
        except (pa.ArrowTypeError, pa.ArrowNotImplementedError):
            raise _not_plain(keys.schema.types) from None
        if self._dense is not None:
            table = self._dense.reshape(-1, self._cells)[order].reshape(-1)
            pairs = np.flatnonzero(table)
            return keys.take(to_arrow(order)), pairs, table[pairs]
        pairs, counts = self._merged()
        rank = np.empty_like(order, dtype=np.int64)
        rank[order] = np.arange(len(order))
        group, cell = np.divmod(pairs, self._cells)
        pairs = rank[group] * self._cells + cell
        place = np.argsort(pairs, kind="stable")
        return keys.take(to_arrow(order)), pairs[place], counts[place]

    def _merged(self) -> tuple[IntArray, IntArray]:
        distinct, place = np.unique(np.concatenate([pairs for pairs, _ in self._parts]), return_inverse=True)
        counts = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([amounts for _, amounts in self._parts]))
        return distinct, counts

    def _groups(self, batch: pa.RecordBatch) -> tuple[list[pa.Array], IntArray]:
        """The distinct keys of a batch, a column each, and the place of every row's among them."""
        local, groups = np.zeros(batch.num_rows, dtype=np.int64), 1
        columns: list[pa.Array] = []
        for name in self._by:
            column = _encoded(without_views(batch.column(name)))
            # Numbered anew after every column: never more numbers than rows, and their products fit 64 bits.
            size = max(len(column.dictionary), 1)
            codes = local * size + from_arrow(column.indices)
            present, local = _distinct(codes, groups * size)
            groups = len(present)
            before, place = np.divmod(present, size)
            columns = [values.take(to_arrow(before)) for values in columns]
            columns.append(column.dictionary.take(to_arrow(place)))
        return columns, local

    def _as_keys(self, columns: list[pa.Array]) -> pa.RecordBatch:
        """Distinct keys as a record batch of the types that the first batch had."""
        if not self._keys:
            return pa.RecordBatch.from_arrays(columns, names=self._by)
        schema = self._keys[0].schema
        try:
            columns = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            kinds = [f"{name} {column.type}" for name, column in zip(self._by, columns, strict=True)]
            raise DataError(
                f"the columns of `by` must have one type throughout: {', '.join(kinds)} after "
                f"{', '.join(f'{field.name} {field.type}' for field in schema)}"
            ) from None
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _registered(self, keys: pa.RecordBatch) -> IntArray:
        """Codes of distinct keys; new ones are numbered as they come."""
        names = plain_values(keys.column(0))
        if keys.num_columns > 1:  # a bare value is looked up in a third of the time of a tuple
            names = list(zip(names, *map(plain_values, keys.columns[1:]), strict=True))
        codes = np.fromiter(map(self._codes.get, names, repeat(-1)), np.int64, len(names))
        fresh = []
        for i in np.flatnonzero(codes < 0).tolist():
            if names[i] not in self._codes:  # 0 and −0 are one, and a dictionary may hold a value twice
                self._codes[names[i]] = len(self._codes)
                fresh.append(i)
            codes[i] = self._codes[names[i]]
        if fresh:
            self._keys.append(keys.take(to_arrow(np.array(fresh))))
        return codes


def plain_values(column: pa.Array) -> list[object]:
    """Python values; every NaN is the same one, since no two are equal."""
    values = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [math.nan if value != value else value for value in values]
    return values


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    """A dictionary-encoded column whose nulls are a value like any other."""
    if pa.types.is_dictionary(column.type):
        if not column.null_count:
            return column
        column = column.cast(column.type.value_type)
    try:
        return column.dictionary_encode(null_encoding="encode")
    except pa.ArrowNotImplementedError:
        raise _not_plain([column.type]) from None


def _not_plain(kinds: Sequence[pa.DataType]) -> ArgumentTypeError:
    names = ", ".join(map(str, kinds))
    return ArgumentTypeError(f"columns of by must hold plain values, got {names}", argument="by")


def _distinct(codes: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """The codes that occur, and each row's place among them; by counting where codes are few."""
    if limit > 4 * len(codes) + 1024:
        return np.unique(codes, return_inverse=True)
    present = np.flatnonzero(np.bincount(codes, minlength=limit))
    place = np.zeros(limit, dtype=np.int64)
    place[present] = np.arange(len(present))
    return present, place[codes]
