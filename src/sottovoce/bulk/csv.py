"""CSV files: columns are numbers where that is said and text as it stands elsewhere; no value is quoted.

Arrow infers types from the first block (a postcode loses its zeros, a late word stops the run) and quotes the
value or the whole row that does not fit: both are wrong for people's data, whose errors end up in logs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sottovoce.core.errors import DataError

_QUOTED = re.compile(r"(invalid value|(?<=columns, got) \d+:) .*", re.DOTALL)


def csv_schema(path: Path, types: Mapping[str, Any]) -> Any:
    """The columns of a file: of the given types, the others as text."""
    with open(path, "rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise DataError(f"{path.name} must be UTF-8 text, it is UTF-16")
    with pa.csv.open_csv(path) as reader:
        try:
            names = reader.schema.names
        except UnicodeDecodeError:
            raise DataError(f"{path.name} must be UTF-8 text, its first line is not") from None
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


def open_csv(path: Path, types: Mapping[str, Any], columns: Sequence[str]) -> Any:
    """A reader of record batches of some columns, of the given types; the others as text."""
    kinds = {name: types.get(name, pa.string()) for name in columns}
    options = pa.csv.ConvertOptions(column_types=kinds, include_columns=columns)
    return pa.csv.open_csv(path, convert_options=options)


def refusal(path: Path, types: Mapping[str, Any], error: Exception) -> DataError:
    """What is wrong with a file that Arrow could not read: the count and the first row, never the value."""
    for column in types:
        if found := _not_numbers(path, column):
            wrong, rows, first = found
            return DataError(
                f"column {column!r} of {path.name} must be numeric: {wrong} of {rows} values are not, "
                f"the first in row {first}"
            )
    return DataError(f"{path.name} cannot be read: {unquoted(error)}")


def unquoted(error: Exception) -> str:
    """The first line of Arrow's reason without what it quotes."""
    return _QUOTED.sub(_rule, str(error).strip()).split("\n")[0]


def _rule(match: re.Match[str]) -> str:
    return "a value of another type" if match[1].startswith("invalid") else match[1].rstrip(":")


def _not_numbers(path: Path, column: str) -> tuple[int, int, int] | None:
    """How many values of a column are no numbers, of how many, and the first one's row; None if all are."""
    wrong, rows, first = 0, 0, -1
    options = pa.csv.ConvertOptions(
        column_types={column: pa.string()}, include_columns=[column], strings_can_be_null=True
    )
    try:
        with pa.csv.open_csv(path, convert_options=options) as reader:
            for batch in reader:
                for row, text in enumerate(batch.column(0).to_pylist(), rows):
                    if text is not None and not _is_number(text):
                        wrong, first = wrong + 1, row if first < 0 else first
                rows += batch.num_rows
    except pa.ArrowInvalid:
        return None
    return (wrong, rows, first) if wrong else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
