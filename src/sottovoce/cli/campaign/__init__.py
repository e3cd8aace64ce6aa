"""sottovoce campaign: create, look at and end campaigns, straight on the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import sottovoce as sv
from sottovoce.cli import check_target
from sottovoce.cli.campaign.check import check
from sottovoce.cli.campaign.tokens import invite, revoke, tokens
from sottovoce.cli.shared_options import (
    Between,
    Choices,
    CircleOption,
    Design,
    DomainPair,
    Level,
    LogScale,
    PairOf,
    QuestionOption,
    Request,
    SpecOption,
    missing_from,
)
from sottovoce.cli.which_store import Name, SecretOption, StoreOption, find_campaign, open_store, unlocked
from sottovoce.errors import UsageError, require_extra

if TYPE_CHECKING:
    from sottovoce.collector.campaigns.campaign import Campaign
    from sottovoce.reporters.contract import Reporter

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Create and manage the campaigns of a collector's store.")
    commands = (create, edit, invite, list_campaigns, close, next_round, tokens, revoke, export, purge)
    for command in (*commands, check, backup, restore, forget_secret):
        group.command(command.__name__.removesuffix("_campaigns").replace("_", "-"))(command)
    app.add_typer(group, name="campaign")


def create(
    name: Annotated[
        str, typer.Argument(help="The campaign's name, or a survey's file: survey.toml.", metavar="NAME")
    ],
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Privacy parameter ε.")] = None,
    domain: DomainPair = None,
    circle: CircleOption = None,
    log: LogScale = False,
    question: QuestionOption = None,
    p: Level = None,
    between: Between = None,
    mechanism: Design = None,
    spec: SpecOption = None,
    options: Choices = None,
    pair: PairOf = None,
    title: Annotated[str, typer.Option(help="The heading that people read.")] = "",
    text: Annotated[str, typer.Option(help="What people are asked.")] = "",
    operator: Annotated[str, typer.Option(help="Who runs this, as people will read it.")] = "",
    unit: Annotated[str, typer.Option(help="For example minutes.")] = "",
    collection: Annotated[str, typer.Option(help="open, enrolment or write.")] = "open",
    missing: Annotated[
        str | None, typer.Option(help="Stands for a missing value: a number, or uniform; default: middle.")
    ] = None,
    outside: Annotated[str, typer.Option(help="Values outside the domain: clip or missing.")] = "clip",
    opens: Annotated[str | None, typer.Option(help="For example 2027-01-01T00:00:00Z.")] = None,
    closes: Annotated[str | None, typer.Option(help="For example 2027-01-31T00:00:00Z.")] = None,
    results: Annotated[str, typer.Option(help="public or token.")] = "token",
    min_n: Annotated[int, typer.Option(help="Show estimates from this many reports on.")] = 100,
    retention_days: Annotated[int | None, typer.Option(help="Delete a day's counts after so long.")] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="NAME", help="Public groups, a link each: compared (repeat)."),
    ] = None,
    rounds: Annotated[
        bool,
        typer.Option(
            "--rounds",
            help="The first of two rounds; with --question mean, quantile, direction, or range: then "
            "--domain says what is small and what nobody exceeds.",
        ),
    ] = False,
    signed: Annotated[
        bool,
        typer.Option("--signed", help="With --question range: values may be negative, as far as positive."),
    ] = False,
    store: StoreOption = None,
) -> None:
    """Create a campaign. Its mechanism and rules are fixed from then on.

    --question makes the mechanism that suits a question; --spec takes one that `sottovoce plan` wrote. With
    --group there is one campaign for each, NAME-GROUP, with public results: their dashboards compare them.
    A survey of several questions is described in a file: sottovoce campaign create survey.toml.
    With --rounds the published counts decide what other people are asked next: see campaign next-round.
    """
    from sottovoce.collector.campaigns import campaign as campaigns
    from sottovoce.collector.campaigns.campaign_round import Round
    from sottovoce.collector.campaigns.declaration import NewCampaign

    if name.endswith(".toml"):
        from sottovoce.collector.campaigns.written_survey import read_survey

        new = NewCampaign.of(read_survey(Path(name)))
        made = campaigns.create(open_store(store, create=True), new)
        _tell(made, made.reporter)
        return
    unknown = rounds and question == "range"
    known = None if unknown else question
    request = Request(
        known, epsilon, domain, circle, log, p, between, mechanism, spec, options=options, pair=pair
    )
    reporter = request.reporter()
    ends = dict(zip(("unit", "largest"), domain or (), strict=False)) if unknown else {}
    this = Round.model_validate({"task": question, "p": p, "signed": signed, **ends}) if rounds else None
    if this is not None:
        reporter = this.plan(reporter).first
    content = {
        "name": name,
        "spec": reporter.to_json(),
        "rounds": this,
        "title": title,
        "question": text,
        "operator": operator,
        "unit": unit,
        "collection": collection,
        "missing": None if missing is None else missing_from(missing),
        "outside": outside,
        "opens": opens,
        "closes": closes,
        "results": results,
        "min_n": min_n,
        "retention_days": retention_days,
    }
    names = [f"{name}-{group}" for group in groups or ()]
    content |= {"family": name, "results": "public"} if names else {}
    with _as_options():
        every = [NewCampaign.of({**content, "name": one}) for one in names or [name]]
    opened = open_store(store, create=True)
    for new in every:
        made = campaigns.create(opened, new)
        if new is not every[-1]:
            typer.echo(f"created   {new.name}   link /survey/{new.name}")
    _tell(made, reporter)


@contextmanager
def _as_options() -> Iterator[None]:
    """The field `question` of a campaign is --text here, where --question says what is to be known."""
    from sottovoce.collector.refusals import Refusal

    try:
        yield
    except Refusal as error:
        if error.argument != "question":
            raise
        raise UsageError(str(error).replace("question", "--text", 1)) from None


def _tell(made: Campaign, reporter: Reporter) -> None:
    """What was created, in words."""
    typer.echo(f"created   {made.name}   link /survey/{made.name}")
    typer.echo(f"missing   {made.rules.missing} stands in for a missing value; outside: {made.rules.outside}")
    typer.echo(f"mechanism {reporter!r}")
    typer.echo(f"exact ε   {sv.audit(reporter).epsilon:.12g}")


def edit(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(help="The survey's file, with new words in it.", exists=True, dir_okay=False),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The heading that people read.")] = None,
    text: Annotated[str | None, typer.Option(help="What people are asked.")] = None,
    operator: Annotated[str | None, typer.Option(help="Who runs this, as people will read it.")] = None,
    unit: Annotated[str | None, typer.Option(help="For example minutes.")] = None,
    store: StoreOption = None,
) -> None:
    """Change the words of a campaign, never its mechanism or rules.

    From a file only texts are taken: sottovoce campaign edit town survey.toml.
    """
    from sottovoce.collector.campaigns import campaign as campaigns
    from sottovoce.collector.campaigns.written_survey import read_survey

    given = {"title": title, "question": text, "operator": operator, "unit": unit}
    changes: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    opened = open_store(store)
    campaign = find_campaign(opened, name)
    if file is not None:
        content = read_survey(file)
        if content["spec"] != campaign.stored.spec:
            rule = "a mechanism is fixed; make another campaign"
            raise UsageError(f"{file} asks other things than {name}: {rule}")
        changes = {key: content[key] for key in campaigns.EDITABLE if key in content} | changes
    if not changes:
        raise UsageError("say what to change: --title, --text, --operator, --unit, or a survey's file")
    with _as_options():
        campaigns.edit(opened, campaign, changes)
    options = sorted("text" if key == "question" else key for key in changes)
    typer.echo(f"changed {', '.join(options)} of {name}")


def list_campaigns(store: StoreOption = None) -> None:
    """List campaigns with the number of reports that are published."""
    from rich.console import Console
    from rich.table import Table

    from sottovoce.collector.campaigns.campaign import Campaign
    from sottovoce.collector.campaigns.clock import now

    opened = open_store(store)
    table = Table("name", "status", "collection", "results", "ε", "reports")
    for campaign in map(Campaign.of, opened.campaigns()):
        rules, reports = campaign.rules, sum(number for _, number in opened.days(campaign.id))
        numbers = f"{campaign.reporter.epsilon:g}", f"{reports:,}"
        table.add_row(campaign.name, campaign.status(now()), rules.collection, rules.results, *numbers)
    Console().print(table)


def close(name: Name, store: StoreOption = None, secret_file: SecretOption = None) -> None:
    """Take no new reports from now on, and publish what waits if it is enough."""
    from sottovoce.collector.campaigns import campaign as campaigns
    from sottovoce.collector.campaigns import clock
    from sottovoce.collector.store.pool import KEEP

    opened = unlocked(store, secret_file)
    closed = campaigns.close(opened, find_campaign(opened, name), clock.now())
    opened.settle(closed.id, KEEP)
    typer.echo(f"closed {name} at {closed.rules.closes:%Y-%m-%d %H:%M:%S} UTC")


def next_round(
    name: Name,
    people: Annotated[int, typer.Option("--people", min=1, help="How many are to answer in it.")],
    store: StoreOption = None,
) -> None:
    """Create the next round, NAME-2, from what this one has published. It is for other people."""
    from sottovoce.collector.campaigns import campaign as campaigns

    opened = open_store(store)
    made = campaigns.follow(opened, find_campaign(opened, name), people)
    _tell(made, made.reporter)


def export(
    name: Name,
    output: Annotated[Path, typer.Option("--output", metavar="PATH", help="Ends in .csv or .parquet.")],
    store: StoreOption = None,
) -> None:
    """Write the counts (day, cell, count): all that is published about the reports.

    The spec is written beside them, so that `sottovoce estimate` reads the file.
    """
    require_extra("files", "an export")
    from sottovoce.bulk.tables.labels import counts_text, specs_path
    from sottovoce.collector.results import counts_export

    check_target(output, (".csv", ".parquet"))
    opened = open_store(store)
    campaign = find_campaign(opened, name)
    specs_path(output).write_text(counts_text(campaign.reporter, "cell", "count"))
    days = opened.days(campaign.id)
    counts = ((day, *opened.day_counts(campaign.id, day)) for day, _ in days)
    with open(output, "wb") as file:
        file.writelines(counts_export.export(counts, "csv" if output.suffix.lower() == ".csv" else "parquet"))
    typer.echo(f"wrote the counts of {sum(reports for _, reports in days)} reports to {output}")


def purge(name: Name, yes: Yes = False, store: StoreOption = None) -> None:
    """Delete a campaign, its counts, tokens and records."""
    opened = open_store(store)
    campaign = find_campaign(opened, name)
    reports = sum(number for _, number in opened.days(campaign.id))
    if not yes:
        typer.confirm(f"Delete {name} with {reports} reports?", abort=True)
    opened.purge(campaign.id)
    typer.echo(f"deleted {name} with {reports} reports")


def forget_secret(yes: Yes = False, store: StoreOption = None) -> None:
    """Let the store take another secret. Stop its collectors first. Reports that wait are deleted."""
    opened = open_store(store)
    if not yes:
        typer.confirm("Delete the reports that are not published yet, and all idempotency keys?", abort=True)
    opened.forget_secret()
    typer.echo("the store takes the next secret that it is given")


def backup(
    output: Annotated[Path, typer.Option("--output", metavar="PATH", help="A new file.")],
    store: StoreOption = None,
) -> None:
    """Copy the whole store into one file while the collector runs. The secret file is not in it."""
    from sottovoce.collector.upkeep.backup import backup as copy

    typer.echo(f"wrote {copy(open_store(store), output)} rows to {output}")


def restore(
    source: Annotated[Path, typer.Argument(help="A file that `backup` wrote.", exists=True, dir_okay=False)],
    store: StoreOption = None,
) -> None:
    """Fill an empty store from a backup; SQLite and PostgreSQL may be mixed."""
    from sottovoce.collector.upkeep.backup import restore as fill

    typer.echo(f"restored {fill(source, open_store(store, create=True))} rows")
