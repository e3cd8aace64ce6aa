"""sottovoce perturb: columns of numbers in, randomised reports out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

import sottovoce as sv
from sottovoce.cli.options import (
    CircleOption,
    DomainPair,
    SpecOption,
    counting,
    domain_from,
    missing_from,
    read_spec,
)
from sottovoce.core.errors import DataError
from sottovoce.core.policy import Outside

NAMES = ("duchi", "ogpm", "ogpm_unbiased", "optimal", "pm", "ptt", "sw", "two_scale")


def perturb(
    data: Annotated[list[Path], typer.Argument(help="CSV, Parquet or Arrow files, or a folder of them.")],
    columns: Annotated[
        list[str],
        typer.Option(
            "--column",
            metavar="NAME[=SPEC]",
            help="A column to randomise (repeat). With =SPEC.json it has a mechanism of its own.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            metavar="PATH",
            help="Where reports go: .parquet, .arrow or .csv; for several files a folder.",
        ),
    ],
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Privacy parameter ε, of each column.")
    ] = None,
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
        str,
        typer.Option(
            "--missing",
            help="Missing values: refuse, uniform or a number to stand in, drop, or keep (empty).",
        ),
    ] = "refuse",
    outside: Annotated[
        str, typer.Option("--outside", help="Values outside the domain: refuse, clip, or missing.")
    ] = "refuse",
    clip: Annotated[bool, typer.Option("--clip", help="Short for --outside clip.")] = False,
) -> None:
    """Randomise columns of a file: one integer report per row.

    Nothing else of the file is copied unless kept. A file appears only when it is complete. After an
    interruption run the same command again: finished files are left alone, so that nobody is randomised
    twice. Parquet and Arrow files carry the mechanism with them; beside a CSV its spec is written as
    NAME.spec.json.
    """
    from sottovoce import bulk
    from sottovoce.bulk.sources import count_rows

    mechanisms = _mechanisms(columns, epsilon, domain, circle, mechanism, spec)
    source = data[0] if len(data) == 1 else data
    specs = [output.with_suffix(".spec.json")] if output.suffix.lower() == ".csv" else []
    specs = [path for path in specs if not path.exists()]  # those that this run would write
    with counting("randomised", count_rows(source)) as progress:
        done = bulk.report(
            source,
            mechanisms,
            output,
            keep=keep or [],
            missing=missing_from(missing),
            outside=cast(Outside, outside),
            clip=clip,
            progress=progress,
        )
    if done.rows == 0:
        for path in (*done.paths, *specs) if done.new else ():
            path.unlink(missing_ok=True)
        raise DataError(f"{', '.join(map(str, data))}: no rows, there is nothing to randomise")
    typer.echo(_summary(mechanisms, done, output))


def _summary(mechanisms: dict[str, Any], done: Any, output: Path) -> str:
    parts = [f"{done.rows} reports in {output}"]
    if len(mechanisms) == 1:
        (m,) = mechanisms.values()
        parts.append(f"ε = {m.epsilon:g} each, mechanism {m.digest[:12]}")
    else:
        each = ", ".join(f"{name} {m.epsilon:g} ({m.digest[:12]})" for name, m in mechanisms.items())
        total = sum(m.epsilon for m in mechanisms.values())
        parts.append(f"ε by column (mechanism): {each}; together {total:g} for each person")
    if done.earlier:
        parts.append(f"{done.earlier} of {len(done.paths)} files finished by an earlier run and left alone")
    return ", ".join(parts)


def _mechanisms(
    columns: list[str],
    epsilon: float | None,
    domain: tuple[float, float] | None,
    circle: float | None,
    name: str | None,
    spec: Path | None,
) -> dict[str, Any]:
    """The mechanism of each column: its own, or the one that the other options name."""
    found: dict[str, Any] = {}
    shared: Any = None
    for text in columns:
        column, _, own = text.rpartition("=") if text.endswith(".json") else (text, "", "")
        if column in found:
            raise ValueError(f"--column must name a column once, got {column} twice")
        if own:
            if not Path(own).is_file():
                raise FileNotFoundError(f"there is no file {own}")
            found[column] = read_spec(Path(own))
        else:
            shared = shared or _mechanism(epsilon, domain, circle, name, spec)
            found[column] = shared
    return found


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
