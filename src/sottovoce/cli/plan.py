"""sottovoce plan: which mechanism, what error, how many people."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated

import typer

import sottovoce as sv
from sottovoce.cli.options import (
    PICTURES,
    CircleOption,
    DomainPair,
    Json,
    Output,
    Quick,
    check_target,
    domain_from,
    save_picture,
)

Task = Annotated[str, typer.Argument(help="mean, distribution or quantile.")]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="ε; leave out to ask for it.")]
People = Annotated[int | None, typer.Option("--people", help="How many people; leave out to ask for it.")]
Target = Annotated[float | None, typer.Option("--target", help="The error to reach, in the domain's units.")]
Level = Annotated[float, typer.Option("--p", help="Which quantile.")]
Confidence = Annotated[float, typer.Option("--confidence", help="Of the intervals.")]


def plan(
    task: Task = "mean",
    epsilon: Epsilon = None,
    people: People = None,
    domain: DomainPair = None,
    circle: CircleOption = None,
    target: Target = None,
    p: Level = 0.5,
    confidence: Confidence = 0.95,
    output: Output = None,
    as_json: Json = False,
    quick: Quick = False,
) -> None:
    """Rank mechanisms by the error to expect, or find ε or people for a target.

    Give --epsilon and --people, or one of them and --target. --output writes the picture (error against ε and
    people) to a PNG, SVG or PDF file. Errors of means are exact; those of distributions and quantiles are
    simulated until they are known to 3 % (about a minute each the first time, then remembered); --quick
    simulates eight tallies of each shape instead.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    check_target(output, PICTURES)
    where = domain_from(domain, circle, default=(0, 1))
    if target is None and epsilon is None:
        epsilon = 1.0
    if target is None and people is None:
        people = 10_000
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def showing(verb: str) -> Callable[[str, float], None]:
            job = bar.add_task(verb, total=1.0)
            return lambda name, done: bar.update(job, description=f"{verb} {name}", completed=done)

        found = sv.plan(
            task, epsilon, people, where, target, p=p, confidence=confidence,
            repetitions=8 if quick else None, progress=showing("looking at"),
        )  # fmt: skip
        if output is not None:
            save_picture(output, lambda: found.plot(progress=showing("drawing"))[0])
    if as_json:
        typer.echo(json.dumps({"title": found.title, "options": found.rows(), "left_out": found.left_out}))
    else:
        _print(found)


def _print(found: sv.Plan) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=found.title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("mechanism", no_wrap=True)
    for name in ("ε", "people", "error", f"± ({found.level})"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for o in found.options:
        table.add_row(
            o.name, f"{o.epsilon:.4g}", f"{o.people:,}", f"{o.error:.4g}", f"{o.half_width:.4g}", o.reason
        )
    console = Console()
    console.print(table)
    for name, why in found.left_out.items():
        console.print(f"{name}: {why}")
