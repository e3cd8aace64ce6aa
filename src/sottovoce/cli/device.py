"""sottovoce device: look at one's own ledger, check it, take it away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import sottovoce as sv
from sottovoce.cli import write_private
from sottovoce.cli.shared_options import Output

Path_ = Annotated[Path, typer.Argument(help="The ledger's file.", exists=True, dir_okay=False)]


def register(app: typer.Typer) -> None:
    """Add the commands of `sottovoce device`."""
    device = typer.Typer(help="Look at your own ledger of spent ε.", no_args_is_help=True)
    for command in (show, check, pending, export):
        device.command()(command)
    app.add_typer(device, name="device")


def show(ledger: Path_) -> None:
    """What was spent, on what, and what that protects, in plain words."""
    typer.echo(str(sv.Ledger(ledger, create=False)))


def check(
    ledger: Path_,
    witness: Annotated[
        str | None, typer.Option("--witness", help="What this command printed earlier, kept elsewhere.")
    ] = None,
) -> None:
    """Check every entry, and print a witness to keep somewhere else.

    With an earlier witness an older copy that was put back is noticed; without one it cannot be.
    """
    found = sv.Ledger(ledger, create=False, witness=witness)
    entries = len(found.entries())
    typer.echo(f"{entries} entries, every seal matches")
    if witness is not None:
        typer.echo("the witness matches: nothing was taken back since")
    typer.echo(f"witness {found.witness}")


def pending(ledger: Path_) -> None:
    """Reports that were recorded and not yet acknowledged by a collector."""
    reports = sv.Ledger(ledger, create=False).pending()
    for report in reports:
        cells = " ".join(map(str, report.cells))
        typer.echo(f"{report.campaign}\t{report.period or '-'}\tcells {cells}\tkey {report.key}")
    if not reports:
        typer.echo("nothing is pending")


def export(ledger: Path_, output: Output = None) -> None:
    """Everything the ledger holds, as JSON. It tells the bins of your values: keep it to yourself."""
    text = json.dumps(sv.Ledger(ledger, create=False).entries(), indent=2, ensure_ascii=False)
    if output is None:
        typer.echo(text)
    else:
        write_private(output, text + "\n")
        typer.echo(f"wrote {output}; it tells the bins of your values, so keep it to yourself")
