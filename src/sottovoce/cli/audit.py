"""sottovoce audit: the exact ε of a spec that somebody wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.bare_audit import HELP, verdict


def audit(
    spec: Annotated[Path, typer.Argument(help=HELP["spec"], exists=True, dir_okay=False)],
    limit: Annotated[float | None, typer.Option("--limit", help=HELP["limit"])] = None,
    people: Annotated[int | None, typer.Option("--people", help=HELP["people"])] = None,
    delta: Annotated[float, typer.Option("--delta", help=HELP["delta"])] = 1e-6,
) -> None:
    """Count the exact ε of a mechanism from its JSON spec.

    What the spec claims is not believed. Exit code 1 when the counts break the claim (or --limit), so that a
    script can rely on it. With --people also what the published counts alone reveal about one of them.
    """
    raise typer.Exit(verdict(spec, limit, people, delta))
