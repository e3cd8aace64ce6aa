"""sottovoce reproduce: every figure and table of the papers, with the paper's number next to ours."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.options import Quick


def reproduce(
    quick: Quick = False,
    output: Annotated[Path, typer.Option("--output", metavar="PATH", help="The folder to write to.")] = Path(
        "papers"
    ),
    motionsense: Annotated[
        Path | None,
        typer.Option(
            "--motionsense",
            metavar="DIR",
            help="Folder with sub_1.csv … sub_3.csv; without it a synthetic stand-in.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="TEXT", help="Only entries whose name contains this; may be repeated."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The seed of the simulations.", min=0)] = 20250,
    force: Annotated[bool, typer.Option("--force", help="Run again what is already there.")] = False,
    names: Annotated[bool, typer.Option("--list", help="List the entries and stop.")] = False,
) -> None:
    """Regenerate every figure and table of the papers.

    A picture and a CSV file each, and one HTML report. What is already there and unchanged is kept, so an
    interrupted run goes on where it stopped.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from sottovoce import papers

    if names:
        for one in papers.entries():
            typer.echo(f"{one.key:24} {one.title}")
        return
    run = papers.Run(quick=quick, seed=seed, motionsense=motionsense)
    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("")

        def show(done: int, total: int, key: str) -> None:
            bar.update(task, completed=done, total=total, description=key)

        found = papers.reproduce(output, run, only=only or (), force=force, progress=show)
    counts = Counter(finding.verdict for _, findings in found for finding in findings)
    for verdict in papers.Verdict:
        typer.echo(f"{counts[verdict]:4}  {verdict}")
    if motionsense is None:
        typer.echo("MotionSense was not given: its figures use a synthetic stand-in (--motionsense DIR).")
    typer.echo(f"{output / 'report.html'}")
