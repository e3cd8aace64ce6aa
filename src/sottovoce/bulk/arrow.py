"""Sources of record batches: Parquet, CSV and Arrow files, and anything that speaks the Arrow interface."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.bulk.labels import label_beside
from sottovoce.core.errors import DataError, MissingExtra

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtra("bulk work", "bulk") from None

ROWS = 1 << 18  # rows per batch: a few megabytes a column
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"
PARQUET = (".parquet", ".pq")
FILES = (*PARQUET, ".csv", ".arrow", ".feather", ".ipc")


class Source:
    """One file, one object in memory or one stream, read as record batches of chosen columns.

    The columns of a CSV file have the types that are given, whatever its first rows look like, and are text
    as it stands otherwise. A stream can be read once.
    """

    def __init__(
        self,
        data: Any,
        columns: Sequence[str],
        name: str = "the data",
        csv_types: Mapping[str, Any] | None = None,
    ) -> None:
        self._data, self.name, self._csv_types = data, name, dict(csv_types or {})
        found = _schema(data, self._csv_types)
        self.schema: Any = pa.schema(
            [field.with_type(_plain_type(field.type)) for field in found], metadata=found.metadata
        )
        wanted = list(dict.fromkeys(columns))
        missing = [column for column in wanted if column not in self.schema.names]
        if missing:
            raise DataError(f"{name} has no column {missing[0]!r}; columns are {self.schema.names}")
        self.columns = wanted
        for column in wanted:
            self.field(column)

    def field(self, column: str) -> Any:
        """A column's name, type and metadata."""
        if self.schema.names.count(column) > 1:
            raise DataError(f"{self.name} has several columns {column!r}: which one is meant cannot be said")
        return self.schema.field(column)

    def metadata(self, column: str) -> Mapping[Any, Any]:
        """A column's metadata, also where Spark wrote it: as JSON in the file's footer."""
        footer = (self.schema.metadata or {}).get(_SPARK)
        if footer is not None:
            for field in json.loads(footer)["fields"]:
                if field["name"] == column:
                    return dict(field["metadata"])
        found = self.field(column).metadata or {}
        if not found and isinstance(self._data, Path) and self._data.suffix.lower() == ".csv":
            return label_beside(self._data, column)
        return found

    def batches(self) -> Iterator[Any]:
        """Record batches of the wanted columns, in the order of the rows."""
        try:
            for found in _batches(self._data, self.columns, self._csv_types):
                arrays = [without_views(array) for array in found.columns]
                plain = pa.RecordBatch.from_arrays(arrays, names=self.columns)
                for first in range(0, plain.num_rows, ROWS):
                    yield plain.slice(first, ROWS)
        except (pa.ArrowInvalid, OSError) as error:
            raise _refusal(self._data, self.name, self._csv_types, error) from None


def open_source(data: Any, columns: Sequence[str], csv_types: Mapping[str, Any] | None = None) -> Source:
    """A source for a path or for a dataframe, table or stream."""
    if isinstance(data, str | Path):
        path = Path(data)
        if path.suffix.lower() not in FILES:
            raise DataError(f"{path.name} must end in one of {', '.join(FILES)}")
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        try:
            return Source(path, columns, path.name, csv_types)
        except (pa.ArrowInvalid, OSError) as error:
            raise _refusal(path, path.name, csv_types or {}, error) from None
    return Source(_as_stream(data), columns)


def _as_stream(data: Any) -> Any:
    """An Arrow table or reader of a dataframe, a table, a record batch or a stream (pandas, polars, …)."""
    if isinstance(data, pa.Table | pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    try:
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data)
        if type(data).__module__.partition(".")[0] == "pandas":
            return pa.Table.from_pandas(data, preserve_index=False)
    except (pa.ArrowInvalid, AttributeError):  # a single column, or a type that Arrow does not know
        pass
    raise TypeError(f"data must be a path, a dataframe or Arrow data, got {type(data).__name__}")


def read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches, each read on another thread while the one before is worked on."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


def list_files(data: Any) -> list[Path] | None:
    """The files that a path, a folder or a list of paths names; None for data in memory."""
    if isinstance(data, str | Path):
        path = Path(data)
        if not path.is_dir():
            return [path]
        found = sorted(p for p in path.iterdir() if p.suffix.lower() in FILES and not p.name.startswith("."))
        if not found:
            unread = " (folders inside it are not read)" if any(map(Path.is_dir, path.iterdir())) else ""
            raise DataError(f"the folder {path} holds no {', '.join(FILES)} files{unread}")
        return found
    if isinstance(data, list | tuple) and data and all(isinstance(item, str | Path) for item in data):
        return [Path(item) for item in data]
    return None


def count_rows(data: Any) -> int | None:
    """How many rows some files hold, if all of them say so in their footer."""
    files = list_files(data)
    if not files or any(path.suffix.lower() not in PARQUET for path in files):
        return None
    import pyarrow.parquet as pq

    try:
        return sum(pq.read_metadata(path).num_rows for path in files)
    except (pa.ArrowInvalid, OSError):  # whoever reads it next says what is wrong
        return None


def check_numeric(kind: Any, column: str) -> None:
    """A column without a single value has Arrow's null type, and is numeric as much as anything else."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(is_kind(kind) for is_kind in kinds):
        raise TypeError(f"column {column!r} must be numeric, got {kind}")


def numbers(batch: Any, column: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """A numeric column as numpy, and where it is null (None if nowhere)."""
    array = batch.column(column)
    check_numeric(array.type, column)
    if pa.types.is_decimal(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.float64())
    if not array.null_count:
        return array.to_numpy(zero_copy_only=False), None
    null = array.is_null().to_numpy(zero_copy_only=False)
    return array.fill_null(0).to_numpy(zero_copy_only=False), null


def _plain_type(kind: Any) -> Any:
    """Text as offsets and bytes: most of Arrow's functions do not take the views that polars uses."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain_type(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else kind


def without_views(array: Any) -> Any:
    """The same values in the plain type of their kind."""
    plain = _plain_type(array.type)
    if plain == array.type:
        return array
    if pa.types.is_dictionary(plain):
        words = array.dictionary.cast(plain.value_type)
        return pa.DictionaryArray.from_arrays(array.indices, words, ordered=plain.ordered)
    return array.cast(plain)


def _schema(data: Any, csv_types: Mapping[str, Any]) -> Any:
    if not isinstance(data, Path):
        return data.schema
    if data.suffix.lower() in PARQUET:
        import pyarrow.parquet as pq

        return pq.read_schema(data)
    if data.suffix.lower() == ".csv":
        from sottovoce.bulk.csv import csv_schema

        return csv_schema(data, csv_types)
    with _open_ipc(data) as reader:
        return reader.schema


def _open_ipc(path: Path) -> Any:
    try:
        return pa.ipc.open_file(pa.memory_map(str(path)))
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.memory_map(str(path)))


def _batches(data: Any, columns: list[str], csv_types: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(data, pa.Table):
        yield from data.select(columns).to_batches(max_chunksize=ROWS)
    elif isinstance(data, pa.RecordBatchReader):
        for batch in data:
            yield batch.select(columns)
    elif data.suffix.lower() in PARQUET:
        import pyarrow.parquet as pq

        with pq.ParquetFile(data, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=ROWS, columns=columns)
    elif data.suffix.lower() == ".csv":
        from sottovoce.bulk.csv import open_csv

        with open_csv(data, csv_types, columns) as reader:
            yield from reader
    else:
        with _open_ipc(data) as reader:
            count = getattr(reader, "num_record_batches", None)
            found = (reader.get_batch(i) for i in range(count)) if count is not None else reader
            for batch in found:
                yield batch.select(columns)


def _refusal(data: Any, name: str, csv_types: Mapping[str, Any], error: Exception) -> DataError:
    from sottovoce.bulk import csv

    if isinstance(data, Path) and data.suffix.lower() == ".csv":
        return csv.refusal(data, csv_types, error)
    return DataError(f"{name} cannot be read: {csv.unquoted(error)}")
