"""Options that several commands share, written once."""

from __future__ import annotations

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


def domain_from(domain: tuple[float, float] | None, circle: float | None, default: Any = None) -> Domain:
    """The domain that --domain or --circle names."""
    if domain is not None and circle is not None:
        raise ValueError("give either --domain LOW HIGH or --circle CIRCUMFERENCE, not both")
    if circle is not None:
        return Circle(circle)
    if domain is None and default is None:
        raise ValueError("say where values lie: --domain LOW HIGH or --circle CIRCUMFERENCE")
    return as_domain(domain if domain is not None else default)
