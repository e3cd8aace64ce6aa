"""Options that several commands share, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.domains import Circle, Domain, as_domain

Epsilon = Annotated[float, typer.Option("--epsilon", help="Privacy parameter ε: smaller is more private.")]
DomainPair = Annotated[
    tuple[float, float] | None,
    typer.Option("--domain", metavar="LOW HIGH", help="The interval that values lie in.", show_default=False),
]
CircleOption = Annotated[
    float | None,
    typer.Option("--circle", metavar="CIRCUMFERENCE", help="Values lie on a circle, e.g. 24 for hours."),
]
Column = Annotated[str | None, typer.Option("--column", metavar="NAME", help="The column to read.")]
Output = Annotated[Path | None, typer.Option("--output", metavar="PATH", help="Where to write.")]
Quick = Annotated[bool, typer.Option("--quick", help="A smaller, faster run.")]

SpecOption = Annotated[
    Path | None,
    typer.Option("--spec", metavar="PATH", help="A mechanism's JSON spec.", exists=True, dir_okay=False),
]


@contextmanager
def counting(what: str) -> Iterator[Callable[[int], None]]:
    """A progress line on the terminal's error stream: call it with the number of rows done."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:,.0f} rows {task.description}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(what, total=None)
        yield lambda rows: bar.advance(job, rows)


def read_spec(path: Path) -> Any:
    """The mechanism of a spec file."""
    from sottovoce.mixture import from_json

    return from_json(path.read_bytes())


def domain_from(domain: tuple[float, float] | None, circle: float | None, default: Any = None) -> Domain:
    """The domain that --domain or --circle names."""
    if domain is not None and circle is not None:
        raise ValueError("give either --domain LOW HIGH or --circle CIRCUMFERENCE, not both")
    if circle is not None:
        return Circle(circle)
    if domain is None and default is None:
        raise ValueError("say where values lie: --domain LOW HIGH or --circle CIRCUMFERENCE")
    return as_domain(domain if domain is not None else default)
