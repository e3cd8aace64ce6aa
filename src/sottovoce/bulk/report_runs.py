"""A run: columns of files and dataframes to reports, streamed, with atomic and resumable output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

import pyarrow as pa

from sottovoce.bulk.randomiser import Randomiser
from sottovoce.bulk.tables.report_files import finished_rows, write_reports
from sottovoce.bulk.tables.sources import Progress, Source, list_files
from sottovoce.bulk.tables.table_files import Data
from sottovoce.errors import ArgumentError, DataError
from sottovoce.randomness.threads import in_order
from sottovoce.reporters.contract import Reporter
from sottovoce.values.missing_and_outside import Missing, Outside, Policy

if TYPE_CHECKING:
    from sottovoce.bulk.tables.csv_dialect import CsvOptions
    from sottovoce.bulk.tables.csv_numerals import Words


@dataclass(frozen=True)
class Written:
    """What a run left on disk.

    Attributes:
        paths: The files of reports, one for each source.
        rows: How many reports they hold.
        new: How many of the files this run wrote.
        earlier: How many an earlier run had finished; they were left alone.
        replaced: For a column and "missing" or "outside", how many of its values this run treated so. Only
            who has the values may know: the files do not say it.
    """

    paths: tuple[Path, ...]
    rows: int
    new: int
    earlier: int
    replaced: Mapping[tuple[str, str], int] = field(default_factory=dict)


@overload
def report(
    data: Data,
    mechanisms: Mapping[str, Reporter],
    output: None = None,
    *,
    keep: Sequence[str] | str = (),
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    clip: bool = False,
    words: Words = "refuse",
    progress: Progress | None = None,
    **csv: Unpack[CsvOptions],
) -> pa.Table: ...


@overload
def report(
    data: Data,
    mechanisms: Mapping[str, Reporter],
    output: str | Path,
    *,
    keep: Sequence[str] | str = (),
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    clip: bool = False,
    words: Words = "refuse",
    progress: Progress | None = None,
    **csv: Unpack[CsvOptions],
) -> Written: ...


def report(
    data: Data,
    mechanisms: Mapping[str, Reporter],
    output: str | Path | None = None,
    *,
    keep: Sequence[str] | str = (),
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    clip: bool = False,
    words: Words = "refuse",
    progress: Progress | None = None,
    **csv: Unpack[CsvOptions],
) -> pa.Table | Written:
    """Randomise columns of a file, a folder of files, a dataframe or a stream of record batches.

    A file appears under its name only when it is complete, and is never written again: one that the same run
    finished earlier is left alone, so that nobody is randomised twice, and any other is refused.

    Args:
        data: The name of a Parquet, CSV or Arrow file, a folder, a list of files, or a dataframe: whatever
            gives an Arrow stream, such as pandas, polars, DuckDB and pyarrow.
        mechanisms: The mechanism of each column that is randomised. A survey is given by the name of its
            column of reports; its values are in one column per question, named like it.
        output: Where reports are written: a file by its ending (.parquet, .arrow, .csv), for several sources
            a folder with one Parquet file each.
        keep: Columns that are in the result as they are. All others are left out.
        missing: What becomes of null, NaN and infinity: "refuse", "uniform" or a number that stands in and is
            randomised like any other value, "drop" (no row) or "keep" (an empty report, which shows who had
            no value). Of a survey, dropped or empty if any question lacks a value.
        outside: What becomes of numbers outside the domain: "refuse", "clip" or "missing".
        clip: Short for `outside="clip"`.
        words: What a word in a column of numbers of a CSV file is: "refuse" (an error) or "missing".
        progress: Called with the number of rows of every batch that is done.
        **csv: How CSV files are written, where they do not say it themselves: `delimiter` (one character, or
            "tab"), `decimal` ("." or ",") and `encoding` (as Python names it).

    Returns:
        An Arrow table, or with `output` what was written.

    Raises:
        DataError: If the data cannot be read, or holds values that are refused: it gives their count and the
            first row, never a value.
        FileExistsError: If `output` exists and is not the work of the same run.

    Example:
        >>> import pyarrow as pa, sottovoce as sv
        >>> people = pa.table({"wait": [3.5, 8.0], "town": ["a", "b"]})
        >>> report(people, {"wait": sv.pm(1.0, (0, 10))}, keep="town").column_names
        ['town', 'wait']
    """
    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    randomiser = Randomiser(mechanisms, kept, Policy.of(missing, outside, clip), words=words, csv=csv)
    files = list_files(data)
    if output is None:
        tables = []
        for item in [data] if files is None else files:
            source = randomiser.open(item)
            batches = list(_randomised(source, randomiser, progress, Counter()))
            tables.append(pa.Table.from_batches(batches, randomiser.schema(source)))
        return pa.concat_tables(tables)
    if files is None:
        targets: list[tuple[Data, Path]] = [(data, Path(output))]
    else:
        targets = list(zip(files, _targets(data, files, Path(output)), strict=True))
    rows = new = 0
    replaced = Counter[tuple[str, str]]()
    for item, target in targets:
        path = item if isinstance(item, Path) else None
        if target.exists():
            done = finished_rows(target, randomiser, path)
            if progress is not None:
                progress(done)
        else:
            source = randomiser.open(item)
            reports = _randomised(source, randomiser, progress, replaced)
            done = write_reports(reports, randomiser.schema(source), randomiser, target, path)
            new += 1
        rows += done
    return Written(tuple(target for _, target in targets), rows, new, len(targets) - new, +replaced)


def _targets(data: Data, files: Sequence[Path], output: Path) -> list[Path]:
    """Where the reports of each file go: to `output` itself, or into it as a folder."""
    is_folder = isinstance(data, str | Path) and Path(data).is_dir()
    if len(files) == 1 and not output.is_dir() and not is_folder:
        return [output]
    output.mkdir(parents=True, exist_ok=True)
    targets = [output / f"{path.stem}.parquet" for path in files]
    if len(set(targets)) < len(targets):
        raise ArgumentError(
            "data must name files differently: two of them would have their reports in one file",
            argument="data",
        )
    return targets


def _randomised(
    source: Source,
    randomiser: Randomiser,
    progress: Progress | None,
    replaced: Counter[tuple[str, str]],
) -> Iterator[pa.RecordBatch]:
    """Randomised batches in order. After a refusal the rest is read too, for the count of what is refused."""

    def attempt(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Counter[Any], pa.RecordBatch | DataError]:
        try:
            return batch, randomiser.replaced(batch), randomiser.reports(batch, schema)
        except DataError as refusal:
            return batch, Counter(), refusal

    rows, schema = 0, randomiser.schema(source)
    attempts = in_order(attempt, source.batches())
    for batch, counts, reports in attempts:
        if isinstance(reports, DataError):
            rest = chain([batch], (later for later, _, _ in attempts))
            raise randomiser.refusal(rest, source.name, source.place, rows) from None
        replaced.update(counts)
        if progress is not None:
            progress(batch.num_rows)
        yield reports
        rows += batch.num_rows
