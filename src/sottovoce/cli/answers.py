"""What `sottovoce estimate` prints and writes, whatever was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

import sottovoce as sv
from sottovoce.cli.page import treated
from sottovoce.estimates.honesty import Honesty
from sottovoce.estimates.words import explained

Writers = Mapping[str, Callable[[Path], object]]


def tell(
    tally: sv.Tally,
    answers: Sequence[sv.Estimate],
    subject: str,
    *,
    data: Path,
    as_json: bool,
    output: Path | None,
    writers: Writers,
    honest: Honesty | None = None,
) -> None:
    """Print answers with what they rest on, or as JSON, and write what the file's ending asks for.

    Args:
        tally: What they were estimated from.
        answers: The answers.
        subject: What the reports are of, for the first line.
        data: The file of reports, which says what became of missing values.
        as_json: Whether to print JSON.
        output: Where to write, if anywhere.
        writers: What writes a file, by its ending; .json is written anyway.
        honest: Whether the reports look honest, where that was looked at.
    """
    content: dict[str, Any] = {
        "n": tally.n,
        "epsilon": tally.reporter.epsilon,
        "digest": tally.digest,
        "estimates": [answer.to_dict() for answer in answers],
        "treated": treated(data),
    }
    if honest is not None:
        names = ("alarm", "p_value", "fabricated")
        content["honesty"] = {name: getattr(honest, name) for name in names}
    text = json.dumps(content, allow_nan=False)
    if output is not None:
        possible: Writers = {".json": lambda path: path.write_text(text), **writers}
        if (suffix := output.suffix.lower()) not in possible:
            raise ValueError(f"--output: these answers are written as {', '.join(possible)}, got {suffix}")
        possible[suffix](output)
    if as_json:
        typer.echo(text)
        return
    typer.echo(f"{tally.n} reports, ε = {tally.reporter.epsilon:g}, {subject} {tally.digest[:12]}")
    for answer in answers:
        typer.echo(str(answer))
    for method in dict.fromkeys(part for answer in answers for part in answer.method.split(", ")):
        if explained(method):
            typer.echo(f"({method}: {explained(method)})")
    for line in (content["treated"], str(honest or ""), f"wrote {output}" if output else ""):
        if line:
            typer.echo(line)
