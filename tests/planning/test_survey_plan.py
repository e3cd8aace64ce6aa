"""Plans of whole surveys: what `plan` says of each answer alone, of any reporter that can be an item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError
from sottovoce.planning.prediction import MIDDLES, reference_shapes
from sottovoce.planning.survey_plan import plan_survey
from sottovoce.planning.ways_to_ask import evenly_spread
from sottovoce.reporters.composites.survey import Survey

HOURS, CLOCK, PAY, WAYS = (0, 24), sv.Circle(24), sv.Interval(1, 1e4, "log"), ["car", "bike", "train"]
Z = 1.959964


def test_it_is_the_plan_of_each_alone() -> None:
    """The same number, with 95 % around it where `plan` gives the standard error."""
    one = {"x": HOURS, "pay": PAY, "start": CLOCK, "way": WAYS, "home": sv.Disc(5.0)}
    survey, n = sv.survey(2.0, one, "sample", k=1), 6000
    plan = plan_survey(survey, 5 * n)
    assert plan.problems == {}
    for name, question in (("x", "mean"), ("pay", "mean"), ("start", "direction")):
        item: Any = survey.items[name]
        alone = sv.plan(question, 2.0, n, item.domain, candidates=[item])
        halves = {option.mechanism.digest: option.half_width for option in alone.options}
        assert plan.within[name] == pytest.approx(halves[item.digest])
    assert plan.within["way"] == pytest.approx(Z * sv.plan("choice", 2.0, n, WAYS).best.error)
    assert plan.within["home"] == pytest.approx(Z * sv.plan("place", 2.0, n, sv.Disc(5.0)).best.error)
    assert plan_survey(survey, 20 * n).within["x"] == pytest.approx((plan.within["x"] or 0) / 2)
    assert plan_survey(survey, 5 * n, confidence=0.99).within["way"] == pytest.approx(
        (plan.within["way"] or 0) * 2.575829 / Z
    )
    both = {"a": HOURS, "b": (0, 1)}
    pair = plan_survey(sv.pair(2.0, both), n)
    assert pair.within["a and b"] == pytest.approx(Z * sv.plan("pair", 2.0, n, both).options[0].error)
    assert list(pair.within) == ["a", "b", "a and b"]
    group = plan_survey(sv.within(2.0, WAYS, HOURS), n)
    assert group.within == {
        "number by group": pytest.approx(Z * sv.plan("group", 2.0, n, (WAYS, HOURS)).best.error)
    }
    several = plan_survey(sv.any_of(2.0, WAYS), n)
    assert several.within == dict.fromkeys(
        WAYS, pytest.approx(Z * sv.plan("choices", 2.0, n, WAYS).best.error)
    )


def test_it_is_what_intervals_become() -> None:
    """Halves of intervals, of people as they are assumed: within a tenth of what was said, forty times."""
    survey, n = sv.survey(2.0, {"x": HOURS, "start": CLOCK, "way": WAYS}, "sample", k=1), 30_000
    plan, seen, rng = plan_survey(survey, n), dict[str, list[float]](), np.random.default_rng(1)
    ask = {"x": sv.mean, "start": sv.circular_mean, "way": lambda t: sv.shares(t)["car"]}
    for k in range(40):
        line, circle = (reference_shapes(round_)[k % 2] for round_ in (False, True))
        people = {
            "x": 24 * rng.choice(MIDDLES, n, p=line), "start": 24 * rng.choice(MIDDLES, n, p=circle),
            "way": rng.choice(WAYS, n),
        }  # fmt: skip
        tally = sv.Tally(survey, survey.report(people, rng=rng))
        for name, estimate in ask.items():
            e: Any = estimate(tally[name])
            seen.setdefault(name, []).append((e.high - e.low) / 2)
    for name, halves in seen.items():
        assert np.mean(halves) == pytest.approx(plan.within[name], rel=0.1), name


def test_every_reporter_gives_a_number_or_a_reason() -> None:
    number = {"epsilon": 1.0, "domain": HOURS}
    items: dict[str, Any] = {
        "mixture": sv.design("distribution", **number), "rows": sv.design("quantile", **number, p=0.5),
        "one bit": sv.design("probability", **number, between=(6, 9)), "two cells": sv.duchi(**number),
        "value": sv.design("value", **number), "rating": sv.choice(1.0, [1, 2, 3]),
        "polar": sv.polar(1.0, design="unbiased"), "biased": sv.polar(1.0),
        "torus": sv.place(1.0, 2.0, edge="torus", points=8), "wide": sv.sw(1.0, (0, 1e200)),
    }  # fmt: skip
    plan = plan_survey(Survey(1.0, items, 1), 20_000)
    told = {name for name, within in plan.within.items() if within is not None}
    assert all((plan.within[name] or 0) > 0 for name in told)
    assert set(plan.problems) == set(items) - told == {"biased", "torus"}
    assert plan.problems["torus"] == "the error of heatmap is not predicted"
    assert 0 < (plan.within["one bit"] or 0) < 0.1  # a probability
    few = plan_survey(sv.pair(0.1, [HOURS, HOURS]), 1)
    assert few.within["x and y"] is None
    assert few.problems["x and y"]
    hopeless = plan_survey(sv.within(0.1, WAYS, PAY), 100)
    assert hopeless.problems == {"number by group": "100 people are too few to tell it"}
    with pytest.raises(ArgumentError, match="people"):
        plan_survey(sv.any_of(1.0, WAYS), 0)


def test_evenly_spread_are_those_of_people_who_are_anywhere() -> None:
    """Against the mean of many tallies: five standard errors."""
    survey, rng, n = sv.within(3.0, WAYS, HOURS), np.random.default_rng(2), 200_000
    people = {"group": rng.choice(WAYS, n), "number": rng.uniform(0, 24, n)}
    seen = sv.Tally(survey, survey.report(people, rng=3)).counts
    told = evenly_spread(survey, n).counts
    assert np.abs(seen - told).max() < 5 * np.sqrt(told.max())
