"""The bulk verbs on Spark: report, tally, central_mean, and estimates per group.

    from sottovoce.bulk import spark
    reports = spark.report(people, "wait", m, output="reports", keep=["country"])
    spark.tally(reports, "wait", by=["country"])          # the same integers as on one machine

Spark may compute a row more than once. So reports are either written once (`output`: Spark's commit keeps one
attempt of each task) or drawn by a keyed function of a row id (`row_id`: every attempt and every action
gives the same report). One of the two has to be chosen; there is no third that would be private.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, overload

import pyarrow as pa

from sottovoce.bulk.group_counter import CELL, COUNT, check_keys
from sottovoce.bulk.group_estimates import COLUMNS, Estimator
from sottovoce.bulk.grouped_tally import GroupedTally
from sottovoce.bulk.keyed_draws import new_secret
from sottovoce.bulk.randomiser import Randomiser
from sottovoce.bulk.spark.spark_central import central_mean
from sottovoce.bulk.spark.spark_labels import mechanism_behind
from sottovoce.bulk.spark.spark_session import (
    Task,
    check_columns,
    check_values,
    noting_refusals,
    parallelism,
    session,
    write_once,
)
from sottovoce.bulk.tables.labels import label
from sottovoce.bulk.tables.sources import row_from_one
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.contract import Reporter
from sottovoce.values.missing_and_outside import Missing, Outside, Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["central_mean", "estimates", "report", "session", "tally"]


def report(
    df: DataFrame,
    column: str,
    mechanism: Reporter,
    *,
    output: str | None = None,
    row_id: str | None = None,
    keep: Sequence[str] | str = (),
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    clip: bool = False,
) -> DataFrame:
    """Randomise a column, either written once or as a keyed function of the row.

    Args:
        df: The data.
        column: The column to randomise; of a survey, what the column of its reports is called.
        mechanism: What randomises it. The values of a survey are in one column per question.
        output: Where reports are written as Parquet, once, with fresh randomness in every task; they are
            read back from there.
        row_id: A column of integers or text, one value per person. Nothing is written: draws are a keyed
            function of row, column, mechanism and value under a secret made for this call, which lives only
            in the plan's closure. For one number, choice or place.
        keep: Columns that are in the result as they are. All others are left out.
        missing: What becomes of null, NaN and infinity, as in `bulk.report`.
        outside: What becomes of numbers outside the domain, as in `bulk.report`.
        clip: Short for `outside="clip"`.

    Returns:
        A frame of the columns of `keep`, then the reports under the column's name.

    Raises:
        ArgumentError: If not exactly one of `output` and `row_id` is given.
        DataError: If a column is missing, or (with `output`) values are refused: it gives their count and the
            first row of a partition, never a value.
        FileExistsError: If `output` exists.

    Example:
        >>> report(people, "wait", m, row_id="id", keep="country")  # doctest: +SKIP
        DataFrame[country: string, wait: int]
    """
    from pyspark.sql.pandas.types import from_arrow_type

    if (output is None) == (row_id is None):
        raise ArgumentError(
            "give either output= (written once) or row_id= (a keyed draw per row), and not both",
            argument="output",
        )
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    secret = b"" if row_id is None else new_secret()
    randomiser = Randomiser({column: mechanism}, kept, Policy.of(missing, outside, clip), row_id, secret)
    extra = [] if row_id is None or row_id in kept else [row_id]
    check_columns(df, [*kept, *randomiser.inputs, *extra])
    if row_id in randomiser.inputs:
        raise ArgumentError(
            "row_id must be another column than the one that is randomised", argument="row_id"
        )
    _check_row_id(df, row_id)
    for name, domain in randomiser.inputs.items():
        check_values(df, name, domain)
    schema = _only(df, kept).add(column, from_arrow_type(_report_type(mechanism)))
    frame = df.select(*kept, *randomiser.inputs, *extra)
    reports = frame.mapInArrow(_report_task(column, randomiser), schema)
    reports = reports.withMetadata(column, label(mechanism))
    if output is None:
        return reports
    write_once(reports, output)
    return df.sparkSession.read.parquet(output)


def _report_task(column: str, randomiser: Randomiser) -> Task:
    """What runs in a task: batches in, batches of reports out."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        reports = pa.field(column, _report_type(randomiser.mechanisms[column]))
        rows = 0
        for batch in batches:
            schema = pa.schema([*(batch.schema.field(name) for name in randomiser.keep), reports])
            try:
                yield randomiser.reports(batch, schema)
            except DataError as error:
                if error.code not in ("missing", "outside"):
                    raise
                context = TaskContext.get()
                where = f"partition {context.partitionId() if context else 0}"
                raise randomiser.refusal(chain([batch], batches), where, row_from_one, rows) from None
            rows += batch.num_rows

    return noting_refusals(task)


def _report_type(mechanism: Reporter) -> pa.DataType:
    """The narrowest signed integers for the cells: Spark has no unsigned ones."""
    bits = next(bits for bits in (8, 16, 32, 64) if mechanism.cells <= 1 << (bits - 1))
    cell = getattr(pa, f"int{bits}")()
    return cell if mechanism.width == 1 else pa.list_(cell)


def _check_row_id(df: DataFrame, row_id: str | None) -> None:
    from pyspark.sql.types import BinaryType, IntegralType, StringType

    kind = None if row_id is None else df.schema[row_id].dataType
    if kind is not None and not isinstance(kind, IntegralType | StringType | BinaryType):
        sentence = f"row_id must be a column of integers or text, got {kind.simpleString()}"
        raise ArgumentTypeError(sentence, argument="row_id")


def _only(df: DataFrame, columns: Sequence[str]) -> StructType:
    """The schema of some columns."""
    from pyspark.sql.types import StructType

    return StructType([df.schema[name] for name in columns])


@overload
def tally(df: DataFrame, column: str, *, by: None = None, mechanism: Reporter | None = None) -> Tally: ...


@overload
def tally(
    df: DataFrame, column: str, *, by: Sequence[str] | str, mechanism: Reporter | None = None
) -> GroupedTally: ...


def tally(
    df: DataFrame,
    column: str,
    *,
    by: Sequence[str] | str | None = None,
    mechanism: Reporter | None = None,
) -> Tally | GroupedTally:
    """Count reports with one GROUP BY on cells, of which only counts are shuffled.

    Args:
        df: The frame of reports.
        column: The column that holds them. Empty ones (`missing="keep"`) are not counted.
        by: The columns of group keys; without them everybody is one group.
        mechanism: What made the reports, where the frame does not say so itself.

    Returns:
        A Tally, or with `by` a GroupedTally.

    Raises:
        DataError: If the frame does not say which mechanism made the reports, or if several did.

    Example:
        >>> tally(reports, "wait", by="country")  # doctest: +SKIP
        <GroupedTally by=['country'] groups=2 n=3000>
    """
    groups = [by] if isinstance(by, str) else list(by or [])
    counts, mechanism = _counts(df, column, groups, mechanism)
    table = counts.toArrow()
    if groups:
        return GroupedTally.from_table(mechanism, groups, table)
    return Tally.from_arrow(mechanism, table, cell=CELL, count=COUNT)


def _counts(
    df: DataFrame, column: str, groups: list[str], mechanism: Reporter | None
) -> tuple[DataFrame, Reporter]:
    from pyspark.sql import functions

    check_keys(groups, (CELL, COUNT))
    check_columns(df, [*groups, column])
    mechanism = mechanism_behind(df, column, mechanism)
    report = functions.col(column)
    cell = report.cast("long") if mechanism.width == 1 else functions.explode(report.cast("array<long>"))
    reports = df.where(report.isNotNull()).select(*groups, cell.alias(CELL))
    return reports.groupBy(*groups, CELL).agg(functions.count("*").alias(COUNT)), mechanism


def estimates(
    df: DataFrame,
    column: str,
    by: Sequence[str] | str,
    estimate: Estimator,
    *,
    mechanism: Reporter | None = None,
) -> DataFrame:
    """Compute an estimate for each group, in parallel, from the counts.

    Args:
        df: The frame of reports.
        column: The column that holds them.
        by: The columns of group keys.
        estimate: Takes a Tally and returns an Estimate or several, such as `sottovoce.mean`.
        mechanism: What made the reports, where the frame does not say so itself.

    Returns:
        A frame with a row for each answer, columns as in `bulk.estimates`.

    Raises:
        DataError: If the frame does not say which mechanism made the reports, or if several did.

    Example:
        >>> estimates(reports, "wait", "country", sv.mean).show()  # doctest: +SKIP
    """
    groups = [by] if isinstance(by, str) else list(by)
    check_keys(groups, COLUMNS)
    counts, mechanism = _counts(df, column, groups, mechanism)
    spec = mechanism.to_json()

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from sottovoce.bulk import group_estimates

        parts = list(batches)  # counts only, of this task's groups
        if parts:
            mechanism = group_estimates.mechanism_from(spec)
            part = GroupedTally.from_table(mechanism, groups, pa.Table.from_batches(parts))
            yield from group_estimates.estimates(part, column, groups, estimate).to_batches()

    schema = _only(df, groups)
    for name, kind in COLUMNS.items():
        schema = schema.add(name, kind)
    # Said outright: Spark would put counts, being small, into one task, and one core would do all the work.
    spread = counts.repartition(4 * parallelism(df), *groups)
    return spread.mapInArrow(noting_refusals(task), schema)
