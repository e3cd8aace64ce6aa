"""CSV files: declared columns are numbers from the first row on, and no refusal quotes a value.

Arrow infers types from the first block and quotes the value (or the whole row) that does not fit: both are
wrong for people's data, whose errors end up in logs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sottovoce.errors import DataError

_QUOTED = re.compile(r"(invalid value|(?<=columns, got) \d+:) .*", re.DOTALL)


def open_csv(path: Path, numeric: Sequence[str]) -> Any:
    """A reader of record batches; the columns in `numeric` as floats, the others as they look."""
    types = dict.fromkeys(numeric, pa.float64())
    return pa.csv.open_csv(path, convert_options=pa.csv.ConvertOptions(column_types=types))


def refusal(path: Path, numeric: Sequence[str], error: Exception) -> DataError:
    """What is wrong with a file that Arrow could not read: the count and the first row, never the value."""
    for column in numeric:
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
