"""Every kind of reporter is a campaign: rows, surveys and positions pass as windows and mixtures do."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.collector.answers import answer, as_shown, asked, notes, number, problems
from tests.collector.service import Running
from tests.collector.test_bad_input import BINARY, check_refused

import sottovoce as sv
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.declaration import Wording
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.results.results import View, results
from sottovoce.collector.store import Stored
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.rows import Rows

COIN = Rows.of(1.0, [[0.7, 0.3], [0.3, 0.7]], domain=(0, 10))
HEADS = "Between {:g} and {:g}".format(*COIN.range)  # what two words tell
SURVEY = Survey(
    3.0,
    {
        "age": sv.sw(epsilon=1.0, domain=(0, 120), cells=64),
        "start": sv.ogpm(epsilon=1.5, domain=sv.Circle(24), cells=48),
        "coin": COIN,
    },
    sampled=2,
)


def people(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {"age": rng.uniform(20, 60, n), "start": rng.normal(8, 1, n), "coin": rng.choice([0.0, 10.0], n)}


def test_explicit_rows(running: Running) -> None:
    campaign = running.create(COIN)
    cells = COIN.report(people(900)["coin"], rng=1)
    assert running.post(COIN, cells.tolist()).json() == {"accepted": 900}
    assert running.stored(campaign) == 900
    content = running.get("/campaigns/trial/estimates", bins=4).json()
    share = sv.probability(sv.Tally(COIN, cells), *COIN.range)
    assert number(content, "probability") == as_shown(share, HEADS)
    assert answer(content, "probability")["notes"] == notes(share)
    assert asked(content) == ["probability", "honesty"]  # two words tell no distribution


def test_a_choice(running: Running) -> None:
    m = sv.choice(2.0, ["car", "bike", "train"])
    running.create(m)
    assert running.get("/campaigns/trial").json()["missing"] == "uniform"
    cells = m.report(["car"] * 500 + ["bike"] * 400, rng=1)
    assert running.post(m, cells.tolist()).json() == {"accepted": 900}
    content = running.get("/campaigns/trial/estimates").json()
    expected = [as_shown(one, option) for option, one in sv.shares(sv.Tally(m, cells)).items()]
    assert answer(content, "shares")["numbers"] == expected
    assert (asked(content), problems(content)) == (["shares", "honesty"], {})


def test_a_survey_from_the_campaign_to_the_results(running: Running) -> None:
    campaign = running.create(SURVEY, collection="enrolment")
    described = running.get("/campaigns/trial").json()
    assert (described["width"], described["cells"], described["missing"]) == (2, 64 + 48 + 2, "uniform")
    assert list(described["questions"]) == ["age", "start", "coin"]
    circle = {"low": 0.0, "high": 24.0, "circle": True, "scale": "linear"}
    assert described["questions"]["start"]["domain"] == circle
    reports = SURVEY.report(people(400), clip=True, rng=2)
    for row in reports[:3].tolist():
        token = running.token("enrolment", campaign.id)
        assert running.post(SURVEY, [row], token=token).json() == {"accepted": 1}
    check_refused(running.post(SURVEY, reports[:2].tolist(), token=token), "one_report_per_token")
    summary = running.get("/campaigns/trial/summary").json()
    assert summary["n"] == 0  # nothing is published by ones
    assert sorted(running.store.waiting(campaign.id)[:, 1:].tolist()) == sorted(reports[:3].tolist())


def test_how_questions_are_put(embedded: Running) -> None:
    survey = Survey(
        3.0,
        {
            "age": sv.sw(epsilon=0.5, domain=(0, 120), cells=64),
            "pay": sv.sw(epsilon=0.5, domain=sv.Interval(1, 1e6, scale="log"), cells=64),
            "start": sv.ogpm(epsilon=0.5, domain=sv.Circle(24), cells=48),
            "wind": sv.ogpm(epsilon=0.5, domain=sv.Circle(360), cells=48),
            "way": sv.choice(0.5, ["car", "bike"]),
            "mood": sv.choice(0.5, [1, 2, 3]),
            "home": sv.polar(0.5, 10.0),
        },
        sampled=1,
    )
    texts = {"age": {"text": "How old are you?", "unit": "years"}, "way": {"text": "How do you travel?"}}
    embedded.create(survey, name="put", question="Seven questions.", texts=texts, language="en")
    described = embedded.get("/campaigns/put").json()
    assert (described["texts"]["way"], described["language"]) == ({**texts["way"], "unit": ""}, "en")
    asked = described["asked"]
    kinds = ["number", "number", "clock", "circle", "options", "rating", "place"]
    assert [one["kind"] for one in asked.values()] == kinds
    assert (asked["age"]["text"], asked["age"]["unit"]) == ("How old are you?", "years")
    assert (asked["mood"]["text"], asked["mood"]["options"]) == ("", [1, 2, 3])
    assert asked["pay"]["domain"] == {"low": 1.0, "high": 1e6, "circle": False, "scale": "log"}
    assert asked["home"]["area"] == {"x": [-10.0, 10.0], "y": [-10.0, 10.0], "round": True, "degrees": False}
    embedded.create(COIN, name="alone", question="Heads?", unit="points")
    assert embedded.get("/campaigns/alone").json()["asked"]["value"]["text"] == "Heads?"
    for wrong in (
        {"job": {"text": "?"}},
        {"age": {"text": "\u202eold"}},
        {"age": {"unit": "\x00"}},
        {"age": "?"},
    ):
        with pytest.raises(Refusal) as refusal:
            embedded.create(survey, name="wrong", texts=wrong)
        assert refusal.value.code == "invalid"


def test_rules_of_an_older_store_are_read() -> None:
    """Before questions had texts of their own."""
    old = '{"title":"","question":"How far?","unit":"km","missing":5.0,"created":"2026-01-01T00:00:00Z"}'
    campaign = Campaign.of(Stored(1, "old", COIN.digest, COIN.to_json(), old))
    assert campaign.wording("value") == Wording(text="How far?", unit="km")


def test_missing_values_of_a_survey_by_question(embedded: Running) -> None:
    rules = {"age": 40.0, "start": "uniform", "coin": 10.0}
    embedded.create(SURVEY, name="rules", missing=rules)
    assert embedded.get("/campaigns/rules").json()["missing"] == rules
    for wrong in ({**rules, "age": 121.0}, {"age": 40.0}, {**rules, "more": 1.0}, 30.0, "drop"):
        with pytest.raises(Refusal) as refusal:
            embedded.create(SURVEY, name="wrong", missing=wrong)
        assert refusal.value.code == "invalid"


@pytest.mark.parametrize("binary", [False, True])
def test_results_of_a_survey_are_the_librarys(embedded: Running, binary: bool) -> None:
    name = f"survey{binary:d}"
    campaign = embedded.create(SURVEY, name=name)
    reports = SURVEY.report(people(3000), clip=True, rng=3)
    if binary:
        body = bytes.fromhex(SURVEY.digest) + reports.astype(SURVEY.dtype).tobytes()
        answer = embedded.post_raw(body, name=name, kind=BINARY)
    else:
        answer = embedded.post(SURVEY, reports.tolist(), name=name)
    assert answer.json() == {"accepted": 3000}
    tally = sv.Tally(SURVEY, reports)
    assert embedded.store.counts(campaign.id, SURVEY.cells).tolist() == tally.counts.tolist()
    results = embedded.get(f"/campaigns/{name}/estimates", quantiles="0.5", bins=8).json()
    assert (results["n"], results["shown"]) == (3000, True)
    assert [one["item"] for one in results["answers"]] == sorted(
        (one["item"] for one in results["answers"]), key=["age", "start", "coin"].index
    )
    assert number(results, "mean", "age") == as_shown(sv.mean(tally["age"]), "Mean")
    assert number(results, "direction", "start") == as_shown(sv.circular_mean(tally["start"]), "Mean time")
    share = sv.probability(tally["coin"], *COIN.range)
    assert number(results, "probability", "coin") == as_shown(share, HEADS)
    assert {one["item"]: one["n"] for one in results["answers"]} == {
        name: tally[name].n for name in SURVEY.items
    }


BAD: dict[str, tuple[Any, str]] = {
    "a lone cell": ([3], "malformed"),
    "too short": ([[3]], "malformed"),
    "too long": ([[3, 70, 112]], "malformed"),
    "a float": ([[3, 70.0]], "not_an_integer"),
    "beyond the last cell": ([[3, 114]], "cell_out_of_range"),
    "decreasing": ([[70, 3]], "cell_out_of_range"),
    "one question twice": ([[3, 4]], "cell_out_of_range"),
    "nothing": ([], "empty_batch"),
}


@pytest.mark.parametrize(("cells", "code"), BAD.values(), ids=BAD)
def test_what_is_no_report_of_the_survey(embedded: Running, cells: Any, code: str) -> None:
    if not [stored for stored in embedded.store.campaigns() if stored.name == "asked"]:
        embedded.create(SURVEY, name="asked")
    body = json.dumps({"digest": SURVEY.digest, "cells": cells}).encode()
    check_refused(embedded.post_raw(body, name="asked"), code)
    half = bytes.fromhex(SURVEY.digest) + bytes([3])
    check_refused(embedded.post_raw(half, name="asked", kind=BINARY), "malformed")


def test_a_position(embedded: Running) -> None:
    """Its mean has intervals, and it is shown on a map; of one ring there is neither."""
    place = sv.polar(epsilon=2.0, radius=10.0, design="unbiased")
    embedded.create(place, name="place")
    cells = place.report(np.random.default_rng(1).normal(0, 3, (100, 2)), clip=True, rng=1)
    assert embedded.post(place, cells.tolist(), name="place").json() == {"accepted": 100}
    assert embedded.get("/campaigns/place").json()["questions"]["value"]["domain"] is None
    content = embedded.get("/campaigns/place/estimates").json()
    assert asked(content) == ["position", "heatmap"]
    assert all(one["low"] < 0 < one["high"] for one in answer(content, "position")["numbers"])
    drawn = answer(content, "heatmap")
    assert (drawn["picture"], drawn["data"]["degrees"]) == ("map", False)
    shares = [share for row in drawn["data"]["shares"] for share in row if share is not None]
    assert sum(shares) == pytest.approx(1, abs=0.02)
    ring = sv.polar(epsilon=2.0, radius=10.0)
    assert results(sv.Tally(ring, ring.report(np.zeros((9, 2)), rng=1)), View(), {}, {})["answers"] == []


def test_an_item_that_nobody_was_asked_says_so() -> None:
    lot = Survey(1.0, {"age": sv.sw(1.0, (0, 120), cells=64), "way": sv.choice(1.0, ["car", "bike"])}, 1)
    reports = lot.report({"age": [40.0] * 50, "way": ["car"] * 50}, rng=1)
    of_age = sv.Tally(lot, reports[reports[:, 0] < 64] if reports.ndim > 1 else reports[reports < 64])
    content = results(of_age, View(), {"2026-11-13": of_age, "2026-11-14": of_age}, {})
    assert number(content, "mean", "age")["n"] == answer(content, "mean", "age")["n"] == of_age.n
    assert set(problems(content)) == {"shares", "honesty"}
    assert answer(content, "shares", "way")["n"] == 0


def test_one_bit_tells_what_it_was_made_for_and_nothing_else() -> None:
    m = sv.design("probability", 1.0, (0, 24), between=(6, 12))
    hours = np.random.default_rng(1).gamma(9, 0.9, 4000).clip(0, 24)
    days = {f"2026-11-1{k}": sv.Tally(m, m.report(hours, rng=k)) for k in (3, 4)}
    content = results(sum(days.values()), View(), days, days)
    assert asked(content) == ["probability", "honesty"]
    assert answer(content, "probability")["label"] == "Between 6 and 12"
    assert [(one["question"], len(one["points"])) for one in content["days"]] == [("probability", 2)]
    assert [one["label"] for one in content["groups"]] == ["Between 6 and 12"]


def test_numbers_within_groups_are_shown() -> None:
    m, rng = sv.within(2.0, ["car", "bike"], (0, 120)), np.random.default_rng(3)
    people = {"group": rng.choice(["car", "bike"], 4000), "number": rng.uniform(0, 90, 4000)}
    content = results(sv.Tally(m, m.report(people, rng=4)), View(), {}, {})
    [shown] = content["answers"]
    assert (shown["question"], shown["item"], shown["about"]) == ("groups", "", ["group", "number"])
    assert [one["of"] for one in shown["numbers"]] == [
        f"{group}: {what}" for group in ("car", "bike") for what in ("share", "mean")
    ]


def test_how_two_numbers_vary_together_is_a_result() -> None:
    m, rng = sv.pair(4.0, {"x": (0, 1), "y": (0, 1)}), np.random.default_rng(3)
    x = rng.random(20_000)
    tally = sv.Tally(m, m.report({"x": x, "y": 0.2 + 0.5 * x + 0.1 * rng.random(20_000)}, rng=4))
    content = results(tally, View(), {}, {})
    slope, correlation = (answer(content, question) for question in ("slope", "correlation"))
    assert (slope["about"], correlation["about"], slope["n"]) == (["x", "y"], ["x", "y"], 20_000)
    assert slope["numbers"][0]["low"] < 0.5 < slope["numbers"][0]["high"]
    assert correlation["numbers"][0]["low"] > 0.5
    assert {one["item"] for one in content["answers"]} == {"x", "y", ""}  # and not what x + y is
    assert asked(results(tally["x"], View(), {}, {}))[0] == "mean"
