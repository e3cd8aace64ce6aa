"""sottovoce estimate: what `sottovoce summary` says, as numbers, each with its interval and its method."""

from __future__ import annotations

import typer

from sottovoce.cli.summary import summary

ABOUT = """Print the numbers behind files of reports, each with its interval and its method.

The answers are those of `sottovoce summary`, and so are the options: numbers instead of sentences, with what
to know about each of them. For groups: --by, --compare, --pairs and --trend.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("estimate", help=ABOUT)(summary)
