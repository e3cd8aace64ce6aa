"""Campaigns over HTTP: creating, listing, tokens; what is refused."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from typing import Any

import pytest
from tests.collector.service import Running
from tests.collector.test_bad_input import check_refused

import sottovoce as sv


def admin(running: Running) -> dict[str, str]:
    return {"Authorization": f"Bearer {running.token('admin')}"}


def post(running: Running, path: str, content: Any, **headers: str) -> Any:
    sent = {**admin(running), "Content-Type": "application/json", **headers}
    return running.client.post(f"/v1{path}", content=json.dumps(content), headers=sent)


def test_create_fetch_and_list(running: Running, mechanism: sv.Mechanism) -> None:
    content = {
        "name": "commute",
        "spec": mechanism.to_json(),
        "question": "How long?",
        "closes": "2999-01-01T02:00:00+02:00",
        "results": "public",
    }
    made = post(running, "/campaigns", content)
    assert made.status_code == 201
    fetched = running.get("/campaigns/commute").json()
    assert fetched == made.json()
    assert fetched["closes"] == "2999-01-01T00:00:00Z"
    assert fetched["missing"] == 12.0
    domain = {"low": 0.0, "high": 24.0, "circle": False, "scale": "linear"}
    kind = {"kind": "number", "domain": domain, "options": None, "area": None}
    assert fetched["questions"] == {"value": {**kind, "cells": 1000}}
    assert hashlib.sha256(fetched["spec"].encode()).hexdigest() == fetched["digest"] == mechanism.digest
    spec = running.get("/campaigns/commute/spec")
    assert spec.text == fetched["spec"]
    tagged = running.client.get("/v1/campaigns/commute/spec", headers={"If-None-Match": spec.headers["etag"]})
    assert (tagged.status_code, tagged.content) == (304, b"")
    listed = running.get("/campaigns").json()["campaigns"]
    del fetched["spec"]
    assert listed == [fetched]


def test_the_list_shows_what_the_token_may_read(embedded: Running, mechanism: sv.Mechanism) -> None:
    hidden = embedded.create(mechanism, name="hidden", results="token")
    embedded.create(mechanism, name="shown", results="public")
    embedded.create(mechanism, name="other", results="token")

    def names(token: str | None) -> list[str]:
        return [c["name"] for c in embedded.get("/campaigns", token).json()["campaigns"]]

    assert names(None) == ["shown"]
    assert names(embedded.token("read", hidden.id)) == ["shown", "hidden"]
    assert names(embedded.token("write", hidden.id)) == ["shown"]
    assert names(embedded.token("admin")) == ["other", "shown", "hidden"]


BAD = {
    "no name": ({"name": None}, "invalid", "name"),
    "bad name": ({"name": "Ü b"}, "invalid", "name"),
    "newline in name": ({"name": "abc\n"}, "invalid", "name"),
    "unknown field": ({"colour": "red"}, "invalid", "colour"),
    "spec is not a spec": ({"spec": "{}"}, "invalid", "spec"),
    "spec is an object": ({"spec": {}}, "invalid", "spec"),
    "missing outside": ({"missing": 25}, "invalid", "missing"),
    "missing rule": ({"missing": "drop"}, "invalid", "missing"),
    "rule": ({"outside": "drop"}, "invalid", "outside"),
    "moment": ({"closes": "tomorrow"}, "invalid", "closes"),
    "no time zone": ({"closes": "2027-01-01T00:00:00"}, "invalid", "closes"),
    "end of time": ({"opens": "9999-12-31T23:59:59-12:00"}, "invalid", "opens"),
    "order": ({"opens": "2027-01-01T00:00:00Z", "closes": "2026-01-01T00:00:00Z"}, "invalid", "closes"),
    "zero people": ({"min_n": 0}, "invalid", "min_n"),
    "boolean": ({"min_n": True}, "invalid", "min_n"),
    "control character": ({"title": "a\x00b"}, "invalid", "title"),
    "half a character": ({"title": "\ud800"}, "invalid", "title"),
    "too long": ({"title": "a" * 201}, "invalid", "title"),
}


@pytest.mark.parametrize(("change", "code", "field"), BAD.values(), ids=BAD)
def test_a_bad_campaign(
    embedded: Running, mechanism: sv.Mechanism, change: dict[str, Any], code: str, field: str
) -> None:
    content = {"name": "bad", "spec": mechanism.to_json(), **change}
    answer = post(embedded, "/campaigns", content)
    check_refused(answer, code)
    assert answer.json()["field"] == field
    check_refused(embedded.get("/campaigns/bad"), "unknown_campaign")


def test_a_spec_that_lies_is_refused(embedded: Running, mechanism: sv.Mechanism) -> None:
    lie = mechanism.to_json().replace('"epsilon":1.0', '"epsilon":0.5')
    answer = post(embedded, "/campaigns", {"name": "lie", "spec": lie})
    check_refused(answer, "invalid")
    assert "more than the claimed epsilon=0.5" in answer.json()["message"]


def test_a_spec_must_be_canonical(embedded: Running, mechanism: sv.Mechanism) -> None:
    spaced = mechanism.to_json().replace(",", ", ")
    check_refused(post(embedded, "/campaigns", {"name": "spaced", "spec": spaced}), "invalid")


def test_names_are_taken_once(running: Running, mechanism: sv.Mechanism) -> None:
    content = {"name": "twice", "spec": mechanism.to_json()}
    assert post(running, "/campaigns", content).status_code == 201
    check_refused(post(running, "/campaigns", content), "name_taken")


def test_only_administrators_administer(embedded: Running, mechanism: sv.Mechanism) -> None:
    campaign = embedded.create(mechanism, name="guarded")
    calls = [("POST", "/v1/campaigns"), ("POST", "/v1/campaigns/guarded/close")]
    calls += [("POST", "/v1/campaigns/guarded/tokens"), ("DELETE", "/v1/campaigns/guarded")]
    for method, path in calls:
        check_refused(embedded.client.request(method, path, json={}), "bad_token")
        for kind in ("enrolment", "write", "read"):
            headers = {"Authorization": f"Bearer {embedded.token(kind, campaign.id)}"}
            check_refused(embedded.client.request(method, path, json={}, headers=headers), "wrong_scope")


def test_tokens_over_http(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism, collection="enrolment")
    answer = post(running, "/campaigns/trial/tokens", {"kind": "enrolment", "count": 3})
    made = answer.json()["tokens"]
    assert (answer.status_code, len(set(made))) == (201, 3)
    for token in made:
        assert running.post(mechanism, [1], token=token).status_code == 200
    assert running.stored(campaign) == 3


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ([], "invalid"),
        ({"kind": "read", "more": 1}, "invalid"),
        ({"kind": "admin"}, "invalid"),
        ({"kind": ["read"]}, "invalid"),
        ({"kind": "read", "count": 0}, "invalid"),
        ({"kind": "read", "count": True}, "invalid"),
        ({"kind": "read", "count": 10_001}, "invalid"),
    ],
)
def test_bad_token_requests(embedded: Running, mechanism: sv.Mechanism, content: Any, code: str) -> None:
    if not [stored for stored in embedded.store.campaigns() if stored.name == "trial"]:
        embedded.create(mechanism)
    check_refused(post(embedded, "/campaigns/trial/tokens", content), code)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Bad_Name"}, "name must match ^[a-z0-9][a-z0-9-]{0,62}$"),
        ({"min_n": 0}, "min_n must be at least 1"),
        ({"min_n": True}, "min_n must be an integer"),
        ({"collection": "maybe"}, "collection must be 'open', 'enrolment' or 'write'"),
        ({"closes": "tomorrow"}, "closes must be ISO 8601, for example 2027-01-31T00:00:00Z"),
        ({"retention_days": 10**9}, "retention_days must be at most 36500"),
        ({"nonsense": 1}, "nonsense is not a field here"),
        ({"spec": None}, "spec must be a string"),
    ],
)
def test_a_broken_rule_is_named_in_our_own_words(
    embedded: Running, mechanism: sv.Mechanism, change: dict[str, Any], message: str
) -> None:
    content = {"name": "fine", "spec": mechanism.to_json(), **change}
    headers = {"Authorization": f"Bearer {embedded.token('admin')}"}
    answer = embedded.client.post("/v1/campaigns", json=content, headers=headers)
    check_refused(answer, "invalid")
    assert (answer.json()["message"], answer.json()["field"]) == (message, *change)


def test_a_refusal_that_is_being_written_is_not_missed(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = embedded.create(mechanism, name="slow")
    service, add = embedded.app.state.service, embedded.store.add_refusals
    begun = threading.Event()

    def slowly(numbers: Any) -> None:
        begun.set()
        time.sleep(0.3)
        add(numbers)

    monkeypatch.setattr(embedded.store, "add_refusals", slowly)
    service.refused(campaign.id, "malformed")
    writing = threading.Thread(target=service.flush)
    writing.start()
    begun.wait()
    assert service.refusals(campaign.id) == {"malformed": 1}
    writing.join()


def test_only_words_can_change(embedded: Running, mechanism: sv.Mechanism) -> None:
    embedded.create(mechanism, name="fixed", question="How long?")
    headers = {**admin(embedded), "Content-Type": "application/json"}

    def patch(changes: Any, **more: str) -> Any:
        path = "/v1/campaigns/fixed"
        return embedded.client.patch(path, content=json.dumps(changes), headers={**headers, **more})

    assert patch({"question": "How many minutes?"}).json()["question"] == "How many minutes?"
    assert embedded.get("/campaigns/fixed").json()["question"] == "How many minutes?"
    for changes in ({"outside": "missing"}, {"spec": "{}"}, {"closes": None}, {"missing": 1.0}):
        check_refused(patch(changes), "invalid")
    check_refused(patch({"texts": {"nothing": {"text": "?"}}}), "invalid")
    check_refused(patch({"title": "a\u202eb"}), "invalid")
    check_refused(patch({"title": "?"}, Authorization=f"Bearer {embedded.token('write')}"), "wrong_scope")
    assert embedded.get("/campaigns/fixed").json()["title"] == ""


def test_a_plan_of_a_survey(embedded: Running) -> None:
    questions = {"age": {"range": [0, 120]}, "way": {"options": ["car", "bike"]}}
    content = {"epsilon": 2.0, "people": 1000, "questions": questions}
    few = post(embedded, "/surveys/plan", content).json()
    many = post(embedded, "/surveys/plan", {**content, "people": 4000}).json()
    assert (few["of"], few["problems"]) == (2, {})
    assert {name: half / 2 for name, half in few["within"].items()} == pytest.approx(many["within"])
    related = {
        **content,
        "questions": {**questions, "commute": {"range": [0, 3]}},
        "relations": [["age", "commute"]],
    }
    assert set(post(embedded, "/surveys/plan", related).json()["within"]) == {
        *related["questions"],
        "age and commute",
    }
    for wrong in ([["age"]], ["age"], [["age", "way"]], [["age", "nobody"]]):
        check_refused(post(embedded, "/surveys/plan", {**related, "relations": wrong}), "invalid")
    check_refused(post(embedded, "/surveys/plan", {**content, "questions": {}}), "invalid")
    check_refused(post(embedded, "/surveys/plan", {**content, "people": 0}), "invalid")
