"""What `sottovoce estimate` says about groups together: --compare, --pairs and --trend."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

import sottovoce as sv
from sottovoce.cli.options import PICTURES, save_picture
from sottovoce.core.errors import ArgumentError
from sottovoce.estimates.trend import UNITS


def together(
    groups: dict[Any, sv.Tally],
    asked: dict[str, Any],
    *,
    trend: str | None,
    pairs: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """Compare the groups, or see their trend over the column that they are grouped by, and say it."""
    answer: sv.Comparison | sv.Trend
    if trend is not None:
        answer = sv.trend(groups, **asked, per=trend if trend in UNITS else "day")
    else:
        answer = sv.compare(groups, **asked, over="pairs" if pairs else "groups")
    text = json.dumps(answer.to_dict(), allow_nan=False)
    if output is not None:
        writers: dict[str, Callable[[], object]] = {
            ".json": lambda: output.write_text(text),
            ".csv": lambda: answer.to_frame().to_csv(output, index=False),
            ".parquet": lambda: answer.to_frame().to_parquet(output, index=False),
            **dict.fromkeys(PICTURES, lambda: save_picture(output, answer.plot)),
        }
        writers[output.suffix.lower()]()
    typer.echo(text if as_json else str(answer))


def quantity(
    quantiles: list[float] | None, between: tuple[float, float] | None, estimand: str, circle: bool
) -> dict[str, Any]:
    """What is compared: the one quantile or range that is asked for, otherwise the mean."""
    if len(quantiles or ()) + (between is not None) > 1:
        raise ArgumentError("groups are compared by one quantity: one --quantile or --range", code="several")
    if quantiles:
        return {"of": "quantile", "p": quantiles[0], "estimand": estimand}
    if between is not None:
        return {"of": "probability", "between": between, "estimand": estimand}
    return {"of": "direction" if circle else "mean", "estimand": estimand}
