"""What `sottovoce estimate` says about groups: each by itself, or together (--compare, --pairs, --trend)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import typer

import sottovoce as sv
from sottovoce.cli import PICTURES, counting, save_picture, write_table
from sottovoce.comparing.trend import UNITS
from sottovoce.errors import ArgumentError, NoDataError, UsageError
from sottovoce.plots.forest_plot import draw_forest

if TYPE_CHECKING:
    from sottovoce.cli.estimate import Questions


def together(
    groups: dict[Any, sv.Tally],
    ask: Questions,
    *,
    trend: str | None,
    pairs: bool,
    as_json: bool,
    output: Path | None,
) -> None:
    """Compare the groups, or see their trend over the column that they are grouped by, and say it."""
    circle = any(tally.law.as_number().domain.is_circle for tally in groups.values())
    asked: dict[str, Any] = {**_quantity(ask, circle), "confidence": ask.confidence}
    answer: sv.Comparison | sv.Trend
    if trend is not None:
        if ask.sequential:
            raise UsageError("--sequential goes with --compare and --pairs, not with --trend")
        answer = sv.trend(groups, **asked, per=trend if trend in UNITS else "day")
    else:
        over = "pairs" if pairs else "groups"
        answer = sv.compare(groups, **asked, over=over, sequential=ask.sequential)
    text = json.dumps(answer.to_dict(), allow_nan=False)
    if output is not None:
        writers: dict[str, Callable[[], object]] = {
            ".json": lambda: output.write_text(text),
            ".csv": lambda: write_table(output, answer.to_frame().to_dict("list")),
            ".parquet": lambda: answer.to_frame().to_parquet(output, index=False),
            **dict.fromkeys(PICTURES, lambda: save_picture(output, answer.plot)),
        }
        writers[output.suffix.lower()]()
    typer.echo(text if as_json else str(answer))


def _quantity(ask: Questions, circle: bool) -> dict[str, Any]:
    """What is compared: the one quantile or range that is asked for, otherwise the mean."""
    if len(ask.quantiles) + (ask.between is not None) > 1:
        raise ArgumentError("groups are compared by one quantity: one --quantile or --range", code="several")
    if ask.quantiles:
        return {"question": "quantile", "p": ask.quantiles[0], "estimand": ask.estimand}
    if ask.between is not None:
        return {"question": "probability", "between": ask.between, "estimand": ask.estimand}
    return {"question": "direction" if circle else "mean", "estimand": ask.estimand}


def by_group(
    groups: Any, answers: Callable[[sv.Tally], list[sv.Estimate]], as_json: bool, output: Path | None
) -> None:
    """Say what is known about each group, in a table."""
    from sottovoce import bulk

    if not len(groups):
        raise NoDataError("there are no reports in any group")
    with counting("estimated", len(groups), "groups") as progress:
        table = bulk.estimates(groups, "", groups.by, answers, processes=None, progress=progress)
    m = groups.reporter
    rows = table.to_pylist()
    content = {"n": groups.n, "epsilon": m.epsilon, "digest": m.digest, "by": list(groups.by), "groups": rows}
    if output is not None:
        _write_groups(table, content, output)
    if as_json:
        typer.echo(json.dumps(content, allow_nan=False, default=str))
        return
    typer.echo(f"{groups.n} reports in {len(groups)} groups, ε = {m.epsilon:g}, mechanism {m.digest[:12]}")
    typer.echo("\t".join(table.column_names))
    for row in rows:
        typer.echo(
            "\t".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values())
        )


def _write_groups(table: Any, content: dict[str, Any], output: Path) -> None:
    suffix = output.suffix.lower()
    if suffix == ".json":
        output.write_text(json.dumps(content, allow_nan=False, default=str))
    elif suffix == ".csv":
        write_table(output, table.to_pydict())
    elif suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, output)
    else:
        save_picture(output, lambda: _groups_picture(table, content))


def _groups_picture(table: Any, content: dict[str, Any]) -> Any:
    """The first answer of each group with its interval, one below the other."""
    what = table.column("what")[0].as_py()
    rows = [row for row in table.to_pylist() if row["what"] == what]
    names = [", ".join(str(row[name]) for name in content["by"]) for row in rows]
    title = f"{content['n']:,} reports, ε = {content['epsilon']:g}"
    bars: Any = [SimpleNamespace(**row) for row in rows]
    return draw_forest(names, bars, title, None)
