"""ε by enumeration: the exact law of each sampler in rationals, and every ratio between neighbours.

e^−unit is replaced by a rational number, so that the bound e^ε is rational too and the comparison exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from sottovoce.central.noise.discrete_laplace import SumAndCount, Transformed, discrete_laplace
from sottovoce.central.noise.hourglass import Hourglass
from sottovoce.central.noise.integer_staircase import Staircase, level
from sottovoce.central.noise.plane_staircase import Staircase2D
from tests.central.enumeration import largest_ratio, law_of

LONGEST = 4


@dataclass(frozen=True)
class Case:
    """A mechanism with ε = 1, and the part of its outputs that no cut-off touches."""

    noise: Any
    unit: F  # the rate whose e^−unit becomes `base`
    base: F
    shifts: tuple[tuple[int, ...], ...]
    inside: Callable[[tuple[int, ...]], bool]
    longest: int = LONGEST

    @property
    def bound(self) -> F:
        """e^ε."""
        return (1 / self.base) ** int(1 / self.unit)

    def law(self, sample: Any = None) -> dict[tuple[int, ...], F]:
        return law_of(sample or self.noise.draw, self.base, self.unit, self.longest)

    def ratio(self, sample: Any = None) -> Any:
        return largest_ratio(self.law(sample), list(self.shifts), self.inside)


def one_person(steps: int) -> tuple[tuple[int, int], ...]:
    """What one person at position j adds to (Σ j, n·M)."""
    return tuple((j, steps) for j in range(steps + 1))


def hourglass(steps: int, inner: int, base: F) -> Case:
    def inside(z: tuple[int, ...]) -> bool:
        at = level(z[0], steps, inner)
        return z[1] % steps == 0 and abs(at) <= LONGEST and abs(z[1] // steps - at) <= LONGEST

    return Case(Hourglass(Staircase(F(1), steps, inner)), F(1), base, one_person(steps), inside)


def staircase2d(steps: int, inner: int, base: F) -> Case:
    noise = Staircase2D(F(1), steps, inner)
    return Case(noise, F(1), base, one_person(steps), lambda z: noise.exponent(*z) <= 3, 3)


def transformed(steps: int, base: F) -> Case:
    def inside(z: tuple[int, ...]) -> bool:
        return max(abs(z[0]), abs(z[1] - z[0])) <= 3 * steps

    longest = 3 * steps + 1
    return Case(Transformed(F(1), steps), F(1, steps), base, one_person(steps), inside, longest)


def sum_and_count(steps: int, origin: int, base: F) -> Case:
    noise = SumAndCount(F(1), steps, origin)

    def inside(z: tuple[int, ...]) -> bool:
        people = z[1] // steps
        return z[1] % steps == 0 and max(abs(z[0] + origin * people), abs(people)) <= 3 * noise.reach

    unit = F(1, 2 * noise.reach)
    return Case(noise, unit, base, one_person(steps), inside, 3 * noise.reach + 1)


def swap(steps: int, inner: int, base: F) -> Case:
    def inside(z: tuple[int, ...]) -> bool:
        return abs(level(z[0], steps, inner)) <= LONGEST

    shifts = tuple((j,) for j in range(steps + 1))
    noise = Staircase(F(1), steps, inner)
    return Case(OneNumber(noise), F(1), base, shifts, inside)


@dataclass(frozen=True)
class OneNumber:
    """Only the released number of a staircase; its level stays inside."""

    noise: Staircase

    def draw(self, count: int, draws: Any) -> Any:
        return self.noise.draw(count, draws)[:1]

    def exponent(self, z: int) -> int:
        return self.noise.exponent(z)


CASES = {
    **{
        f"hourglass {m} {g} {b}": hourglass(m, g, F(b))
        for m, g, b in [
            (1, 1, "1/3"),
            (4, 1, "1/3"),
            (4, 2, "2/5"),
            (4, 3, "1/3"),
            (4, 4, "1/2"),
            (5, 2, "9/10"),
        ]
    },
    **{
        f"staircase2d {m} {g}": staircase2d(m, g, F(1, 3))
        for m, g in [(1, 1), (3, 1), (3, 2), (2, 2), (3, 3)]
    },
    **{f"transformed {m}": transformed(m, F(2, 3)) for m in (1, 2, 4)},
    **{f"sum and count {m} {c}": sum_and_count(m, c, F(2, 3)) for m, c in [(2, 0), (2, 1), (3, -1), (4, -2)]},
    **{f"swap {m} {g}": swap(m, g, F(1, 3)) for m, g in [(1, 1), (5, 1), (5, 2), (5, 5)]},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_neighbouring_ratio_is_at_most_e_to_epsilon(case: Case) -> None:
    assert case.ratio() == case.bound  # at most, and no noise is wasted either


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_sampler_has_the_stated_law(case: Case) -> None:
    """P(z) = c·e^(−ε·exponent(z)), with the same c everywhere, and zero exactly where stated."""
    law = {z: p for z, p in case.law().items() if case.inside(z)}
    per_epsilon = int(1 / case.unit)
    constants = {p / case.base ** int(case.noise.exponent(*z) * per_epsilon) for z, p in law.items()}
    assert len(constants) == 1
    edge = max(abs(a) for z in law for a in z)
    if len(next(iter(law))) == 2:
        box = [(a, b) for a in range(-edge, edge + 1) for b in range(-edge, edge + 1)]
        expected = {z for z in box if case.noise.exponent(*z) is not None and case.inside(z)}
        assert expected == set(law)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_exponents_of_neighbours_differ_by_at_most_one(case: Case) -> None:
    """The same on a far larger box, where P ∝ e^(−ε·exponent): exact for the true, irrational e^ε."""
    edge = 30
    for shift in case.shifts:
        for z in np.ndindex(*(2 * edge + 1,) * len(shift)):
            here = tuple(a - edge for a in z)
            there = tuple(a + s for a, s in zip(here, shift, strict=True))
            before, after = case.noise.exponent(*here), case.noise.exponent(*there)
            assert (before is None) == (after is None)
            assert before is None or abs(before - after) <= 1


def test_every_gamma_on_every_small_grid() -> None:
    """Rounding γ to the grid cannot loosen ε: all g, all shifts, all M up to 6."""
    for steps in range(1, 7):
        for inner in range(1, steps + 1):
            hour, square = Hourglass(Staircase(F(1), steps, inner)), Staircase2D(F(1), steps, inner)
            for z in range(-3 * steps, 3 * steps + 1):
                for k in range(-4, 5):
                    here, there = hour.exponent(z, k * steps), square.exponent(z, k * steps)
                    for j in range(steps + 1):
                        moved = (z + j, (k + 1) * steps)
                        assert abs(hour.exponent(*moved) - here) == 1
                        assert abs(square.exponent(*moved) - there) <= 1


def test_marginal_of_the_hourglass_is_the_staircase() -> None:
    """Lemma 3 on the grid: P(z), summed over k, falls by b per level and is even."""
    noise, b = Staircase(F(1), 4, 2), F(1, 3)
    law = law_of(Hourglass(noise).draw, b, F(1), 6)
    marginal: dict[int, F] = {}
    for (z, _), p in law.items():
        marginal[z] = marginal.get(z, F(0)) + p
    for z, p in marginal.items():
        if noise.exponent(z) <= 6:
            assert p == marginal[0] * b ** noise.exponent(z)


# Mutants: each is a plausible slip, and each must break the bound.


@dataclass(frozen=True)
class UnroundedGamma(Staircase):
    """The weight of the central step from γ·M = g + 0.4, its points from g."""

    def weights(self, b: F) -> tuple[F, F]:
        return (2 * (self.inner + F(2, 5)) - 1) * (1 - b), 2 * self.steps * b


@dataclass(frozen=True)
class DoubleZero(Staircase):
    """A sign and a size: zero is reached twice and its weight not halved."""

    def draw(self, count: int, draws: Any, dtype: Any = np.int64) -> Any:
        outside = draws.choose(self.weights, self.epsilon, count)
        sign = 1 - 2 * draws.below(2, count)
        inside = draws.below(self.inner, count)
        distance = (1 + draws.geometric(self.epsilon, count)) * outside
        within = self.inner + draws.below(self.steps, count)
        return sign * np.where(outside == 1, (distance - 1) * self.steps + within, inside), sign * distance


def ceiling(count: int, draws: Any) -> Any:
    """Lemma 4 as printed: the mode at ⌈x + 1 − γ⌉."""
    noise = Staircase(F(1), 4, 2)
    z, _ = noise.draw(count, draws)
    at = np.where(z >= 0, -((-z - 2) // 4), ((z - 2) // 4))
    return z, (at + discrete_laplace(F(1), count, draws)) * 4


def sign_times_geometric(rate: F, count: int, draws: Any) -> Any:
    """Laplace noise as a sign times a geometric number: zero is too likely by a factor of two."""
    return (1 - 2 * draws.below(2, count)) * draws.geometric(rate, count)


def doubled_laplace(count: int, draws: Any) -> Any:
    first = sign_times_geometric(F(1, 4), count, draws)
    return first, first + sign_times_geometric(F(1, 4), count, draws)


@dataclass(frozen=True)
class HeavyCentre(Staircase2D):
    """The centre point counted in each of the four quadrants."""

    def weights(self, b: F) -> tuple[F, ...]:
        centre, *rest = super().weights(b)
        return 4 * centre, *rest


@dataclass(frozen=True)
class ShortReach(SumAndCount):
    """The sensitivity of the sum taken at the wrong end of the domain."""

    @property
    def reach(self) -> int:
        return min(abs(self.origin), abs(self.origin + self.steps))


MUTANTS = {
    "ceiling for floor in Lemma 4": (hourglass(4, 2, F(2, 5)), ceiling),
    "gamma not rounded": (hourglass(4, 2, F(2, 5)), Hourglass(UnroundedGamma(F(1), 4, 2)).draw),
    "half-weight of zero missing": (hourglass(4, 2, F(2, 5)), Hourglass(DoubleZero(F(1), 4, 2)).draw),
    "staircase, gamma not rounded": (swap(5, 2, F(1, 3)), OneNumber(UnroundedGamma(F(1), 5, 2)).draw),
    "staircase, half-weight missing": (swap(5, 2, F(1, 3)), OneNumber(DoubleZero(F(1), 5, 2)).draw),
    "centre counted four times": (staircase2d(3, 2, F(1, 3)), HeavyCentre(F(1), 3, 2).draw),
    "zero reached by both signs": (transformed(4, F(2, 3)), doubled_laplace),
    "scale of a shorter range": (transformed(4, F(2, 3)), Transformed(F(1), 2).draw),
    "nearer end taken for the farther": (sum_and_count(3, -1, F(2, 3)), ShortReach(F(1), 3, -1).draw),
}


@pytest.mark.parametrize(("case", "sample"), MUTANTS.values(), ids=MUTANTS)
def test_mutants_break_the_bound(case: Case, sample: Any) -> None:
    assert case.ratio(sample) > case.bound
