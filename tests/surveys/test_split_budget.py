"""Dividing ε: against formulas, brute force, and what the paper printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.designs.published_formulas import ogpm_density
from sottovoce.exact.rational_bounds import rational_epsilon

TOTAL = 1 + 2 * math.pi


@dataclass
class Formula:
    """A stand-in with an error in closed form."""

    error: float

    def worst_error(self, loss: object) -> float:
        return self.error


def squared(epsilon: float, width: float, p: float) -> Formula:
    """Worst squared error of OGPM with central density p, on [0, 1] or (width π) on the circle."""
    e = math.exp(epsilon)
    w = (e - p) / (p * (e - 1))
    return Formula(width**2 * (w**3 * (e - 1) + 1) * p / (3 * e))


def with_root(epsilon: float, width: float) -> Formula:
    return squared(epsilon, width, ogpm_density(epsilon, "l2"))


def with_theorem(epsilon: float, width: float) -> Formula:
    return squared(epsilon, width, math.exp(epsilon / 2))


@pytest.mark.parametrize(
    ("part", "shares", "total"),
    [(with_root, (1.5298, 5.7534), 0.29863), (with_theorem, (1.2985, 5.9846), 0.36507)],
    ids=["L2 root", "Theorem 3.7"],
)
def test_appendix_b6_corrected(part: object, shares: tuple[float, float], total: float) -> None:
    """FACTS 7: the printed division (1.32, 5.69) adds up to 7.01, not to 1 + 2π = 7.28."""
    s = sv.split_budget(TOTAL, [partial(part, width=1.0), partial(part, width=math.pi)])  # type: ignore[arg-type]
    assert s.total == pytest.approx(total, abs=1e-5)
    assert s.epsilons == pytest.approx(shares, abs=3e-3)  # the optimum is flat
    assert abs(1.32 + 5.69 - TOTAL) > 0.2


def decaying(epsilon: float, a: float) -> Formula:
    return Formula(math.exp(-a * epsilon) + 0.01 / epsilon)


def cliff(epsilon: float, at: float, drop: float) -> Formula:
    return Formula(2 - drop / (1 + math.exp(-40 * (epsilon - at))))


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 9.0])
def test_against_brute_force(epsilon: float) -> None:
    powers, weights = [1.0, 0.3, 2.5], [1.0, 5.0, 0.2]
    parts = [
        partial(lambda epsilon, a: Formula(math.exp(-a * epsilon) + 0.01 / epsilon), a=a) for a in powers
    ]
    s = sv.split_budget(epsilon, parts, weights=weights)
    grid = epsilon * np.arange(1, 400) / 400
    one, two = np.meshgrid(grid, grid)
    three = epsilon - one - two
    with np.errstate(all="ignore"):
        errors = [
            w * (np.exp(-a * e) + 0.01 / e)
            for a, w, e in zip(powers, weights, (one, two, three), strict=True)
        ]
    brute = float(np.where(three > 1e-9, sum(errors), np.inf).min())
    assert s.total <= brute * (1 + 1e-4)


def test_a_minimum_that_is_not_local() -> None:
    """Errors that fall off a cliff: only one of two attributes can have its cliff."""
    s = sv.split_budget(1.2, [partial(cliff, at=0.9, drop=1.0), partial(cliff, at=0.7, drop=0.8)])
    assert s.total == pytest.approx(3.0, abs=0.02)
    assert s.epsilons[0] > 0.9


def test_shares_never_add_up_to_more() -> None:
    for epsilon in (0.1, 1.0, 7.3):
        for d in (2, 3, 7):
            s = sv.split_budget(epsilon, [partial(sv.ogpm, cells=64)] * d, "l1")
            assert sum((rational_epsilon(e) for e in s.epsilons), Fraction(0)) <= rational_epsilon(epsilon)
            assert s.total <= d * sv.ogpm(epsilon / d, cells=64).worst_error("l1") * (1 + 1e-6)


def test_the_curve_that_was_optimised() -> None:
    s = sv.split_budget(TOTAL, [partial(with_root, width=1.0), partial(with_root, width=math.pi)])
    x, total = s.curve(0)
    assert total.min() == pytest.approx(s.total, rel=1e-3)
    assert x[np.argmin(total)] == pytest.approx(s.epsilons[0], abs=0.1)
    ax = s.plot()
    assert "ε" in ax.get_xlabel()
    import matplotlib.pyplot as plt

    plt.close(ax.figure)


def test_losses_of_each_kind() -> None:
    parts = [partial(sv.pm, domain=(0, 1), cells=64), partial(sv.ogpm, cells=64)]
    s = sv.split_budget(2.0, parts, ["variance", lambda m: m.worst_error("l1")])
    assert s.errors[0] == pytest.approx(sv.pm(s.epsilons[0], (0, 1), cells=64).worst_variance())
    assert s.errors[1] == pytest.approx(sv.ogpm(s.epsilons[1], cells=64).worst_error("l1"))


def test_a_mechanism_that_is_there_several_times_is_computed_once() -> None:
    calls: list[float] = []

    def counted(epsilon: float) -> Formula:
        calls.append(epsilon)
        return decaying(epsilon, 1.0)

    same = sv.split_budget(2.0, [counted] * 4)
    assert len(calls) == len(set(calls))
    once = len(calls)
    calls.clear()
    apart = sv.split_budget(2.0, [partial(counted) for _ in range(4)])
    assert len(calls) > 2 * once
    assert apart.total == pytest.approx(same.total, rel=1e-6)


def test_bad_input() -> None:
    part = partial(sv.ogpm, cells=16)
    with pytest.raises(ValueError, match="mechanisms must not be empty"):
        sv.split_budget(1.0, [])
    with pytest.raises(TypeError, match="functions of epsilon"):
        sv.split_budget(1.0, [sv.ogpm(1.0)])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="too small to split into 3"):
        sv.split_budget(2e-6, [part] * 3)
    with pytest.raises(ValueError, match="weights must have one entry per mechanism, got 1 for 2"):
        sv.split_budget(1.0, [part] * 2, weights=[1.0])
    with pytest.raises(ValueError, match="weights must be positive"):
        sv.split_budget(1.0, [part] * 2, weights=[1.0, 0.0])
    with pytest.raises(ValueError, match="losses must have one entry per mechanism"):
        sv.split_budget(1.0, [part] * 2, ["l1"])
