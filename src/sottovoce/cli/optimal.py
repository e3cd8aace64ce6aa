"""sottovoce optimal: the best mechanism for a measure, its certificate, its spec and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import sottovoce as sv
from sottovoce.cli import PICTURES, check_target, save_picture
from sottovoce.cli.shared_options import CircleOption, DomainPair, Epsilon, Output, domain_from
from sottovoce.errors import UsageError


def optimal(
    epsilon: Epsilon,
    domain: DomainPair = None,
    circle: CircleOption = None,
    question: Annotated[
        Literal["mean", "value"] | None,
        typer.Option(
            "--question", help="mean: unbiased, least variance; value: least error. On a circle only value."
        ),
    ] = None,
    loss: Annotated[str, typer.Option("--loss", help="Of a value: l1, l2 or a number k ≥ 1.")] = "l2",
    prior: Annotated[
        Path | None,
        typer.Option(
            "--prior", metavar="PATH", help="Public guess of the values, one number per line.", exists=True
        ),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", help="How far above the limit is good enough, e.g. 0.001.")
    ] = None,
    output: Output = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="PATH", help="Draw it (png, svg, pdf).")
    ] = None,
) -> None:
    """Design the best mechanism there is for a question, and certify how close it comes.

    Prints the certificate: the worst-case error, and a limit for every ε-LDP mechanism. --output writes the
    spec that devices run, --plot a picture of it.
    """
    from rich.console import Console

    check_target(output)
    check_target(plot, PICTURES, "--plot")
    where = domain_from(domain, circle, default=(0, 1))
    samples = _samples(prior)
    with Console(stderr=True).status("designing"):  # seconds for a large ε
        m = sv.optimal(epsilon, where, question, loss=_loss(loss), prior=samples, tolerance=tolerance)
    certificate = m.certificate
    others = "unbiased ε-LDP mechanisms" if certificate.unbiased else "ε-LDP mechanisms"
    rows = {
        certificate.quantity: f"{certificate.worst:.6g}",
        f"limit of all {others}": f"{certificate.limit:.6g}",
        "ratio": f"{certificate.ratio:.5f}",
        "exact epsilon, counted": f"{sv.audit(m).epsilon:.12g}",
        "reports": f"{m.cells:,} cells from {m.decode(0):.6g} to {m.decode(m.cells - 1):.6g}",
        "spec": f"{len(m.to_json().encode()) / 1024:.1f} KB, digest {m.digest[:16]}",
    }
    wide = max(map(len, rows))
    for name, value in rows.items():
        typer.echo(f"{name:<{wide}}  {value}")
    if output is not None:
        output.write_text(m.to_json())
    if plot is not None:
        from sottovoce.documents.portrait import draw_design

        save_picture(plot, lambda: draw_design(m)[0])


def _loss(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _samples(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        return [float(line) for line in path.read_text().split()]
    except ValueError:
        raise UsageError(f"--prior must be numbers, one per line, in {path.name}") from None
