"""The bulk verbs on Spark: report, tally, central_mean, and estimates per group.

    from sottovoce.bulk import spark
    reports = spark.report(people, "wait", m, output="reports", keep=["country"])
    spark.tally(reports, "wait", by=["country"])          # the same integers as on one machine

Spark may compute a row more than once. So reports are either written once (`output`: Spark's commit keeps one
attempt of each task) or drawn by a keyed function of a row id (`row_id`: every attempt and every action
gives the same report). One of the two has to be chosen; there is no third that would be private.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sottovoce.bulk.cluster import need_columns, parallelism, run_action, session, write_once
from sottovoce.bulk.columns import Missing, Rule
from sottovoce.bulk.estimating import COLUMNS
from sottovoce.bulk.groups import CELL, COUNT, GroupedTally, check_keys
from sottovoce.bulk.keyed import new_secret
from sottovoce.bulk.labels import AnyMechanism, label
from sottovoce.bulk.provenance import mechanism_behind
from sottovoce.core.errors import DataError
from sottovoce.estimates.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from sottovoce.central.results import GroupedRelease, Release

__all__ = ["central_mean", "estimates", "report", "session", "tally"]


def report(
    df: DataFrame,
    column: str,
    mechanism: AnyMechanism,
    *,
    output: str | None = None,
    row_id: str | None = None,
    keep: Sequence[str] | str = (),
    missing: Missing = None,
    clip: bool = False,
) -> DataFrame:
    """Randomise a column; the result has the columns of `keep` and the reports under the column's name.

    With `output` the reports are written there as Parquet, once, with fresh secure randomness in every task,
    and read back. With `row_id` (a column of integers or text, one value per person) nothing is written:
    draws are a keyed function of row, column, mechanism and value under a secret made for this call, which
    lives only in the plan's closure. `missing` and `clip` are those of `bulk.report`.
    `df` is the data, `column` the one to randomise.
    """
    rule, keep = Rule(missing, clip), [keep] if isinstance(keep, str) else list(keep)
    rule.check(mechanism)
    if (output is None) == (row_id is None):
        raise ValueError("give either output= (written once) or row_id= (a keyed draw per row), and not both")
    if column in keep:
        raise ValueError(f"column {column!r} is randomised, so it cannot be kept as it is")
    extra = [] if row_id is None or row_id in keep or row_id == column else [row_id]
    need_columns(df, [*keep, column, *extra])
    if row_id == column:
        raise ValueError("row_id must be another column than the one that is randomised")
    _check_row_id(df, row_id)
    _check_numeric(df, column)
    chosen = df.select(*keep, column, *extra)
    schema = _only(df, keep).add(column, _cell_type(mechanism))
    secret = None if row_id is None else new_secret()
    task = _report_task(column, keep, mechanism.to_json(), rule, row_id, secret)
    reports = chosen.mapInArrow(task, schema).withMetadata(column, label(mechanism))
    if output is None:
        return reports
    write_once(reports, output)
    return df.sparkSession.read.parquet(output)


def _report_task(
    column: str, keep: list[str], spec: str, rule: Rule, row_id: str | None, secret: bytes | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What runs in a task: batches in, batches of reports out."""

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        from itertools import chain

        import pyarrow as pa
        from pyspark import TaskContext

        from sottovoce.bulk.columns import cells_of, refusal
        from sottovoce.bulk.estimating import mechanism_from
        from sottovoce.bulk.keyed import KeyedDraws

        mechanism = mechanism_from(spec)
        draws = None if secret is None else KeyedDraws(secret, column, mechanism)
        signed = getattr(pa, f"int{8 * _cell_bytes(mechanism)}")()
        names, before = [*keep, column], 0
        for batch in batches:
            rows = None if row_id is None else batch.column(row_id)
            try:
                cells = cells_of(batch, column, mechanism, rule, draws, rows).cast(signed)
            except DataError as error:
                context = TaskContext.get()
                where = f"partition {context.partitionId() if context else 0}"
                rest = chain([batch], batches)
                raise (refusal(rest, {column: mechanism}, rule, where, before) or error) from None
            yield pa.RecordBatch.from_arrays([*(batch.column(name) for name in keep), cells], names=names)
            before += batch.num_rows

    return task


def _cell_bytes(mechanism: AnyMechanism) -> int:
    """The narrowest signed integer for the cells: Spark has no unsigned ones."""
    return next(size for size in (1, 2, 4) if mechanism.cells <= 1 << (8 * size - 1))


def _cell_type(mechanism: AnyMechanism) -> str:
    return {1: "byte", 2: "short", 4: "integer"}[_cell_bytes(mechanism)]


def _check_numeric(df: DataFrame, column: str) -> None:
    """Here and not in the tasks, which may run much later."""
    from pyspark.sql.types import NullType, NumericType

    kind = df.schema[column].dataType
    if not isinstance(kind, NumericType | NullType):
        raise TypeError(f"column {column!r} must be numeric, got {kind.simpleString()}")


def _check_row_id(df: DataFrame, row_id: str | None) -> None:
    from pyspark.sql.types import BinaryType, IntegralType, StringType

    kind = None if row_id is None else df.schema[row_id].dataType
    if kind is not None and not isinstance(kind, IntegralType | StringType | BinaryType):
        raise TypeError(f"row_id must be a column of integers or text, got {kind.simpleString()}")


def _only(df: DataFrame, columns: Sequence[str]) -> StructType:
    """The schema of some columns."""
    from pyspark.sql.types import StructType

    return StructType([df.schema[name] for name in columns])


def tally(
    df: DataFrame,
    column: str,
    *,
    by: Sequence[str] | str | None = None,
    mechanism: AnyMechanism | None = None,
) -> Any:
    """Count reports: one GROUP BY on cells, of which only counts are shuffled. A Tally or a GroupedTally.

    `df` holds the reports in `column`; `by` names columns of group keys. The mechanism comes from the
    column's metadata unless it is given.
    """
    groups = [by] if isinstance(by, str) else list(by or [])
    counts, mechanism = _counts(df, column, groups, mechanism)
    table = counts.toArrow()
    if groups:
        return GroupedTally.from_table(mechanism, groups, table)
    return Tally.from_arrow(mechanism, table, cell=CELL, count=COUNT)


def _counts(
    df: DataFrame, column: str, groups: list[str], mechanism: AnyMechanism | None
) -> tuple[DataFrame, AnyMechanism]:
    from pyspark.sql import functions

    check_keys(groups, (CELL, COUNT))
    need_columns(df, [*groups, column])
    mechanism = mechanism_behind(df, column, mechanism)
    cell = functions.col(column).cast("long").alias(CELL)
    reports = df.where(functions.col(column).isNotNull()).select(*groups, cell)
    return reports.groupBy(*groups, CELL).agg(functions.count("*").alias(COUNT)), mechanism


def estimates(
    df: DataFrame,
    column: str,
    by: Sequence[str] | str,
    estimate: Callable[[Tally], Any],
    *,
    mechanism: AnyMechanism | None = None,
) -> DataFrame:
    """An estimate per group, computed in parallel from the counts; columns as in `bulk.estimates`.

    `estimate` takes a Tally and returns an Estimate or several, such as `sottovoce.mean`: a row for each.
    `df` holds the reports in `column`, `by` names the columns of group keys.
    """
    groups = [by] if isinstance(by, str) else list(by)
    check_keys(groups, COLUMNS)
    counts, mechanism = _counts(df, column, groups, mechanism)
    spec = mechanism.to_json()

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from sottovoce.bulk import estimating

        held = list(batches)  # counts only, of this task's groups
        if held:
            table = pa.Table.from_batches(held)
            part = GroupedTally.from_table(estimating.mechanism_from(spec), groups, table)
            yield from estimating.estimates(part, column, groups, estimate).to_batches()

    schema = _only(df, groups)
    for name, kind in COLUMNS.items():
        schema = schema.add(name, kind)
    # Said outright: Spark would put counts, being small, into one task, and one core would do all the work.
    return counts.repartition(4 * parallelism(df), *groups).mapInArrow(task, schema)


def central_mean(
    df: DataFrame,
    column: str,
    bounds: Any,
    epsilon: float,
    *,
    by: str | None = None,
    groups: Sequence[Any] | None = None,
    mechanism: str = "hourglass",
    clip: bool = False,
    missing: Any = "refuse",
    **options: Any,
) -> Release | GroupedRelease:
    """`sottovoce.central.mean` of a column, also by group: integer sums on the cluster, noise once, here.

    `df` holds the values in `column`, within the public `bounds`. `by` is the column of group keys and
    `groups` the keys that are declared; `mechanism`, `missing` and further `options` are those of
    `central.mean`.
    """
    import numpy as np
    from pyspark.sql import functions

    from sottovoce import central
    from sottovoce.central.grid import STEPS, Grid
    from sottovoce.central.groups import Keys
    from sottovoce.central.totals import EVERYBODY, Totals, gather

    grid = Grid.of(bounds, options.get("grid", STEPS), clip=clip, missing=missing)
    if (by is None) != (groups is None):
        raise ValueError("by and groups go together: which rows belong where, and which keys are public")
    keys = EVERYBODY if groups is None else Keys(groups)
    wanted = [column] if by is None else [column, by]
    need_columns(df, wanted)

    def partial(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            found = gather(pa.Table.from_batches([batch]), grid, column, by, groups)
            code = np.flatnonzero(found.people)
            if code.size:
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(code),
                        *(pa.array(z[code].astype(np.int64)) for z in (found.people, found.positions)),
                    ],
                    names=["code", "people", "positions"],
                )

    _check_numeric(df, column)
    parts = df.select(*wanted).mapInArrow(partial, "code long, people long, positions long")
    # decimal: a sum of positions may pass 64 bits
    exact = [functions.sum(functions.col(z).cast("decimal(38,0)")).alias(z) for z in ("people", "positions")]
    rows = run_action(lambda: parts.groupBy("code").agg(*exact).collect())
    people, positions = (np.zeros(len(keys), dtype=object) for _ in range(2))
    for row in rows:
        people[row["code"]], positions[row["code"]] = int(row["people"]), int(row["positions"])
    totals = Totals(people, positions, keys)
    return central.mean(
        totals, epsilon, bounds, mechanism, column=column, clip=clip, missing=missing, **options
    )
