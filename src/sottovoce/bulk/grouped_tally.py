"""Tallies by group: counts of the (group, cell) pairs that occurred, a tally per group on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from sottovoce.arrays import IntArray
from sottovoce.bulk.group_counter import CELL, COUNT, GroupCounter, Key, plain_values
from sottovoce.bulk.tables.arrow_columns import to_arrow
from sottovoce.errors import DataError
from sottovoce.estimates.answer.counting import whole_counts
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.contract import Reporter
from sottovoce.values.checked_arrays import from_arrow


class GroupedTally(Mapping[Key, Tally]):
    """A mapping from group keys (tuples in the order of `by`) to tallies; a single key may be given bare.

    Memory is that of the pairs (group, cell) that occurred, not groups × cells.

    Example:
        >>> import pyarrow as pa, sottovoce as sv
        >>> counts = pa.table({"town": ["a", "b", "b"], "cell": [0, 0, 1], "count": [5, 2, 3]})
        >>> by_town = GroupedTally.from_table(sv.duchi(1.0), ["town"], counts)
        >>> by_town["b"].counts.tolist()
        [2, 3]
    """

    def __init__(
        self, mechanism: Reporter, by: Sequence[str], keys: pa.Table, pairs: IntArray, counts: IntArray
    ) -> None:
        """From what a `GroupCounter` gives.

        Args:
            mechanism: What made the reports.
            by: The columns of group keys.
            keys: A row for each group.
            pairs: group·cells + cell of every pair that occurred, increasing.
            counts: How often each did.
        """
        self.reporter, self.by = mechanism, tuple(by)
        self._keys, self._pairs, self._counts = keys, pairs, counts
        edges = np.searchsorted(pairs, np.arange(keys.num_rows + 1) * mechanism.cells).tolist()
        names = zip(*(plain_values(keys.column(name)) for name in self.by), strict=True)
        self._rows = dict(zip(names, pairwise(edges), strict=True))

    @classmethod
    def from_table(cls, mechanism: Reporter, by: Sequence[str], table: pa.Table) -> GroupedTally:
        """Read what any engine's GROUP BY gives: Spark's, DuckDB's, PostgreSQL's.

        Args:
            mechanism: What made the reports.
            by: The columns of group keys.
            table: An Arrow table of these columns, `cell` and `count`; repeated rows add up.

        Returns:
            The tallies of the groups.

        Raises:
            DataError: If a column is missing, or cells or counts are not what they must be.
        """
        if missing := [name for name in (*by, CELL, COUNT) if name not in table.schema.names]:
            raise DataError(
                f"the table of counts has no column {missing[0]!r}; columns are {table.schema.names}"
            )
        counter = GroupCounter(mechanism.cells, by)
        for batch in table.select([*by, CELL, COUNT]).to_batches():
            counter.add(counter.rows(batch, CELL), whole_amounts(batch.column(COUNT)))
        return cls(mechanism, by, *counter.result())

    def pairs(self, key: object) -> tuple[IntArray, IntArray]:
        """Give the cells that occurred in a group, and how often.

        Args:
            key: That of the group.

        Returns:
            The cells, increasing, and their counts.
        """
        first, last = self._rows[key if isinstance(key, tuple) else (key,)]
        return self._pairs[first:last] % self.reporter.cells, self._counts[first:last]

    def __getitem__(self, key: object) -> Tally:
        return spread(self.reporter, *self.pairs(key))

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def n(self) -> int:
        """Reports in all groups together."""
        return int(self._counts.sum()) // self.reporter.width

    def total(self) -> Tally:
        """Put all groups together.

        Returns:
            One tally.
        """
        return spread(self.reporter, self._pairs % self.reporter.cells, self._counts)

    @property
    def table(self) -> pa.Table:
        """An Arrow table of the key columns, `cell` and `count`, sorted."""
        group, cell = np.divmod(self._pairs, self.reporter.cells)
        columns = {name: self._keys.column(name).take(to_arrow(group)) for name in self.by}
        return pa.table({**columns, CELL: cell, COUNT: self._counts})

    @property
    def keys_table(self) -> pa.Table:
        """An Arrow table of the groups' keys, a row each, in their order."""
        return self._keys

    def __add__(self, other: GroupedTally) -> GroupedTally:
        if self.reporter.digest != other.reporter.digest or self.by != other.by:
            raise DataError("tallies by group merge only with the same mechanism and the same groups")
        return GroupedTally.from_table(self.reporter, self.by, pa.concat_tables([self.table, other.table]))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, GroupedTally) and self.reporter.digest == other.reporter.digest
        return same and self.table.equals(other.table)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<GroupedTally by={list(self.by)} groups={len(self)} n={self.n}>"


def spread(mechanism: Reporter, cells: IntArray, counts: IntArray) -> Tally:
    """The tally of counts given for some cells; repeats add up."""
    every = np.zeros(mechanism.cells, dtype=np.int64)
    np.add.at(every, cells, counts)
    return Tally.from_counts(mechanism, every)


def whole_amounts(column: pa.Array) -> IntArray:
    """A column of counts: whole numbers, none missing, none negative (engines return decimals for sums)."""
    try:
        amounts = column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(f"the counts must be whole numbers below 2^63, got {column.type}") from None
    wrong = amounts.null_count + int(np.count_nonzero(from_arrow(amounts.drop_null()) < 0))
    if wrong:
        raise DataError(f"the counts must not be missing or negative: {wrong} of {len(column)} are")
    return whole_counts(from_arrow(amounts))
