"""sottovoce campaign tokens, invite and revoke: who may answer, read or administer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import check_target, write_private
from sottovoce.cli.which_store import Name, StoreOption, find_campaign, open_store
from sottovoce.errors import UsageError, one_of

if TYPE_CHECKING:
    from sottovoce.collector.store import Store


def invite(
    name: Name,
    count: Annotated[int, typer.Option(help="How many people.", min=1, max=100_000)],
    url: Annotated[str, typer.Option(help="Where the collector is reached: https://survey.example.")],
    output: Annotated[
        Path, typer.Option("--output", metavar="PATH", help="Ends in .csv, or .html for a sheet of QR codes.")
    ],
    store: StoreOption = None,
) -> None:
    """Write links for people, each good for one answer: a list, or a sheet of QR codes to print."""
    from sottovoce.collector.campaigns import invitations
    from sottovoce.collector.campaigns.tokens import issue

    check_target(output, (".csv", ".html"))
    opened = open_store(store)
    campaign = find_campaign(opened, name)
    if campaign.rules.collection != "enrolment":
        raise UsageError(f"{name} is not by invitation: its collection is {campaign.rules.collection!r}")
    invitations.links(url, name, ())  # refused before tokens are made
    addresses = invitations.links(url, name, issue(opened, campaign.id, "enrolment", count))
    csv = output.suffix.lower() == ".csv"
    text = (
        invitations.listed(addresses) if csv else invitations.sheet(campaign.rules.title or name, addresses)
    )
    write_private(output, text)
    typer.echo(f"wrote {count} links to {output}: they are not stored and cannot be shown again")


def tokens(
    name: Annotated[
        str | None, typer.Argument(help="The campaign; none for admin.", metavar="[NAME]")
    ] = None,
    kind: Annotated[str, typer.Option(help="enrolment, write, read or admin.")] = "enrolment",
    count: Annotated[int, typer.Option(help="How many tokens.", min=1, max=1_000_000)] = 1,
    known: Annotated[bool, typer.Option("--list", help="List the tokens there are, by id.")] = False,
    store: StoreOption = None,
) -> None:
    """Print new tokens, one per line. They are not stored and cannot be shown again."""
    from sottovoce.collector.campaigns.tokens import PREFIXES, issue, listed

    if known:
        opened, after = open_store(store), ""
        while page := listed(opened, _number(opened, name), after):
            after = page[-1].id
            for token in page:
                typer.echo(f"{token.id} {token.kind}{' spent' if token.spent else ''}")
        return
    one_of(kind, "kind", tuple(PREFIXES))
    if (name is None) != (kind == "admin"):
        raise UsageError("an admin token is for the whole collector; every other kind needs a campaign")
    opened = open_store(store)
    for text in issue(opened, _number(opened, name), kind, count):
        typer.echo(text)


def _number(store: Store, name: str | None) -> int:
    """The campaign's number; without a name the whole collector's, whose tokens are the administrators'."""
    return 0 if name is None else find_campaign(store, name).id


def revoke(
    token: Annotated[str, typer.Argument(help="The token, or its id as --list shows it.")],
    name: Annotated[
        str | None, typer.Argument(help="The campaign; none for admin.", metavar="[NAME]")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Revoke a token. Collectors that run refuse it within a second."""
    from sottovoce.collector.campaigns.tokens import token_id

    number = token_id(token) if "_" in token else token
    if not re.fullmatch("[0-9a-f]{12}", number):
        raise UsageError("token must be a token, or the 12 hexadecimal digits of its id")
    opened = open_store(store)
    opened.revoke(_number(opened, name), bytes.fromhex(number))
    typer.echo(f"revoked {number}")
