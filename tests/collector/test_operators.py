"""What operators rely on: one secret, tokens that can be taken back, clocks that jump, several collectors."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alembic.util import CommandError
from sqlalchemy import text
from tests.collector.cluster import Cluster
from tests.collector.crash import Load, create_every, judge_store
from tests.collector.service import SECRET, Running, Server, create, new_key
from tests.collector.test_admin import admin
from tests.collector.test_bad_input import check_refused

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store, secret
from sottovoce.collector import service as service_module
from sottovoce.collector.campaigns import clock, tokens
from sottovoce.collector.campaigns.campaign import close
from sottovoce.collector.service import Service
from sottovoce.collector.store import Batch, Store, last_day, migrations, pool


def batch(campaign: int, cells: list[int], day: int = 20_000) -> Batch:
    return Batch(campaign, day, np.array(cells), os.urandom(16), os.urandom(16), day + 8)


# -- one secret -----------------------------------------------------------------------------------------


def replays(store_url: str, mechanism: sv.Mechanism, other: bytes) -> int:
    """One request sent to a collector, then again to another one with its own secret; reports stored."""
    with closing(open_store(store_url)) as store:
        campaign = create(store, mechanism)
        key, body = new_key(), b"the same body"
        for own in (SECRET, other):
            with closing(open_store(store_url).unlock(own)) as collector:
                prints = secret.fingerprints(own, campaign.id, key, body)
                collector.ingest([Batch(campaign.id, 20_000, np.arange(100), *prints, 20_008)])
        return store.unlock(other).reports(campaign.id)


@pytest.mark.attack("L2", "refused")
def test_two_secrets_on_one_store_are_refused(store_url: str, mechanism: sv.Mechanism) -> None:
    with pytest.raises(ValueError, match="used with another secret"):
        replays(store_url, mechanism, b"x" * 32)
    with pytest.raises(ValueError, match="used with another secret"):
        create_app(open_store(store_url), Settings(), secret=b"x" * 32)


@pytest.mark.attack("L2", "succeeds")
def test_without_the_check_a_replay_was_counted_twice(
    tmp_path: Path, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool.Pool, "check", "the same for everybody")
    assert replays(str(tmp_path / "store.db"), mechanism, b"x" * 32) == 200


def test_a_secret_can_be_given_up(store: Store, store_url: str, mechanism: sv.Mechanism) -> None:
    campaign = create(store, mechanism)
    store.ingest([batch(campaign.id, [1]), batch(campaign.id, [2] * 100)])
    with closing(open_store(store_url).unlock(SECRET)) as still_running:
        store.forget_secret()
        with pytest.raises(ValueError, match="unlocked"):
            store.ingest([batch(campaign.id, [1])])
        still_running.ingest([batch(campaign.id, [3])])
    store.unlock(b"x" * 32)
    assert store.reports(campaign.id) == 100  # what waited is gone, what was published is not
    store.ingest([batch(campaign.id, [1]) for _ in range(128)])  # and nothing stands in the way of others
    assert store.reports(campaign.id) >= 164


# -- tokens ---------------------------------------------------------------------------------------------


def test_tokens_are_listed_and_revoked(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism, collection="enrolment", results="token")
    mine = tokens.issue(running.store, campaign.id, "enrolment", 3)
    read = running.token("read", campaign.id)
    assert running.post(mechanism, [1], token=mine[0]).status_code == 200
    listed = running.client.get("/v1/campaigns/trial/tokens", headers=admin(running)).json()["tokens"]
    names = {token["id"]: (token["kind"], token["spent"]) for token in listed}
    assert list(names) == sorted(names)
    assert names == {
        tokens.token_id(mine[0]): ("enrolment", True),
        **dict.fromkeys(map(tokens.token_id, mine[1:]), ("enrolment", False)),
        tokens.token_id(read): ("read", False),
    }
    rest = running.client.get(
        "/v1/campaigns/trial/tokens", params={"after": list(names)[1]}, headers=admin(running)
    )
    assert [token["id"] for token in rest.json()["tokens"]] == list(names)[2:]
    assert running.get("/campaigns/trial/summary", read).status_code == 200
    for token in (read, mine[1]):
        address = f"/v1/campaigns/trial/tokens/{tokens.token_id(token)}"
        assert running.client.delete(address, headers=admin(running)).status_code == 200
        check_refused(running.client.delete(address, headers=admin(running)), "not_found")
    check_refused(running.get("/campaigns/trial/summary", read), "bad_token")
    check_refused(running.post(mechanism, [1], token=mine[1]), "bad_token")
    assert running.post(mechanism, [1], token=mine[2]).status_code == 200
    check_refused(running.client.get("/v1/campaigns/trial/tokens"), "bad_token")


@pytest.mark.attack("L6")
@pytest.mark.parametrize(("revokes", "code"), [(True, "bad_token"), (False, None)])
def test_a_token_that_got_into_the_wrong_hands(
    embedded: Running,
    mechanism: sv.Mechanism,
    monkeypatch: pytest.MonkeyPatch,
    revokes: bool,
    code: str | None,
) -> None:
    if not revokes:  # as it was: there was no way
        monkeypatch.setattr(embedded.store, "revoke", lambda *_: None)
    campaign = embedded.create(mechanism, name=f"leaked-{revokes}".lower(), results="token")
    leaked = embedded.token("read", campaign.id)
    address = f"/v1/campaigns/{campaign.name}/tokens/{tokens.token_id(leaked)}"
    assert embedded.client.delete(address, headers=admin(embedded)).status_code == 200
    answer = embedded.get(f"/campaigns/{campaign.name}/summary", leaked)
    assert answer.json().get("code") == code


# -- clocks ---------------------------------------------------------------------------------------------


def jump(store: Store, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch, days: int) -> int:
    """The reports that are left, published and not, after upkeep with a clock so many days ahead."""
    campaign = create(store, mechanism, retention_days=30)
    today = clock.day_number(clock.now())
    store.ingest([batch(campaign.id, [1] * 100, today), batch(campaign.id, [2], today)])
    service = Service(store, Settings(), SECRET)
    service.upkeep()
    later = clock.now() + dt.timedelta(days=days)
    monkeypatch.setattr(service_module, "now", lambda: later)
    service.upkeep()
    service.upkeep()
    service.writer.close()
    return store.reports(campaign.id)


@pytest.mark.attack("L5", "refused")
def test_a_clock_that_jumps_deletes_nothing(
    store: Store, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert jump(store, mechanism, monkeypatch, 400) == 101


@pytest.mark.attack("L5", "succeeds")
def test_without_a_last_day_a_clock_that_jumps_deletes_everything(
    tmp_path: Path, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As was the case at first: the store noted no days."""
    monkeypatch.setattr(last_day, "read", lambda connection, clock: None)
    store = open_store(tmp_path / "store.db").unlock(SECRET)
    assert jump(store, mechanism, monkeypatch, 400) == 0


def test_days_that_pass_one_by_one_are_believed(
    store: Store, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert jump(store, mechanism, monkeypatch, 1) == 101
    service, begun = Service(store, Settings(), SECRET), service_module.now()
    for day in range(1, 30):
        monkeypatch.setattr(service_module, "now", lambda day=day: begun + dt.timedelta(days=day))
        service.upkeep()
    service.writer.close()
    assert store.reports(1) == 0


# -- what is closed -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("people", "days", "published"), [(70, 0, 70), (40, 0, 0), (40, 1, 40)])
def test_the_rest_of_a_closed_campaign(
    embedded: Running,
    mechanism: sv.Mechanism,
    monkeypatch: pytest.MonkeyPatch,
    people: int,
    days: int,
    published: int,
) -> None:
    """At once if it is enough to hide in, on the next day if it is not."""
    campaign = embedded.create(mechanism, name=f"closed-{people}-{days}")
    for _ in range(people):
        embedded.store.ingest([batch(campaign.id, [1])])
    close(embedded.store, campaign, clock.now())
    later = clock.now() + dt.timedelta(days=days)
    monkeypatch.setattr(service_module, "now", lambda: later)
    embedded.app.state.service.tidy()
    assert embedded.get(f"/campaigns/{campaign.name}/summary").json()["n"] == published


# -- versions -------------------------------------------------------------------------------------------


@pytest.mark.attack("I3")
@pytest.mark.parametrize(
    ("looks", "words"),
    [(True, "schema 0999, written by a newer version"), (False, "Can't locate revision")],
)
def test_a_newer_schema_is_refused_in_words(
    store_url: str, monkeypatch: pytest.MonkeyPatch, looks: bool, words: str
) -> None:
    store = open_store(store_url)
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0999'"))
    store.close()
    if not looks:
        monkeypatch.setattr(migrations, "_refuse_newer", lambda *_: None)
    with pytest.raises(ValueError if looks else CommandError, match=words):
        open_store(store_url)


# -- several collectors ---------------------------------------------------------------------------------


class Several(Load):
    """Clients that go to another collector when one does not answer."""

    ports: list[int]

    def connect(self) -> Any:
        self.port = self.ports[int.from_bytes(os.urandom(1), "big") % len(self.ports)]
        return super().connect()


def test_several_collectors_on_one_postgresql(tmp_path: Path, cluster: Cluster) -> None:
    """Started together on an empty database; one is killed under load, the others go on."""
    url = cluster.database()
    with ThreadPoolExecutor(3) as threads:
        servers = list(threads.map(lambda _: Server(url, tmp_path), range(3)))
    load = Several(0, create_every(url))
    load.ports = [int(server.url.rsplit(":", 1)[1]) for server in servers]
    threads_ = [threading.Thread(target=load.run, args=(True,)) for _ in range(6)]
    for thread in threads_:
        thread.start()
    for server in servers[:2]:
        seen = load.acknowledged
        deadline = time.monotonic() + 120
        while load.acknowledged < seen + 60:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            os.kill(server.process.pid, signal.SIGKILL)
    time.sleep(0.2)
    load.stop.set()
    for thread in threads_:
        thread.join(60)
    for server in servers[:2]:
        server.process.wait()
    assert servers[2].stop() == 0
    result = judge_store(url, tmp_path, load)
    assert load.acknowledged > 120
    assert (result.faults, result.stored_unacknowledged) == (0, 0)
