"""Which mechanisms made a column of a Spark DataFrame: its own label, those of unions, those of the files.

Spark keeps one label where several frames or files come together, the first. A mixture would be counted as if
one mechanism had made it, so the parts are asked too.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sottovoce.bulk.tables.labels import (
    SPARK_FOOTER,
    Label,
    agreed,
    arrow_label,
    labelled_mechanism,
    spark_label,
)
from sottovoce.reporters.contract import Reporter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ARROW_FOOTER = "ARROW:schema"
_EVERY = 1000  # files up to which every footer is read; beyond, one of each folder


def mechanism_behind(df: DataFrame, column: str, mechanism: Reporter | None) -> Reporter:
    """The one mechanism of a column; refused where two come together or none is known."""
    where = f"column {column!r}"
    seen: set[str] = set()
    for label in _labels(df, column):
        text = json.dumps(label, sort_keys=True)
        if text not in seen:
            seen.add(text)
            labelled = labelled_mechanism(label, column)
            mechanism = mechanism if labelled is None else agreed(labelled, mechanism, where)
    return agreed(mechanism, None, where)


def _labels(df: DataFrame, column: str) -> Iterator[Label]:
    yield dict(df.schema[column].metadata or {})
    if not hasattr(df, "_jdf"):  # Spark Connect shows neither plan nor files
        return
    plan = df._jdf.queryExecution().analyzed()
    yield from _of_unions(plan, column)
    for path in _files(df):
        yield _of_footer(df, path, column)


def _of_unions(plan: Any, column: str) -> Iterator[Label]:
    """Labels of the column in every part of every union below."""
    children = [plan.children().apply(i) for i in range(plan.children().size())]
    for child in children:
        if plan.nodeName() == "Union":
            names = [plan.output().apply(i).name() for i in range(plan.output().size())]
            for place in (i for i, name in enumerate(names) if name == column):
                yield dict(json.loads(child.output().apply(place).metadata().json()))
        yield from _of_unions(child, column)


def _files(df: DataFrame) -> list[str]:
    paths = [path for path in df.inputFiles() if path.endswith(".parquet")]
    if len(paths) <= _EVERY:
        return paths
    return list({str(PurePosixPath(path).parent): path for path in paths}.values())


def _of_footer(df: DataFrame, path: str, column: str) -> Label:
    """A column's label in a Parquet footer, as Spark or as Arrow wrote it."""
    session: Any = df.sparkSession
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    hadoop = session._jvm.org.apache.parquet.hadoop
    source = hadoop.util.HadoopInputFile.fromPath(place, session._jsc.hadoopConfiguration())
    reader = hadoop.ParquetFileReader.open(source)
    try:
        about = reader.getFooter().getFileMetaData().getKeyValueMetaData()
        spark, arrow = about.get(SPARK_FOOTER), about.get(_ARROW_FOOTER)
    finally:
        reader.close()
    if spark is not None:
        return spark_label(spark, column)
    if arrow is not None:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(arrow)))
        if column in schema.names:
            return arrow_label(schema.field(column).metadata)
    return {}
