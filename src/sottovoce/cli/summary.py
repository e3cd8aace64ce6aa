"""sottovoce summary: reports in, answers out, as sentences, numbers, JSON, a table, a picture or a page."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli import PICTURES, Answers, check_target, counting
from sottovoce.cli.shared_options import (
    Column,
    Decimal,
    Delimiter,
    Encoding,
    Json,
    Quick,
    SpecOption,
    read_spec,
)
from sottovoce.documents.summary_page import page, sections
from sottovoce.errors import MissingFile, NoDataError, UsageError, check_confidence, one_of, require_extra
from sottovoce.estimates import summary as table
from sottovoce.estimates.answer.units import ESTIMANDS, INTERVALS
from sottovoce.estimates.estimate import explained
from sottovoce.estimates.heatmap import Heatmap
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.contract import Reporter, described
from sottovoce.reporters.formats import law_of
from sottovoce.reporters.law.disclosure import disclosure
from sottovoce.reporters.question import Question
from sottovoce.values.domain import Domain

Name = str | None
Names = list[str] | None
Range = tuple[float, float] | None
_SLOW = ("quantile", "distribution", "heatmap")
#: What an option names, and what it needs.
_NAMED = {
    "--quantile": ("quantile", "needs numbers on a line, not around a circle"),
    "--range": ("probability", "must be LOW HIGH within the range of a number, LOW at most HIGH"),
    "--option": ("share", "needs a choice"),
}


def summary(
    ctx: typer.Context,
    data: Annotated[list[Path], typer.Argument(help="Files or a folder of reports, or a tally (.json).")],
    column: Column = None,
    item: Annotated[Names, typer.Option(metavar="NAME", help="Of a survey: only this (repeat).")] = None,
    by: Annotated[Names, typer.Option(metavar="NAME", help="Each group of this column (repeat).")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="With --by: ranks of the groups.")] = False,
    pairs: Annotated[bool, typer.Option("--pairs", help="With --by: differences of all pairs.")] = False,
    trend: Annotated[Name, typer.Option(metavar="NAME", help="The slope over this column.")] = None,
    spec: SpecOption = None,
    quantiles: Annotated[
        list[float] | None, typer.Option("--quantile", metavar="P", help="This quantile (repeat).")
    ] = None,
    between: Annotated[Range, typer.Option("--range", metavar="LOW HIGH", help="The share of this.")] = None,
    option: Annotated[Name, typer.Option(metavar="NAME", help="Compare by the share of this option.")] = None,
    confidence: Annotated[float, typer.Option(help="Of every interval.")] = 0.95,
    interval: Annotated[Name, typer.Option(help="Of the mean: normal, finite or bootstrap.")] = None,
    sequential: Annotated[
        bool, typer.Option("--sequential", help="Of the mean and a range: intervals that hold at every look.")
    ] = False,
    estimand: Annotated[Name, typer.Option(help="Whose values: population or respondents.")] = None,
    as_json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="PATH",
            help="A page to send (.html), a picture (.png, .svg, .pdf), rows (.csv, .parquet) or .json; of "
            "places .geojson.",
        ),
    ] = None,
    quick: Quick = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Say in plain sentences what files of reports tell.

    Everything that the reports can be asked, in order: means, quantiles and distributions of numbers, shares
    of options, maps of places; of a survey item by item. What was asked is read from the file; --spec names
    it where the file does not. --quick leaves out quantiles, distributions and maps. With --by a row for each
    number of each group. --compare and --pairs (intervals that hold for all groups together) and --trend
    (over dates or numbers) are about one number: the first that these reports tell, or what --quantile,
    --range or --option names. `sottovoce estimate` prints numbers and methods.
    """
    pages = () if by or trend else (".html", ".geojson")
    check_target(output, (*PICTURES, ".json", ".csv", ".parquet", *pages))
    check_confidence(confidence)
    one_of(interval or INTERVALS[0], "interval", INTERVALS)
    one_of(estimand or ESTIMANDS[0], "estimand", ESTIMANDS)
    if odd := [p for p in quantiles or () if not 0 <= p <= 1]:
        raise UsageError(f"--quantile must lie between 0 and 1, got {odd[0]!r}")
    if sequential and interval:
        raise UsageError("--sequential is an interval of its own: leave out --interval")
    together = compare + pairs + (trend is not None)
    if together and (together > 1 or bool(by) == (trend is not None)):
        raise UsageError("give --by NAME with --compare or --pairs, or --trend NAME alone")
    if option is not None and not together:
        raise UsageError("--option goes with --compare, --pairs and --trend: all shares are said anyway")
    csv: Any = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    counted = _counted(data, column, spec, by or ([trend] if trend else None), **csv)
    law: Reporter = law_of(counted.reporter)
    names = tuple(dict.fromkeys(filter(None, (one.item for one in law.questions)))) or tuple(law.items)
    items = [one_of(name, "item", names) for name in item or ()]
    if len(items) == 1 and pages:
        counted, law, items = counted[items[0]], law.items[items[0]], []
    questions = [one._replace(item=name) for name in items for one in law.items[name].questions]
    questions = questions or list(law.questions)
    named = _named(law, questions, quantiles, between, option)
    given = {"interval": interval, "sequential": sequential, "estimand": estimand}
    options: dict[str, Any] = {name: value for name, value in given.items() if value}
    rules = treated(data[0])
    if together:
        from sottovoce.cli.group_answers import compared

        options |= {"quick": True} if quick else {}
        answers = compared(counted, items, named, confidence, options, pairs=pairs, trend=trend)
    else:
        dropped = {*(_SLOW if quick else ()), *("quantile" for _ in quantiles or ())}
        dropped |= {name for name, entry in table.TABLE.items() if by and entry.data is not None}
        rest = [one for one in questions if one.name not in dropped and one not in named]
        options |= {"questions": [*named, *rest], "confidence": confidence}
        if by:
            from sottovoce.cli.group_answers import by_group

            answers = by_group(counted, options)
        else:
            found = table.summary(counted.required(), **options)
            lines = _lines(counted, found, numbers=ctx.info_name == "estimate")
            subject = ", ".join(item or ()) or column
            write = partial(_write_page, counted, found, subject, data[0], rules)
            writers = {".html": write, ".geojson": partial(_write_map, found)}
            answers = Answers(found.to_dict, found.rows, lines, found.plot, writers)
    answers.tell(as_json=as_json, output=output, treated=rules)


def _counted(
    data: list[Path], column: str | None, spec: Path | None, by: list[str] | None, **csv: Any
) -> Any:
    mechanism = None if spec is None else read_spec(spec)
    if data[0].suffix.lower() == ".json":
        if by or len(data) > 1:
            raise UsageError("a tally (.json) is estimated alone: it has no groups left")
        if given := [name for name, value in csv.items() if value is not None]:
            raise UsageError(f"--{given[0]} is about CSV files, which a tally (.json) is not")
        if not data[0].is_file():
            raise MissingFile(f"there is no file {data[0]}")
        return Tally.from_json(data[0].read_bytes(), mechanism)
    require_extra("files", "a file of reports")
    from sottovoce.bulk.count import tally
    from sottovoce.bulk.tables.sources import count_rows

    source = data[0] if len(data) == 1 else data
    with counting("counted", count_rows(source)) as progress:
        counted: Any = tally(source, column, by=by, mechanism=mechanism, progress=progress, **csv)
    if by and not len(counted):
        raise NoDataError("there are no reports in any group")
    return counted


def _named(
    law: Reporter, said: Sequence[Question], quantiles: list[float] | None, between: Range, option: str | None
) -> list[Question]:
    """The quantiles, the range and the option that were named, of every item that they can be asked of."""
    found: list[Question] = []
    for item in dict.fromkeys(one.item for one in said):
        names = {one.name for one in said if one.item == item}
        if "quantile" in names:
            found += [Question("quantile", item, p=p) for p in quantiles or ()]
        space = (law.items[item] if item else law).domain
        if between is not None and isinstance(space, Domain) and space.contains(between).all():
            low, high = between
            found += [Question("probability", item, between=between)] * (low <= high or space.is_circle)
        if option is not None and "shares" in names:
            found.append(Question("share", item, option=option))
    for flag, given in zip(_NAMED, (quantiles, between, option), strict=True):
        name, rule = _NAMED[flag]
        if given and not any(one.name == name for one in found):
            raise UsageError(f"{flag} {rule}: these reports are about {described(law)}")
    return found


def _lines(tally: Tally, found: table.Summary, *, numbers: bool) -> Iterator[str]:
    """The sentences, or the numbers with what their methods mean; of a survey item by item."""
    yield f"{found.n:,} people, ε = {found.epsilon:g}, {described(tally.law)}, digest {found.digest[:12]}"
    methods: dict[str, None] = {}
    for name, part, answers in sections(tally, found):
        if name:
            yield f"{name}: {part.n:,} people, {described(part.law)}"
        for answer in answers:
            estimates = answer.numbers.values() if numbers else ()
            methods.update((method, None) for one in estimates for method in one.method.split(", "))
            text = "\n".join(map(str, estimates)) or str(answer)
            yield textwrap.indent(text, "  " if name else "")
    yield from (f"({method}: {explained(method)})" for method in methods if explained(method))
    yield f"Privacy: {disclosure(tally.law)}"


def _write_map(found: table.Summary, path: Path) -> None:
    maps = [answer.estimate for answer in found if isinstance(answer.estimate, Heatmap)]
    if len(maps) != 1:
        raise UsageError(f"--output: .geojson holds one map of a box, and here are {len(maps)}")
    maps[0].to_geojson(path)


def _write_page(
    tally: Tally, found: table.Summary, subject: str | None, data: Path, rules: str, path: Path
) -> None:
    if subject is None and data.suffix.lower() != ".json":
        from sottovoce.bulk.count import labelled_column

        subject = labelled_column(data)
    path.write_text(page(tally, found, subject=subject or data.stem, treated=rules), encoding="utf-8")


def treated(path: Path) -> str:
    """What became of missing values and those outside, where the file of reports says it."""
    from sottovoce.bulk.tables.labels import POLICY, arrow_label
    from sottovoce.bulk.tables.sources import Source, list_files

    first = (list_files(path) or [path])[0]  # of a folder: its files were made with the same policy
    if first.suffix.lower() in (".json", ".csv"):  # they say nothing
        return ""
    if (text := arrow_label(Source(first, []).schema.metadata).get(POLICY)) is None:
        return ""
    policy = json.loads(text)
    rules = {
        "missing": {"uniform": "filled in by draws from the whole domain"}
        | dict.fromkeys(("drop", "keep"), "left out"),
        "outside": {"clip": "brought to the nearest end", "missing": "treated as missing"},
    }
    words = [f"values {kind} were {how[policy[kind]]}" for kind, how in rules.items() if policy[kind] in how]
    if isinstance(number := policy["missing"], float):
        words.insert(0, f"{number:g} stands in for missing values")
    return f"{'; '.join(words)} (how many, only who randomised them may know)" if words else ""
