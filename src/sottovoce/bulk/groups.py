"""Tallies by group: counts of the (group, cell) pairs that occurred, a tally per group on demand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from sottovoce.bulk.arrow import without_views
from sottovoce.bulk.labels import AnyMechanism
from sottovoce.core.errors import DataError
from sottovoce.core.kernels.tables import IntArray
from sottovoce.core.values import as_cells
from sottovoce.estimates.tally import Tally

CELL, COUNT = "cell", "count"
_DENSE = 1 << 24  # groups × cells up to which counts are one array
_SPARSE = 1 << 22  # rows held before equal (group, cell) pairs are added up


class GroupedTally(Mapping[tuple[Any, ...], Tally]):
    """A mapping from group keys (tuples in the order of `by`) to tallies; a single key may be given bare.

    Its `table` is what any engine's GROUP BY gives: the key columns, `cell` and `count`. Memory is that of
    the pairs that occurred, not groups × cells.
    """

    def __init__(
        self, mechanism: AnyMechanism, by: Sequence[str], keys: Any, pairs: IntArray, counts: IntArray
    ) -> None:
        """`keys`: an Arrow table, a row per group; `pairs` = group·cells + cell, increasing; their counts."""
        self.mechanism, self.by = mechanism, tuple(by)
        self._keys, self._pairs, self._counts = keys, pairs, counts
        edges = np.searchsorted(pairs, np.arange(keys.num_rows + 1) * mechanism.cells)
        names = zip(*(_plain(keys.column(name)) for name in self.by), strict=True)
        self._rows = {key: (int(a), int(b)) for key, a, b in zip(names, edges[:-1], edges[1:], strict=True)}

    @classmethod
    def from_table(cls, mechanism: AnyMechanism, by: Sequence[str], table: Any) -> GroupedTally:
        """From rows of (keys…, cell, count), as Spark, DuckDB or PostgreSQL return them; repeats add up.

        `by` names the key columns of `table`, an Arrow table.
        """
        if missing := [name for name in (*by, CELL, COUNT) if name not in table.schema.names]:
            raise DataError(
                f"the table of counts has no column {missing[0]!r}; columns are {table.schema.names}"
            )
        counter = GroupCounter(mechanism, by)
        for batch in table.select([*by, CELL, COUNT]).to_batches():
            counter.add(batch, CELL, _amounts(batch.column(COUNT)))
        return counter.result()

    def pairs(self, key: Any) -> tuple[IntArray, IntArray]:
        """The cells that occurred in a group, and how often.

        `key` is that of the group.
        """
        first, last = self._rows[key if isinstance(key, tuple) else (key,)]
        return self._pairs[first:last] % self.mechanism.cells, self._counts[first:last]

    def __getitem__(self, key: Any) -> Tally:
        cells, found = self.pairs(key)
        counts = np.zeros(self.mechanism.cells, dtype=np.int64)
        counts[cells] = found
        return Tally.from_counts(self.mechanism, counts)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def n(self) -> int:
        """Reports in all groups together."""
        return int(self._counts.sum())

    def total(self) -> Tally:
        """All groups as one tally."""
        counts = np.zeros(self.mechanism.cells, dtype=np.int64)
        np.add.at(counts, self._pairs % self.mechanism.cells, self._counts)
        return Tally.from_counts(self.mechanism, counts)

    @property
    def table(self) -> Any:
        """An Arrow table of the key columns, `cell` and `count`, sorted."""
        group, cell = np.divmod(self._pairs, self.mechanism.cells)
        columns = {name: self._keys.column(name).take(pa.array(group)) for name in self.by}
        return pa.table({**columns, CELL: cell, COUNT: self._counts})

    @property
    def keys_table(self) -> Any:
        """An Arrow table of the groups' keys, a row each, in their order."""
        return self._keys

    def __add__(self, other: GroupedTally) -> GroupedTally:
        if self.mechanism.digest != other.mechanism.digest or self.by != other.by:
            raise DataError("tallies by group merge only with the same mechanism and the same groups")
        return GroupedTally.from_table(self.mechanism, self.by, pa.concat_tables([self.table, other.table]))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, GroupedTally) and self.mechanism.digest == other.mechanism.digest
        return same and self.table.equals(other.table)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<GroupedTally by={list(self.by)} groups={len(self)} n={self.n}>"


def _distinct(codes: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """The codes that occur, and each row's place among them; by counting where codes are few."""
    if limit > 4 * len(codes) + 1024:
        return np.unique(codes, return_inverse=True)
    present = np.flatnonzero(np.bincount(codes, minlength=limit))
    place = np.zeros(limit, dtype=np.int64)
    place[present] = np.arange(len(present))
    return present, place[codes]


def _encoded(column: Any) -> Any:
    """A dictionary-encoded column whose nulls are a value like any other."""
    if pa.types.is_dictionary(column.type):
        if not column.null_count:
            return column
        column = column.cast(column.type.value_type)
    try:
        return column.dictionary_encode(null_encoding="encode")
    except pa.ArrowNotImplementedError:
        raise TypeError(f"columns of by must hold plain values, got {column.type}") from None


def _plain(column: Any) -> list[Any]:
    """Python values; every NaN is the same one, since no two are equal."""
    values = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [math.nan if value != value else value for value in values]
    return values


def check_keys(by: Sequence[str], taken: Iterable[str]) -> None:
    """Key columns named once, and not like the columns that stand beside them in the result."""
    if clash := [name for name in by if name in taken or list(by).count(name) > 1]:
        raise ValueError(
            f"by must name columns once, and not {' or '.join(taken)} as the result does, got by={clash[0]!r}"
        )


def _amounts(column: Any) -> IntArray:
    """A column of counts: whole numbers, none missing, none negative (engines return decimals for sums)."""
    try:
        amounts = column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(f"the counts must be whole numbers below 2^63, got {column.type}") from None
    wrong = amounts.null_count + int(np.count_nonzero(amounts.drop_null().to_numpy() < 0))
    if wrong:
        raise DataError(f"the counts must not be missing or negative: {wrong} of {len(column)} are")
    return np.asarray(amounts.to_numpy(), dtype=np.int64)


class GroupCounter:
    """Counts (group, cell) pairs batch by batch: one array while that is small, sorted pairs beyond."""

    def __init__(self, mechanism: AnyMechanism, by: Sequence[str]) -> None:
        self._mechanism, self._by = mechanism, list(by)
        check_keys(self._by, (CELL, COUNT))
        self._codes: dict[tuple[Any, ...], int] = {}
        self._keys: list[Any] = []
        self._dense: IntArray | None = np.zeros(0, dtype=np.int64)
        self._held: list[tuple[IntArray, IntArray]] = []
        self._held_rows = 0

    def add(self, batch: Any, column: str, amounts: IntArray | None = None) -> None:
        """Count a record batch; with `amounts` each row stands for that many reports."""
        cells = as_cells(batch.column(column).to_numpy(zero_copy_only=False), self._mechanism.cells)
        pairs = self._group_codes(batch) * self._mechanism.cells + cells
        size = len(self._codes) * self._mechanism.cells
        if self._dense is not None and size > _DENSE:
            pairs_so_far = np.flatnonzero(self._dense)
            self._held, self._dense = [(pairs_so_far, self._dense[pairs_so_far])], None
        if self._dense is not None:
            if size > self._dense.size:
                more = np.zeros(size - self._dense.size, dtype=np.int64)
                self._dense = np.concatenate((self._dense, more))
            np.add.at(self._dense, pairs, 1 if amounts is None else amounts)
            return
        self._held.append((pairs, np.ones_like(pairs) if amounts is None else amounts))
        self._held_rows += len(pairs)
        if self._held_rows > _SPARSE:
            self._held, self._held_rows = [self._merged()], 0

    def _group_codes(self, batch: Any) -> IntArray:
        """A number per row for its group, the same for the same key in every batch."""
        local, groups = np.zeros(batch.num_rows, dtype=np.int64), 1
        places: list[Any] = []
        for name in self._by:
            column = _encoded(without_views(batch.column(name)))
            # Numbered anew after every column: never more numbers than rows, and their products fit 64 bits.
            size = max(len(column.dictionary), 1)
            present, local = _distinct(
                local * size + column.indices.to_numpy(zero_copy_only=False), groups * size
            )
            groups = len(present)
            before, place = np.divmod(present, size)
            places = [values.take(pa.array(before)) for values in places]
            places.append(column.dictionary.take(pa.array(place)))
        return self._register(self._as_keys(places))[local]

    def _as_keys(self, columns: list[Any]) -> Any:
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

    def _register(self, keys: Any) -> IntArray:
        """Codes of distinct keys; new ones are numbered as they come."""
        codes = np.empty(keys.num_rows, dtype=np.int64)
        fresh = []
        for i, key in enumerate(zip(*(_plain(column) for column in keys.columns), strict=True)):
            if key not in self._codes:
                self._codes[key] = len(self._codes)
                fresh.append(i)
            codes[i] = self._codes[key]
        if fresh:
            self._keys.append(keys.take(pa.array(fresh)))
        return codes

    def _merged(self) -> tuple[IntArray, IntArray]:
        pairs = np.concatenate([pair for pair, _ in self._held])
        distinct, place = np.unique(pairs, return_inverse=True)
        counts = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([amount for _, amount in self._held]))
        return distinct, counts

    def result(self) -> GroupedTally:
        """The tally, groups in the order of their keys."""
        keys = pa.Table.from_batches(self._keys) if self._keys else pa.table({name: [] for name in self._by})
        order = pa.compute.sort_indices(keys, [(name, "ascending") for name in self._by]).to_numpy()
        if self._dense is not None:
            table = self._dense.reshape(-1, self._mechanism.cells)[order].reshape(-1)
            pairs = np.flatnonzero(table)
            counts = table[pairs]
        else:
            pairs, counts = self._merged()
            rank = np.empty_like(order, dtype=np.int64)
            rank[order] = np.arange(len(order))
            group, cell = np.divmod(pairs, self._mechanism.cells)
            pairs = rank[group] * self._mechanism.cells + cell
            place = np.argsort(pairs, kind="stable")
            pairs, counts = pairs[place], counts[place]
        return GroupedTally(self._mechanism, self._by, keys.take(pa.array(order)), pairs, counts)
