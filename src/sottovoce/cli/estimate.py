"""sottovoce estimate: reports in, answers out, as text, JSON or a picture."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce as sv
from sottovoce.cli.options import Column, Output, Quick, SpecOption, counting, read_spec
from sottovoce.errors import MissingExtra


def register(app: typer.Typer) -> None:
    app.command("estimate")(estimate)


def estimate(
    data: Annotated[Path, typer.Argument(help="Reports (Parquet, CSV, Arrow, a folder) or a tally (.json).")],
    column: Column = None,
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
    estimand: Annotated[
        str, typer.Option("--estimand", help="The mean of the population or of the respondents.")
    ] = "population",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    output: Output = None,
    quick: Quick = False,
) -> None:
    """Estimate the mean, spread and quantiles behind a file of reports, each with an interval.

    On a circle the mean direction and concentration. --output draws the reconstructed distribution (png, svg,
    pdf); --quick leaves out quantiles.
    """
    tally = _tally(data, column, spec).required()
    asked: list[Callable[[], Any]] = []
    if tally.mechanism.domain.is_circle:
        asked += [lambda: sv.circular_mean(tally, confidence=confidence)]
        asked += [lambda: sv.concentration(tally, confidence=confidence)]
        if quantiles:
            raise ValueError("a circle has no quantiles; ask for --range LOW HIGH")
    else:
        asked += [lambda: sv.mean(tally, interval=interval, estimand=estimand, confidence=confidence)]
        asked += [lambda: sv.variance(tally, confidence=confidence)]
        wanted = quantiles or ([] if quick else [0.1, 0.5, 0.9])
        if wanted:
            asked += [lambda: sv.quantile(tally, wanted, confidence=confidence)]
    if between is not None:
        asked += [lambda: sv.probability(tally, *between, confidence=confidence)]
    answers: list[sv.Estimate] = []
    for ask in asked:
        found = ask()
        answers += found if isinstance(found, list) else [found]
    honest = sv.honesty(tally)
    if output is not None:
        _draw(tally, confidence, output)
    if as_json:
        content = {
            "n": tally.n,
            "epsilon": tally.mechanism.epsilon,
            "digest": tally.digest,
            "estimates": [answer.to_dict() for answer in answers],
            "honesty": {"alarm": honest.alarm, "p_value": honest.p_value, "fabricated": honest.fabricated},
        }
        typer.echo(json.dumps(content, allow_nan=False))
        return
    typer.echo(f"{tally.n} reports, ε = {tally.mechanism.epsilon:g}, mechanism {tally.digest[:12]}")
    for answer in answers:
        typer.echo(str(answer))
    typer.echo(str(honest))


def _tally(data: Path, column: str | None, spec: Path | None) -> sv.Tally:
    if data.suffix.lower() == ".json":
        if not data.is_file():
            raise FileNotFoundError(f"there is no file {data}")
        return sv.Tally.from_json(data.read_bytes(), None if spec is None else read_spec(spec))
    if column is None:
        raise ValueError("say which column holds the reports: --column NAME")
    from sottovoce import bulk

    beside = data.with_suffix(".spec.json")
    if spec is None and data.suffix.lower() == ".csv" and beside.is_file():
        spec = beside
    with counting("counted") as progress:
        tally: sv.Tally = bulk.tally(
            data, column, mechanism=None if spec is None else read_spec(spec), progress=progress
        )
    return tally


def _draw(tally: sv.Tally, confidence: float, output: Path) -> None:
    try:
        import matplotlib as mpl
    except ImportError:
        raise MissingExtra("pictures", "plots") from None
    mpl.use("agg")
    axes = sv.distribution(tally, confidence=confidence).plot()
    axes.figure.savefig(output, dpi=150, bbox_inches="tight")
