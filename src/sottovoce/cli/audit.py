"""sottovoce audit: the exact ε of a spec that somebody wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import sottovoce as sv


def audit(
    spec: Annotated[Path, typer.Argument(help="A mechanism's JSON spec.", exists=True, dir_okay=False)],
    limit: Annotated[float | None, typer.Option("--limit", help="Also fail above this ε.")] = None,
    people: Annotated[
        int | None,
        typer.Option("--people", help="Also the central ε of the counts of so many honest people."),
    ] = None,
    delta: Annotated[float, typer.Option("--delta", help="The δ of the central ε.")] = 1e-6,
) -> None:
    """Count the exact ε of a mechanism from its JSON spec.

    What the spec claims is not believed. Exit code 1 when the counts break the claim (or --limit), so that a
    script can rely on it. With --people also what the published counts alone reveal about one of them.
    """
    result = sv.audit(spec.read_bytes())
    typer.echo(f"exact epsilon   {result.epsilon!r}")
    typer.echo(f"largest ratio   {result.ratio.numerator}/{result.ratio.denominator}")
    typer.echo(f"claimed         {result.claimed!r}: {'holds' if result.holds else 'DOES NOT HOLD'}")
    above = limit is not None and not result.epsilon <= limit  # above nan, too
    if above:
        typer.echo(f"above the limit of {limit!r}")
    if above or not result.holds:
        raise typer.Exit(1)
    if people is not None:
        central = sv.shuffled(sv.from_json(spec.read_bytes()), people, delta)
        typer.echo(
            f"central epsilon {central.epsilon:.5g} at delta {delta:g}, no less than {central.lower:.5g}"
        )
        typer.echo(central.sentence)
