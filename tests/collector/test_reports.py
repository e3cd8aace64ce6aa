"""Reports that are accepted: counted once, whatever is repeated, on both stores."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from sqlalchemy import select
from tests.collector.service import Running, every_count, new_key
from tests.collector.test_bad_input import check_refused

import sottovoce as sv
from sottovoce.collector.campaigns import clock, tokens
from sottovoce.collector.campaigns.campaign import close
from sottovoce.collector.store import Accepted, Batch, schema
from sottovoce.collector.store.pool import FULL


@pytest.mark.parametrize("questions", [1, 5])
def test_a_replay_gives_the_first_answer_and_changes_nothing(
    running: Running, mechanism: sv.Mechanism, questions: int
) -> None:
    """Of a number, and of a survey of which everybody answers all questions."""
    reporter, reports = mechanism, [1, 2, 3]
    if questions > 1:
        reporter = sv.Survey(5 * mechanism.epsilon, dict.fromkeys("abcde", mechanism), sampled=questions)
        reports = [[one + mechanism.cells * i for i in range(questions)] for one in reports]
    campaign = running.create(reporter)
    key = new_key()
    first = running.post(reporter, reports, key=key)
    second = running.post(reporter, reports, key=key)
    assert first.content == second.content == b'{"accepted":3}'
    assert "idempotent-replay" not in first.headers
    assert second.headers["idempotent-replay"] == "true"
    assert running.stored(campaign) == 3


def test_a_key_with_another_body_is_refused(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism)
    key = new_key()
    running.post(mechanism, [1], key=key)
    check_refused(running.post(mechanism, [2], key=key), "key_reused")
    assert running.stored(campaign) == 1
    assert running.get("/campaigns/trial/summary").json()["refusals"] == {"key_reused": 1}


def test_a_key_belongs_to_one_campaign(running: Running, mechanism: sv.Mechanism) -> None:
    one, two = running.create(mechanism), running.create(mechanism, name="second")
    key = new_key()
    assert running.post(mechanism, [1], key=key).status_code == 200
    assert running.post(mechanism, [2], key=key, name="second").status_code == 200
    assert running.stored(one) == running.stored(two) == 1


def test_a_refused_key_can_be_used_again(running: Running, mechanism: sv.Mechanism) -> None:
    running.create(mechanism)
    key = new_key()
    check_refused(running.post(mechanism, [5000], key=key), "cell_out_of_range")
    assert running.post(mechanism, [5], key=key).json() == {"accepted": 1}


def test_an_invitation_says_beforehand_what_its_report_would_be_told(
    running: Running, mechanism: sv.Mechanism
) -> None:
    """To who has the token, and without spending it: a stranger learns as little as from a guess."""
    campaign = running.create(mechanism, collection="enrolment", results="token")
    other = running.create(mechanism, name="other", collection="enrolment")
    fresh, spent, revoked = (running.token("enrolment", campaign.id) for _ in range(3))
    assert running.post(mechanism, [1], token=spent).status_code == 200
    running.store.revoke(campaign.id, tokens.token_hash(revoked))
    path = "/campaigns/trial/invitation"
    for _ in range(3):
        answer = running.get(path, fresh)
        assert (answer.status_code, answer.content) == (204, b"")
    wrong = {
        spent: "token_spent",
        revoked: "bad_token",
        tokens.make("enrolment"): "bad_token",
        running.token("enrolment", other.id): "wrong_scope",
        running.token("read", campaign.id): "wrong_scope",
        "enrl_short": "bad_token",
        None: "bad_token",
    }
    for token, code in wrong.items():
        check_refused(running.get(path, token), code)
        check_refused(running.post(mechanism, [1], token=token), code)
    check_refused(running.get("/campaigns/none/invitation", fresh), "unknown_campaign")
    assert running.stored(campaign) == 1
    assert running.post(mechanism, [1], token=fresh).status_code == 200
    check_refused(running.get(path, fresh), "token_spent")


def test_an_enrolment_token_reports_once(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism, collection="enrolment")
    token, other, key = (
        running.token("enrolment", campaign.id),
        running.token("enrolment", campaign.id),
        new_key(),
    )
    assert running.post(mechanism, [1], token=token, key=key).status_code == 200
    assert running.post(mechanism, [1], token=token, key=key).headers["idempotent-replay"] == "true"
    check_refused(running.post(mechanism, [1], token=token), "token_spent")
    assert running.post(mechanism, [7], token=other).status_code == 200
    assert running.stored(campaign) == 2


def test_a_replay_is_answered_after_closing(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism)
    key = new_key()
    running.post(mechanism, [1], key=key)
    closed = running.client.post(
        "/v1/campaigns/trial/close", headers={"Authorization": f"Bearer {running.token('admin')}"}
    )
    assert closed.json()["status"] == "closed"
    check_refused(running.post(mechanism, [1]), "closed")
    assert running.post(mechanism, [1], key=key).json() == {"accepted": 1}
    assert running.stored(campaign) == 1


def test_a_write_token_writes_and_cannot_read(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism, collection="write", results="token")
    token = running.token("write", campaign.id)
    assert running.post(mechanism, [1, 2], token=token).json() == {"accepted": 2}
    for path in ("summary", "estimates", "counts"):
        check_refused(running.get(f"/campaigns/trial/{path}", token), "wrong_scope")
        check_refused(running.get(f"/campaigns/trial/{path}"), "bad_token")
    assert running.post(mechanism, [1] * 64, token=token).json() == {"accepted": 64}
    assert running.get("/campaigns/trial/summary", running.token("read", campaign.id)).json()["n"] == 64


def test_public_results_are_for_everybody_with_whatever_token(
    running: Running, mechanism: sv.Mechanism
) -> None:
    """A dashboard sends the one token it was given along with every request."""
    running.create(mechanism)
    other = running.create(mechanism, name="other", results="token")
    for token in (running.token("read", other.id), running.token("write", other.id), "not a token"):
        assert running.get("/campaigns/trial/summary", token).json()["n"] == 0


def test_single_reports_are_all_counted_through_the_pool(running: Running, mechanism: sv.Mechanism) -> None:
    """Enough enrolment reports that the pool overflows several times; every cell has its count."""
    campaign = running.create(mechanism, collection="enrolment")
    made = tokens.issue(running.store, campaign.id, "enrolment", 700)
    batches = [
        Batch(
            campaign.id,
            20_000,
            np.array([cell]),
            os.urandom(16),
            os.urandom(16),
            20_008,
            tokens.token_hash(t),
        )
        for cell, t in enumerate(made)
    ]
    for first in range(0, 700, 50):
        outcomes = running.store.ingest(batches[first : first + 50])
        assert outcomes == [Accepted(1, replay=False)] * 50
    assert every_count(running.store, campaign).tolist() == [1] * 700 + [0] * 300
    assert running.stored(campaign) == 700
    assert len(running.store.waiting(campaign.id)) < FULL
    close(running.store, campaign, clock.now())
    running.app.state.service.tidy()
    rows = running.get("/campaigns/trial/counts", running.token("read", campaign.id)).text.splitlines()
    assert rows[0] == "day,cell,count"
    [(today, _)] = running.store.days(campaign.id)
    assert rows[1:] == [f"{clock.day_text(today)},{cell},1" for cell in range(700)]


def test_a_purged_campaign_leaves_nothing(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism)
    keep = running.create(mechanism, name="other")
    running.post(mechanism, [1, 2] * 50)
    running.post(mechanism, [1, 2])
    running.post(mechanism, [3], name="other")
    running.post(mechanism, [1000])  # its refusal is counted, and written a moment later
    running.token("read", campaign.id)
    assert running.get("/campaigns/trial/estimates").json()["n"] == 100
    headers = {"Authorization": f"Bearer {running.token('admin')}"}
    answer = running.client.delete("/v1/campaigns/trial", headers=headers)
    assert answer.json() == {"purged": True, "reports": 102}
    running.app.state.service.flush()
    check_refused(running.get("/campaigns/trial"), "unknown_campaign")
    with running.store.reading() as connection:
        for name, table in schema.metadata.tables.items():
            if name == "facts":
                continue
            column = table.c.id if name == "campaigns" else table.c.campaign
            assert campaign.id not in set(connection.execute(select(column)).scalars())
    assert running.stored(keep) == 1


def test_a_new_campaign_inherits_nothing_from_one_that_was_purged(
    running: Running, mechanism: sv.Mechanism
) -> None:
    old = running.create(mechanism, results="token")
    running.post(mechanism, [1, 2] * 50)
    token = running.token("read", old.id)
    assert running.get("/campaigns/trial/estimates", token).json()["n"] == 100
    running.store.purge(old.id)  # as the command line does, which a running collector does not hear of
    running.create(mechanism, name="other", results="token")
    assert running.get("/campaigns/other/estimates", token).status_code in (401, 403)
    found = running.get("/campaigns/other/estimates", running.token("admin")).json()
    assert (found["campaign"], found["n"]) == ("other", 0)


def test_expiry_forgets_keys_and_old_days(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism, retention_days=30)
    key = new_key()
    running.post(mechanism, [1], key=key)
    today = clock.day_number(clock.now())
    running.post(mechanism, [3] * 64)
    for day in range(1, 9):
        running.store.expire(today + day, {campaign.id: 30})
    check_refused(running.post(mechanism, [2], key=key), "key_reused")
    running.store.expire(today + 9, {campaign.id: 30})
    assert running.post(mechanism, [2], key=key).status_code == 200
    for day in range(10, 30):
        running.store.expire(today + day, {campaign.id: 30})
    assert running.stored(campaign) == 66
    running.store.expire(today + 30, {campaign.id: 30})  # never later than people were told
    assert running.stored(campaign) == 1  # which came nine days after the others
    for day in range(31, 40):
        running.store.expire(today + day, {campaign.id: 30})
    assert running.stored(campaign) == 0


@pytest.mark.parametrize("settings", [{"opens": "2999-01-01T00:00:00Z"}, {}])
def test_closing_twice_keeps_the_first_moment(
    embedded: Running, mechanism: sv.Mechanism, settings: dict[str, str]
) -> None:
    campaign = embedded.create(mechanism, name=f"closing{len(settings)}", **settings)
    moment = clock.now()
    closed = close(embedded.store, campaign, moment)
    again = close(embedded.store, closed, moment.replace(year=moment.year + 1))
    assert again.rules.closes == closed.rules.closes == moment


def test_key_order_of_json_does_not_matter(embedded: Running, mechanism: sv.Mechanism) -> None:
    embedded.create(mechanism, name="order")
    body = json.dumps({"cells": [3], "digest": mechanism.digest}).encode()
    assert embedded.post_raw(body, name="order").json() == {"accepted": 1}
