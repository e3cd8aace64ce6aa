"""CSV files: columns of numbers where that is said, and text as it stands elsewhere.

Arrow infers types from the first block (a postcode loses its zeros, a late word stops the run) and quotes the
value or the whole row that does not fit: both are wrong for people's data, whose errors end up in logs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from sottovoce.bulk.tables.csv_dialect import CsvOptions, Dialect, check_csv, read_dialect
from sottovoce.bulk.tables.csv_numerals import Numerals, Words
from sottovoce.errors import DataError


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose columns have the given types; the others are text.

    With `words="missing"` a word in a column of numbers is no value, otherwise the file is refused.
    """

    path: Path
    types: Mapping[str, pa.DataType]
    words: Words = "refuse"
    csv: CsvOptions = field(default_factory=CsvOptions)

    @cached_property
    def dialect(self) -> Dialect:
        """How it is written."""
        check_csv(self.csv)
        return read_dialect(self.path, self.csv)

    def schema(self) -> pa.Schema:
        with self._reader() as reader:
            names = reader.schema.names
        return pa.schema([(name, self.types.get(name, pa.string())) for name in names])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Batches of the columns, once all numbers in them were looked at."""
        numerals = {name: Numerals(kind) for name, kind in self.types.items() if name in columns}
        numerals = {name: one for name, one in numerals.items() if not pa.types.is_string(self.types[name])}
        if numerals:
            with self._reader(list(numerals)) as reader:
                for batch in reader:
                    for name, one in numerals.items():
                        one.look(batch.column(name))
        for name, one in numerals.items():
            where = f"column {name!r} of {self.path.name}"
            one.settle(where, self.csv.get("decimal"), self.dialect.delimiter, self.words, self.place)
        with self._reader(columns) as reader:
            for batch in reader:
                texts = zip(columns, map(batch.column, columns), strict=True)
                arrays = [numerals[name].numbers(text) if name in numerals else text for name, text in texts]
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def place(self, row: int) -> str:
        """The line of the file, as an editor counts, where a row of the data begins."""
        lines = (line for line, _ in self._rows())
        line = next(islice(lines, row + 1, None), None)  # the names come first
        return f"row {row + 1}" if line is None else f"line {line}"

    def refusal(self) -> DataError:
        """What is wrong with a file that Arrow could not read: where it is, never what stands there."""
        rows, begins = self._rows(), f"{self.path.name} cannot be read: "
        _, names = next(rows, (1, None))
        if not names:
            return DataError(f"{begins}it is empty")
        for line, fields in rows:
            if len(fields) != len(names):
                lengths = f"line {line} has {len(fields)} fields, the first line has {len(names)}"
                advice = f"delimiter= says what separates them if it is not {self.dialect.delimiter!r}"
                return DataError(f"{begins}{lengths}; {advice}", argument="delimiter")
        return DataError(f"{begins}a quote does not end, or a line or a number is too long")

    def _reader(self, columns: Sequence[str] | None = None) -> pa.csv.CSVStreamingReader:
        """All fields of some columns as text."""
        utf8 = self.dialect.encoding.startswith("utf-8")
        return pa.csv.open_csv(
            self.path,
            pa.csv.ReadOptions(
                skip_rows=self.dialect.skipped, encoding="utf8" if utf8 else self.dialect.encoding
            ),
            pa.csv.ParseOptions(delimiter=self.dialect.delimiter, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(columns or (), pa.string()), include_columns=columns
            ),
        )

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """The names and then the rows, and the line where each begins, as far as they can be told apart."""
        dialect = self.dialect
        with open(self.path, newline="", encoding=dialect.encoding, errors="replace") as file:
            for _ in range(dialect.skipped):
                file.readline()
            rows, begins = csv.reader(file, delimiter=dialect.delimiter), dialect.skipped + 1
            try:
                for row in rows:
                    if row:  # an empty line is none
                        yield begins, row
                    begins = dialect.skipped + rows.line_num + 1
            except csv.Error:  # a field that does not end
                return
