"""Sources of record batches: Parquet, CSV and Arrow files, and anything that speaks the Arrow interface."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DataError, MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("bulk work", "bulk") from None

ROWS = 1 << 18  # rows per batch: a few megabytes a column
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
FILES = (".parquet", ".pq", ".csv", ".arrow", ".feather", ".ipc")


class Source:
    """One file or one object in memory, read as record batches of chosen columns."""

    def __init__(self, data: Any, columns: Sequence[str], name: str = "the data") -> None:
        self._data, self.name = data, name
        self.schema: Any = _schema(data)
        wanted = list(dict.fromkeys(columns))
        missing = [column for column in wanted if column not in self.schema.names]
        if missing:
            raise DataError(f"{name} has no column {missing[0]!r}; columns are {self.schema.names}")
        self.columns = wanted

    def field(self, column: str) -> Any:
        return self.schema.field(column)

    def metadata(self, column: str) -> Mapping[Any, Any]:
        """A column's metadata, also where Spark wrote it: as JSON in the file's footer."""
        footer = (self.schema.metadata or {}).get(_SPARK)
        if footer is not None:
            for field in json.loads(footer)["fields"]:
                if field["name"] == column:
                    return dict(field["metadata"])
        return self.field(column).metadata or {}

    def batches(self) -> Iterator[Any]:
        """Record batches of the wanted columns, in the order of the rows."""
        try:
            yield from _batches(self._data, self.columns)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(f"{self.name} cannot be read: {_first_line(error)}") from None


def open_source(data: Any, columns: Sequence[str]) -> Source:
    """A source for a path or for a dataframe, table or stream."""
    if isinstance(data, str | Path):
        path = Path(data)
        if path.suffix.lower() not in FILES:
            raise DataError(f"{path.name} must end in one of {', '.join(FILES)}")
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        try:
            return Source(path, columns, path.name)
        except (pa.ArrowInvalid, OSError) as error:
            raise DataError(f"{path.name} cannot be read: {_first_line(error)}") from None
    return Source(as_table(data), columns)


def as_table(data: Any) -> Any:
    """An Arrow table of a dataframe, a table, a record batch or a stream (pandas, polars, DuckDB …)."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    if type(data).__module__.partition(".")[0] == "pandas":
        return pa.Table.from_pandas(data, preserve_index=False)
    raise TypeError(f"data must be a path, a dataframe or Arrow data, got {type(data).__name__}")


def list_files(data: Any) -> list[Path] | None:
    """The files that a path, a folder or a list of paths names; None for data in memory."""
    if isinstance(data, str | Path):
        path = Path(data)
        if not path.is_dir():
            return [path]
        found = sorted(p for p in path.iterdir() if p.suffix.lower() in FILES and not p.name.startswith("."))
        if not found:
            raise DataError(f"the folder {path} holds no {', '.join(FILES)} files")
        return found
    if isinstance(data, list | tuple) and data and all(isinstance(item, str | Path) for item in data):
        return [Path(item) for item in data]
    return None


def numbers(batch: Any, column: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """A numeric column as numpy, and where it is null (None if nowhere)."""
    array = batch.column(column)
    kind = array.type
    if pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TypeError(f"column {column!r} must be numeric, got {kind}")
    if not array.null_count:
        return array.to_numpy(zero_copy_only=False), None
    null = array.is_null().to_numpy(zero_copy_only=False)
    return array.fill_null(0).to_numpy(zero_copy_only=False), null


def _schema(data: Any) -> Any:
    if not isinstance(data, Path):
        return data.schema
    if data.suffix.lower() in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        return pq.read_schema(data)
    with _open(data) as reader:
        return reader.schema


def _open(path: Path) -> Any:
    if path.suffix.lower() == ".csv":
        import pyarrow.csv

        return pyarrow.csv.open_csv(path)
    try:
        return pa.ipc.open_file(pa.memory_map(str(path)))
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.memory_map(str(path)))


def _batches(data: Any, columns: list[str]) -> Iterator[Any]:
    if not isinstance(data, Path):
        yield from data.select(columns).to_batches(max_chunksize=ROWS)
    elif data.suffix.lower() in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        with pq.ParquetFile(data, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=ROWS, columns=columns)
    else:
        with _open(data) as reader:
            count = getattr(reader, "num_record_batches", None)
            found = (reader.get_batch(i) for i in range(count)) if count is not None else reader
            for batch in found:
                part = batch.select(columns)
                for first in range(0, part.num_rows, ROWS):
                    yield part.slice(first, ROWS)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
