"""Files of reports: their format, what they say about their origin, and whether one is finished already."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.bulk.randomiser import Randomiser
from sottovoce.bulk.tables.labels import DIGEST, POLICY, arrow_label, specs_path, specs_text
from sottovoce.bulk.tables.table_files import ARROW, PARQUET
from sottovoce.errors import ArgumentError, DataError, ExistingFile
from sottovoce.storage.atomic_file import atomic_file

SOURCE = "sottovoce:source"  # size and time of the file that reports were made from
ROW_GROUP = 1 << 20

Write = Callable[[pa.RecordBatch], None]


def write_reports(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    randomiser: Randomiser,
    target: Path,
    source: Path | None,
) -> int:
    """Batches of reports into a new file; how many rows. It has its name only when complete and on disk."""
    if source is not None:
        schema = schema.with_metadata({**(schema.metadata or {}), **_origin(source, randomiser)})
    rows = 0
    specs = _csv_specs(randomiser) if target.suffix.lower() == ".csv" else None
    if specs is not None:
        _check_specs(target, specs)
    with atomic_file(target) as temporary:
        with _writer(target, temporary, schema, randomiser) as write:
            for batch in batches:
                write(batch)
                rows += batch.num_rows
        if specs is not None:
            _write_specs(target, specs)
    return rows


def finished_rows(target: Path, randomiser: Randomiser, source: Path | None) -> int:
    """The rows of a file that an earlier run finished, if it is the same work; otherwise refuse to guess."""
    if source is None or target.suffix.lower() == ".csv":
        raise ExistingFile(f"{target} exists: reports are written once, choose another name", argument="path")
    try:
        rows, schema = _look(target)
    except (pa.ArrowInvalid, OSError):
        raise ExistingFile(
            f"{target} exists and is no file of reports: choose another name", argument="path"
        ) from None
    about = arrow_label(schema.metadata)
    same = schema.names == randomiser.columns and all(
        about.get(key) == value for key, value in _origin(source, randomiser).items()
    )
    for name, mechanism in randomiser.mechanisms.items():
        same = same and arrow_label(schema.field(name).metadata).get(DIGEST) == mechanism.digest
    if not same:
        raise DataError(
            f"{target} exists, made from other data, by another mechanism or under other rules: "
            "move it away first"
        )
    return rows


def _look(path: Path) -> tuple[int, pa.Schema]:
    if path.suffix.lower() in PARQUET:
        footer = pq.read_metadata(path)
        return int(footer.num_rows), footer.schema.to_arrow_schema()
    with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
        return sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches)), reader.schema


def _origin(source: Path, randomiser: Randomiser) -> dict[str, str]:
    """What the reports of a file were made from, and by which rules."""
    status = source.stat()
    return {SOURCE: f"{status.st_size}:{status.st_mtime_ns}", POLICY: json.dumps(asdict(randomiser.policy))}


@contextmanager
def _writer(target: Path, temporary: Path, schema: pa.Schema, randomiser: Randomiser) -> Iterator[Write]:
    """A function that writes one batch, in the format that the target's name asks for."""
    suffix = target.suffix.lower()
    file: AbstractContextManager[Any]
    if suffix in PARQUET:
        # Cells are nearly incompressible: packed to their width, not compressed.
        cells = [name for name, mechanism in randomiser.mechanisms.items() if mechanism.width == 1]
        file = pq.ParquetWriter(
            temporary,
            schema,
            use_dictionary=list(randomiser.keep),
            column_encoding=dict.fromkeys(cells, "DELTA_BINARY_PACKED"),
            compression={name: "NONE" if name in cells else "SNAPPY" for name in schema.names},
        )
        with file as writer:
            yield lambda batch: writer.write_batch(batch, row_group_size=ROW_GROUP)
        return
    if suffix == ".csv":
        from pyarrow import csv

        file = csv.CSVWriter(temporary, schema)
    elif suffix in ARROW:
        file = pa.ipc.new_file(temporary, schema)
    else:
        sentence = f"output must end in .parquet, .arrow or .csv, got {target.name!r}"
        raise ArgumentError(sentence, argument="output")
    with file as writer:
        yield writer.write_batch


def _csv_specs(randomiser: Randomiser) -> str:
    wide = [name for name, mechanism in randomiser.mechanisms.items() if mechanism.width > 1]
    if wide:
        sentence = (
            f"output must end in .parquet or .arrow: reports of {wide[0]!r} are lists, and CSV has none"
        )
        raise ArgumentError(sentence, argument="output")
    return specs_text(randomiser.mechanisms)


def _write_specs(target: Path, specs: str) -> None:
    """Before the reports have their name, and never over other specs: no reports get a label of others."""
    try:
        with atomic_file(specs_path(target)) as temporary:
            temporary.write_text(specs, encoding="utf-8")
    except FileExistsError:
        _check_specs(target, specs)


def _check_specs(target: Path, specs: str) -> None:
    path = specs_path(target)
    if path.exists() and path.read_bytes() != specs.encode():
        raise ExistingFile(
            f"{path} exists and is not the spec of these reports: move it away first", argument="path"
        )
