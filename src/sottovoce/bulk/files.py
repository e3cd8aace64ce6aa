"""Columns of files to reports, streamed: bounded memory, both cores, atomic and resumable output."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.bulk.arrow import Source, list_files, open_source
from sottovoce.bulk.columns import Missing, Rule, explain, report_batch, report_schema
from sottovoce.bulk.labels import DIGEST, AnyMechanism
from sottovoce.errors import DataError

Progress = Callable[[int], None]

SOURCE = "sottovoce:source"  # size and time of the file that reports were made from
_WORKERS = 2
_AHEAD = 4  # batches in flight


@dataclass(frozen=True)
class Written:
    """What a run left on disk: one file per source, `made` now or `found` from an earlier run."""

    paths: tuple[Path, ...]
    rows: int
    made: int
    found: int


def report(
    data: Any,
    mechanisms: Mapping[str, AnyMechanism],
    output: str | Path | None = None,
    *,
    keep: Sequence[str] = (),
    missing: Missing = None,
    clip: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Randomise columns of a file, a folder of files, or a dataframe.

    `mechanisms` maps each column to its mechanism; only those columns and the ones named in `keep` are in the
    result. Without `output` the result is an Arrow table. With a file name it is written there; for several
    sources `output` is a folder with one Parquet file each, and files that an earlier run finished are left
    alone, so that nobody is randomised twice. A file appears under its name only when it is complete.

    `missing` and `clip` declare what happens to absent and out-of-range values (see `Rule`); by default both
    are refused with their count and the first row. `progress` is called with the number of rows done.
    """
    rule = Rule(missing, clip)
    columns = _check(mechanisms, keep, rule)
    files = list_files(data)
    if output is None:
        return _in_memory(files, data, mechanisms, list(keep), rule, columns, progress)
    output = Path(output)
    if files is None or (len(files) == 1 and not output.is_dir() and not _is_folder(data)):
        source = open_source(files[0] if files else data, columns)
        rows = _write(source, output, mechanisms, list(keep), rule, progress, files[0] if files else None)
        return Written((output,), rows, 1, 0)
    return _folder(files, output, mechanisms, list(keep), rule, columns, progress)


def _check(mechanisms: Mapping[str, AnyMechanism], keep: Sequence[str], rule: Rule) -> list[str]:
    if not isinstance(mechanisms, Mapping) or not mechanisms:
        raise TypeError("mechanisms must map at least one column name to its mechanism")
    for mechanism in mechanisms.values():
        if not hasattr(mechanism, "report"):
            raise TypeError(f"mechanisms must hold mechanisms, got {type(mechanism).__name__}")
        rule.check(mechanism)
    if both := sorted(set(keep) & set(mechanisms)):
        raise ValueError(f"column {both[0]!r} is randomised, so it cannot be kept as it is")
    return [*keep, *mechanisms]


def _is_folder(data: Any) -> bool:
    return isinstance(data, str | Path) and Path(data).is_dir()


def _in_memory(
    files: list[Path] | None,
    data: Any,
    mechanisms: Mapping[str, AnyMechanism],
    keep: list[str],
    rule: Rule,
    columns: list[str],
    progress: Progress | None,
) -> Any:
    tables = []
    for item in [data] if files is None else files:
        source = open_source(item, columns)
        schema = report_schema(source, mechanisms, keep)
        batches = list(_randomised(source, schema, mechanisms, rule, progress))
        tables.append(pa.Table.from_batches(batches, schema))
    return pa.concat_tables(tables)


def _folder(
    files: list[Path],
    folder: Path,
    mechanisms: Mapping[str, AnyMechanism],
    keep: list[str],
    rule: Rule,
    columns: list[str],
    progress: Progress | None,
) -> Written:
    folder.mkdir(parents=True, exist_ok=True)
    targets = [folder / f"{path.stem}.parquet" for path in files]
    if len(set(targets)) < len(targets):
        raise ValueError("two of the files have the same name; their reports would overwrite each other")
    rows = made = 0
    for path, target in zip(files, targets, strict=True):
        if target.exists():
            rows += _finished(path, target, mechanisms, progress)
            continue
        source = open_source(path, columns)
        rows += _write(source, target, mechanisms, keep, rule, progress, path)
        made += 1
    return Written(tuple(targets), rows, made, len(targets) - made)


def _finished(
    path: Path, target: Path, mechanisms: Mapping[str, AnyMechanism], progress: Progress | None
) -> int:
    """The rows of a file that an earlier run finished, if it is the same work; otherwise refuse to guess."""
    metadata = pq.read_metadata(target)
    schema = metadata.schema.to_arrow_schema()
    same = (schema.metadata or {}).get(SOURCE.encode()) == _identity(path).encode()
    for name, mechanism in mechanisms.items():
        found = (schema.field(name).metadata or {}) if name in schema.names else {}
        same = same and found.get(DIGEST.encode()) == mechanism.digest.encode()
    if not same:
        raise DataError(f"{target} exists, made from other data or by another mechanism: move it away first")
    if progress is not None:
        progress(metadata.num_rows)
    return int(metadata.num_rows)


def _identity(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}:{status.st_mtime_ns}"


def _write(
    source: Source,
    target: Path,
    mechanisms: Mapping[str, AnyMechanism],
    keep: list[str],
    rule: Rule,
    progress: Progress | None,
    path: Path | None,
) -> int:
    """One Parquet file. Cells are nearly incompressible: packed to their width, not compressed."""
    schema = report_schema(source, mechanisms, keep)
    if path is not None:
        schema = schema.with_metadata({**(schema.metadata or {}), SOURCE: _identity(path)})
    rows = 0
    with atomic_file(target) as temporary:
        writer = pq.ParquetWriter(
            temporary,
            schema,
            use_dictionary=keep,
            column_encoding=dict.fromkeys(mechanisms, "DELTA_BINARY_PACKED"),
            compression={name: "NONE" if name in mechanisms else "SNAPPY" for name in schema.names},
        )
        with writer:
            for batch in _randomised(source, schema, mechanisms, rule, progress):
                writer.write_batch(batch, row_group_size=1 << 20)
                rows += batch.num_rows
    return rows


def _randomised(
    source: Source,
    schema: Any,
    mechanisms: Mapping[str, AnyMechanism],
    rule: Rule,
    progress: Progress | None,
) -> Iterator[Any]:
    """Randomised batches in order, a few prepared ahead by other threads (each with its own stream)."""
    waiting: deque[Future[Any]] = deque()

    def take() -> Any:
        batch = waiting.popleft().result()
        if progress is not None:
            progress(batch.num_rows)
        return batch

    try:
        with ThreadPoolExecutor(_WORKERS) as workers:
            for batch in source.batches():
                waiting.append(workers.submit(report_batch, batch, schema, mechanisms, rule))
                if len(waiting) >= _AHEAD:
                    yield take()
            while waiting:
                yield take()
    except DataError as error:
        raise (explain(source, mechanisms, rule) or error) from None


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """A temporary file beside the target that takes its name once it is complete and on disk."""
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)
