"""Sums of losses on a lattice: both bounds against all outcomes in fractions, and what the FFT gets wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from sottovoce.reporters.law.blanket import opposed
from sottovoce.shuffling import convolution
from sottovoce.shuffling.convolution import Bounds, convolve, divergence
from sottovoce.shuffling.input_pair import Contrast, merge_kinds


def contrast(seed: int) -> Contrast:
    """Some kinds of reports whose masses are exact in binary, and a part that says nothing."""
    rng = np.random.default_rng([seed, 4])
    mass = rng.multinomial(200, rng.dirichlet(np.ones(4))) / 256 + 2.0**-6
    return Contrast(mass, rng.lognormal(0, 1, 4), rng.lognormal(0, 1, 4))


def exact(c: Contrast, people: int, epsilon: float) -> Fraction:
    """E[(L₁ + … + L_n)₊]/n over all multisets of kinds."""
    theta = Fraction(math.exp(epsilon))
    losses = [Fraction(f) - theta * Fraction(s) for f, s in zip(c.first, c.second, strict=True)] + [
        Fraction(0)
    ]
    mass = [Fraction(m) for m in c.mass]
    mass.append(1 - sum(mass))
    total = Fraction(0)
    for kinds in combinations_with_replacement(range(len(mass)), people):
        s = sum((losses[k] for k in kinds), Fraction(0))
        if s > 0:
            ways = math.factorial(people)
            for k in set(kinds):
                ways //= math.factorial(kinds.count(k))
            total += ways * math.prod((mass[k] for k in kinds), start=Fraction(1)) * s
    return total / people


CASES = [
    (seed, people, epsilon)
    for seed in range(8)
    for people, epsilon in ((1, 0.0), (3, 0.4), (8, 1.0), (8, 2.0))
]


@pytest.mark.parametrize(("seed", "people", "epsilon"), CASES)
def test_bounds_hold_and_are_close(seed: int, people: int, epsilon: float) -> None:
    c = contrast(seed)
    low, high = divergence(c, people, epsilon)
    truth = exact(c, people, epsilon)
    assert low <= truth <= high
    assert high - float(truth) <= 1e-3 * high
    assert float(truth) - low <= 0.05 * high


def spoiled(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mutant == "no penalty":
        monkeypatch.setattr(convolution, "_bounds", _without_penalty)
    elif mutant == "rounded down":
        monkeypatch.setattr(convolution._Person, "lattice", _rounded_down)
    elif mutant == "one loss too few":
        monkeypatch.setattr(convolution._Lattice, "self_convolve", lambda law, whole: law)


def _without_penalty(
    law: convolution._Lattice, person: convolution._Person, people: int, shift: float
) -> Bounds:
    s = (law.first + np.arange(law.weights.size)) * law.step
    value = (
        float(law.weights @ (np.exp(-law.tilt * s) * np.maximum(s, 0)))
        * math.exp(people * person.norm)
        / people
    )
    return Bounds(value, value)


def _rounded_down(person: convolution._Person, step: float) -> convolution._Lattice:
    place = np.floor(person.losses / step).astype(int)
    weights = np.bincount(
        place - place.min(), person.mass * np.exp(person.tilt * (place * step - person.losses))
    )
    return convolution._Lattice(int(place.min()), weights, step, person.tilt, person.unit, 1, 1e-30, 0.0)


@pytest.mark.parametrize("mutant", ["no penalty", "rounded down", "one loss too few"])
def test_mutants_break_a_bound(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spoiled(mutant, monkeypatch)
    kept = 0
    for seed, people, epsilon in CASES:
        low, high = divergence(contrast(seed), people, epsilon)
        kept += low <= exact(contrast(seed), people, epsilon) <= high
    assert kept < len(CASES)


def test_both_bounds_meet_for_many_people() -> None:
    c = Contrast(*opposed(np.array([0.5, 0.05]), np.array([1.0, 10.0])))
    for people in (10**3, 10**5, 10**7, 10**8 + 12345):
        low, high = divergence(c, people, 5 * c.distance() / math.sqrt(people))
        assert 0 < low < high < 1.02 * low


def test_trinomial_sums() -> None:
    """Against sums of binomial tails at 1,000 people, for OGPM at ε = 2 (a program of its own)."""
    from scipy.stats import binom

    q, gamma, people, epsilon = math.exp(2), math.exp(-1), 1000, 0.357
    share, theta = (1 - gamma) / (gamma * (q - 1)), math.exp(epsilon)
    total = 0.0
    for m in range(people + 1):
        outer = np.arange(m + 1)
        level = (theta * outer + m * (theta - 1) / (q - 1)) / (1 + theta)
        tail = np.floor(level)
        mean = outer / 2 * binom.sf(tail - 1, np.maximum(outer - 1, 0), 0.5) - level * binom.sf(
            tail, outer, 0.5
        )
        total += binom.pmf(m, people, gamma) * float(binom.pmf(outer, m, 2 * share) @ mean)
    truth = total * (q - 1) * (1 + theta) / people
    window = Contrast(*opposed(np.array([gamma * (1 - share), gamma * share]), np.array([1.0, q])))
    low, high = divergence(window, people, epsilon)
    assert truth * (1 - 2e-3) < low < truth < high < truth * (1 + 2e-4)


@pytest.mark.parametrize("size", [1000, 5000, 30000])
def test_the_error_of_the_fft_is_within_its_bound(size: int) -> None:
    rng = np.random.default_rng(size)
    a, b = rng.random(size) ** 8, rng.random(size) ** 8
    a, b = a / a.sum(), b / b.sum()
    fast, bound = convolve(a, b)
    chosen = rng.integers(0, 2 * size - 1, 200)
    slow = [
        math.fsum(a[max(0, k - size + 1) : k + 1] * b[max(0, k - size + 1) : k + 1][::-1]) for k in chosen
    ]
    error = np.abs(fast[chosen] - slow).mean() * (2 * size - 1)
    assert error < bound < 1e-9
    assert np.abs(fast * (1 + 1e-9) - fast).sum() > bound  # a bound that would accept anything is none


@pytest.mark.parametrize("outward", [True, False])
def test_gathering_keeps_the_side(outward: bool) -> None:
    """Many kinds become few: spread out for an upper bound, merged for a lower one."""
    rng = np.random.default_rng(3)
    many = Contrast(np.full(20_000, 1 / 20_000), rng.lognormal(0, 0.5, 20_000), rng.lognormal(0, 0.5, 20_000))
    few = merge_kinds(many, outward=outward)
    assert few.mass.size <= 4096
    for level in np.linspace(-3, 3, 13):
        before = many.mass @ np.maximum(many.first - many.second - level, 0)
        after = few.mass @ np.maximum(few.first - few.second - level, 0)
        assert (after >= before - 1e-12) if outward else (after <= before + 1e-12)
    assert abs(few.mass @ few.first - many.mass @ many.first) < 1e-9


def test_opposed_inputs_are_above_every_pairing() -> None:
    """In the convex order: stop-loss premiums of any pairing lie below."""
    rng = np.random.default_rng(11)
    ratio = rng.lognormal(0, 1, 12)
    above = Contrast(*opposed(np.full(12, 1 / 12), ratio))
    assert abs(above.mass @ above.first - ratio.mean()) < 1e-12
    for _ in range(50):
        other = rng.permutation(ratio)
        for level in np.linspace(-5, 5, 11):
            most = above.mass @ np.maximum(above.first - above.second - level, 0)
            assert np.maximum(ratio - other - level, 0).mean() <= most + 1e-12
