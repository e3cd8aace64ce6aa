"""sottovoce perturb: a column of numbers in, randomised reports out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce as sv
from sottovoce.cli.options import (
    CircleOption,
    DomainPair,
    SpecOption,
    counting,
    domain_from,
    read_spec,
)
from sottovoce.errors import DataError

NAMES = ("duchi", "ogpm", "ogpm_unbiased", "optimal", "pm", "ptt", "sw", "two_scale")


def register(app: typer.Typer) -> None:
    app.command("perturb")(perturb)


def perturb(
    data: Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file, or a folder of them.")],
    column: Annotated[str, typer.Option("--column", metavar="NAME", help="The column to randomise.")],
    output: Annotated[
        Path, typer.Option("--output", metavar="PATH", help="Where reports go: .parquet or .csv.")
    ],
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Privacy parameter ε.")] = None,
    domain: DomainPair = None,
    circle: CircleOption = None,
    mechanism: Annotated[
        str | None,
        typer.Option("--mechanism", help=f"One of {', '.join(NAMES)}; sw if not said, on a circle ogpm."),
    ] = None,
    spec: SpecOption = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", metavar="NAME", help="A column to keep as it is (repeat).")
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option("--missing", help="What absent values become: a number of the domain, or 'keep'."),
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Bring values outside the domain to its end.")] = False,
) -> None:
    """Randomise a column: one integer report per row. Nothing else of the file is copied unless kept.

    Parquet output carries the mechanism with it; beside a CSV its spec is written as NAME.spec.json.
    """
    from sottovoce import bulk

    m = _mechanism(epsilon, domain, circle, mechanism, spec)
    rule: Any = missing if missing in (None, "keep") else _number(missing)
    options = {"keep": keep or [], "missing": rule, "clip": clip}
    with counting("randomised") as progress:
        if output.suffix.lower() == ".csv":
            from pyarrow import csv

            table = bulk.report(data, {column: m}, progress=progress, **options)
            csv.write_csv(table, output)
            output.with_suffix(".spec.json").write_text(m.to_json())
            rows = table.num_rows
        else:
            rows = bulk.report(data, {column: m}, output, progress=progress, **options).rows
    if rows == 0:
        output.unlink(missing_ok=True)
        output.with_suffix(".spec.json").unlink(missing_ok=True)
        raise DataError(f"{data} has no rows: there is nothing to randomise")
    typer.echo(f"{rows} reports in {output}, ε = {m.epsilon:g} each, mechanism {m.digest[:12]}")


def _mechanism(
    epsilon: float | None,
    domain: tuple[float, float] | None,
    circle: float | None,
    name: str | None,
    spec: Path | None,
) -> Any:
    if spec is not None:
        if any(option is not None for option in (epsilon, domain, circle, name)):
            raise ValueError(
                "--spec says everything: leave out --epsilon, --domain, --circle and --mechanism"
            )
        return read_spec(spec)
    if epsilon is None:
        raise ValueError("say how private: --epsilon E, or --spec PATH")
    where = domain_from(domain, circle)
    name = name or ("ogpm" if where.is_circle else "sw")
    if name not in NAMES:
        raise ValueError(f"mechanism must be one of {', '.join(NAMES)}, got mechanism={name!r}")
    return getattr(sv, name)(epsilon, where)


def _number(text: str | None) -> float:
    try:
        return float(str(text))
    except ValueError:
        raise ValueError(f"missing must be a number or 'keep', got missing={text!r}") from None
