"""What can be read: CSV, Parquet and Arrow files, and anything that gives an Arrow stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, MissingFile

if TYPE_CHECKING:
    from sottovoce.bulk.tables.csv_dialect import CsvOptions
    from sottovoce.bulk.tables.csv_numerals import Words

ROWS = 1 << 18  # rows per batch: a few megabytes a column
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
FILES = (*PARQUET, ".csv", *ARROW)


class ArrowStream(Protocol):
    """A dataframe, table or stream that gives its columns to Arrow: pandas, polars, DuckDB, pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


#: What the bulk verbs take: a file, a folder, several files, or a table in memory.
Data = str | Path | Sequence[str | Path] | ArrowStream


class Content(Protocol):
    """What a source is read from."""

    def schema(self) -> pa.Schema: ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]: ...


@dataclass(frozen=True)
class ParquetFile:
    path: Path

    def schema(self) -> pa.Schema:
        from pyarrow import parquet

        return parquet.read_schema(self.path)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=ROWS, columns=columns)


@dataclass(frozen=True)
class ArrowFile:
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
class Memory:
    table: pa.Table | pa.RecordBatchReader

    def schema(self) -> pa.Schema:
        return self.table.schema

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        if isinstance(self.table, pa.Table):
            yield from self.table.select(columns).to_batches(max_chunksize=ROWS)
        else:
            for batch in self.table:
                yield batch.select(columns)


def content_of(data: Data, csv_types: Mapping[str, pa.DataType], words: Words, csv: CsvOptions) -> Content:
    """What some data is read from; `words` and `csv` are about CSV files, and go with nothing else."""
    is_csv = isinstance(data, str | Path) and Path(data).suffix.lower() == ".csv"
    said = {"words": None if words == "refuse" else words, **csv}
    if given := [name for name, value in said.items() if value is not None and not is_csv]:
        raise ArgumentError(f"{given[0]} is about CSV files, which the data is not", argument=given[0])
    if not isinstance(data, str | Path):
        return Memory(_table_or_stream(data))
    path, ending = Path(data), Path(data).suffix.lower()
    if ending not in FILES:
        raise DataError(f"{path.name} must end in one of {', '.join(FILES)}")
    if not path.is_file():
        raise MissingFile(f"there is no file {path}", argument="path")
    if is_csv:
        from sottovoce.bulk.tables.csv_file import CsvFile

        return CsvFile(path, csv_types, words, csv)
    return ParquetFile(path) if ending in PARQUET else ArrowFile(path)


def _table_or_stream(data: object) -> pa.Table | pa.RecordBatchReader:
    if isinstance(data, pa.Table | pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    try:
        return pa.RecordBatchReader.from_stream(data)
    except Exception:  # of whatever library gives it, whose reason may quote a value
        pass
    rule = "data must be a path, a dataframe or Arrow data (with one type in each column)"
    raise ArgumentTypeError(f"{rule}, got {type(data).__name__}", argument="data")
