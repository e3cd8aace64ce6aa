"""Counting reports in files and dataframes: the sufficient statistics of everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.arrays import IntArray
from sottovoce.bulk.group_counter import GroupCounter, Rows
from sottovoce.bulk.grouped_tally import GroupedTally, whole_amounts
from sottovoce.bulk.tables.arrow_columns import check_sizes, is_list, to_arrow
from sottovoce.bulk.tables.labels import COUNTS, SPEC, agreed, labelled_mechanism
from sottovoce.bulk.tables.sources import Progress, Source, list_files
from sottovoce.bulk.tables.table_files import Data
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError
from sottovoce.estimates.answer.counting import counted
from sottovoce.estimates.tally import Tally
from sottovoce.randomness.threads import in_order
from sottovoce.reporters.contract import Reporter

if TYPE_CHECKING:
    from sottovoce.bulk.tables.csv_dialect import CsvOptions


@overload
def tally(
    data: Data,
    column: str | None = None,
    *,
    by: None = None,
    mechanism: Reporter | None = None,
    progress: Progress | None = None,
    **csv: Unpack[CsvOptions],
) -> Tally: ...


@overload
def tally(
    data: Data,
    column: str | None = None,
    *,
    by: Sequence[str] | str,
    mechanism: Reporter | None = None,
    progress: Progress | None = None,
    **csv: Unpack[CsvOptions],
) -> GroupedTally: ...


def tally(
    data: Data,
    column: str | None = None,
    *,
    by: Sequence[str] | str | None = None,
    mechanism: Reporter | None = None,
    progress: Progress | None = None,
    **csv: Unpack[CsvOptions],
) -> Tally | GroupedTally:
    """Count the reports of a column, of everybody or by group.

    Args:
        data: The name of a Parquet, CSV or Arrow file, a folder, a list of files, or a dataframe.
        column: The column that holds the reports; not needed where only one says which mechanism made it.
            Empty reports (`missing="keep"`) are not counted. In a file of counts, such as a campaign's
            export, each row stands for as many reports as it says.
        by: The columns of group keys; without them everybody is one group.
        mechanism: What made the reports, where the data does not say so itself.
        progress: Called with the number of rows of every batch that is counted.
        **csv: `delimiter`, `decimal` and `encoding` of CSV files, as in `bulk.report`.

    Returns:
        A Tally, or with `by` a GroupedTally.

    Raises:
        ArgumentError: If `by` names the column of reports, or `column` is left out and there are several.
        DataError: If the data cannot be read, holds reports of another mechanism, or cells that it does not
            have.

    Example:
        >>> import pyarrow as pa, sottovoce as sv
        >>> tally(pa.table({"cell": [0, 1, 1]}), "cell", mechanism=sv.duchi(1.0)).counts.tolist()
        [1, 2]
    """
    groups = [by] if isinstance(by, str) else list(by or [])
    files = list_files(data)
    items = [data] if files is None else files
    if column is None:
        column = labelled_column(items[0], **csv)
    if column in groups:
        raise ArgumentError(f"by must not name the column of reports, got by={groups!r}", argument="by")
    sources = []
    for item in items:
        source = Source(item, [*groups, column], {column: pa.int64()}, **csv)
        label = source.label(column)
        mechanism = agreed(labelled_mechanism(label, column), mechanism, _where(source, column))
        amounts = label.get(COUNTS)
        if amounts is not None:
            whole = dict.fromkeys((column, amounts), pa.int64())
            source = Source(item, [*groups, column, amounts], whole, **csv)
        sources.append((source, amounts))
    assert mechanism is not None
    counts = np.zeros(mechanism.cells, dtype=np.int64)
    counter = GroupCounter(mechanism.cells, groups) if groups else None
    for source, amounts in sources:

        def work(
            batch: pa.RecordBatch, where: str = _where(source, column), amounts: str | None = amounts
        ) -> tuple[int, Rows | None, IntArray | None]:
            """How many rows; with groups the reports and how often each was given, else counts of cells."""
            reports = _reports(batch, column, mechanism, where, counted=amounts is not None)
            times = None if amounts is None else whole_amounts(reports.column(amounts))
            if counter is not None:
                return batch.num_rows, counter.rows(reports, column), times
            return batch.num_rows, None, _counts(reports, column, times, mechanism.cells)

        for size, rows, numbers in in_order(work, source.batches()):
            if counter is not None and rows is not None:
                counter.add(rows, numbers)
            elif numbers is not None:
                counts += numbers
            if progress is not None:
                progress(size)
    if counter is None:
        return Tally._of(mechanism, counts)  # made here: nothing to judge
    return GroupedTally(mechanism, groups, *counter.result())


def labelled_column(data: Data, **csv: Unpack[CsvOptions]) -> str:
    """The only column of a file or table that says which mechanism made it."""
    source = Source(data, [], **csv)
    labelled = [name for name in source.names if SPEC in source.label(name)]
    if len(labelled) != 1:
        which = (
            f"several hold reports: {', '.join(labelled)}" if labelled else "none says that it holds reports"
        )
        raise ArgumentError(f"column must name one of {source.name}, {which}", argument="column")
    return labelled[0]


def _where(source: Source, column: str) -> str:
    return f"column {column!r} of {source.name}"


def _reports(
    batch: pa.RecordBatch, column: str, mechanism: Reporter, where: str, *, counted: bool
) -> pa.RecordBatch:
    """The rows that hold a report, one for each of its cells, if these are cells of the mechanism."""
    if batch.column(column).null_count:
        batch = batch.filter(batch.column(column).is_valid())
    if mechanism.width > 1 and not counted:
        batch = _one_cell_a_row(batch, column, mechanism.width, where)
    array = batch.column(column)
    if not pa.types.is_integer(array.type):
        raise ArgumentTypeError(f"{where} must hold integer cells, got {array.type}", argument="column")
    cells = np.from_dlpack(array)  # what pyarrow itself does would load pandas
    if cells.size and (cells.max() >= mechanism.cells or cells.min() < 0):
        wrong = int(((cells >= mechanism.cells) | (cells < 0)).sum())
        raise DataError(f"{where} holds {wrong} cells outside 0..{mechanism.cells - 1}")
    if mechanism.width > 1 and not counted:
        mechanism.checked(cells)
    return batch


def _counts(reports: pa.RecordBatch, column: str, times: IntArray | None, size: int) -> IntArray:
    """How often each cell occurs in a batch."""
    cells: NDArray[Any] = np.from_dlpack(reports.column(column))
    if times is None and (counts := counted(cells, size)) is not None:
        return counts
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(counts, cells, 1 if times is None else times)
    return counts


def _one_cell_a_row(batch: pa.RecordBatch, column: str, width: int, where: str) -> pa.RecordBatch:
    lists = batch.column(column)
    if not is_list(lists.type):
        rule = f"{where} must hold lists of {width} cells"
        raise ArgumentTypeError(f"{rule}, got {lists.type}", argument="column")
    check_sizes(lists, width, where)
    rows = to_arrow(np.repeat(np.arange(batch.num_rows), width))
    arrays = [
        lists.flatten() if name == column else batch.column(name).take(rows) for name in batch.schema.names
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)
