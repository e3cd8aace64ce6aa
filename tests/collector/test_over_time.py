"""Days and groups on the dashboard: what the library says about them, and only what is public."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.collector.service import Running
from tests.collector.test_results import estimates, filled

import sottovoce as sv
from sottovoce.cli import main
from sottovoce.collector import open_store
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.results.results import View, results
from sottovoce.collector.store import schema


@pytest.fixture(scope="module")
def small() -> sv.Mechanism:
    return sv.optimal(epsilon=2.0, domain=(0, 24))


def test_days_are_the_librarys_trend(embedded: Running, small: sv.Mechanism) -> None:
    filled(embedded, small, "days", n=1000)
    store = embedded.store
    campaign = store.campaign("days").id
    with store.engine.begin() as connection:  # the first thousand were there three days ago
        for table in (schema.counts, schema.days):
            mine = table.update().where(table.c.campaign == campaign)
            connection.execute(mine.values(day=table.c.day - 3))
    assert estimates(embedded, "days")["days"] == []
    later = small.report(np.full(500, 12.0), rng=5).tolist()
    assert embedded.post(small, later, name="days").status_code == 200
    [content] = estimates(embedded, "days", confidence=0.9)["days"]
    tallies = {}
    for point, (day, n) in zip(content["points"], store.days(campaign), strict=True):
        tallies[point["day"]] = sv.Tally.from_pairs(
            small, zip(*(part.tolist() for part in store.day_counts(campaign, day)), strict=True)
        )
        assert point["n"] == n
    trend = sv.trend(tallies, confidence=0.9)
    assert [point["low"] for point in content["points"]] == [e.low for e in trend.points.values()]
    assert content["slope"]["low"] == trend.slope.low > 0


def test_groups_are_compared_if_they_are_public(embedded: Running, small: sv.Mechanism) -> None:
    means = {"north": 6.0, "south": 14.0, "hidden": 9.0, "small": 9.0}
    rules = {"hidden": {"results": "token"}, "small": {"min_n": 5000}}
    tallies = {}
    for k, (name, hours) in enumerate(means.items()):
        embedded.create(small, name=f"f-{name}", family="f", **rules.get(name, {}))
        cells = small.report(np.full(1500, hours), rng=k)
        assert embedded.post(small, cells.tolist(), name=f"f-{name}").status_code == 200
        tallies[f"f-{name}"] = sv.Tally.from_counts(
            small, embedded.store.counts(embedded.store.campaign(f"f-{name}").id, small.cells)
        )
    [series] = estimates(embedded, "f-north")["groups"]
    groups = series["points"]
    assert {group["campaign"] for group in groups} == {"f-north", "f-south"}
    expected = sv.compare({name: tallies[name] for name in ("f-north", "f-south")}).rows
    assert [(g["campaign"], g["low"], g["first_rank"]) for g in groups] == [
        (row["group"], row["low"], row["first_rank"]) for row in expected
    ]
    assert groups[1]["first_rank"] == groups[1]["last_rank"] == 1
    filled(embedded, small, "alone")
    assert estimates(embedded, "alone")["groups"] == []


def test_days_and_groups_go_by_the_first_number_of_each_item() -> None:
    """Of a number its mean, of a choice each share, of a clock its direction without a slope."""
    rng, ways = np.random.default_rng(1), ["car", "bike", "bus"]
    survey = sv.survey(3.0, {"age": (0, 120), "way": ways, "start": sv.Circle(24)})
    days = {}
    for k in (1, 2, 3):
        people = {
            "age": rng.uniform(20, 60, 900),
            "way": rng.choice(ways, 900),
            "start": rng.normal(8, 1, 900),
        }
        days[f"2026-11-0{k}"] = sv.Tally(survey, survey.report(people, rng=k))
    content = results(sum(days.values()), View(quantiles=()), days, days)
    expected = ["age Mean", *(f"way Share of '{way}'" for way in ways), "start Mean time"]
    assert [f"{one['item']} {one['label']}" for one in content["days"]] == expected
    assert [[point["day"] for point in one["points"]] for one in content["days"]] == [list(days)] * 5
    assert [one["slope"] is None for one in content["days"]] == [False] * 4 + [True]
    of_bus = sv.trend(
        {day: part["way"] for day, part in days.items()}, "share", option="bus", confidence=1 - 0.05 / 3
    )
    assert content["days"][3]["slope"]["low"] == of_bus.slope.low
    assert [f"{one['item']} {one['label']}" for one in content["groups"]] == ["age Mean"]
    choices = {day: part["way"] for day, part in days.items()}
    groups = results(choices["2026-11-01"], View(), {}, choices)["groups"]
    assert [one["label"] for one in groups] == [f"Share of '{way}'" for way in ways]
    nobody = sv.Tally(survey, survey.report({"age": [], "way": [], "start": []}))
    assert (
        results(
            days["2026-11-01"],
            View(quantiles=()),
            {"2026-11-01": days["2026-11-01"], "2026-11-02": nobody},
            {},
        )["days"]
        == []
    )


def test_a_command_declares_groups(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path}/c.db"
    line = f"campaign create commute --epsilon 1 --domain 0 120 --group north --group south --store {store}"
    monkeypatch.setattr(sys, "argv", ["sottovoce", *line.split()])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert "link /survey/commute-north" in capsys.readouterr().out
    made = [Campaign.of(stored) for stored in open_store(store).campaigns()]
    assert sorted((c.name, c.rules.family, c.rules.results) for c in made) == [
        ("commute-north", "commute", "public"),
        ("commute-south", "commute", "public"),
    ]
