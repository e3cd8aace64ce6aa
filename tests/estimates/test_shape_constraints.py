"""Declared shapes: limits hold for members, are narrower, are printed, and refused where they are false."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DataError
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.limits.envelope import Envelope, Nodes, Target
from sottovoce.estimates.limits.shape_constraints import Shape

M = sv.sw(1.0, cells=4096)
NODES = Nodes(Binned.empty(M, M.bins(40)))
X = (np.arange(4000) + 0.5) / 4000
LAW = M.table(X, NODES.binned.first)


def hours(n: int, rng: int) -> sv.Tally:
    x = np.random.default_rng(rng).gamma(9, 0.9 / 24, n).clip(0, 1)
    return sv.Tally(M, M.report(x, rng=rng + 1000))


def members(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, Shape]:
    """A random density of a class, on the points of X, and the class."""
    if kind == "unimodal":
        mode, width = rng.random(), rng.uniform(0.02, 0.4, 2)
        f = np.exp(-np.abs(X - mode) / np.where(mode > X, *width))
        cell = next(c for c in Shape("", unimodal=True).cells() if c.mode and c.mode[0] <= mode <= c.mode[1])
        return f / f.sum(), cell
    f = 1 + sum(rng.uniform(-0.3, 0.3) * np.cos(np.pi * k * X + rng.random()) for k in range(1, 4))
    if kind == "density":
        return f / f.sum(), Shape("", density=float((f / f.mean()).max()))
    return f / f.sum(), Shape("", steepness=float(np.abs(np.diff(f / f.mean())).max() * len(X)))


@pytest.mark.parametrize("kind", ["unimodal", "density", "steepness"])
def test_weights_hold_for_members_and_not_for_everybody(kind: str) -> None:
    rng, pilot = np.random.default_rng(5), LAW.mean(axis=0)
    worst = np.inf
    for _ in range(8):
        f, shape = members(kind, rng)
        target = Target.up_to(rng.uniform(0.2, 0.8))
        for side in (1, -1):
            h = LAW @ Envelope(NODES, pilot, 20_000, shape).weights(target, side, 2.0)
            assert side * float(f @ (h - target.at(X))) > -1e-6  # the points of X are a sum for an integral
            worst = min(worst, float((side * (h - target.at(X))).min()))
    assert worst < -0.05  # somebody alone, who is no member, is not bounded


def test_even_spreads_between_nodes_are_bounded_by_the_rows() -> None:
    t = np.sort(np.random.default_rng(1).random(9))
    t[0], t[-1] = 0.0, 1.0
    shape = Shape("", unimodal=True, mode=(float(t[4]), float(t[5])))
    for seed in range(20):
        values = np.random.default_rng(seed).normal(size=9)
        rows = shape.extremes(t, values, 1e-9)
        for a in (0.003, 0.2, float(t[4]) - 0.01):
            x = a + (t[4] - a) * (np.arange(2000) + 0.5) / 2000
            assert rows.min() - 1e-3 < np.interp(x, t, values).mean() < rows.max() + 1e-3


def test_a_declaration_narrows_and_is_printed() -> None:
    tally = hours(20_000, 3)
    plain, shaped = sv.quantile(tally, 0.9), sv.quantile(tally, 0.9, shape="unimodal")
    assert shaped.high - shaped.low < 0.8 * (plain.high - plain.low)
    assert "made before looking at the reports: unimodal" in str(shaped)
    assert shaped.method == "declared"
    assert shaped.bound is None
    share = sv.probability(tally, 0.0, 0.4, steepness=60.0)
    plain = sv.probability(tally, 0.0, 0.4)
    assert share.high - share.low < 0.9 * (plain.high - plain.low)
    assert "steepness at most 60" in str(share)
    mean = sv.mean(tally, density=8.0)
    assert mean.low < 8.1 / 24 < mean.high


def test_a_false_declaration_is_refused() -> None:
    rng = np.random.default_rng(4)
    x = np.where(rng.random(100_000) < 0.4, rng.beta(20, 60, 100_000), rng.beta(60, 20, 100_000))
    peaks = sv.Tally(M, M.report(x, rng=5))
    questions: list[Callable[..., object]] = [sv.mean, partial(sv.quantile, p=0.5)]
    for question in (*questions, partial(sv.probability, low=0, high=0.5)):
        with pytest.raises(DataError, match=r"contradict the declaration \(unimodal\)") as error:
            question(peaks, shape="unimodal")
        assert error.value.code == "shape"
    with pytest.raises(DataError, match=r"density at most 1\.5"):
        sv.mean(hours(20_000, 6), density=1.5)
    with pytest.raises(DataError, match="steepness at most 1"):
        sv.mean(hours(20_000, 6), steepness=1.0)


@pytest.mark.parametrize(
    ("declared", "sentence"),
    [
        ({"shape": "normal"}, "shape must be"),
        ({"shape": "unimodal", "density": 3.0}, "declare one of"),
        ({"density": 1.0}, "density must exceed 1, that of an even spread, got density=1.0"),
        ({"steepness": 0.0}, "steepness must exceed 0, got steepness=0.0"),
        ({"shape": "unimodal", "estimand": "respondents"}, "declared of the population"),
        ({"shape": "unimodal", "fakes": 3}, "without fakes"),
    ],
)
def test_what_cannot_be_declared(declared: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        sv.mean(hours(100, 1), **declared)


def test_a_scale_of_logarithms_has_shapes_and_no_densities() -> None:
    m = sv.sw(2.0, sv.Interval(1, 1000, scale="log"))
    tally = sv.Tally(m, m.report(np.random.default_rng(1).lognormal(3, 0.5, 5000).clip(1, 1000), rng=2))
    assert sv.quantile(tally, 0.5, shape="unimodal").high < 100
    with pytest.raises(ValueError, match="not defined on a log scale"):
        sv.quantile(tally, 0.5, density=3.0)


def test_shapes_on_a_circle() -> None:
    m, rng = sv.design("direction", 2.0, sv.Circle(24)), np.random.default_rng(1)
    tally = sv.Tally(m, m.report(rng.normal(23, 3, 20_000) % 24, rng=2))
    plain, shaped = sv.probability(tally, 20, 2), sv.probability(tally, 20, 2, steepness=0.04)
    assert shaped.low < 0.6826 < shaped.high  # within one standard deviation
    assert shaped.high - shaped.low < 0.8 * (plain.high - plain.low)
    apart = np.concatenate((rng.normal(4, 1, 20_000), rng.normal(16, 1, 20_000))) % 24
    with pytest.raises(DataError, match="contradict"):
        sv.probability(sv.Tally(m, m.report(apart, rng=3)), 20, 2, shape="unimodal")


@pytest.mark.parametrize(
    "declared", [{"density": 4.5}, {"density": 60.0}, {"steepness": 60.0}, {"shape": "unimodal"}]
)
def test_nobody_is_worse_off_for_a_declaration(declared: dict[str, Any]) -> None:
    """Limits are those without it unless it promises more, to the other half of the reports: 1.1 in a run."""
    flat = sv.Tally(M, M.report(np.random.default_rng(4).random(5_000), rng=9))
    asked: list[Callable[..., sv.Estimate]] = [
        partial(sv.quantile, hours(5_000, 8), 0.9),
        partial(sv.probability, hours(5_000, 8), 0.1, 0.4),
        partial(sv.mean, hours(5_000, 8)),
        partial(sv.mean, flat),
    ]
    ratios = [question(**declared).half_width / question().half_width for question in asked]
    assert max(ratios) < 1.1
    assert np.mean(ratios) < 1.01
