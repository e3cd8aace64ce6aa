"""The bulk verbs on Spark: report, tally, central_mean, and estimates per group.

    from sottovoce.bulk import spark
    reports = spark.report(people, "wait", m, output="reports", keep=["country"])
    spark.tally(reports, "wait", by=["country"])          # the same integers as on one machine

Spark may compute a row more than once. So reports are either written once (`output`: Spark's commit keeps one
attempt of each task) or drawn by a keyed function of a row id (`row_id`: every attempt and every action
gives the same report). One of the two has to be chosen; there is no third that would be private.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sottovoce.bulk.groups import CELL, COUNT, GroupedTally
from sottovoce.bulk.labels import AnyMechanism, agree, label, mechanism_of
from sottovoce.errors import DataError, MissingExtra
from sottovoce.mixture import from_json
from sottovoce.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from sottovoce.bulk.columns import Missing
    from sottovoce.central.results import GroupedRelease, Release


def session(cores: int | str = "*", **settings: str) -> SparkSession:
    """A local Spark session with the settings that these verbs like; a cluster's own session works too."""
    spark_module = _pyspark()
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise OSError(
            "Spark needs Java 17 or newer: install a JRE (openjdk-17-jre-headless) or set JAVA_HOME"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = spark_module.sql.SparkSession.builder.master(f"local[{cores}]").appName("sottovoce")
    defaults = {"spark.ui.enabled": "false", "spark.sql.execution.arrow.pyspark.enabled": "true"}
    for key, value in {**defaults, **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def report(
    df: DataFrame,
    column: str,
    mechanism: AnyMechanism,
    *,
    output: str | None = None,
    row_id: str | None = None,
    keep: Sequence[str] = (),
    missing: Missing = None,
    clip: bool = False,
) -> DataFrame:
    """Randomise a column; the result has the columns of `keep` and the reports under the column's name.

    With `output` the reports are written there as Parquet, once, with fresh secure randomness in every task,
    and read back. With `row_id` (a column of integers or text, one value per person) nothing is written:
    draws are a keyed function of row, column, mechanism and value under a secret made for this call, which
    lives only in the plan's closure. `missing` and `clip` are those of `bulk.report`.
    """
    from sottovoce.bulk.columns import Rule

    rule = Rule(missing, clip)
    rule.check(mechanism)
    if (output is None) == (row_id is None):
        raise ValueError("give either output= (written once) or row_id= (a keyed draw per row), and not both")
    if column in keep:
        raise ValueError(f"column {column!r} is randomised, so it cannot be kept as it is")
    extra = [] if row_id is None or row_id in keep or row_id == column else [row_id]
    _need_columns(df, [*keep, column, *extra])
    if row_id == column:
        raise ValueError("row_id must be another column than the one that is randomised")
    chosen = df.select(*keep, column, *extra)
    fields = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in chosen.select(*keep).schema.fields)
    schema = f"{fields}{', ' if fields else ''}`{column}` {_cell_type(mechanism)}"
    secret = None if row_id is None else os.urandom(32)
    task = _report_task(column, list(keep), mechanism.to_json(), rule, row_id, secret)
    reports = chosen.mapInArrow(task, schema).withMetadata(column, label(mechanism))
    if output is None:
        return reports
    _run(lambda: reports.write.mode("error").parquet(output))
    return df.sparkSession.read.parquet(output)


def _report_task(
    column: str, keep: list[str], spec: str, rule: Any, row_id: str | None, secret: bytes | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What runs in a task: batches in, batches of reports out."""

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from sottovoce.bulk.columns import cells_of
        from sottovoce.bulk.keyed import KeyedDraws

        mechanism = _cached(spec)
        draws = None if secret is None else KeyedDraws(secret, column, mechanism)
        for batch in batches:
            rows = None if row_id is None else batch.column(row_id)
            cells = cells_of(batch, column, mechanism, rule, draws, rows)
            signed = cells.cast(getattr(pa, f"int{8 * _cell_bytes(mechanism)}")())
            names = [*keep, column]
            yield pa.RecordBatch.from_arrays([*(batch.column(name) for name in keep), signed], names=names)

    return task


@lru_cache(maxsize=16)
def _cached(spec: str) -> AnyMechanism:
    """A worker reads and audits a spec once."""
    return from_json(spec)


def _cell_bytes(mechanism: AnyMechanism) -> int:
    """The narrowest signed integer for the cells: Spark has no unsigned ones."""
    return next(size for size in (1, 2, 4) if mechanism.cells <= 1 << (8 * size - 1))


def _cell_type(mechanism: AnyMechanism) -> str:
    return {1: "tinyint", 2: "smallint", 4: "int"}[_cell_bytes(mechanism)]


def tally(
    df: DataFrame,
    column: str,
    *,
    by: Sequence[str] | str | None = None,
    mechanism: AnyMechanism | None = None,
) -> Any:
    """Count reports: one GROUP BY on cells, of which only counts are shuffled. A Tally or a GroupedTally."""
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

    _need_columns(df, [*groups, column])
    found = mechanism_of(df.schema[column].metadata, column)
    mechanism = agree(found, mechanism, f"column {column!r}")
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
    """An estimate per group, computed in parallel from the counts: columns of `by`, n, value, low, high.

    `estimate` takes a Tally and returns something with value, low and high, such as `sottovoce.mean`.
    """
    groups = [by] if isinstance(by, str) else list(by)
    counts, mechanism = _counts(df, column, groups, mechanism)
    spec = mechanism.to_json()
    keys = ", ".join(f"`{f.name}` {f.dataType.simpleString()}" for f in df.select(*groups).schema.fields)

    def one_group(table: Any) -> Any:
        import pyarrow as pa

        part = Tally.from_arrow(_cached(spec), table, cell=CELL, count=COUNT)
        found = estimate(part)
        numbers = {
            "n": [part.n],
            **{name: [float(getattr(found, name))] for name in ("value", "low", "high")},
        }
        first = table.slice(0, 1)
        return pa.table({**{name: first.column(name) for name in groups}, **numbers})

    schema = f"{keys}, n long, value double, low double, high double"
    return counts.groupBy(*groups).applyInArrow(one_group, schema)


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
    """`sottovoce.central.mean` of a column, also by group: integer sums on the cluster, noise once, here."""
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
    _need_columns(df, wanted)

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

    parts = df.select(*wanted).mapInArrow(partial, "code long, people long, positions long")
    # decimal: a sum of positions may pass 64 bits
    exact = [functions.sum(functions.col(z).cast("decimal(38,0)")).alias(z) for z in ("people", "positions")]
    rows = _run(lambda: parts.groupBy("code").agg(*exact).collect())
    people, positions = (np.zeros(len(keys), dtype=object) for _ in range(2))
    for row in rows:
        people[row["code"]], positions[row["code"]] = int(row["people"]), int(row["positions"])
    totals = Totals(people, positions, keys)
    return central.mean(
        totals, epsilon, bounds, mechanism, column=column, clip=clip, missing=missing, **options
    )


def _need_columns(df: DataFrame, columns: Sequence[str]) -> None:
    if missing := [name for name in columns if name not in df.columns]:
        raise DataError(f"the data has no column {missing[0]!r}; columns are {df.columns}")


def _run(action: Callable[[], Any]) -> Any:
    """An action whose refusals in the workers come back as the sentence they were, without the stack."""
    from pyspark.errors import PySparkException

    try:
        return action()
    except PySparkException as error:
        if "PATH_ALREADY_EXISTS" in str(error):
            raise FileExistsError(
                "output exists already: reports are written once, choose another name"
            ) from None
        for line in str(error).splitlines():
            for kind in ("DataError: ", "TypeError: "):
                if kind in line:
                    wrong = DataError if kind.startswith("Data") else TypeError
                    raise wrong(line.partition(kind)[2].strip()) from None
        raise


def _pyspark() -> Any:
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark.sql
    except ImportError as error:
        raise MissingExtra(f"Spark (there is no {error.name})", "spark") from None
    return pyspark
