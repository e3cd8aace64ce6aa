"""sottovoce central: a private mean, sum or count of a column, for data in one place."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

import sottovoce as sv
from sottovoce.central.grid import STEPS
from sottovoce.central.noise.by_name import NAMES
from sottovoce.central.release import GroupedRelease, Release
from sottovoce.cli import check_target, counting, write_table
from sottovoce.cli.shared_options import (
    Column,
    Decimal,
    Delimiter,
    Encoding,
    Epsilon,
    Json,
    WordsOption,
    missing_from,
)
from sottovoce.errors import ArgumentTypeError, DataError, UsageError, one_of

_UNWRITTEN = {"notes", "reach", "estimand"}  # the same for every release


class Question(Enum):
    mean = "mean"
    sum = "sum"
    count = "count"


Mechanism = Annotated[
    str, typer.Option("--mechanism", metavar="NAME", help=f"For the mean: {', '.join(NAMES)}.")
]
PublicDomain = Annotated[
    tuple[float, float] | None,
    typer.Option("--domain", metavar="LOW HIGH", help="Where values lie, public.", show_default=False),
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="KEY", help="A public group key; repeat for each. No other is released."),
]
GroupsFile = Annotated[
    Path | None, typer.Option("--groups-from", metavar="PATH", help="Group keys, one per line.", exists=True)
]
Missing = Annotated[str, typer.Option("--missing", help="Missing values: refuse, drop, or a number to take.")]
Outside = Annotated[
    str, typer.Option("--outside", help="Values outside the domain: refuse, clip to the nearest, or missing.")
]
Clip = Annotated[bool, typer.Option("--clip", help="Short for --outside clip.")]


def central(
    file: Annotated[Path, typer.Argument(help="Parquet, CSV or Arrow file or folder; a row is a person.")],
    epsilon: Epsilon,
    column: Column = None,
    domain: PublicDomain = None,
    question: Annotated[Question, typer.Option("--question", help="What to release.")] = Question.mean,
    mechanism: Mechanism = "hourglass",
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Column of group keys.")] = None,
    group: Groups = None,
    groups_from: GroupsFile = None,
    clip: Clip = False,
    grid: Annotated[int, typer.Option("--grid", help="Steps that values are rounded to.")] = STEPS,
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    words: WordsOption = "refuse",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the interval.")] = 0.95,
    budget: Annotated[
        float | None, typer.Option("--budget", help="All the ε that releases about these people may cost.")
    ] = None,
    budget_file: Annotated[
        Path | None, typer.Option("--budget-file", metavar="PATH", help="Where what was spent is recorded.")
    ] = None,
    as_json: Json = False,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="PATH", help="Also write it, as .json or .csv.")
    ] = None,
) -> None:
    """Release the mean, sum or count of a column with differential privacy.

    Neighbours differ by one person added or removed. Prints one line, or one per declared group. Group keys
    of a CSV file are text as it stands: 07 is not 7.
    """
    check_target(output, (".json", ".csv"))
    csv: Any = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    keys = [*(group or []), *_lines(groups_from)]
    if bool(keys) != (by is not None):
        raise UsageError(
            "--by and --group (or --groups-from) go together: group keys are public and declared"
        )
    if (budget is None) != (budget_file is None):
        raise UsageError("--budget and --budget-file go together: the limit, and where spending is recorded")
    account = None if budget is None else sv.central.Accountant(budget, budget_file)
    common: dict[str, Any] = {"epsilon": epsilon, "confidence": confidence, "accountant": account}
    if by is not None:
        common |= {"by": by, "groups": _keys(keys, _open(file, [by], **csv)[0].field(by).type)}
    from sottovoce.bulk.tables.sources import count_rows

    if question is Question.count:
        names = [name for name in (column, by) if name is not None] or _open(file, [], **csv)[0].schema.names[
            :1
        ]
        rows = _Rows(file, names, **csv)
        release_of: Callable[..., Release | GroupedRelease] = sv.central.count
    else:
        if column is None or domain is None:
            raise UsageError(f"a {question.value} needs --column NAME and --domain LOW HIGH")
        common |= {"domain": domain, "column": column, "clip": clip, "grid": grid}
        common |= {"missing": missing_from(missing), "outside": outside}
        rows = _Rows(file, [column] if by is None else [column, by], column, words, **csv)
        release_of = sv.central.sum
        if question is Question.mean:
            release_of = partial(sv.central.mean, mechanism=mechanism)
    with counting("read", count_rows(file)) as progress:
        try:
            release = release_of(rows.batches(progress), **common)
        except DataError as error:
            raise rows.placed(error) from None
    typer.echo(_as_json(release) if as_json else _as_lines(release))
    if output is not None:
        if output.suffix.lower() == ".csv":
            write_table(output, _columns(release))
        else:
            output.write_text(_as_json(release) + "\n", encoding="utf-8")


def _lines(path: Path | None) -> list[str]:
    """The keys in a file; a line without anything is none."""
    if path is None:
        return []
    from sottovoce.bulk.tables.csv_dialect import text_encoding

    return [line for line in path.read_text(encoding=text_encoding(path)).splitlines() if line]


def _keys(texts: list[str], kind: Any) -> list[Any]:
    """Keys as they were typed, in the type of the column."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        keys: list[Any] = pa.array(texts, pa.string()).cast(kind).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ArgumentTypeError(
            f"the keys of the data are {kind}, which not all declared groups are", argument="group"
        ) from None
    return keys


def _open(
    path: Path, columns: list[str], numbers: str | None = None, words: str = "refuse", **csv: Any
) -> list[Any]:
    """A source for the file, or for each file of a folder."""
    import pyarrow as pa

    from sottovoce.bulk.tables.csv_numerals import Words
    from sottovoce.bulk.tables.sources import Source, list_files

    kind = cast(Words, one_of(words, "words", get_args(Words)))
    types = {} if numbers is None else {numbers: pa.float64()}
    return [Source(part, columns, types, words=kind, **csv) for part in list_files(path) or []]


class _Rows:
    """The rows of a file or folder in batches, and where each row stands for who opens the file."""

    def __init__(
        self, path: Path, columns: list[str], numbers: str | None = None, words: str = "refuse", **csv: Any
    ) -> None:
        self._sources = _open(path, columns, numbers, words, **csv)
        self._ends: list[int] = []

    def batches(self, progress: Callable[[int], None]) -> Iterator[Any]:
        end = 0
        for source in self._sources:
            for batch in source.batches():
                yield batch
                progress(batch.num_rows)
                end += batch.num_rows
            self._ends.append(end)

    def placed(self, error: DataError) -> DataError:
        """The error, with the line or row of its file that it speaks of."""
        if error.row is None:
            return error
        part = bisect_right(self._ends, error.row)
        source, first = self._sources[part], self._ends[part - 1] if part else 0
        sentence = f"{error}; index {error.row} is {source.place(error.row - first)} of {source.name}"
        return DataError(sentence, code=error.code, argument=error.argument)


def _as_lines(release: Release | GroupedRelease) -> str:
    if isinstance(release, Release):
        return str(release)
    return "\n".join(f"{key}\t{release[key]}" for key in release)


def _as_json(release: Release | GroupedRelease) -> str:
    if isinstance(release, Release):
        return json.dumps(release.to_dict())
    return json.dumps([{"group": key, **release[key].to_dict()} for key in release], default=str)


def _columns(release: Release | GroupedRelease) -> dict[str, Any]:
    if isinstance(release, GroupedRelease):
        return release.to_dict()
    return {name: [value] for name, value in release.to_dict().items() if name not in _UNWRITTEN}
