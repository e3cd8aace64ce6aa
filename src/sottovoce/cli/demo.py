"""sottovoce demo: a whole campaign on this machine, told in plain words."""

from __future__ import annotations

import math
import tempfile
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli.shared_options import Quick
from sottovoce.errors import require_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from sottovoce.demo import Answers, Known
    from sottovoce.device.client import Receipt
    from sottovoce.reporters.composites.survey import Survey
    from sottovoce.reporters.law.disclosure import Disclosure, Told


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

    Two thousand people answer three questions over HTTP. The collector receives randomised reports and gives
    means, shares and a distribution; the demo also says what single reports tell.
    """
    require_extra("analysis", "the picture of the demo", "matplotlib")
    from rich.console import Console
    from rich.progress import track

    from sottovoce.demo import answers, collector
    from sottovoce.demo.picture import save
    from sottovoce.planning.survey_plan import plan_survey
    from sottovoce.reporters.law.disclosure import disclosure

    console = Console()
    say = console.print
    truth = answers(300 if quick else None)
    people = len(truth.time)
    with (
        tempfile.TemporaryDirectory(prefix="sottovoce-") as folder,
        collector(Path(folder), people, epsilon, port, survey=True) as passengers,
    ):
        survey = cast("Survey", passengers.reporter)
        widths = plan_survey(survey, people).within
        say(f"\n[bold]1. A plan.[/] {people:,} passengers are asked for the time of departure, the")
        say(f"   airport and the temperature, at ε = {epsilon:g} for everything together. The least")
        say(f"   noise has a lot that draws {survey.sampled} of the 3 questions for each. An airport's share")
        say(f"   will be known to about ± {100 * (widths['airport'] or 0):.0f} %, the mean temperature")
        say(f"   to ± {widths['temperature']:.1f} °C (95 %).\n")
        page, dashboard = passengers.pages
        say(f"[bold]2. A survey.[/] The collector runs at [link]{passengers.url}[/link].")
        say(f"   It knows only the mechanism, which has {survey.cells:,} possible reports.\n")
        say("[bold]3. Everybody answers over HTTP[/]; each client first counts the exact ε.")
        begun = time.perf_counter()
        reports = passengers.report(truth)
        receipts = list(track(reports, "   reports", total=people, console=console, transient=True))
        taken = time.perf_counter() - begun
        say(f"   {len(receipts):,} reports stored and acknowledged in {taken:.1f} s.\n")
        n, known = passengers.results()
        say(f"[bold]4. What the collector estimates[/] from {n:,} of them (the others wait in its")
        say("   encrypted pool until there are enough), against the truth that it never saw:")
        _table(console, truth, known)
        save(truth, known, epsilon, output)
        say(f"   The picture: {output}\n")
        _lesson(console, truth, receipts, disclosure(survey), epsilon)
        say(f"\nThe survey, for you: {page}\nThe dashboard: {dashboard}", soft_wrap=True)
        if stay:
            say("Both stay until Ctrl-C ends the demo.")
            _wait()
        else:
            say("Both were there until now; --stay keeps them.")


def _table(console: Console, truth: Answers, found: Known) -> None:
    import numpy as np
    from rich.table import Table

    from sottovoce.demo import clock

    def share(value: float) -> str:
        return f"{100 * value:.1f} %"

    def degrees(value: float) -> str:
        return f"{value:.1f} °C"

    known = truth.temperature[~np.isnan(truth.temperature)]
    direction = np.angle(np.exp(truth.time * (2j * np.pi / 24)).mean()) * 24 / (2 * np.pi)
    truths: dict[tuple[str, str], tuple[Callable[[float], str], Callable[[str], float]]] = {
        ("time", "direction"): (clock, lambda _: direction),
        ("airport", "shares"): (share, lambda airport: truth.airport.count(airport) / len(truth.airport)),
        ("temperature", "mean"): (degrees, lambda _: known.mean()),
        ("temperature", "quantile"): (degrees, lambda _: np.median(known)),
    }
    table = Table("", "truth", "estimate", "95 % interval", box=None, padding=(0, 3), pad_edge=True)
    for (item, question), (write, true) in truths.items():
        for one in found[item, question]["numbers"]:
            interval = f"{write(one['low'])} to {write(one['high'])}"
            table.add_row(f"{item}: {one['of']}", write(true(one["of"])), write(one["value"]), interval)
    console.print(table)
    for answer in found.values():
        if answer["problem"]:
            console.print(f"   {answer['item']}, {answer['label']}: {answer['problem']}")


def _lesson(
    console: Console, truth: Answers, receipts: list[Receipt], disclosed: Disclosure, epsilon: float
) -> None:
    """What single reports tell, computed from the law of the survey that was run."""
    from sottovoce.demo import clock

    value, receipt, hour = next(
        (value, receipt, receipt.decoded["time"])
        for value, receipt in zip(truth.time, receipts, strict=True)
        if isinstance(receipt.decoded, dict) and "time" in receipt.decoded
    )
    console.print("[bold]5. What single reports tell the collector.[/]")
    sentences = (
        f"The lot chose the time for a passenger who left at {clock(value)}. What arrived is cell "
        f"{receipt.cells[0]:,} of {receipt.of:,}, which stands for {clock(float(hour))}.",
        _told("time", disclosed.items["time"], clock),
        _told("airport", disclosed.items["airport"], str),
        _told("temperature", disclosed.items["temperature"], lambda degrees: f"{degrees:g} °C"),
        "Whatever somebody believed before, one person's report changes the odds between any two answers by "
        f"a factor of at most e^{epsilon:g} = {math.exp(epsilon):,.2f}: counted in integers.",
        "Stored are counts per day and cell, and that a token was used: no address, and no row per person.",
    )
    for sentence in sentences:
        console.print(textwrap.indent(textwrap.fill(sentence, 76), "   "), highlight=False)


def _told(name: str, told: Told, write: Callable[[float], str]) -> str:
    """What the reports about one question tell, in frequencies."""
    from sottovoce.reporters.law.disclosure import frequencies

    if told.kind == "option":
        right, base = frequencies(*told.shares)
        unsure = "" if told.guess >= 0.95 else ", and the reports do not show which"
        return f"{right:,} of {base:,} reports name the true {name}; {base - right:,} name another{unsure}."
    about = [write(one) for one in told.about]
    if told.kind == "near":
        one, other, base = frequencies(*told.shares)
        return (
            f"If the {name} was {about[0]}, the report is between {about[2]} and {about[3]} in {one:,} of "
            f"{base:,} cases; if it was {about[1]}, in {other:,}."
        )
    guess, base = frequencies(told.guess)
    which = " or ".join(about) or "one of two"
    return (
        f"Somebody who knows that the {name} was {which} guesses right in {guess:,} of {base:,} cases with "
        "the report; without it in 50 of 100."
    )


def _wait() -> None:
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
