"""What `sottovoce` takes before any command."""

from __future__ import annotations

from typing import Annotated

import typer

from sottovoce._version import __version__


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sottovoce {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", callback=_tell_version, is_eager=True),
    ] = False,
) -> None:
    """Statistics about numbers from many people, without learning anyone's number."""
