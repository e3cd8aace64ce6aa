"""Sources of record batches: a file, a table in memory or a stream, read column by column.

A file may come from a stranger. Every batch is validated in full before a byte of it is used: offsets,
lengths and indices lie inside their buffers, text is UTF-8. What is not so is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

import pyarrow as pa

from sottovoce.bulk.tables.arrow_columns import plain_type, without_views
from sottovoce.bulk.tables.labels import SPARK_FOOTER, SPEC, Label, arrow_label, label_beside, spark_label
from sottovoce.bulk.tables.table_files import FILES, PARQUET, ROWS, Data, content_of
from sottovoce.errors import DataError

if TYPE_CHECKING:
    from sottovoce.bulk.tables.csv_dialect import CsvOptions
    from sottovoce.bulk.tables.csv_file import CsvFile
    from sottovoce.bulk.tables.csv_numerals import Words

_UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError)

#: Called with the number of rows done, again and again.
Progress = Callable[[int], None]


class Source:
    """One file, one table in memory or one stream, read as record batches of chosen columns.

    The columns of a CSV file have the types that are given, whatever its first rows look like, and are text
    as it stands otherwise; `words` says what words in a column of numbers are, `csv` how the file is written.
    A stream can be read once.
    """

    def __init__(
        self,
        data: Data,
        columns: Sequence[str],
        csv_types: Mapping[str, pa.DataType] | None = None,
        *,
        words: Words = "refuse",
        **csv: Unpack[CsvOptions],
    ) -> None:
        self.path = Path(data) if isinstance(data, str | Path) else None
        self.name = "the data" if self.path is None else self.path.name
        self._content = content_of(data, csv_types or {}, words, csv)
        is_csv = self.path is not None and self.path.suffix.lower() == ".csv"
        self._csv = cast("CsvFile", self._content) if is_csv else None
        refusal = None
        try:
            schema = self._content.schema()
            fields = [field.with_type(plain_type(field.type)) for field in schema]
            self.schema = pa.schema(fields, metadata=schema.metadata)
            self.names = self.schema.names  # decoded here: they may not be text
        except _UNREADABLE as error:
            refusal = self._refusal(error)
        if refusal is not None:
            raise refusal
        self.columns = list(dict.fromkeys(columns))
        for column in self.columns:
            self.field(column)

    def field(self, column: str) -> pa.Field:
        """A column's name, type and metadata."""
        if column not in self.names:
            raise DataError(f"{self.name} has no column {column!r}; {self._columns(column)}")
        if self.names.count(column) > 1:
            raise DataError(f"{self.name} has several columns of one name: which one is meant cannot be said")
        return self.schema.field(column)

    def label(self, column: str) -> Label:
        """A column's label: in its metadata, in the footer that Spark wrote, or beside the file."""
        field = self.field(column)
        footer = (self.schema.metadata or {}).get(SPARK_FOOTER.encode())
        label = arrow_label(field.metadata) if footer is None else spark_label(footer, column)
        return label if SPEC in label or self.path is None else label_beside(self.path, column)

    def place(self, row: int) -> str:
        """Where a row is for who opens the file: a line of text, otherwise a row, counted from 1."""
        return row_from_one(row) if self._csv is None else self._csv.place(row)

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
        refusal = None
        try:
            for batch in self._content.batches(self.columns):
                columns = _validated(batch)
                arrays = [without_views(columns.column(name)) for name in self.columns]
                plain = pa.RecordBatch.from_arrays(arrays, names=self.columns)
                for first in range(0, plain.num_rows, ROWS):
                    yield plain.slice(first, ROWS)
        except _UNREADABLE as error:
            refusal = self._refusal(error)
        if refusal is not None:
            raise refusal

    def _columns(self, column: str) -> str:
        """Which columns there are. The first line of a CSV file may be a person's: it is not shown."""
        if self._csv is None:
            return f"columns are {self.names}"
        alike = [name for name in self.names if name.strip().casefold() == column.strip().casefold()]
        has = f"one that differs in case or blanks, {alike[0]!r}" if alike else "other names"
        between = f"{self._csv.dialect.delimiter!r} between {len(self.names)} columns"
        return f"its first line has {has}, read with {between}"

    def _refusal(self, error: Exception) -> DataError:
        """Why it cannot be read, in words of our own: those of Arrow may quote a person's row.

        It is raised when `error` is no longer handled, which would be kept with it otherwise.
        """
        known = isinstance(error, OSError) and error.errno
        if self._csv is not None and not known:
            return self._csv.refusal()
        reason = os.strerror(known) if known else "it is damaged, cut short or of another format"
        return DataError(f"{self.name} cannot be read: {reason}")


def row_from_one(row: int) -> str:
    """A row as people count."""
    return f"row {row + 1}"


def _validated(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)
    return batch


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
