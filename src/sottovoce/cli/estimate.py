"""sottovoce estimate: reports in, answers out, as text, JSON, a table or a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

import sottovoce as sv
from sottovoce.cli.answers import Writers, of_kind, tell, treated, written
from sottovoce.cli.compare import quantity, together
from sottovoce.cli.options import (
    PICTURES,
    Column,
    Json,
    Quick,
    SpecOption,
    check_target,
    counting,
    read_spec,
    save_picture,
)
from sottovoce.core.domains import Domain
from sottovoce.core.errors import NoDataError, check_confidence, one_of, require_extra
from sottovoce.estimates.forest import draw_forest


def estimate(
    data: Annotated[
        list[Path], typer.Argument(help="Reports (Parquet, CSV, Arrow, a folder) or a tally (.json).")
    ],
    column: Column = None,
    question: Annotated[
        str | None, typer.Option("--question", metavar="NAME", help="Of a survey: which question.")
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
        str, typer.Option("--interval", help="Of the mean: normal, finite, bootstrap or sequential.")
    ] = "normal",
    estimand: Annotated[
        str, typer.Option("--estimand", help="Whose values: population (all they stand for) or respondents.")
    ] = "population",
    as_json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="PATH",
            help="A report to send (.html), a picture (.png, .svg, .pdf) or the answers as .json; "
            "with --by also .csv or .parquet, but no report; of places a map, also as .geojson.",
        ),
    ] = None,
    quick: Quick = False,
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
    ask = Questions(tuple(quantiles or ()), between, confidence, interval, estimand)
    if compare or pairs or trend:
        if compare + pairs + (trend is not None) > 1 or bool(by) == (trend is not None):
            raise ValueError("give --by NAME with --compare or --pairs, or --trend NAME alone")
        counted = _counted(data, column, spec, by or [str(trend)])
        groups = {key: _of_question(counted[key], question) for key in counted}
        circle = any(tally.mechanism.domain.is_circle for tally in groups.values())
        asked = {**quantity(quantiles, between, estimand, circle), "confidence": confidence}
        asked |= {"sequential": True} if interval == "sequential" and not trend else {}
        together(groups, asked, trend=trend, pairs=pairs, as_json=as_json, output=output)
    elif by:
        _by_group(_counted(data, column, spec, by), question, ask, as_json, output)
    if compare or pairs or trend or by:
        if not as_json and (rules := treated(data[0])):
            typer.echo(rules)
        return
    whole = _counted(data, column, spec)
    told = partial(tell, data=data[0], as_json=as_json, output=output)
    kinds = of_kind(whole if question is None else _of_question(whole, question), confidence)
    if kinds:
        told(whole, kinds, whole.reporter.name, writers={})
        return
    tally = _of_question(whole, question).required()
    if isinstance(where := tally.reporter.domain, sv.Area):
        writers: Writers = {
            **dict.fromkeys(PICTURES, lambda path: save_picture(path, sv.heatmap(tally).plot)),
            ".geojson": lambda path: sv.heatmap(tally).to_geojson(path),
        }
        told(tally, sv.mean_position(tally, confidence=confidence), f"places in {where}", writers=writers)
        return
    if not quantiles and not quick and not tally.mechanism.domain.is_circle:
        ask = Questions((0.1, 0.5, 0.9), between, confidence, interval, estimand)
    answers, honest = ask.of(tally, spread=True), sv.honesty(tally)

    def page(path: Path) -> None:
        text = written(tally, answers, honest, ask.quantiles, question or column, data[0])
        path.write_text(text, encoding="utf-8")

    def picture(path: Path) -> None:
        save_picture(path, sv.distribution(tally, confidence=confidence).plot)

    made = "" if tally.mechanism.task is None else f" for {tally.mechanism.task}"
    writers = {".html": page, **dict.fromkeys(PICTURES, picture)}
    told(tally, answers, f"mechanism{made}", writers=writers, honest=honest)


@dataclass(frozen=True)
class Questions:
    """What is asked of a tally."""

    quantiles: tuple[float, ...]
    between: tuple[float, float] | None
    confidence: float
    interval: str
    estimand: str

    def __post_init__(self) -> None:
        """Refuse before anything is counted."""
        from sottovoce.estimates.query import ESTIMANDS, INTERVALS

        check_confidence(self.confidence)
        one_of(self.interval, "interval", INTERVALS)
        one_of(self.estimand, "estimand", ESTIMANDS)
        for p in self.quantiles:
            if not 0 <= p <= 1:
                raise ValueError(f"--quantile must lie between 0 and 1, got {p!r}")

    def of(self, tally: sv.Tally, *, spread: bool) -> list[sv.Estimate]:
        """The answers; `spread`: with the variance or the concentration."""
        asked: dict[str, Any] = {"confidence": self.confidence, "estimand": self.estimand}
        if self.between is not None:
            _check_range(self.between, tally.mechanism.domain)
        if tally.mechanism.domain.is_circle:
            if self.quantiles:
                raise ValueError("a circle has no quantiles; ask for --range LOW HIGH")
            found = [sv.circular_mean(tally, **asked)]
            found += [sv.concentration(tally, **asked)] if spread else []
        else:
            found = [sv.mean(tally, interval=self.interval, **asked)]
            found += [sv.variance(tally, **asked)] if spread and not tally.mechanism.domain.is_log else []
            found += sv.quantile(tally, list(self.quantiles), **asked) if self.quantiles else []
        if self.between is not None:
            found.append(sv.probability(tally, *self.between, **asked))
        return found


def _check_range(between: tuple[float, float], domain: Domain) -> None:
    got = f"got {between[0]:g} {between[1]:g}"
    if not domain.contains(between).all():
        raise ValueError(f"--range must lie in the domain [{domain.low:g}, {domain.high:g}], {got}")
    if between[0] > between[1] and not domain.is_circle:
        raise ValueError(f"--range must be LOW HIGH with LOW at most HIGH, {got}")


def _counted(data: list[Path], column: str | None, spec: Path | None, by: list[str] | None = None) -> Any:
    mechanism = None if spec is None else read_spec(spec)
    if data[0].suffix.lower() == ".json":
        if by or len(data) > 1:
            raise ValueError("a tally (.json) is estimated alone: it has no groups left")
        if not data[0].is_file():
            raise FileNotFoundError(f"there is no file {data[0]}")
        return sv.Tally.from_json(data[0].read_bytes(), mechanism)
    require_extra("bulk", "a file of reports")
    from sottovoce.bulk.sources import count_rows
    from sottovoce.bulk.tallies import tally

    source = data[0] if len(data) == 1 else data
    with counting("counted", count_rows(source)) as progress:
        return tally(source, column, by=by, mechanism=mechanism, progress=progress)


def _of_question(tally: sv.Tally, question: str | None) -> sv.Tally:
    """The tally of the question that is meant: the only one, or one of a survey's."""
    names = tuple(tally.reporter.questions)
    only = names[0] if len(names) == 1 else None
    return tally[one_of(question or only, "question", names)]


def answers(tally: sv.Tally, question: str | None, ask: Questions) -> list[sv.Estimate]:
    """What is asked of each group, importable for other processes."""
    return ask.of(_of_question(tally, question), spread=False)


def _by_group(groups: Any, question: str | None, ask: Questions, as_json: bool, output: Path | None) -> None:
    from sottovoce import bulk

    if not len(groups):
        raise NoDataError("there are no reports in any group")
    with counting("estimated", len(groups), "groups") as progress:
        table = bulk.estimates(
            groups,
            "",
            groups.by,
            partial(answers, question=question, ask=ask),
            processes=None,
            progress=progress,
        )
    m = groups.reporter
    rows = table.to_pylist()
    content = {"n": groups.n, "epsilon": m.epsilon, "digest": m.digest, "by": list(groups.by), "groups": rows}
    if output is not None:
        _write_groups(table, content, output)
    if as_json:
        typer.echo(json.dumps(content, allow_nan=False, default=str))
        return
    typer.echo(f"{groups.n} reports in {len(groups)} groups, ε = {m.epsilon:g}, mechanism {m.digest[:12]}")
    typer.echo("\t".join(table.column_names))
    for row in rows:
        typer.echo(
            "\t".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values())
        )


def _write_groups(table: Any, content: dict[str, Any], output: Path) -> None:
    suffix = output.suffix.lower()
    if suffix == ".json":
        output.write_text(json.dumps(content, allow_nan=False, default=str))
    elif suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, output)
    elif suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, output)
    else:
        save_picture(output, lambda: _groups_picture(table, content))


def _groups_picture(table: Any, content: dict[str, Any]) -> Any:
    """The first answer of each group with its interval, one below the other."""
    what = table.column("what")[0].as_py()
    rows = [row for row in table.to_pylist() if row["what"] == what]
    names = [", ".join(str(row[name]) for name in content["by"]) for row in rows]
    title = f"{content['n']:,} reports, ε = {content['epsilon']:g}"
    bars: Any = [SimpleNamespace(**row) for row in rows]
    return draw_forest(names, bars, title, None)
