"""Sources of record batches: Parquet, CSV and Arrow files, and anything that gives an Arrow stream.

A file may come from a stranger. Every batch is validated in full before a byte of it is used: offsets,
lengths and indices lie inside their buffers, text is UTF-8. What is not so is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from sottovoce.bulk.csv import CsvFile, Text, unquoted
from sottovoce.bulk.labels import SPARK_FOOTER, SPEC, Label, arrow_label, label_beside, spark_label
from sottovoce.core.errors import ArgumentTypeError, DataError

ROWS = 1 << 18  # rows per batch: a few megabytes a column
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
_UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError)
FILES = (*PARQUET, ".csv", *ARROW)


class ArrowStream(Protocol):
    """A dataframe, table or stream that gives its columns to Arrow: pandas, polars, DuckDB, pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: What the bulk verbs take: a file, a folder, several files, or a table in memory.
Data = str | Path | Sequence[str | Path] | ArrowStream
#: Called with the number of rows done, again and again.
Progress = Callable[[int], None]


class Source:
    """One file, one table in memory or one stream, read as record batches of chosen columns.

    The columns of a CSV file have the types that are given, whatever its first rows look like, and are text
    as it stands otherwise; `text` says what words in a column of numbers are. A stream can be read once.
    """

    def __init__(
        self,
        data: Data,
        columns: Sequence[str],
        csv_types: Mapping[str, pa.DataType] | None = None,
        *,
        text: Text = "refuse",
    ) -> None:
        self.path = Path(data) if isinstance(data, str | Path) else None
        self.name = "the data" if self.path is None else self.path.name
        self._content = _content(data, csv_types or {}, text)
        try:
            schema = self._content.schema()
            fields = [field.with_type(_plain_type(field.type)) for field in schema]
            self.schema = pa.schema(fields, metadata=schema.metadata)
            self.names = self.schema.names  # decoded here: they may not be text
        except _UNREADABLE as error:
            raise self._refusal(error) from None
        self.columns = list(dict.fromkeys(columns))
        for column in self.columns:
            self.field(column)

    def field(self, column: str) -> pa.Field:
        """A column's name, type and metadata."""
        if column not in self.names:
            raise DataError(f"{self.name} has no column {column!r}; columns are {self.names}")
        if self.names.count(column) > 1:
            raise DataError(f"{self.name} has several columns {column!r}: which one is meant cannot be said")
        return self.schema.field(column)

    def label(self, column: str) -> Label:
        """A column's label: in its metadata, in the footer that Spark wrote, or beside the file."""
        field = self.field(column)
        footer = (self.schema.metadata or {}).get(SPARK_FOOTER.encode())
        label = arrow_label(field.metadata) if footer is None else spark_label(footer, column)
        return label if SPEC in label or self.path is None else label_beside(self.path, column)

    def place(self, row: int) -> str:
        """Where a row is for who opens the file: a line of text, otherwise a row, counted from 1."""
        content = self._content
        return f"line {content.line(row)}" if isinstance(content, CsvFile) else row_from_one(row)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Record batches of the wanted columns, in the order of the rows, each one validated.

        Each is read on another thread while the one before is worked on.
        """
        batches = self._read()
        with ThreadPoolExecutor(1) as reader:
            coming = reader.submit(next, batches, None)
            while (batch := coming.result()) is not None:
                coming = reader.submit(next, batches, None)
                yield batch

    def _read(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._content.batches(self.columns):
                columns = _validated(batch)
                arrays = [without_views(columns.column(name)) for name in self.columns]
                plain = pa.RecordBatch.from_arrays(arrays, names=self.columns)
                for first in range(0, plain.num_rows, ROWS):
                    yield plain.slice(first, ROWS)
        except _UNREADABLE as error:
            raise self._refusal(error) from None

    def _refusal(self, error: Exception) -> DataError:
        if isinstance(self._content, CsvFile):
            return self._content.refusal(error)
        return DataError(f"{self.name} cannot be read: {unquoted(error)}")


def row_from_one(row: int) -> str:
    """A row as people count."""
    return f"row {row + 1}"


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)
    return batch


class _Content(Protocol):
    """What a source is read from."""

    def schema(self) -> pa.Schema: ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True)
class _ParquetFile:
    path: Path

    def schema(self) -> pa.Schema:
        from pyarrow import parquet

        return parquet.read_schema(self.path)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=ROWS, columns=columns)


@dataclass(frozen=True)
class _ArrowFile:
    """An IPC file or stream, read and not mapped: a file cut short meanwhile would end the process."""

    path: Path

    def schema(self) -> pa.Schema:
        with pa.OSFile(str(self.path)) as file, self._reader(file) as reader:
            return reader.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        schema = self.schema()
        fields = [schema.get_field_index(name) for name in columns]
        with pa.OSFile(str(self.path)) as file, self._reader(file, fields) as reader:
            if isinstance(reader, pa.RecordBatchReader):
                yield from reader
            else:
                for i in range(reader.num_record_batches):
                    yield reader.get_batch(i)

    @staticmethod
    def _reader(
        file: pa.NativeFile, fields: list[int] | None = None
    ) -> pa.RecordBatchReader | pa.RecordBatchFileReader:
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file, options=options)


@dataclass(frozen=True)
class _Memory:
    table: pa.Table | pa.RecordBatchReader

    def schema(self) -> pa.Schema:
        return self.table.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if isinstance(self.table, pa.Table):
            yield from self.table.select(columns).to_batches(max_chunksize=ROWS)
        else:
            for batch in self.table:
                yield batch.select(columns)


def _content(data: Data, csv_types: Mapping[str, pa.DataType], text: Text) -> _Content:
    if not isinstance(data, str | Path):
        return _Memory(_table_or_stream(data))
    path, ending = Path(data), Path(data).suffix.lower()
    if ending not in FILES:
        raise DataError(f"{path.name} must end in one of {', '.join(FILES)}")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if ending == ".csv":
        return CsvFile(path, csv_types, text)
    return _ParquetFile(path) if ending in PARQUET else _ArrowFile(path)


def _table_or_stream(data: object) -> pa.Table | pa.RecordBatchReader:
    if isinstance(data, pa.Table | pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError, AttributeError):  # whose reason may quote a value
        pass
    rule = "data must be a path, a dataframe or Arrow data (with one type in each column)"
    raise ArgumentTypeError(f"{rule}, got {type(data).__name__}", argument="data")


def list_files(data: Data) -> list[Path] | None:
    """The files that a path, a folder or a list of paths names; None for data in memory."""
    if isinstance(data, list | tuple) and data and all(isinstance(item, str | Path) for item in data):
        return [Path(item) for item in data]
    if not isinstance(data, str | Path):
        return None
    path = Path(data)
    if not path.is_dir():
        return [path]
    files = sorted(p for p in path.iterdir() if p.suffix.lower() in FILES and not p.name.startswith("."))
    if not files:
        unread = " (folders inside it are not read)" if any(map(Path.is_dir, path.iterdir())) else ""
        raise DataError(f"the folder {path} holds no {', '.join(FILES)} files{unread}")
    return files


def count_rows(data: Data) -> int | None:
    """How many rows some files hold, if all of them say so in their footer."""
    files = list_files(data)
    if not files or any(path.suffix.lower() not in PARQUET for path in files):
        return None
    from pyarrow import parquet

    try:
        return sum(parquet.read_metadata(path).num_rows for path in files)
    except (pa.ArrowInvalid, OSError):  # whoever reads it next says what is wrong
        return None


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Text as offsets and bytes: most of Arrow's functions do not take the views that polars uses."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _plain_type(kind.value_type), kind.ordered)
    if pa.types.is_string_view(kind):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(kind) else kind


def without_views(array: pa.Array) -> pa.Array:
    """The same values in the plain type of their kind."""
    plain = _plain_type(array.type)
    if plain == array.type:
        return array
    if pa.types.is_dictionary(plain):
        words = array.dictionary.cast(plain.value_type)
        return pa.DictionaryArray.from_arrays(array.indices, words, ordered=plain.ordered)
    return array.cast(plain)
