"""sottovoce perturb: columns of numbers in, randomised reports out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sottovoce.cli import counting
from sottovoce.cli.shared_options import (
    Between,
    Choices,
    CircleOption,
    Decimal,
    Degrees,
    Delimiter,
    Design,
    DomainPair,
    Encoding,
    Level,
    LogScale,
    PairOf,
    Place,
    QuestionOption,
    Request,
    SpecOption,
    WordsOption,
    missing_from,
    read_spec,
)
from sottovoce.errors import DataError, MissingFile, UsageError
from sottovoce.reporters.contract import described
from sottovoce.values.missing_and_outside import Missing, Outside

_MISSING = {"drop": "their rows are left out", "keep": "their reports are empty"}


def perturb(
    data: Annotated[list[Path], typer.Argument(help="CSV, Parquet or Arrow files, or a folder of them.")],
    columns: Annotated[
        list[str],
        typer.Option(
            "--column",
            metavar="NAME[=SPEC]",
            help="A column to randomise (repeat). With =SPEC.json it has a mechanism of its own.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            metavar="PATH",
            help="Where reports go: .parquet, .arrow or .csv; for several files a folder.",
        ),
    ],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Privacy parameter ε, of each column.")
    ] = None,
    domain: DomainPair = None,
    circle: CircleOption = None,
    log: LogScale = False,
    question: QuestionOption = None,
    p: Level = None,
    between: Between = None,
    mechanism: Design = None,
    spec: SpecOption = None,
    place: Place = None,
    degrees: Degrees = False,
    options: Choices = None,
    pair: PairOf = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="NAME", help="A column to keep as it is (repeat).")
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            help="Missing values: refuse, uniform or a number to stand in, drop, or keep (empty).",
        ),
    ] = "refuse",
    outside: Annotated[
        str, typer.Option("--outside", help="Values outside the domain: refuse, clip, or missing.")
    ] = "refuse",
    clip: Annotated[bool, typer.Option("--clip", help="Short for --outside clip.")] = False,
    words: WordsOption = "refuse",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Randomise columns of a file: one integer report per row.

    Nothing else of the file is copied unless kept. A file appears only when it is complete. After an
    interruption run the same command again: finished files are left alone, so that nobody is randomised
    twice. Parquet and Arrow files carry the mechanism with them; beside a CSV its spec is written as
    NAME.spec.json. CSV files are read as spreadsheets write them: commas, semicolons or tabs, decimal points
    or commas, UTF-8, UTF-16 or cp1252; what a file leaves open is refused before anybody is randomised, with
    the line and the option that settles it. With --pair the two columns that it names become one column of
    reports, named by --column.
    """
    from sottovoce import bulk
    from sottovoce.bulk.tables.csv_numerals import Words
    from sottovoce.bulk.tables.sources import count_rows

    described = (question, epsilon, domain, circle, log, p, between, mechanism, spec)
    request = Request(*described, place, degrees, options, pair)
    mechanisms = _mechanisms(columns, request)
    source = data[0] if len(data) == 1 else data
    specs = [output.with_suffix(".spec.json")] if output.suffix.lower() == ".csv" else []
    specs = [path for path in specs if not path.exists()]  # those that this run would write
    with counting("randomised", count_rows(source)) as progress:
        done = bulk.report(
            source,
            mechanisms,
            output,
            keep=keep or [],
            missing=missing_from(missing),
            outside=cast(Outside, outside),
            clip=clip,
            words=cast("Words", words),
            progress=progress,
            delimiter=delimiter,
            decimal=cast(Any, decimal),
            encoding=encoding,
        )
    if done.rows == 0:
        for path in (*done.paths, *specs) if done.new else ():
            path.unlink(missing_ok=True)
        raise DataError(f"{', '.join(map(str, data))}: no rows, there is nothing to randomise")
    typer.echo(_summary(mechanisms, done, output))
    for (column, kind), count in done.replaced.items():
        how = _stands_in(missing_from(missing)) if "missing" in (kind, outside) else "brought inside"
        what = "missing" if kind == "missing" else "outside the domain"
        dropped = done.replaced.get((column, "missing"), 0) if missing == "drop" else 0
        share = 100 * count / (done.rows + dropped)
        them = f"value of {column} is" if count == 1 else f"values of {column} are"
        typer.echo(f"{count} {them} {what} ({share:.2g} %): {how}")


def _stands_in(missing: Missing) -> str:
    if missing == "uniform":
        return "a draw from the whole domain stands in for each"
    return _MISSING[missing] if isinstance(missing, str) else f"{missing:g} stands in for each"


def _summary(mechanisms: dict[str, Any], done: Any, output: Path) -> str:
    parts = [f"{done.rows} reports in {output}"]
    if len(mechanisms) == 1:
        (m,) = mechanisms.values()
        made = "" if m.made_for is None else f", made for {m.made_for}"
        parts.append(f"ε = {m.epsilon:g} each, {described(m)}{made}, digest {m.digest[:12]}")
    else:
        each = ", ".join(f"{name} {m.epsilon:g} ({m.digest[:12]})" for name, m in mechanisms.items())
        total = sum(m.epsilon for m in mechanisms.values())
        parts.append(f"ε by column (digest): {each}; together {total:g} for each person")
    if done.earlier:
        parts.append(f"{done.earlier} of {len(done.paths)} files finished by an earlier run and left alone")
    return ", ".join(parts)


def _mechanisms(columns: list[str], request: Request) -> dict[str, Any]:
    """The mechanism of each column: its own, or the one that the other options name."""
    mechanisms: dict[str, Any] = {}
    shared: Any = None
    for text in columns:
        column, _, own = text.rpartition("=") if text.endswith(".json") else (text, "", "")
        if column in mechanisms:
            raise UsageError(f"--column must name a column once, got {column} twice")
        if own:
            if not Path(own).is_file():
                raise MissingFile(f"there is no file {own}")
            mechanisms[column] = read_spec(Path(own))
        else:
            shared = shared or request.reporter()
            mechanisms[column] = shared
    return mechanisms
