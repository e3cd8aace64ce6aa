"""N4: whoever floods an open campaign reads other people's reports; and what groups of reports are."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.collector.service import SECRET, Running, create

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store
from sottovoce.collector.campaigns.campaign import Campaign, close
from sottovoce.collector.campaigns.clock import now
from sottovoce.collector.http import address_limits
from sottovoce.collector.service import Service
from sottovoce.collector.store import Batch, Store
from sottovoce.collector.store.ingest import held

PEOPLE = 5


class Outsider:
    """Sends reports of its own, cell 0, without a token, and looks at what is published."""

    def __init__(self, running: Running, mechanism: sv.Mechanism, name: str, addresses: int) -> None:
        self.running, self.mechanism, self.name = running, mechanism, name
        self.campaign = running.create(mechanism, name=name, collection="open")
        self.reader = running.token("read", self.campaign.id)
        self.addresses = cycle([f"192.0.2.{i}" for i in range(addresses)])
        self.before: dict[int, int] = {}

    def person(self, cell: int) -> None:
        """Somebody else reports a cell, from an address of their own."""
        self._post(cell, f"198.51.100.{cell}")

    def flood(self, reports: int) -> None:
        for _ in range(reports):
            self._post(0, next(self.addresses))

    def _post(self, cell: int, address: str) -> None:
        self.running.client._transport.client = (address, 1)  # type: ignore[attr-defined]
        assert self.running.post(self.mechanism, [cell], name=self.name).json() == {"accepted": 1}

    def new(self) -> dict[int, int]:
        """What others have added to the published counts since the last look; a minute has passed."""
        self.running.app.state.service.tidy()
        lines = self.running.get(f"/campaigns/{self.name}/counts", self.reader).text.splitlines()[1:]
        counts = {int(cell): int(count) for _, cell, count in (line.split(",") for line in lines)}
        new = {cell: n - self.before.get(cell, 0) for cell, n in counts.items() if cell}
        self.before = counts
        return {cell: n for cell, n in new.items() if n}


def read(outsider: Outsider, first: int, each: int) -> int:
    """How many people's reports are read who answer one by one, with so many own ones for each."""
    outsider.flood(first)
    outsider.new()
    found = 0
    for cell in range(1, PEOPLE + 1):
        outsider.person(cell)
        for _ in range(each // 64):
            outsider.flood(64)
            if seen := outsider.new():
                found += seen == {cell: 1}
                break
    assert outsider.running.stored(outsider.campaign) >= PEOPLE + first
    return found


@pytest.mark.attack("N4", "succeeds")
def test_without_groups_one_address_reads_everybody(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: what left the pool was published."""

    async def none(*_: Any) -> None:
        return None

    monkeypatch.setattr(Service, "group", none)
    assert read(Outsider(embedded, mechanism, "before", 1), 512, 1024) >= PEOPLE - 1


@pytest.mark.attack("N4", "refused")
def test_one_address_reads_nobody_however_long_it_goes_on(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address_limits, "_REST", 0.0)  # each look is an hour later
    assert read(Outsider(embedded, mechanism, "one", 1), 512, 128) == 0


def test_eight_addresses_read_who_answers_alone_in_an_hour(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left, as the threat model says."""
    monkeypatch.setattr(address_limits, "_REST", 0.0)
    assert read(Outsider(embedded, mechanism, "eight", 8), 64, 64) == PEOPLE


def test_within_an_hour_eight_addresses_see_people_together(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    outsider = Outsider(embedded, mechanism, "hour", 8)
    assert read(outsider, 64, 128) == 0
    monkeypatch.setattr(address_limits, "_REST", 0.0)
    assert outsider.new() == dict.fromkeys(range(1, PEOPLE + 1), 1)


# -- groups ---------------------------------------------------------------------------------------------


def test_what_is_one_address_of_a_group() -> None:
    """A customer of a provider may have an IPv6 network /48; nobody is counted once a group is full."""
    now = 0.0
    group = address_limits.Group(1, 0, lambda: now)
    for number in range(100):
        group.add(f"2001:db8:1:{number:x}::1")
        group.add("::ffff:192.0.2.1" if number % 2 else "192.0.2.1")
        group.add("a socket")
    now = 3600.0
    assert not group.due  # 48: 16 of each
    for number in range(15):
        group.add(f"192.0.2.{2 + number}")
    assert not group.due
    group.add("192.0.2.99")
    assert group.due
    now = 3599.0
    assert not group.due
    for number in range(1000):
        group.add(f"198.51.100.{number}")
    assert len(group._reports) <= 64


def test_what_is_published_at_first_needs_no_hour() -> None:
    group = address_limits.Group(0, 0, lambda: 0.0)
    for number in range(64):
        group.add(f"192.0.2.{number}")
    assert group.due


def test_a_repeated_report_counts_once(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism, collection="open")
    for _ in range(3):
        assert running.post(mechanism, [1], key="k" * 22).json() == {"accepted": 1}
    [group] = running.app.state.service._groups.values()
    assert group._reports.total() == running.stored(campaign) == 1


def test_two_collectors_publish_a_group_once(store_url: str, mechanism: sv.Mechanism) -> None:
    """What one has published counts for no group of the other; each report is published once."""
    apps = [create_app(open_store(store_url), Settings(rate=0), secret=SECRET) for _ in range(2)]
    with TestClient(apps[0]) as one, TestClient(apps[1]) as two:
        left, right = Running(one, apps[0]), Running(two, apps[1])
        campaign = left.create(mechanism, collection="open")
        crowd(left, mechanism, 70)
        crowd(right, mechanism, 70)
        left.app.state.service.tidy()
        assert left.store.days(campaign.id)[0][1] == 140
        assert right.app.state.service._groups[campaign.id].due
        crowd(left, mechanism, 64, first=1)  # one person, and who floods
        right.app.state.service.tidy()
        assert right.store.days(campaign.id)[0][1] == 140
        assert not right.app.state.service._groups[campaign.id].due
        assert left.stored(campaign) == right.stored(campaign) == 204


def crowd(running: Running, mechanism: sv.Mechanism, people: int, first: int = 250) -> None:
    """People report the cell 5, the first so many from addresses of their own, the others from one."""
    for person in range(people):
        running.client._transport.client = (f"192.0.2.{min(person, first)}", 1)  # type: ignore[attr-defined]
        assert running.post(mechanism, [5]).status_code == 200


def test_a_restart_begins_the_group_anew_and_loses_nothing(store_url: str, mechanism: sv.Mechanism) -> None:
    for visit in range(2):
        app = create_app(open_store(store_url), Settings(rate=0), secret=SECRET)
        with TestClient(app) as client:
            running = Running(client, app)
            campaign = (
                running.store.campaign("trial") if visit else running.create(mechanism, collection="open")
            )
            crowd(running, mechanism, 50)
            app.state.service.tidy()
            assert running.store.days(campaign.id) == []
            assert running.store.reports(campaign.id) == 50 * (visit + 1)
    store = open_store(store_url).unlock(SECRET)
    close(store, Campaign.of(store.campaign("trial")), now())
    store.settle(campaign.id, 64)
    assert store.days(campaign.id)[0][1] == store.counts(campaign.id, mechanism.cells)[5] == 100
    assert store.days(held(campaign.id)) == []
    assert store.reports(campaign.id) == 100


def test_reports_that_were_deleted_count_for_no_group(store_url: str, mechanism: sv.Mechanism) -> None:
    app = create_app(open_store(store_url), Settings(rate=0), secret=SECRET)
    with TestClient(app) as client:
        running = Running(client, app)
        campaign = running.create(mechanism, collection="open", retention_days=1)
        crowd(running, mechanism, 48)
        service: Service = app.state.service
        group = service._groups[campaign.id]
        service._groups[campaign.id] = address_limits.Group(0, group.day - 1)  # the same, begun a day ago
        service._groups[campaign.id]._reports.update(group._reports)
        running.store.expire(group.day + 1, {campaign.id: 1})
        assert running.store.reports(campaign.id) == 0
        crowd(running, mechanism, 64, first=1)
        service.tidy()
        assert running.store.days(campaign.id) == []
        assert running.store.reports(campaign.id) == 64


def test_fewer_than_asked_are_not_published(store: Store, mechanism: sv.Mechanism) -> None:
    campaign = create(store, mechanism, name="few", collection="open")
    cells = mechanism.report([3.0] * 70, rng=1)
    store.ingest([Batch(campaign.id, 20_000, cells, bytes(16), bytes(16), 20_008, held=True)])
    store.settle(campaign.id, 71)
    assert (store.days(campaign.id), store.days(held(campaign.id))) == ([], [(20_000, 70)])
    store.settle(campaign.id, 70)
    assert (store.days(campaign.id), store.days(held(campaign.id))) == ([(20_000, 70)], [])


def test_held_reports_go_with_their_campaign(store_url: str, mechanism: sv.Mechanism) -> None:
    app = create_app(open_store(store_url), Settings(rate=0), secret=SECRET)
    with TestClient(app) as client:
        running = Running(client, app)
        campaign = running.create(mechanism, collection="open", retention_days=1)
        crowd(running, mechanism, 130, first=0)
        assert running.store.days(held(campaign.id))[0][1] >= 64
        today = running.store.days(held(campaign.id))[0][0]
        running.store.expire(today + 1, {campaign.id: 1})
        assert running.stored(campaign) == 0
        crowd(running, mechanism, 130, first=0)
        running.store.purge(campaign.id)
        assert running.store.reports(campaign.id) == 0
