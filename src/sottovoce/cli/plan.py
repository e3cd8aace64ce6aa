"""sottovoce plan: which mechanism, what error, how many people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce as sv
from sottovoce.cli import PICTURES, check_target, save_picture
from sottovoce.cli.shared_options import (
    Between,
    Choices,
    CircleOption,
    DomainPair,
    Json,
    Level,
    LogScale,
    PairOf,
    Place,
    domain_from,
    domains_in,
    options_in,
    question_of,
)
from sottovoce.errors import UsageError

Question = Annotated[
    str,
    typer.Argument(
        metavar="QUESTION",
        help="mean, median, quantile (with --p), distribution, direction, probability (with --range), "
        "value, choice or choices (with --options), pair (with --pair), place (with --place) or group (with "
        "--options and --domain).",
    ),
]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="ε; leave out to ask for it.")]
People = Annotated[int | None, typer.Option("--people", help="How many people; leave out to ask for it.")]
Target = Annotated[float | None, typer.Option("--target", help="The error to reach, in the domain's units.")]
Central = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--central", metavar="EPSILON DELTA", help="Find the largest ε at which the counts keep this (ε, δ)."
    ),
]
Confidence = Annotated[float, typer.Option("--confidence", help="Of the intervals.")]
#: Which option says of what other questions are.
_SAID_BY = dict.fromkeys(("choice", "choices", "group"), "options") | {"pair": "pair", "place": "place"}


def plan(
    question: Question,
    epsilon: Epsilon = None,
    people: People = None,
    domain: DomainPair = None,
    circle: CircleOption = None,
    log: LogScale = False,
    target: Target = None,
    central: Central = None,
    p: Level = None,
    between: Between = None,
    options: Choices = None,
    pair: PairOf = None,
    place: Place = None,
    confidence: Confidence = 0.95,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="PATH",
            help="The best mechanism's spec (.json), or a picture (.png, .svg, .pdf).",
        ),
    ] = None,
    as_json: Json = False,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Simulate answers instead of predicting them: minutes.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="With --simulate: eight tallies only.")] = False,
) -> None:
    """Rank mechanisms by the error to expect, or find ε or people for a target.

    Give --epsilon and --people, or one of them and --target, or --people and --central: the largest local ε
    whose counts keep that. --output spec.json writes the best mechanism,
    for `sottovoce perturb --spec` and `sottovoce campaign create --spec`; a picture shows the error against ε
    and people. Errors are predicted from the exact law of the reports; --simulate simulates answers until
    errors are known to 3 % (minutes the first time, then remembered).
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    check_target(output, (*PICTURES, ".json"))
    if question in _SAID_BY:
        if output is not None:
            rule = (
                "--output is for plans of a number; `sottovoce perturb` takes --options, --pair and --place"
            )
            raise UsageError(rule)
        other = sv.plan(
            question, epsilon, people, _asked(question, options, pair, place, domain), target, p=p,
            between=between, confidence=confidence, simulate=simulate, central=central,
        )  # fmt: skip
        typer.echo(json.dumps({"options": other.rows}) if as_json else str(other))
        return
    where = domain_from(domain, circle, log=log)
    if target is None and (people is None or (epsilon is None and central is None)):
        raise UsageError("give --epsilon and --people, one of them and --target, or --people and --central")
    name, level = question_of(question, p)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def showing(verb: str) -> Callable[[str, float], None]:
            job = bar.add_task(verb, total=1.0)
            return lambda name, done: bar.update(job, description=f"{verb} {name}", completed=done)

        answer = sv.plan(
            name, epsilon, people, where, target, p=level, between=between, confidence=confidence,
            simulate=simulate, repetitions=8 if simulate and quick else None, central=central,
            progress=showing("looking at"),
        )  # fmt: skip
        if output is not None and output.suffix.lower() == ".json":
            output.write_text(answer.best.mechanism.to_json())
        elif output is not None:
            save_picture(output, lambda: answer.plot(progress=showing("drawing"))[0])
    if as_json:
        typer.echo(json.dumps({"title": answer.title, "options": answer.rows, "left_out": answer.left_out}))
    else:
        typer.echo(f"{answer}{' (--log)' * bool(answer.log_hint)}")
        if output is not None:
            typer.echo(f"wrote {output}")


def _asked(question: str, options: str | None, pair: list[str] | None, place: Any, domain: Any) -> Any:
    """What a choice, a pair, a place or a group is asked of."""
    said = {"options": options, "pair": pair, "place": place}[_SAID_BY[question]]
    if not said or (question == "group" and domain is None):
        both = " and --domain" if question == "group" else ""
        raise UsageError(f"say of what: --{_SAID_BY[question]}{both}")
    if question == "place":
        return place[:2], place[2:]
    if question == "pair":
        return domains_in(pair or [])
    return (options_in(options or ""), domain) if question == "group" else options_in(options or "")
