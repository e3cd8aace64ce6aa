"""Counting reports in files and dataframes: the sufficient statistics of everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sottovoce.bulk.arrow import Source, list_files, open_source, read_ahead
from sottovoce.bulk.files import Progress
from sottovoce.bulk.groups import GroupCounter, GroupedTally
from sottovoce.bulk.labels import AnyMechanism, agree, mechanism_of
from sottovoce.core.errors import DataError
from sottovoce.estimates.tally import Tally


def tally(
    data: Any,
    column: str,
    *,
    by: Sequence[str] | str | None = None,
    mechanism: AnyMechanism | None = None,
    progress: Progress | None = None,
) -> Any:
    """Count the reports of a column: a Tally, or with `by` a GroupedTally.

    `data` is a file, a folder, a list of files, or a dataframe. The mechanism comes from the column's
    metadata; files of different mechanisms are refused. Null reports (`missing="keep"`) are not counted.
    """
    groups = [by] if isinstance(by, str) else list(by or [])
    if column in groups:
        raise ValueError(f"by must not name the column of reports, got by={groups!r}")
    files = list_files(data)
    items, cells = [data] if files is None else files, {column: pa.int64()}
    sources = [open_source(item, [*groups, column], cells) for item in items]
    for source in sources:
        mechanism = agree(mechanism_of(source.metadata(column), column), mechanism, _where(source, column))
    assert mechanism is not None
    if groups:
        return _by_group(sources, column, groups, mechanism, progress)
    counts = np.zeros(mechanism.cells, dtype=np.int64)
    for source in sources:
        for batch in read_ahead(source.batches()):
            cells = _cells(batch.column(column), column, counts.size, source)
            counts += np.bincount(cells, minlength=counts.size)
            if progress is not None:
                progress(batch.num_rows)
    return Tally.from_counts(mechanism, counts)


def _where(source: Source, column: str) -> str:
    return f"column {column!r} of {source.name}"


def _cells(array: Any, column: str, limit: int, source: Source) -> Any:
    if not pa.types.is_integer(array.type):
        raise TypeError(f"{_where(source, column)} must hold integer cells, got {array.type}")
    if array.null_count:
        array = array.drop_null()
    cells = array.to_numpy(zero_copy_only=False)
    if cells.size and (cells.max() >= limit or cells.min() < 0):
        wrong = int(((cells >= limit) | (cells < 0)).sum())
        raise DataError(f"{_where(source, column)} holds {wrong} cells outside 0..{limit - 1}")
    return cells


def _by_group(
    sources: list[Source],
    column: str,
    by: list[str],
    mechanism: AnyMechanism,
    progress: Progress | None,
) -> GroupedTally:
    counter = GroupCounter(mechanism, by)
    for source in sources:
        for batch in read_ahead(source.batches()):
            if batch.column(column).null_count:
                batch = batch.filter(batch.column(column).is_valid())
            _cells(batch.column(column), column, mechanism.cells, source)
            counter.add(batch, column)
            if progress is not None:
                progress(batch.num_rows)
    return counter.result()
