"""What can be read: CSV, Parquet and Arrow files, and anything that gives an Arrow stream.

Columns of CSV are numbers where that is said and text as it stands elsewhere; no value is quoted. Arrow
infers types from the first block (a postcode loses its zeros, a late word stops the run) and quotes the value
or the whole row that does not fit: both are wrong for people's data, whose errors end up in logs.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sottovoce.core.errors import ArgumentTypeError, DataError

ROWS = 1 << 18  # rows per batch: a few megabytes a column
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
FILES = (*PARQUET, ".csv", *ARROW)

_QUOTED = re.compile(r"(invalid value|(?<=columns, got) \d+:) .*", re.DOTALL)

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"

#: What a word in a column of numbers is: a mistake, or a missing value.
Text = Literal["refuse", "missing"]


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
class CsvFile:
    """A CSV file whose columns have the given types; the others are text.

    With `text="missing"` a word in a column of numbers is no value, otherwise the file is refused.
    """

    path: Path
    types: Mapping[str, pa.DataType]
    text: Text = "refuse"

    def schema(self) -> pa.Schema:
        with open(self.path, "rb") as file:
            if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                raise DataError(f"{self.path.name} must be UTF-8 text, it is UTF-16")
        with pa.csv.open_csv(self.path) as reader:
            try:
                names = reader.schema.names
            except UnicodeDecodeError:
                raise DataError(f"{self.path.name} must be UTF-8 text, its first line is not") from None
        return pa.schema([(name, self._type(name)) for name in names])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        types = {name: self._type(name) for name in columns}
        words = self.text == "missing"
        read = dict.fromkeys(types, pa.string()) if words else types
        options = pa.csv.ConvertOptions(column_types=read, include_columns=columns)
        with pa.csv.open_csv(self.path, convert_options=options) as reader:
            for batch in reader:
                yield _without_words(batch, types) if words else batch

    def line(self, row: int) -> int:
        """The line of the file, as an editor counts, where a row of the data begins."""
        begins, before = 1, row + 1  # the header comes first
        with open(self.path, newline="", encoding="utf-8", errors="replace") as file:
            entries = csv.reader(file)
            for entry in entries:
                if entry and before == 0:
                    break
                before -= bool(entry)  # an empty line is no row
                begins = entries.line_num + 1
        return begins

    def refusal(self, error: Exception) -> DataError:
        """What is wrong with a file that Arrow could not read: a count and the first row, never a value."""
        for column in self.types:
            wrong, rows, first = self._not_numbers(column)
            if wrong:
                return DataError(
                    f"column {column!r} of {self.path.name} must be numeric: {wrong} of {rows} values are "
                    f"not, the first in line {self.line(first)}; text='missing' counts them as missing",
                    code="text",
                )
        return DataError(f"{self.path.name} cannot be read: {unquoted(error)}")

    def _type(self, column: str) -> pa.DataType:
        return self.types.get(column, pa.string())

    def _not_numbers(self, column: str) -> tuple[int, int, int]:
        """How many values of a column are no numbers, of how many, and the first one's row."""
        wrong, rows, first = 0, 0, -1
        options = pa.csv.ConvertOptions(
            column_types={column: pa.string()}, include_columns=[column], strings_can_be_null=True
        )
        try:
            with pa.csv.open_csv(self.path, convert_options=options) as reader:
                for batch in reader:
                    for row, text in enumerate(batch.column(0).to_pylist(), rows):
                        if text is not None and not _is_number(text):
                            wrong, first = wrong + 1, row if first < 0 else first
                    rows += batch.num_rows
        except pa.ArrowInvalid:  # something else is wrong with the file
            return 0, rows, -1
        return wrong, rows, first


def _without_words(batch: pa.RecordBatch, types: Mapping[str, pa.DataType]) -> pa.RecordBatch:
    """Columns of text as the types they should have, null where that is no number."""
    arrays = []
    for name, kind in types.items():
        array = batch.column(name)
        if not pa.types.is_string(kind):
            plain = pc.utf8_trim_whitespace(array)
            array = pc.if_else(pc.match_substring_regex(plain, _NUMBER), plain, None).cast(kind)
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, names=list(types))


def unquoted(error: Exception) -> str:
    """The first line of Arrow's reason without what it quotes."""
    return _QUOTED.sub(_rule, str(error).strip()).split("\n")[0]


def _rule(match: re.Match[str]) -> str:
    return "a value of another type" if match[1].startswith("invalid") else match[1].rstrip(":")


def _is_number(text: str) -> bool:
    """Whether Arrow reads it as a number: blanks around it may stay, a line break within quotes may not."""
    plain = text.strip(" \t")
    return bool(re.fullmatch(_NUMBER, plain)) or plain.lstrip("+-").lower() in ("inf", "infinity")


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


def content_of(data: Data, csv_types: Mapping[str, pa.DataType], text: Text) -> Content:
    if not isinstance(data, str | Path):
        return Memory(_table_or_stream(data))
    path, ending = Path(data), Path(data).suffix.lower()
    if ending not in FILES:
        raise DataError(f"{path.name} must end in one of {', '.join(FILES)}")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    if ending == ".csv":
        return CsvFile(path, csv_types, text)
    return ParquetFile(path) if ending in PARQUET else ArrowFile(path)


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
