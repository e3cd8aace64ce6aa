"""sottovoce central: a private mean, sum or count of a column, for data in one place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce as sv
from sottovoce.central.grid import STEPS
from sottovoce.central.groups import parse_keys
from sottovoce.central.mechanisms import NAMES
from sottovoce.central.results import GroupedRelease, Release
from sottovoce.cli.options import Column, Epsilon, Output


class Statistic(Enum):
    mean = "mean"
    sum = "sum"
    count = "count"


Mechanism = Annotated[
    str, typer.Option("--mechanism", metavar="NAME", help=f"For the mean: {', '.join(NAMES)}.")
]
Bounds = Annotated[
    tuple[float, float] | None,
    typer.Option("--bounds", metavar="LOW HIGH", help="Public bounds of the values.", show_default=False),
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="KEY", help="A public group key; repeat for each. No other is released."),
]
GroupsFile = Annotated[
    Path | None, typer.Option("--groups-from", metavar="PATH", help="Group keys, one per line.", exists=True)
]
Missing = Annotated[str, typer.Option("--missing", help="Missing values: refuse, drop, or a number to take.")]
Clip = Annotated[bool, typer.Option("--clip", help="Move outside values to the nearest bound.")]


def register(app: typer.Typer) -> None:
    app.command("central")(central)


def central(
    file: Annotated[Path, typer.Argument(help="Parquet, CSV or Arrow file or folder; a row is a person.")],
    epsilon: Epsilon,
    column: Column = None,
    bounds: Bounds = None,
    statistic: Annotated[Statistic, typer.Option("--statistic", help="What to release.")] = Statistic.mean,
    mechanism: Mechanism = "hourglass",
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Column of group keys.")] = None,
    group: Groups = None,
    groups_from: GroupsFile = None,
    clip: Clip = False,
    grid: Annotated[int, typer.Option("--grid", help="Steps that values are rounded to.")] = STEPS,
    missing: Missing = "refuse",
    confidence: Annotated[float, typer.Option("--confidence", help="Of the interval.")] = 0.95,
    budget: Annotated[
        float | None, typer.Option("--budget", help="All the ε that releases about these people may cost.")
    ] = None,
    budget_file: Annotated[
        Path | None, typer.Option("--budget-file", metavar="PATH", help="Where what was spent is recorded.")
    ] = None,
    output: Output = None,
) -> None:
    """Release the mean, sum or count of a column with ε-differential privacy (add-remove neighbours).

    Prints one line, or one per declared group; --output writes JSON (or CSV for groups).
    """
    keys = [*(group or []), *(groups_from.read_text().splitlines() if groups_from else [])]
    if bool(keys) != (by is not None):
        raise ValueError(
            "--by and --group (or --groups-from) go together: group keys are public and declared"
        )
    if (budget is None) != (budget_file is None):
        raise ValueError("--budget and --budget-file go together: the limit, and where spending is recorded")
    account = None if budget is None else sv.central.Accountant(budget, budget_file)
    common: dict[str, Any] = {"epsilon": epsilon, "confidence": confidence, "accountant": account}
    if by is not None:
        common |= {"by": by, "groups": parse_keys(keys, _open(file, [by])[0].field(by).type)}
    if statistic is Statistic.count:
        names = [name for name in (column, by) if name is not None] or _open(file, [])[0].schema.names[:1]
        release = sv.central.count(_batches(file, names), **common)
    else:
        if column is None or bounds is None:
            raise ValueError(f"a {statistic.value} needs --column NAME and --bounds LOW HIGH")
        common |= {"bounds": bounds, "column": column, "clip": clip, "grid": grid}
        common["missing"] = _missing(missing)
        rows = _batches(file, [column] if by is None else [column, by])
        if statistic is Statistic.sum:
            release = sv.central.sum(rows, **common)
        else:
            release = sv.central.mean(rows, mechanism=mechanism, **common)
    _show(release)
    if output is not None:
        output.write_text(_as_text(release, output.suffix.lower()))


def _open(path: Path, columns: list[str]) -> list[Any]:
    """A source for the file, or for each file of a folder."""
    from sottovoce.bulk.arrow import list_files, open_source

    return [open_source(part, columns) for part in list_files(path) or []]


def _batches(path: Path, columns: list[str]) -> Iterator[Any]:
    return chain.from_iterable(source.batches() for source in _open(path, columns))


def _missing(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _show(release: Release | GroupedRelease) -> None:
    if isinstance(release, Release):
        typer.echo(str(release))
        return
    for key in release:
        typer.echo(f"{key}\t{release[key]}")


def _as_text(release: Release | GroupedRelease, suffix: str) -> str:
    if isinstance(release, Release):
        return json.dumps(asdict(release)) + "\n"
    if suffix == ".csv":
        import csv
        import io

        columns = release.to_dict()
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return out.getvalue()
    return json.dumps([{"group": key, **asdict(release[key])} for key in release]) + "\n"
