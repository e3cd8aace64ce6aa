"""Campaigns in rounds: published counts of the first decide the second, whose results are those of both."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.collector.answers import answer, asked, number
from tests.collector.service import SECRET, Running, create
from tests.collector.test_results import estimates

import sottovoce as sv
from sottovoce.cli import main
from sottovoce.collector import open_store
from sottovoce.collector.campaigns import clock
from sottovoce.collector.campaigns.campaign import Campaign, close, follow
from sottovoce.collector.campaigns.campaign_round import Round
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import Batch
from sottovoce.collector.store.pool import KEEP

HOURS = np.random.default_rng(1).gamma(9, 0.9, 6000).clip(0, 24)


def closed(running: Running, name: str) -> sv.Tally:
    """A campaign that has ended, and what it has published."""
    campaign = close(running.store, Campaign.of(running.store.campaign(name)), clock.now())
    running.store.settle(campaign.id, KEEP)
    counts = running.store.counts(campaign.id, campaign.reporter.cells)
    return sv.Tally.from_counts(campaign.reporter, counts)


@pytest.mark.parametrize("task", ["quantile", "mean", "direction"])
def test_public_counts_decide_the_second_round_and_both_answer(embedded: Running, task: str) -> None:
    rounds = {"task": task} | ({"p": 0.9} if task == "quantile" else {})
    plan = sv.rounds(task, 2.0, sv.Circle(24) if task == "direction" else (0, 24), p=rounds.get("p"))
    first = embedded.create(plan.first, name=task, rounds=rounds)
    with pytest.raises(Refusal, match="close"):
        follow(embedded.store, first, 4000)
    embedded.post(plan.first, plan.first.report(HOURS[:2000], rng=2).tolist(), name=task)
    published = closed(embedded, task)
    second = follow(embedded.store, Campaign.of(embedded.store.campaign(task)), 4000)
    expected = plan.second(published, 4000) if task == "quantile" else plan.second(published)
    assert second.reporter.digest == expected.digest
    assert sv.audit(second.reporter).epsilon <= 2.0
    assert len(second.reporter.to_json()) < 1 << 16
    assert (second.name, second.rules.rounds.number, second.rules.rounds.first) == (f"{task}-2", 2, task)
    shown = embedded.get(f"/campaigns/{task}-2").json()
    assert shown["rounds"]["number"] == 2
    embedded.writers[second.name] = embedded.token("write", second.id)
    cells = second.reporter.report(HOURS[2000:], rng=3).tolist()
    assert embedded.post(second.reporter, cells, name=second.name).status_code == 200
    content = estimates(embedded, second.name)
    both = plan.estimate(published, closed(embedded, second.name))
    first_of_all = content["answers"][0]
    assert (first_of_all["question"], first_of_all["n"]) == (task, 6000)
    [answer] = first_of_all["numbers"]
    assert (answer["low"], answer["high"]) == (both.low, both.high)
    assert asked(content).count(task) == 1
    with pytest.raises(Refusal, match="no next round"):
        follow(embedded.store, second, 10)


@pytest.mark.parametrize(("name", "sign"), [("pay", 1), ("debt", -1)])
def test_an_unknown_range_is_found_in_rounds(embedded: Running, name: str, sign: int) -> None:
    """From 1 to 10^9, or of either sign, to where people are; then what may lie beyond is open."""
    first = sv.rounds("range", 2.0, largest=1e9, signed=sign < 0).first
    declared = {"task": "range", "largest": 1e9, "signed": sign < 0}
    campaign, mechanism = embedded.create(first, name=name, rounds=declared, missing=5e8), first
    values = sign * 1000 * HOURS
    for later, people in ((2, values[:2000]), (3, values[2000:4000])):
        cells = mechanism.report(people, outside="clip", rng=later).tolist()
        assert embedded.post(mechanism, cells, name=campaign.name).status_code == 200
        before, published = campaign, closed(embedded, campaign.name)
        closed_now = Campaign.of(embedded.store.campaign(before.name))
        campaign = follow(embedded.store, closed_now, 2000)
        assert (campaign.name, campaign.rules.rounds.number) == (f"{name}-{later}", later)
        mechanism = campaign.reporter
        plan = campaign.rules.rounds.plan(mechanism)
        assert mechanism.digest == plan.next(published).digest
        assert mechanism.domain.contains(campaign.rules.missing)
        embedded.writers[campaign.name] = embedded.token("write", campaign.id)
    assert max(map(abs, mechanism.domain.ends)) < 40_000
    cells = mechanism.report(values[4000:], outside="clip", rng=9)
    assert embedded.post(mechanism, cells.tolist(), name=f"{name}-3").status_code == 200
    tail = "0.999" if sign > 0 else "0.001"
    content = embedded.get(f"/campaigns/{name}-3/estimates", quantiles=f"0.5,{tail}").json()
    middle, most = (number(content, "quantile", p=p) for p in (0.5, float(tail)))
    assert middle["low"] < sign * 1000 * np.median(HOURS) < middle["high"] < mechanism.domain.high
    open_end = most["high" if sign > 0 else "low"]
    assert open_end == sign * 1e9
    open_answer = answer(content, "quantile", p=float(tail))
    assert open_answer["notes"][-1] == "an end that touches the range is open"
    assert "at least" in open_answer["sentence"] if sign > 0 else "at most" in open_answer["sentence"]
    assert answer(content, "mean")["notes"][-1].startswith("of values brought into")


def test_rounds_that_are_none_are_refused(embedded: Running) -> None:
    m = sv.sw(2.0, (0, 24))
    for mechanism, rounds in (
        (m, {"task": "mean"}),  # not the plan's mechanism
        (m, {"task": "quantile"}),  # which quantile?
        (m, {"task": "range"}),  # how large at most?
        (sv.design("quantile", 2.0, (0, 24), p=0.9), {"task": "quantile", "p": 0.9, "number": 2}),
        (sv.choice(1.0, ["a", "b"]), {"task": "mean"}),
        (sv.optimal(2.0, (0, 24)), {"task": "mean", "p": 0.9}),  # would be ignored
        (sv.optimal(2.0, (0, 24)), {"task": "mean", "unit": 2.0}),
        (
            sv.rounds("range", 2.0, largest=9.0).first,
            {"task": "range", "largest": 9.0, "signed": True, "p": 0.9},
        ),
    ):
        with pytest.raises(Refusal, match="rounds"):
            create(embedded.store, mechanism, name="none", rounds=rounds)


@pytest.mark.parametrize(
    ("task", "said", "rest"),
    [
        ("mean", {}, {"p": 0.9}),
        ("range", {"largest": 9.0, "signed": True}, {"p": 0.9}),
        ("mean", {}, {"unit": 2.0}),
    ],
)
def test_what_a_stored_campaign_said_too_much_is_left_out(
    embedded: Running, monkeypatch: pytest.MonkeyPatch, task: str, said: dict[str, Any], rest: dict[str, Any]
) -> None:
    """Earlier versions took it: such campaigns still show results and get their next round."""
    name = f"old-{task}-{'-'.join(rest)}"
    asked: dict[str, Any] = {"largest": 9.0} if task == "range" else {"domain": (0, 24)}
    plan = sv.rounds(task, 2.0, **asked)
    with monkeypatch.context() as before:
        before.setattr(Round, "check", lambda self: None)
        embedded.create(plan.first, name=name, rounds={"task": task, **said, **rest}, missing="uniform")
    cells = plan.first.report(HOURS[:500].clip(0, 9), rng=2).tolist()
    assert embedded.post(plan.first, cells, name=name).status_code == 200
    published = closed(embedded, name)
    second = follow(embedded.store, Campaign.of(embedded.store.campaign(name)), 500)
    expected = plan.next(published) if task == "range" else plan.second(published)
    assert second.reporter.digest == expected.digest
    assert embedded.get(f"/campaigns/{name}/estimates").status_code == 200


def test_commands_make_both_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path}/c.db"

    def run(line: str) -> object:
        monkeypatch.setattr(sys, "argv", ["sottovoce", *line.split(), "--store", store])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code

    assert not run("campaign create late --question quantile --p 0.9 --epsilon 2 --domain 0 24 --rounds")
    assert run("campaign next-round late --people 100")
    assert "close late first" in capsys.readouterr().err
    opened = open_store(store).unlock(SECRET)
    made = Campaign.of(opened.campaign("late"))
    assert made.rules.rounds is not None
    assert made.rules.rounds.p == 0.9
    cells = made.reporter.report(HOURS[:500], rng=1)
    opened.ingest([Batch(made.id, 20_000, cells, bytes(16), bytes(16), 20_008)])
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    secret.chmod(0o600)
    assert not run(f"campaign close late --secret-file {secret}")
    assert not run("campaign next-round late --people 1500")
    assert "created   late-2" in capsys.readouterr().out
    counts = opened.counts(made.id, made.reporter.cells)
    second = sv.rounds("quantile", 2.0, (0, 24), p=0.9).second(
        sv.Tally.from_counts(made.reporter, counts), 1500
    )
    assert Campaign.of(opened.campaign("late-2")).reporter == second
    assert not run("campaign create pay --question range --epsilon 2 --domain 1 1e9 --rounds")
    pay = Campaign.of(opened.campaign("pay"))
    assert pay.reporter == sv.rounds("range", 2.0, largest=1e9, signed=False).first
    assert not run("campaign create debt --question range --signed --epsilon 2 --domain 1 1e9 --rounds")
    debt = Campaign.of(opened.campaign("debt"))
    assert debt.reporter == sv.rounds("range", 2.0, largest=1e9).first
    assert not run("campaign create dusk --question direction --epsilon 2 --circle 24 --rounds")
    assert Campaign.of(opened.campaign("dusk")).rules.rounds.task == "direction"
