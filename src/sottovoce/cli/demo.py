"""sottovoce demo: a whole campaign on this machine, told in plain words."""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli.options import Quick


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


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
    from rich.console import Console
    from rich.progress import track

    from sottovoce import demo as story
    from sottovoce.demo.picture import save

    console = Console()
    values = story.hours()[: 300 if quick else None]
    say = console.print
    people = len(values)
    minutes = 60 * story.plan(people, epsilon)
    say(f"\n[bold]1. A plan.[/] {people:,} passengers will be asked when they left, at ε = {epsilon:g}.")
    say(f"   Their mean could be known to ± {minutes:.0f} minutes (95 %), whatever the truth.")
    say("   The whole day is wanted as well, so the mechanism is the square wave.\n")
    with (
        tempfile.TemporaryDirectory(prefix="sottovoce-") as folder,
        story.collector(Path(folder), len(values), epsilon, port) as campaign,
    ):
        say(f"[bold]2. A campaign.[/] The collector runs at [link]{campaign.url}[/link].")
        say(f"   It knows only the mechanism, which has {campaign.mechanism.cells:,} possible reports.\n")
        say("[bold]3. Everybody answers over HTTP[/]; each client first counts the exact ε.")
        begun = time.perf_counter()
        answers = story.answer(campaign, values)
        receipts = list(track(answers, "   reports", total=len(values), console=console, transient=True))
        taken = time.perf_counter() - begun
        say(f"   {len(receipts):,} reports stored and acknowledged in {taken:.1f} s.\n")
        say("[bold]4. What the collector estimates[/], against the truth that it never saw:")
        estimates = story.fetch(campaign, "estimates?quantiles=0.25,0.5,0.75&bins=48")
        _table(console, values, estimates)
        save(values, estimates, output)
        say(f"   The picture: {output}\n")
        _words(say, values, receipts, epsilon)
        if stay:
            say(f"\nThe dashboard: {campaign.url}/   (Ctrl-C ends the demo)")
            _wait()
        else:
            say(f"\nThe dashboard was at {campaign.url}/ (--stay keeps it running).")


def _table(console: Any, values: Any, estimates: dict[str, Any]) -> None:
    import numpy as np
    from rich.table import Table

    from sottovoce.demo import clock

    table = Table("", "truth", "estimate", "95 % interval", box=None, padding=(0, 3), pad_edge=True)
    rows = [("mean", float(values.mean()), estimates["mean"])]
    for found in estimates["quantiles"]:
        name = {0.25: "a quarter left by", 0.5: "half left by", 0.75: "three quarters by"}[found["q"]]
        rows.append((name, float(np.quantile(values, found["q"])), found))
    for name, truth, found in rows:
        if found is not None:
            interval = f"{clock(found['low'])} to {clock(found['high'])}"
            table.add_row(name, clock(truth), clock(found["value"]), interval)
    console.print(table)
    for name, reason in estimates["problems"].items():
        console.print(f"   {name}: {reason}")


def _words(say: Any, values: Any, receipts: Any, epsilon: float) -> None:
    from sottovoce.demo import clock

    first, factor = receipts[0], math.exp(epsilon)
    inside = 0 <= first.decoded < 24
    place = clock(first.decoded) if inside else f"hour {first.decoded:.1f}, outside the day"
    say("[bold]5. What the collector could and could not learn.[/]")
    say(
        f"   The first passenger left at {clock(values[0])}. What arrived is cell {first.cell:,} of\n"
        f"   {first.cells:,}, which stands for {place}. Every time could have produced it.\n"
        "   Whatever the collector believed before, it changes the odds between any two\n"
        f"   times by a factor of at most e^{epsilon:g} = {factor:.2f}: counted in integers.\n"
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
