"""sottovoce bench: the benchmarks page, from one run on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.options import Output, Quick, check_target


def register(app: typer.Typer) -> None:
    app.command("bench")(bench)


def bench(
    against: Annotated[
        str,
        typer.Option("--against", metavar="WHAT", help="floor: this library alone; peers: others too."),
    ] = "floor",
    quick: Quick = False,
    output: Output = None,
    environments: Annotated[
        Path | None,
        typer.Option(
            "--environments",
            metavar="DIR",
            help="Keep the environments that peers are installed into, for another run.",
            file_okay=False,
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            "--results",
            metavar="PATH",
            help="Keep the numbers here after every part; what is there already is not measured again.",
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Measure privatising speed against the floor and, with --against peers, against other packages.

    With peers: also the error of every published mechanism at the same ε, reconstructions, and growth, as a
    page with pictures (benchmarks.md, or --output). About ten minutes; the floor alone takes half a minute.
    """
    from rich.console import Console

    check_target(output)
    from benchmarks.page import measure, write_page
    from benchmarks.page.tables import speeds

    with Console(stderr=True).status("starting") as status:
        found = measure(against, quick=quick, environments=environments, kept=results, say=status.update)
    typer.echo(found["machine"])
    for row in speeds(found):
        if "failed" in row:
            typer.echo(f"{row['label']:<52} failed: {row['failed']}")
        else:
            typer.echo(
                f"{row['label']:<52} {1e-6 / row['seconds']:>10,.3f} M/s {row['ratio']:>12,.2f} × the floor"
            )
    for name, peer in found["peers"].items():
        if "failed" in peer:
            typer.echo(f"{name}: not measured: {peer['failed']}")
    if against == "peers":
        for file in write_page(found, output or Path("benchmarks.md")):
            typer.echo(f"{file}")
    elif output is not None:
        output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
