"""Plans of surveys: the error that simulations have, and which of one round and two to take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, ArgumentTypeError
from sottovoce.planning.ways_to_ask import evenly_spread

DOMAINS = {"a": (-4.0, 4.0), "b": (-4.0, 4.0)}


def test_the_error_that_reports_have() -> None:
    """Sixty tallies: their standard deviation is known to a tenth, so three tenths are a fault."""
    plan = sv.plan("pair", 2.0, 20_000, DOMAINS)
    assert plan.best.name == "one round"
    p = plan.best.design
    assert p == sv.pair(2.0, DOMAINS)
    values = []
    for seed in range(60):
        x = np.random.default_rng(seed).uniform(-4, 4, (2, 20_000))
        values.append(sv.correlation(sv.Tally(p, p.report({"a": x[0], "b": x[1]}, rng=seed))).value)
    assert 0.7 < np.std(values) / plan.best.error < 1.3
    assert not 0.7 < np.std(values) / sv.plan("pair", 1.0, 20_000, DOMAINS).best.error < 1.3  # of another ε


def test_two_rounds_where_the_domain_is_wide() -> None:
    """n = 10^5, ε = 1, a normal pair of ρ = 0.5 on ± 4σ: 0.043 was measured (benchmarks/pairs.py)."""
    x, y = np.random.default_rng(1).normal(size=(2, 3000))
    sample = np.clip(np.stack((x, 0.5 * x + 0.75**0.5 * y), axis=1), -4, 4)
    plan = sv.plan("pair", 1.0, 100_000, DOMAINS, sample=sample)
    assert plan.best.name == "two rounds"
    assert plan.best.error == pytest.approx(0.042, abs=0.004)
    assert "two rounds: correlation ± 0.04" in str(plan)
    assert [row["name"] for row in plan.rows] == ["two rounds", "one round"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1.0, 10_000, [(0, 1)] * 3), "two numbers"),
        ((1.0, 1, DOMAINS), "people must be at least 64"),
        ((1.0, 1000, {"a": (0, 1), "b": sv.Circle(24)}), "intervals"),
    ],
)
def test_what_is_no_plan(arguments: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        sv.plan("pair", *arguments)
    with pytest.raises(ArgumentError, match="two numbers for each person"):
        sv.plan("pair", 1.0, 1000, DOMAINS, sample=[1.0, 2.0])


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: sv.plan("group", domain=(0, 1)), "epsilon"),  # type: ignore[call-overload]
        (lambda: sv.plan("group", 1.0, 100, (0, 1)), "options"),  # type: ignore[call-overload]
        (lambda: sv.plan("group", 1.0, 100, (["a", "b"], 3)), "domain"),  # type: ignore[call-overload]
        (lambda: sv.plan("choices", 1.0, 100, 3), "options"),  # type: ignore[call-overload]
        (lambda: sv.plan("choice", 1.0, 100, ["a", "b"], target=-1), "target"),  # type: ignore[call-overload]
        (lambda: sv.plan("choice", 1.0, 100, ["a", "b"], confidence=0.5), "confidence"),  # type: ignore[call-overload]
        (lambda: sv.plan("choice", 1.0, 100, ["a", "b"], candidates=[3]), "candidates"),  # type: ignore[call-overload]
        (lambda: sv.plan("pair", 1.0, 100, DOMAINS, sample="x"), "sample"),
        (lambda: sv.pair_rounds(1.0, DOMAINS, first="x"), "first"),  # type: ignore[arg-type]
        (lambda: sv.Rows.of(1.0, [[0.5, 0.5]] * 2, sv.Options(("a", "b"))), "domain"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_errors_with_an_argument(make: Any, argument: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as refusal:
        make()
    assert refusal.value.argument == argument


def test_groups_and_several_choices() -> None:
    """Forty tallies with a few options each: standard deviations are known to a tenth or better."""
    rng = np.random.default_rng(3)
    plan = sv.plan("group", 1.0, 50_000, (["car", "bike", "train"], (0, 3)))
    w = plan.best.design
    assert w == sv.design("group", 1.0, (["car", "bike", "train"], (0, 3)))
    means, shares = [], []
    for seed in range(40):
        people = {"group": rng.choice(["car", "bike", "train"], 50_000), "number": rng.uniform(0, 3, 50_000)}
        answer = sv.groups(sv.Tally(w, w.report(people, rng=seed)))
        means += [group.mean.value - 1.5 for group in answer.values()]
    assert 0.75 < np.sqrt(np.mean(np.square(means))) / plan.best.error < 1.25
    several = sv.plan("choices", 2.0, 2_000, ["news", "games", "music"])
    m = several.best.design
    for seed in range(40):
        people = {name: rng.integers(0, 2, 2_000) for name in ("news", "games", "music")}
        shares += [one.value - 0.5 for one in sv.shares(sv.Tally(m, m.report(people, rng=seed))).estimates]
    assert 0.75 < np.sqrt(np.mean(np.square(shares))) / several.best.error < 1.25
    assert "mean of a group ±" in str(plan)
    assert len(sv.plan("choices", 1.0, 10, [str(i) for i in range(256)]).options) == 1
    log = sv.plan("group", 4.0, 50_000, (["car", "bike"], sv.Interval(1, 1e4, "log"))).best
    wide = sv.groups(evenly_spread(log.design, 50_000))["car"].mean  # type: ignore[arg-type]
    assert log.error == pytest.approx(np.log(wide.high / wide.low) / 2 / 1.96, rel=1e-3)
    assert several.rows[0]["error of the share"] == several.best.error
