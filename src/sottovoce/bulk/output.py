"""Files of reports: written whole or not at all, written once, by the suffix of their name."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from glob import escape
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.bulk.arrow import PARQUET, Source
from sottovoce.bulk.columns import Work
from sottovoce.bulk.labels import DIGEST, beside
from sottovoce.core.durable import sync
from sottovoce.core.errors import DataError

SOURCE = "sottovoce:source"  # size and time of the file that reports were made from
RULE = "sottovoce:rule"  # what was declared for absent and outlying values
ROW_GROUP = 1 << 20


def write_reports(batches: Iterable[Any], source: Source, work: Work, target: Path, path: Path | None) -> int:
    """Batches of reports into a new file; how many rows. It has its name only when complete and on disk."""
    schema = work.schema(source)
    if path is not None:
        schema = schema.with_metadata(
            {**(schema.metadata or {}), SOURCE: _identity(path), RULE: work.rule_text}
        )
    rows = 0
    specs = _specs(work) if target.suffix.lower() == ".csv" else None
    if specs is not None:
        _check_specs(target, specs)
    with atomic_file(target) as temporary:
        with _writer(target, temporary, schema, work) as write:
            for batch in batches:
                write(batch)
                rows += batch.num_rows
        if specs is not None:
            _write_specs(target, specs)
    return rows


def finished(target: Path, work: Work, path: Path | None) -> int:
    """The rows of a file that an earlier run finished, if it is the same work; otherwise refuse to guess."""
    if path is None or target.suffix.lower() == ".csv":
        raise FileExistsError(f"{target} exists: reports are written once, choose another name")
    try:
        rows, schema = _look(target)
    except (pa.ArrowInvalid, OSError):
        raise FileExistsError(f"{target} exists and is no file of reports: choose another name") from None
    about = schema.metadata or {}
    expected = {SOURCE: _identity(path), RULE: work.rule_text}
    same = schema.names == work.columns and all(
        about.get(key.encode()) == value.encode() for key, value in expected.items()
    )
    for name, mechanism in work.mechanisms.items():
        same = same and (schema.field(name).metadata or {}).get(DIGEST.encode()) == mechanism.digest.encode()
    if not same:
        raise DataError(
            f"{target} exists, made from other data, by another mechanism or under other rules: "
            "move it away first"
        )
    return rows


def _look(path: Path) -> tuple[int, Any]:
    if path.suffix.lower() in PARQUET:
        found = pq.read_metadata(path)
        return int(found.num_rows), found.schema.to_arrow_schema()
    with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
        return sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches)), reader.schema


def _identity(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}:{status.st_mtime_ns}"


@contextmanager
def _writer(target: Path, temporary: Path, schema: Any, work: Work) -> Iterator[Any]:
    """A function that writes one batch, in the format that the target's name asks for."""
    suffix = target.suffix.lower()
    made: AbstractContextManager[Any]
    if suffix in PARQUET:
        # Cells are nearly incompressible: packed to their width, not compressed.
        made = pq.ParquetWriter(
            temporary,
            schema,
            use_dictionary=work.keep,
            column_encoding=dict.fromkeys(work.mechanisms, "DELTA_BINARY_PACKED"),
            compression={name: "NONE" if name in work.mechanisms else "SNAPPY" for name in schema.names},
        )
        with made as writer:
            yield lambda batch: writer.write_batch(batch, row_group_size=ROW_GROUP)
        return
    if suffix == ".csv":
        from pyarrow import csv

        made = csv.CSVWriter(temporary, schema)
    elif suffix in (".arrow", ".feather", ".ipc"):
        made = pa.ipc.new_file(temporary, schema)
    else:
        raise ValueError(f"output must end in .parquet, .arrow or .csv, got {target.name!r}")
    with made as writer:
        yield writer.write_batch


def _specs(work: Work) -> str:
    """A CSV file has no room for metadata: beside it stands one spec, or one for each column."""
    texts = {name: mechanism.to_json() for name, mechanism in work.mechanisms.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return json.dumps({name: json.loads(text) for name, text in texts.items()})


def _write_specs(target: Path, specs: str) -> None:
    """Before the reports have their name, and never over other specs: no reports get a label of others."""
    try:
        with atomic_file(beside(target)) as temporary:
            temporary.write_text(specs, encoding="utf-8")
    except FileExistsError:
        _check_specs(target, specs)


def _check_specs(target: Path, specs: str) -> None:
    path = beside(target)
    if path.exists() and path.read_bytes() != specs.encode():
        raise FileExistsError(f"{path} exists and is not the spec of these reports: move it away first")


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """A temporary file beside the target that takes its name once it is complete and on disk.

    What a killed run left behind is removed; a file that another run finished meanwhile is not replaced.
    """
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}")
    _sweep(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        with open(temporary, "ab") as lock:
            _lock(lock)
            yield temporary
            sync(temporary)
            _name_once(temporary, target)
            sync(target.parent)
    except OSError as error:  # no space, no right to write: about the file that was asked for
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _name_once(temporary: Path, target: Path) -> None:
    """The target's name for a finished file, unless it was taken meanwhile: a link never replaces."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise FileExistsError(f"{target} was written by another run: its reports stand") from None
    except OSError:  # a file system without links
        if target.exists():
            raise FileExistsError(f"{target} was written by another run: its reports stand") from None
        os.replace(temporary, target)


def _lock(file: Any) -> bool:
    """A lock that dies with the process; True if nobody else holds it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except ImportError:  # no such locks here: leave the files of others alone
        return False
    return True


def _sweep(target: Path) -> None:
    """Remove the half-written files of runs that are no more."""
    for left in target.parent.glob(f".{escape(target.name)}.*.partial"):
        with open(left, "ab") as file:
            if _lock(file):
                left.unlink(missing_ok=True)
