"""sottovoce demo: a whole campaign on this machine, told in plain words."""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.options import Quick
from sottovoce.core.errors import require_extra

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.demo import FloatArray
    from sottovoce.device.client import Receipt

_WORDS = {0.25: "a quarter left by", 0.5: "half left by", 0.75: "three quarters by"}


def demo(
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy parameter ε.")] = 2.0,
    output: Annotated[Path, typer.Option("--output", metavar="PATH", help="The picture.")] = Path(
        "out/demo.png"
    ),
    stay: Annotated[bool, typer.Option("--stay", help="Keep the collector running until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option(help="The collector's port; 0: any.", min=0, max=65535)] = 0,
    quick: Quick = False,
) -> None:
    """Run a whole campaign on this machine, told in plain words.

    Two thousand people answer over HTTP; the collector never sees a value, and still knows the answer.
    """
    require_extra("plots", "the picture of the demo")
    from rich.console import Console
    from rich.progress import track

    import sottovoce as sv
    from sottovoce.demo import collector, hours
    from sottovoce.demo.picture import save

    console = Console()
    say = console.print
    values = hours()[: 300 if quick else None]
    people = len(values)
    half = sv.plan("mean", epsilon=epsilon, people=people, domain=(0, 24)).best.half_width
    say(f"\n[bold]1. A plan.[/] {people:,} passengers will be asked when they left, at ε = {epsilon:g}.")
    say(f"   Their mean alone could be known to ± {60 * half:.0f} minutes (95 %).")
    say("   Quantiles are wanted as well, so the mechanism is the one for quantiles.\n")
    with (
        tempfile.TemporaryDirectory(prefix="sottovoce-") as folder,
        collector(Path(folder), people, epsilon, port) as passengers,
    ):
        say(f"[bold]2. A campaign.[/] The collector runs at [link]{passengers.url}[/link].")
        say(f"   It knows only the mechanism, which has {passengers.mechanism.cells:,} possible reports.\n")
        say("[bold]3. Everybody answers over HTTP[/]; each client first counts the exact ε.")
        begun = time.perf_counter()
        reports = passengers.report(values)
        receipts = list(track(reports, "   reports", total=people, console=console, transient=True))
        taken = time.perf_counter() - begun
        say(f"   {len(receipts):,} reports stored and acknowledged in {taken:.1f} s.\n")
        passengers.close()  # counts change by groups of reports: the last ones are published with the end
        say("[bold]4. What the collector estimates[/], against the truth that it never saw:")
        results = passengers.fetch("estimates?quantiles=0.25,0.5,0.75&bins=48")["questions"]["value"]
        _table(console, values, results)
        save(values, results, epsilon, output)
        say(f"   The picture: {output}\n")
        _lesson(console, values[0], receipts[0], epsilon)
        if stay:
            say(f"\nThe dashboard: {passengers.url}/   (Ctrl-C ends the demo)")
            _wait()
        else:
            say(f"\nThe dashboard was at {passengers.url}/ (--stay keeps it running).")


def _table(console: Console, values: FloatArray, results: dict[str, Any]) -> None:
    import numpy as np
    from rich.table import Table

    from sottovoce.demo import clock

    table = Table("", "truth", "estimate", "95 % interval", box=None, padding=(0, 3), pad_edge=True)
    rows = [("mean", values.mean(), results["mean"])]
    rows += [(_WORDS[one["p"]], np.quantile(values, one["p"]), one) for one in results["quantiles"]]
    for name, truth, estimate in rows:
        if estimate is not None:
            interval = f"{clock(estimate['low'])} to {clock(estimate['high'])}"
            table.add_row(name, clock(truth), clock(estimate["value"]), interval)
    console.print(table)
    for name, reason in results["problems"].items():
        console.print(f"   {name}: {reason}")


def _lesson(console: Console, value: float, receipt: Receipt, epsilon: float) -> None:
    from sottovoce.demo import clock

    hour = receipt.decoded
    assert isinstance(hour, float)
    place = clock(hour) if 0 <= hour < 24 else f"hour {hour:.1f}, outside the day"
    console.print("[bold]5. What the collector could and could not learn.[/]")
    console.print(
        f"   The first passenger left at {clock(value)}. What arrived is cell {receipt.cells[0]:,} of\n"
        f"   {receipt.of:,}, which stands for {place}. Every time could have produced it.\n"
        "   Whatever the collector believed before, it changes the odds between any two\n"
        f"   times by a factor of at most e^{epsilon:g} = {math.exp(epsilon):.2f}: counted in integers.\n"
        "   It could learn: the distribution of the whole group, with the uncertainty\n"
        "   above, and that a token was used. It could not learn when any one person\n"
        "   left, nor could a thief of its database and logs: it stores counts per day\n"
        "   and cell, no address, and no row per person."
    )


def _wait() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
