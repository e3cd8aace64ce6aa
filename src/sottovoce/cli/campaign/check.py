"""sottovoce campaign check: whether what a store has counted is what its campaigns were sent."""

from __future__ import annotations

import datetime as dt
from itertools import groupby
from typing import Annotated

import typer

from sottovoce.cli.which_store import SecretOption, StoreOption, open_store, unlocked
from sottovoce.errors import UsageError

_ABOUT = """
- Too many counts: those of another campaign or another day are mixed in, or reports were counted twice. The
  store does not know which ones, so nobody can take them out. Versions before 0.2.1 did this on PostgreSQL.
  They lost no report that they acknowledged: it is counted where it belongs, and again where it does not.
- Too few counts: reports are missing, or were noted and not counted. Those versions did not do this.
- Estimates of these campaigns are wrong, or fail. The days before the first wrong day add up, and so does
  every other day that is not named. `sottovoce campaign export` writes counts by day: leave wrong days out.
- Sums cannot show everything: not counts that were exchanged for as many others on the same day, nor reports
  that are not published yet, nor days that --retention-days has deleted.
"""


LastDay = Annotated[
    dt.datetime | None,
    typer.Option(
        formats=["%Y-%m-%d"],
        metavar="DATE",
        help="First confirm that this is the day now, in UTC: this machine's clock must agree. Collectors "
        "that were away for more than a day then go on; what is under later days is counted under this one.",
    ),
]


def check(store: StoreOption = None, last_day: LastDay = None, secret_file: SecretOption = None) -> None:
    """Add up the counts of every campaign and day, also while a collector runs; exit code 1 if one is wrong.

    On each day the counts must be as many as the integers in that day's reports. Names the campaigns where
    they are not, the first such day, and what can be said about them. Nothing is changed without --last-day.
    """
    from sottovoce.collector.campaigns.clock import day_number, day_text, now
    from sottovoce.collector.upkeep.balanced_counts import wrong_days

    if last_day is not None:
        from sottovoce.collector.upkeep.confirmed_day import confirm

        day, today = day_number(last_day), day_number(now())
        if day != today:
            rule = f"must be the day by this machine's clock, {day_text(today)} in UTC"
            raise UsageError(
                f"last-day {rule}, got last-day={day_text(day)}: if the clock is wrong, set it first"
            )
        moved = confirm(unlocked(store, secret_file), day)
        typer.echo(
            f"the store's last day is {day_text(day)}; {moved:,} reports of later days are counted under it"
        )
    wrong = wrong_days(open_store(store), {})
    for name, group in groupby(wrong, key=lambda one: one.campaign):
        days = list(group)
        typer.echo(f"{name}: from {day_text(days[0].day)} on, {len(days)} of its days")
        for one in days:
            excess = f"{abs(one.excess):,} too {'many' if one.excess > 0 else 'few'}"
            typer.echo(f"  {day_text(one.day)}  {one.reports:,} reports, counts: {excess}")
    typer.echo(_ABOUT if wrong else "the counts of every campaign and day add up")
    raise typer.Exit(1 if wrong else 0)
