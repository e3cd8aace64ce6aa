"""The counts must add up: on each day of a campaign, the counts of all cells are width times the reports.

Where they do not, the store counted what nobody sent to that campaign on that day, or lost something.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass

from sqlalchemy import text

from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.store import Store
from sottovoce.collector.store.ingest import held

_FIRST = -(1 << 31)
_NEXT = text(
    "SELECT min(day) FROM (SELECT min(day) AS day FROM days WHERE campaign = :campaign AND day > :day "
    "UNION ALL SELECT min(day) FROM counts WHERE campaign = :campaign AND day > :day) AS found"
)
_REPORTS = text("SELECT reports FROM days WHERE campaign = :campaign AND day = :day")
_TOTAL = text("SELECT sum(count) FROM counts WHERE campaign = :campaign AND day = :day")


@dataclass(frozen=True)
class WrongDay:
    """A day of a campaign whose counts do not add up.

    Attributes:
        campaign: The campaign's name.
        day: The day's number.
        reports: How many reports are noted for the day.
        excess: How many counts there are too many for so many reports; negative if there are too few.
    """

    campaign: str
    day: int
    reports: int
    excess: int


def wrong_days(
    store: Store, right: MutableMapping[tuple[int, int], int], stop: Callable[[], bool] = lambda: False
) -> list[WrongDay]:
    """Add up the days of every campaign, while a collector may write to the store.

    Args:
        store: The store.
        right: The reports of each (campaign, day) whose counts added up the last time: such a day is added up
            again only if it has other reports now. Brought up to date.
        stop: Asked before each day; once it is true, the rest is left out.

    Returns:
        The days that are wrong, campaign by campaign in the order of their names, the first day first;
        of each campaign first what is published.
    """
    wrong = []
    campaigns = sorted(map(Campaign.of, store.campaigns()), key=lambda one: one.name)
    for campaign, number in ((one, number) for one in campaigns for number in (one.id, held(one.id))):
        place = {"campaign": number, "day": _FIRST}
        while not stop():
            with store.reading() as connection:  # one for each day: SQLite's writers wait for long readers
                place["day"] = connection.execute(_NEXT, place).scalar_one()
                if place["day"] is None:
                    break
                reports = connection.execute(_REPORTS, place).scalar_one_or_none() or 0
                key = number, place["day"]
                if right.get(key) == reports:
                    continue
                total = int(connection.execute(_TOTAL, place).scalar_one() or 0)
            excess = total - campaign.reporter.width * reports
            if excess:
                wrong.append(WrongDay(campaign.name, place["day"], reports, excess))
            else:
                right[key] = reports
    return wrong
