"""sottovoce estimate: reports in, answers out, as text, JSON, a table or a picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli import PICTURES, check_target, counting, save_picture
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
from sottovoce.errors import MissingFile, UsageError, check_confidence, one_of, require_extra
from sottovoce.estimates.answer.units import ESTIMANDS, INTERVALS
from sottovoce.estimates.direction import circular_mean, concentration
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.estimate import Estimate, explained
from sottovoce.estimates.honesty import Honesty, honesty
from sottovoce.estimates.mean import mean
from sottovoce.estimates.probability import probability
from sottovoce.estimates.quantile import quantile
from sottovoce.estimates.tally import Tally
from sottovoce.estimates.variance import variance
from sottovoce.reporters.number import Number
from sottovoce.values.area import Area
from sottovoce.values.domain import Domain

Writers = Mapping[str, Callable[[Path], object]]


def estimate(
    data: Annotated[
        list[Path], typer.Argument(help="Reports (Parquet, CSV, Arrow, a folder) or a tally (.json).")
    ],
    column: Column = None,
    item: Annotated[
        str | None, typer.Option("--item", metavar="NAME", help="Of a survey: which item.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="NAME", help="Answers for each group of this column (repeat)."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="With --by: intervals of all groups that hold together, ranks.")
    ] = False,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="With --by: differences of all pairs that hold together.")
    ] = False,
    trend: Annotated[
        str | None,
        typer.Option("--trend", metavar="NAME", help="The slope over this column of dates or numbers."),
    ] = None,
    spec: SpecOption = None,
    quantiles: Annotated[
        list[float] | None, typer.Option("--quantile", metavar="P", help="A quantile (repeat).")
    ] = None,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option("--range", metavar="LOW HIGH", help="Also the probability of this range."),
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of every interval.")] = 0.95,
    interval: Annotated[
        str, typer.Option("--interval", help="Of the mean: normal, finite or bootstrap.")
    ] = "normal",
    sequential: Annotated[
        bool,
        typer.Option("--sequential", help="Of the mean and the range: intervals that hold at every look."),
    ] = False,
    estimand: Annotated[
        str, typer.Option("--estimand", help="Whose values: population (all they stand for) or respondents.")
    ] = "population",
    as_json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="PATH",
            help="A summary to send (.html), a picture (.png, .svg, .pdf) or the answers as .json; "
            "with --by also .csv or .parquet, but no report; of places a map, also as .geojson.",
        ),
    ] = None,
    quick: Quick = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Estimate the mean, spread and quantiles behind files of reports.

    Each with an interval; on a circle the mean direction and concentration, of places the mean position. The
    mechanism is read from the file; --spec names it where the file does not. --output draws the reconstructed
    distribution, with --by the groups' means; --quick leaves out quantiles. With --by only the mean, and what
    --quantile and --range ask for. --compare, --pairs and --trend are about one quantity: the mean, or that
    one.
    """
    tables = (".csv", ".parquet") if by or trend else (".html", ".geojson")
    check_target(output, (*PICTURES, ".json", *tables))
    ask = Questions(tuple(quantiles or ()), between, confidence, interval, sequential, estimand)
    csv: Any = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    if by or compare or pairs or trend:
        from sottovoce.cli.group_answers import by_group, together

        if compare or pairs or trend:
            if compare + pairs + (trend is not None) > 1 or bool(by) == (trend is not None):
                raise UsageError("give --by NAME with --compare or --pairs, or --trend NAME alone")
            counted = _counted(data, column, spec, by or [str(trend)], **csv)
            groups = {key: of_item(counted[key], item) for key in counted}
            together(groups, ask, trend=trend, pairs=pairs, as_json=as_json, output=output)
        else:
            of_each = partial(answers, item=item, ask=ask)
            by_group(_counted(data, column, spec, by, **csv), of_each, as_json, output)
        if not as_json and (rules := treated(data[0])):
            typer.echo(rules)
        return
    whole = _counted(data, column, spec, **csv)
    told = partial(tell, data=data[0], as_json=as_json, output=output)
    tally = whole if item is None else of_item(whole, item)
    if not isinstance(tally.reporter, Number):
        from sottovoce.cli.other_answers import of_kind, of_places

        if kinds := of_kind(tally, confidence):
            told(whole, kinds, whole.reporter.name, writers={})
            return
        tally = of_item(whole, item).required()
        if isinstance(where := tally.reporter.domain, Area):
            positions, writers = of_places(tally, confidence)
            told(tally, positions, f"places in {where}", writers=writers)
            return
    if not quantiles and not quick and not tally.required().law.as_number().domain.is_circle:
        ask = Questions((0.1, 0.5, 0.9), between, confidence, interval, sequential, estimand)
    found, honest = ask.of(tally, spread=True), honesty(tally)

    def page(path: Path) -> None:
        from sottovoce.cli.other_answers import written

        text = written(tally, found, honest, ask.quantiles, item or column, data[0], treated(data[0]))
        path.write_text(text, encoding="utf-8")

    def picture(path: Path) -> None:
        save_picture(path, distribution(tally, confidence=confidence).plot)

    made = "" if tally.law.as_number().made_for is None else f" for {tally.law.as_number().made_for}"
    told(
        tally,
        found,
        f"mechanism{made}",
        writers={".html": page, **dict.fromkeys(PICTURES, picture)},
        honest=honest,
    )


@dataclass(frozen=True)
class Questions:
    """What is asked of a tally."""

    quantiles: tuple[float, ...]
    between: tuple[float, float] | None
    confidence: float
    interval: str
    sequential: bool
    estimand: str

    def __post_init__(self) -> None:
        """Refuse before anything is counted."""
        check_confidence(self.confidence)
        one_of(self.interval, "interval", INTERVALS)
        if self.sequential and self.interval != "normal":
            raise UsageError("--sequential is an interval of its own: leave out --interval")
        one_of(self.estimand, "estimand", ESTIMANDS)
        for p in self.quantiles:
            if not 0 <= p <= 1:
                raise UsageError(f"--quantile must lie between 0 and 1, got {p!r}")

    def of(self, tally: Tally, *, spread: bool) -> list[Estimate]:
        """The answers; `spread`: with the variance or the concentration."""
        asked: dict[str, Any] = {"confidence": self.confidence, "estimand": self.estimand}
        if self.between is not None:
            _check_range(self.between, tally.law.as_number().domain)
        if tally.law.as_number().domain.is_circle:
            if self.quantiles:
                raise UsageError("a circle has no quantiles; ask for --range LOW HIGH")
            if self.sequential:
                raise UsageError("--sequential is for means, which a circle does not have")
            found = [circular_mean(tally, **asked)]
            found += [concentration(tally, **asked)] if spread else []
        else:
            found = [mean(tally, interval=self.interval, sequential=self.sequential, **asked)]
            found += [variance(tally, **asked)] if spread and not tally.law.as_number().domain.is_log else []
            found += quantile(tally, list(self.quantiles), **asked) if self.quantiles else []
        if self.between is not None:
            found.append(probability(tally, *self.between, sequential=self.sequential, **asked))
        return found


def _check_range(between: tuple[float, float], domain: Domain) -> None:
    got = f"got {between[0]:g} {between[1]:g}"
    if not domain.contains(between).all():
        raise UsageError(f"--range must lie in the domain [{domain.low:g}, {domain.high:g}], {got}")
    if between[0] > between[1] and not domain.is_circle:
        raise UsageError(f"--range must be LOW HIGH with LOW at most HIGH, {got}")


def _counted(
    data: list[Path], column: str | None, spec: Path | None, by: list[str] | None = None, **csv: Any
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
        return tally(source, column, by=by, mechanism=mechanism, progress=progress, **csv)


def of_item(tally: Tally, item: str | None) -> Tally:
    """The tally of the item that is meant: the only one, or one of a survey's."""
    if item is None and isinstance(tally.reporter, Number):
        return tally
    names = tuple(tally.reporter.items)
    only = names[0] if len(names) == 1 else None
    return tally[one_of(item or only, "item", names)]


def answers(tally: Tally, item: str | None, ask: Questions) -> list[Estimate]:
    """What is asked of each group, importable for other processes."""
    return ask.of(of_item(tally, item), spread=False)


def tell(
    tally: Tally,
    answers: Sequence[Estimate],
    subject: str,
    *,
    data: Path,
    as_json: bool,
    output: Path | None,
    writers: Writers,
    honest: Honesty | None = None,
) -> None:
    """Print answers with what they rest on, or as JSON, and write what the file's ending asks for.

    Args:
        tally: What they were estimated from.
        answers: The answers.
        subject: What the reports are of, for the first line.
        data: The file of reports, which says what became of missing values.
        as_json: Whether to print JSON.
        output: Where to write, if anywhere.
        writers: What writes a file, by its ending; .json is written anyway.
        honest: Whether the reports look honest, where that was looked at.
    """
    content: dict[str, Any] = {
        "n": tally.n,
        "epsilon": tally.reporter.epsilon,
        "digest": tally.digest,
        "estimates": [answer.to_dict() for answer in answers],
        "treated": treated(data),
    }
    if honest is not None:
        names = ("alarm", "p_value", "fakes")
        content["honesty"] = {name: getattr(honest, name) for name in names}
    text = json.dumps(content, allow_nan=False)
    if output is not None:
        possible: Writers = {".json": lambda path: path.write_text(text), **writers}
        if (suffix := output.suffix.lower()) not in possible:
            raise UsageError(f"--output: these answers are written as {', '.join(possible)}, got {suffix}")
        possible[suffix](output)
    if as_json:
        typer.echo(text)
        return
    typer.echo(f"{tally.n} reports, ε = {tally.reporter.epsilon:g}, {subject} {tally.digest[:12]}")
    for answer in answers:
        typer.echo(str(answer))
    for method in dict.fromkeys(part for answer in answers for part in answer.method.split(", ")):
        if explained(method):
            typer.echo(f"({method}: {explained(method)})")
    for line in (content["treated"], str(honest or ""), f"wrote {output}" if output else ""):
        if line:
            typer.echo(line)


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
