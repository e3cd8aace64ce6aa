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

from sottovoce.bulk.labels import AnyMechanism, agree, mechanism_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SPARK, _ARROW = "org.apache.spark.sql.parquet.row.metadata", "ARROW:schema"
_EVERY = 1000  # files up to which every footer is read; beyond, one of each folder


def mechanism_behind(df: DataFrame, column: str, mechanism: AnyMechanism | None) -> AnyMechanism:
    """The one mechanism of a column; refused where two come together or none is known."""
    where = f"column {column!r}"
    seen: set[str] = set()
    for label in _labels(df, column):
        text = json.dumps(label, sort_keys=True)
        if text not in seen:
            seen.add(text)
            found = mechanism_of(label, column)
            mechanism = mechanism if found is None else agree(found, mechanism, where)
    return agree(mechanism, None, where)


def _labels(df: DataFrame, column: str) -> Iterator[dict[str, Any]]:
    yield dict(df.schema[column].metadata or {})
    if not hasattr(df, "_jdf"):  # Spark Connect shows neither plan nor files
        return
    plan = df._jdf.queryExecution().analyzed()
    yield from _of_unions(plan, column)
    for path in _files(df):
        yield _of_footer(df, path, column)


def _of_unions(plan: Any, column: str) -> Iterator[dict[str, Any]]:
    """Labels of the column in every part of every union below."""
    children = [plan.children().apply(i) for i in range(plan.children().size())]
    for child in children:
        if plan.nodeName() == "Union":
            names = [plan.output().apply(i).name() for i in range(plan.output().size())]
            for place in (i for i, name in enumerate(names) if name == column):
                yield dict(json.loads(child.output().apply(place).metadata().json()))
        yield from _of_unions(child, column)


def _files(df: DataFrame) -> list[str]:
    found = [path for path in df.inputFiles() if path.endswith(".parquet")]
    if len(found) <= _EVERY:
        return found
    return list({str(PurePosixPath(path).parent): path for path in found}.values())


def _of_footer(df: DataFrame, path: str, column: str) -> dict[str, Any]:
    """A column's label in a Parquet footer, as Spark or as Arrow wrote it."""
    import pyarrow as pa

    session: Any = df.sparkSession
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    hadoop = session._jvm.org.apache.parquet.hadoop
    source = hadoop.util.HadoopInputFile.fromPath(place, session._jsc.hadoopConfiguration())
    reader = hadoop.ParquetFileReader.open(source)
    try:
        about = reader.getFooter().getFileMetaData().getKeyValueMetaData()
        spark, arrow = about.get(_SPARK), about.get(_ARROW)
    finally:
        reader.close()
    if spark is not None:
        fields = {field["name"]: field["metadata"] for field in json.loads(spark)["fields"]}
        return dict(fields.get(column, {}))
    if arrow is not None:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(arrow)))
        if column in schema.names:
            metadata = schema.field(column).metadata or {}
            return {key.decode(): value.decode() for key, value in metadata.items()}
    return {}
