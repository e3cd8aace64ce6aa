"""Columns of files to reports, streamed: bounded memory, both cores, atomic and resumable output."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from sottovoce.bulk.arrow import Source, list_files, read_ahead
from sottovoce.bulk.columns import Missing, Rule, Work, refusal
from sottovoce.bulk.labels import AnyMechanism
from sottovoce.bulk.output import finished, write_reports
from sottovoce.core.errors import DataError

Progress = Callable[[int], None]

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
    keep: Sequence[str] | str = (),
    missing: Missing = None,
    clip: bool = False,
    progress: Progress | None = None,
) -> Any:
    """Randomise columns of a file, a folder of files, a dataframe or a stream of record batches.

    `mechanisms` maps each column to its mechanism; only those columns and the ones named in `keep` are in the
    result. Without `output` the result is an Arrow table. With a file name it is written there (.parquet,
    .arrow or .csv); for several sources `output` is a folder with one Parquet file each. A file appears under
    its name only when it is complete, and is never written again: one that the same work finished is left
    alone, so that nobody is randomised twice, and any other is refused.

    `missing` and `clip` declare what happens to absent and out-of-range values (see `Rule`); by default both
    are refused with their count and the first row. `progress` is called with the number of rows done.
    `data` is anything that holds columns: the name of a Parquet, CSV or Arrow file, a folder, a list of
    files, a pandas, polars or Arrow table.
    """
    work = Work(mechanisms, [keep] if isinstance(keep, str) else list(keep), Rule(missing, clip))
    files = list_files(data)
    if output is None:
        return _in_memory([data] if files is None else files, work, progress)
    output = Path(output)
    pairs: list[tuple[Any, Path]]
    if files is None or (len(files) == 1 and not output.is_dir() and not _is_folder(data)):
        pairs = [(files[0] if files else data, output)]
    else:
        output.mkdir(parents=True, exist_ok=True)
        pairs = [(path, output / f"{path.stem}.parquet") for path in files]
        if len({target for _, target in pairs}) < len(pairs):
            raise ValueError("two of the files have the same name; their reports would overwrite each other")
    rows = made = 0
    for item, target in pairs:
        path = item if files is not None else None
        if target.exists():
            done = finished(target, work, path)
            if progress is not None:
                progress(done)
        else:
            source = work.open(item)
            done = write_reports(_randomised(source, work, progress), source, work, target, path)
            made += 1
        rows += done
    return Written(tuple(target for _, target in pairs), rows, made, len(pairs) - made)


def _is_folder(data: Any) -> bool:
    return isinstance(data, str | Path) and Path(data).is_dir()


def _in_memory(items: Sequence[Any], work: Work, progress: Progress | None) -> Any:
    tables = []
    for item in items:
        source = work.open(item)
        tables.append(pa.Table.from_batches(list(_randomised(source, work, progress)), work.schema(source)))
    return pa.concat_tables(tables)


def _randomised(source: Source, work: Work, progress: Progress | None) -> Iterator[Any]:
    """Randomised batches in order, a few prepared ahead by other threads (each with its own stream)."""
    schema = work.schema(source)
    waiting: deque[tuple[Any, Future[Any]]] = deque()
    batches = read_ahead(source.batches())
    rows = 0

    def take() -> Any:
        done = waiting[0][1].result()
        waiting.popleft()
        if progress is not None:
            progress(done.num_rows)
        return done

    with ThreadPoolExecutor(_WORKERS) as workers:
        try:
            for batch in batches:
                waiting.append((batch, workers.submit(work.reports, batch, schema)))
                if len(waiting) >= _AHEAD:
                    done = take()
                    yield done
                    rows += done.num_rows
            while waiting:
                done = take()
                yield done
                rows += done.num_rows
        except DataError as error:
            rest = chain([batch for batch, _ in waiting], batches)
            raise (refusal(rest, work.mechanisms, work.rule, source.name, rows) or error) from None
