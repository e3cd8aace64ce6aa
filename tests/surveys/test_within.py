"""A number within private groups, any of several options, and counts that contradict a choice."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2

import sottovoce as sv
from sottovoce.designs.block_designs import signed_family
from sottovoce.designs.choice import least_total_variance
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, SpecError
from sottovoce.surveys.within import blocks_variance, signs_variance

WAYS = ["car", "bike", "train", "bus", "on foot"]


def people(n: int, seed: int) -> dict[str, Any]:
    """Groups of different sizes and means: 0.2 + 0.1·c on average."""
    rng = np.random.default_rng(seed)
    c = rng.choice(5, n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    return {"group": np.array(WAYS)[c], "number": 10 * (0.4 * rng.random(n) + 0.1 * c)}


@pytest.mark.parametrize("k", [2, 3, 5, 8, 12])
def test_signs_are_balanced(k: int) -> None:
    """Every block has one of x and x + k; over all cells every two options agree as often as they differ."""
    blocks, multipliers, ratio = signed_family(k)
    assert ratio == pytest.approx(1, abs=1e-9)
    sets = [sorted(x * h % (2 * k) for x in block) for block in blocks for h in multipliers]
    assert all(sorted(x % k for x in one) == list(range(k)) for one in sets)
    signs = np.array(
        [[1 if (s - x) % (2 * k) in one else -1 for x in range(k)] for one in sets for s in range(2 * k)]
    )
    assert np.array_equal(signs.T @ signs, len(signs) * np.eye(k))


@pytest.mark.parametrize(("epsilon", "levels", "most"), [(1.0, None, 0), (4.0, None, 5), (4.0, 6, 6)])
def test_means_shares_and_distributions(epsilon: float, levels: int | None, most: int) -> None:
    """Five standard errors: false alarms below 1e-5. All means together tell their groups apart."""
    w, values = sv.within(epsilon, WAYS, (0, 10), levels=levels), people(60_000, 1)
    assert len(w.items) == (2 if epsilon == 1 else 1)
    assert sv.from_json(w.to_json()) == w
    answer = sv.groups(sv.Tally(w, w.report(values, rng=2)))
    right = alike = 0.0
    for c, way in enumerate(WAYS):
        own = values["number"][values["group"] == way]
        group = answer[way]
        error = group.mean.error
        right += ((group.mean.value - own.mean()) / error) ** 2
        alike += ((values["number"].mean() - own.mean()) / error) ** 2  # the mutant: every group is like all
        assert abs(group.share.value - len(own) / 60_000) < 5 * group.share.error
        assert len(group.distribution) == most
        if levels == 6:
            assert group.levels == pytest.approx((0, 2, 4, 6, 8, 10))
            assert np.dot(group.levels, group.distribution) == pytest.approx(2 + c, abs=0.7)
    assert right < chi2.isf(1e-6, len(WAYS)) < alike
    assert "mean within 'on foot': " in str(answer)


def test_a_private_group_costs_less_than_six_times_a_public_one() -> None:
    """FACTS 16: ε = 1, five groups of equal size, an even spread; the variance of 300 means within 30 %."""
    public = 5 * (4 * sv.optimal(1.0).worst_variance() + 1 / 3)
    assert signs_variance(1.0, 5) < 6 * public
    assert blocks_variance(1.0, 5, 2) > 6 * public  # what one choice of groups and levels would cost
    w, errors = sv.within(1.0, WAYS, (-1, 1)), []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values = {"group": rng.choice(WAYS, 20_000), "number": rng.uniform(-1, 1, 20_000)}
        answer = sv.groups(sv.Tally(w, w.report(values, rng=seed)))
        errors += [answer[way].mean.value for way in WAYS]
    assert 0.7 < 20_000 * np.var(errors) / signs_variance(1.0, 5) < 1.3


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_geometric_means_within_groups(epsilon: float) -> None:
    """On a log scale: of 200 intervals of each group at most as many miss as 5 % do once in 10⁶ cases.

    The mutant looks for the usual mean, which is twice as large.
    """
    w, n, truth = sv.within(epsilon, WAYS[:2], sv.Interval(1, 10_000, "log")), 10_000, (50.0, 400.0)
    assert sv.from_json(w.to_json()) == w
    missed, usual = np.zeros(2), 0
    for seed in range(200):
        rng = np.random.default_rng([seed, round(epsilon)])
        c = rng.integers(0, 2, n)
        pay = np.clip(np.exp(rng.normal(np.log(truth)[c], 1.2)), 1, 10_000)
        answer = sv.groups(sv.Tally(w, w.report({"group": np.array(WAYS)[c], "number": pay}, rng=rng)))
        for k, mean in enumerate(group.mean for group in answer.values()):
            centre = np.exp(np.log(pay[c == k]).mean())
            missed[k] += not mean.low <= centre <= mean.high
        usual += not mean.low <= pay[c == 1].mean() <= mean.high
    assert (missed <= binom.isf(1e-6, 200, 0.05)).all()
    assert usual > 100 or epsilon < 4
    assert np.isnan(mean.error)
    assert mean.what == "geometric mean within 'bike'"
    assert "geometric mean within 'car': " in str(answer)


def test_levels_are_even_along_the_logarithm() -> None:
    w = sv.within(6.0, ["a", "b"], sv.Interval(1, 10_000, "log"), levels=5)
    people = {"group": ["a"] * 20_000, "number": [100.0] * 20_000}
    group = sv.groups(sv.Tally(w, w.report(people, rng=1)))["a"]
    assert group.levels == pytest.approx((1, 10, 100, 1000, 10_000))
    assert group.distribution[2] > 0.9
    assert group.mean.low < 100 < group.mean.high < 110


def test_what_is_refused_within_groups() -> None:
    with pytest.raises(ArgumentError, match="domain must be an interval"):
        sv.within(1.0, WAYS, sv.Circle(24))
    with pytest.raises(ArgumentTypeError, match="options must be a list of options, got int"):
        sv.within(1.0, 3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="at most 1000, got 5 times 201"):
        sv.within(1.0, WAYS, levels=201)
    w = sv.within(1.0, WAYS)
    with pytest.raises(DataError, match="1 of 2 values of 'group' are outside") as refusal:
        w.report({"group": ["car", "boat"], "number": [0.5, 0.5]})
    assert "boat" not in str(refusal.value)
    assert w.report({"group": [None, "car"], "number": [0.5, np.nan]}, missing="uniform").shape == (2, 1)
    with pytest.raises(DataError, match="not of a number within groups"):
        sv.groups(sv.Tally(sv.choice(1.0, WAYS), [0, 1]))
    content = json.loads(w.to_json())
    content["inputs"][0]["options"] = WAYS[:4]
    with pytest.raises(SpecError, match="does not fit"):
        sv.from_json(json.dumps(content))


@pytest.mark.parametrize(("epsilon", "sampled"), [(1.0, 1), (4.0, 2)])
def test_any_of_several_options(epsilon: float, sampled: int) -> None:
    """Split or lot by exact variances: those that were considered are no better. Five standard errors."""
    m = sv.any_of(epsilon, WAYS)
    assert m.sampled == sampled
    assert m.considered[sampled] == min(m.considered.values())
    rng = np.random.default_rng(1)
    truth = dict(zip(WAYS, (0.7, 0.4, 0.2, 0.1, 0.0), strict=True))
    values = {way: (rng.random(40_000) < share).astype(int) for way, share in truth.items()}
    answer = sv.shares(sv.Tally(m, m.report(values, rng=2)))
    assert list(answer) == WAYS
    for way, share in truth.items():
        assert abs(answer[way].value - share) < 5 * answer[way].error
        assert answer.simultaneous[way].high >= answer[way].high
    with pytest.raises(ArgumentError, match="twice"):
        sv.any_of(1.0, ["car", " Car"])


@pytest.mark.parametrize("options", [["yes", "no"], WAYS, [f"option {i}" for i in range(60)]], ids=len)
def test_counts_that_no_truth_explains(options: list[str]) -> None:
    m = sv.choice(1.0, options)
    honest = sv.Tally(m, m.report(np.random.default_rng(1).choice(options, 5000), rng=2))
    assert sv.honesty(honest).consistent
    assert sv.honesty(sv.Tally(m, m.report([options[0]] * 5000, rng=2))).consistent
    made_up = sv.honesty(sv.Tally(m, np.zeros(5000, dtype=int)))
    assert made_up.alarm
    assert made_up.fakes > 0.1
    assert made_up.cells is not None
    assert made_up.cells[0] == 0


def test_the_limit_that_no_family_passes() -> None:
    """Ratios of the design to the proven limit, at one ε; the table of all is a benchmark."""
    for k in (2, 5, 20, 33):
        m = sv.choice(1.0, range(k))
        d = len(m.blocks[0])
        growth = np.expm1(1.0)
        power = (np.abs(np.fft.fft(m.indicator, axis=1)[:, 1:]) ** 2).sum(axis=0)
        ratio = power.mean() * (1 / power).mean()
        cost = (k - 1) ** 2 * (d * growth + k) ** 2 / (k * growth**2 * d * (k - d)) * ratio
        assert 1 - 1e-9 <= cost / least_total_variance(1.0, k) <= 1.001
