"""sottovoce estimate, of reports about places: the mean position, and a map."""

from __future__ import annotations

import json
from pathlib import Path

import typer

import sottovoce as sv
from sottovoce.cli.options import PICTURES, save_picture


def estimate_places(tally: sv.Tally, confidence: float, as_json: bool, output: Path | None) -> None:
    """Print the mean position; write a picture, GeoJSON or the numbers, as the file's ending says."""
    reporter = tally.reporter
    answers = sv.mean_position(tally, confidence=confidence)
    content = {
        "n": tally.n,
        "epsilon": reporter.epsilon,
        "digest": tally.digest,
        "estimates": [answer.to_dict() for answer in answers],
    }
    if output is not None and output.suffix.lower() in PICTURES:
        save_picture(output, sv.heatmap(tally).plot)
    elif output is not None and output.suffix.lower() == ".geojson":
        sv.heatmap(tally).to_geojson(output)
    elif output is not None:
        output.write_text(json.dumps(content, allow_nan=False))
    if as_json:
        typer.echo(json.dumps(content, allow_nan=False))
        return
    typer.echo(
        f"{tally.n} reports, ε = {reporter.epsilon:g}, places in {reporter.domain} {tally.digest[:12]}"
    )
    for line in (*map(str, answers), f"wrote {output}" if output else ""):
        if line:
            typer.echo(line)
