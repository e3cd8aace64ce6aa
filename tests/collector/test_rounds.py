"""Campaigns in rounds: published counts of the first decide the second, whose results are those of both."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.collector.service import Running, create
from tests.collector.test_results import estimates

import sottovoce as sv
from sottovoce.cli import main
from sottovoce.collector import campaigns, moments, open_store
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store.pool import KEEP

HOURS = np.random.default_rng(1).gamma(9, 0.9, 6000).clip(0, 24)


def closed(running: Running, name: str) -> sv.Tally:
    """A campaign that has ended, and what it has published."""
    campaign = campaigns.close(
        running.store, campaigns.Campaign.of(running.store.campaign(name)), moments.now()
    )
    running.store.settle(campaign.id, KEEP)
    counts = running.store.counts(campaign.id, campaign.reporter.cells)
    return sv.Tally.from_counts(campaign.reporter, counts)


@pytest.mark.parametrize("task", ["quantile", "mean"])
def test_public_counts_decide_the_second_round_and_both_answer(embedded: Running, task: str) -> None:
    rounds = {"task": task} | ({"p": 0.9} if task == "quantile" else {})
    plan = sv.rounds(task, 2.0, (0, 24), p=rounds.get("p"))
    first = embedded.create(plan.first, name=task, rounds=rounds)
    with pytest.raises(Refusal, match="close"):
        campaigns.follow(embedded.store, first, 4000)
    embedded.post(plan.first, plan.first.report(HOURS[:2000], rng=2).tolist(), name=task)
    published = closed(embedded, task)
    second = campaigns.follow(embedded.store, campaigns.Campaign.of(embedded.store.campaign(task)), 4000)
    expected = plan.second(published, 4000) if task == "quantile" else plan.second(published)
    assert second.reporter.digest == expected.digest
    assert sv.audit(second.reporter).epsilon <= 2.0
    assert (second.name, second.rules.rounds.number, second.rules.rounds.first) == (f"{task}-2", 2, task)
    shown = embedded.get(f"/campaigns/{task}-2").json()
    assert shown["rounds"]["number"] == 2
    embedded.writers[second.name] = embedded.token("write", second.id)
    cells = second.reporter.report(HOURS[2000:], rng=3).tolist()
    assert embedded.post(second.reporter, cells, name=second.name).status_code == 200
    content = estimates(embedded, second.name)
    both = plan.estimate(published, closed(embedded, second.name))
    answer = content["mean"] if task == "mean" else content["quantiles"][0]
    assert (answer["low"], answer["high"]) == (both.low, both.high)
    with pytest.raises(Refusal, match="no next round"):
        campaigns.follow(embedded.store, second, 10)


def test_rounds_that_are_none_are_refused(embedded: Running) -> None:
    m = sv.sw(2.0, (0, 24))
    for mechanism, rounds in (
        (m, {"task": "mean"}),  # not the plan's mechanism
        (m, {"task": "quantile"}),  # which quantile?
        (sv.design("quantile", 2.0, (0, 24), p=0.9), {"task": "quantile", "p": 0.9, "number": 2}),
        (sv.choice(1.0, ["a", "b"]), {"task": "mean"}),
    ):
        with pytest.raises(Refusal, match="rounds"):
            create(embedded.store, mechanism, name="none", rounds=rounds)


def test_commands_make_both_rounds(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path}/c.db"

    def run(line: str) -> object:
        monkeypatch.setattr(sys, "argv", ["sottovoce", *line.split(), "--store", store])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code

    assert not run("campaign create late --for quantile --p 0.9 --epsilon 2 --domain 0 24 --rounds")
    assert run("campaign next-round late --people 100")
    assert "close late first" in capsys.readouterr().err
    made = campaigns.Campaign.of(open_store(store).campaign("late"))
    assert made.rules.rounds is not None
    assert made.rules.rounds.p == 0.9
