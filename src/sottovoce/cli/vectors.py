"""sottovoce vectors: a client in any language against the shared vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.auditing.client_vectors import check as check_client


def vectors(
    check: Annotated[str, typer.Option("--check", help="The command that starts the client.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Other vectors.", exists=True, file_okay=False)
    ] = None,
) -> None:
    """Check a client in any language against the shared vectors.

    The client reads questions from its standard input and answers on its standard output, a JSON object per
    line. Exit code 1 when an answer differs.
    """
    count, sentences = check_client(check, folder)
    for sentence in sentences[:20]:
        typer.echo(sentence)
    typer.echo(f"{count - len(sentences)} of {count} answers are right")
    if sentences:
        raise typer.Exit(1)
