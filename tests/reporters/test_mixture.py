"""A public coin between windows: exact law, exact ε, suspicious reading."""

from __future__ import annotations

import json
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy import stats

import sottovoce as sv
from sottovoce.designs.solver.integer_weights import uniform_window
from sottovoce.errors import DataError, SpecError
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.randomness.word_source import word_source
from sottovoce.reporters.sampling.coin import Coin
from sottovoce.values.interval import as_domain

DOMAINS = [(0, 1), (-3, 21), sv.Circle(24)]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_counts_are_the_exact_law(epsilon: float, domain: object) -> None:
    m = sv.two_scale(epsilon, domain, cells=64)
    x = np.linspace(m.domain.low, m.domain.high, 101)
    counts = m.counts(x)
    assert (counts.sum(axis=1) == m.total).all()
    worst = max(Fraction(int(column.max()), int(column.min())) for column in counts.T)
    assert worst <= m.largest_ratio <= exp_lower(epsilon)
    assert sv.audit(m).holds
    assert sv.audit(m).epsilon > epsilon - 1e-6
    operator = m.operator(x)
    assert operator.shape == (101, 128)
    np.testing.assert_allclose(operator.dense(), m.probabilities(x), atol=1e-15)
    w, f = np.random.default_rng(1).dirichlet(np.ones(101)), np.random.default_rng(2).normal(size=128)
    np.testing.assert_allclose(operator.mix(w), w @ operator.dense(), atol=1e-14)
    np.testing.assert_allclose(operator.expect(f), operator.dense() @ f, atol=1e-13)


@pytest.mark.parametrize("domain", DOMAINS)
def test_windows_have_the_designs_widths(domain: object) -> None:
    m = sv.two_scale(2.0, domain)
    reaches = (0.26, 0.11) if m.domain.is_circle else (0.30, 0.17)
    middle = (m.domain.low + m.domain.high) / 2
    for part, reach in zip(m.parts, reaches, strict=True):
        p = part.probabilities(middle)
        inside = np.abs(part.decode(np.arange(part.cells)) - middle) < reach * exp(-1) * m.domain.width
        assert p[inside].min() > 1.5 * p[~inside].max()  # the window is exactly there
        assert abs(part.bias(middle)) < 1e-3 * m.domain.width


def sampler_distance(m: sv.Mixture, x: float, n: int, seed: int) -> float:
    cells = m.report(np.full(n, x), rng=seed)
    return float(stats.chisquare(np.bincount(cells, minlength=m.cells), n * m.probabilities(x)).pvalue)


@pytest.mark.parametrize("domain", DOMAINS)
def test_reports_follow_the_law(domain: object) -> None:
    m = sv.two_scale(1.0, domain, cells=32)
    for share in (0.0, 0.3, 1.0):
        assert sampler_distance(m, m.domain.low + share * m.domain.width, 200_000, 11) > 1e-6


def test_the_sampler_test_sees_a_wrong_coin() -> None:
    m = sv.two_scale(1.0, cells=32)
    wrong = sv.Mixture(m.parts, (574, 450))
    cells = wrong.report(np.full(200_000, 0.3), rng=11)
    expected = 200_000 * m.probabilities(0.3)
    assert stats.chisquare(np.bincount(cells, minlength=m.cells), expected).pvalue < 1e-6


def test_seeds_generators_shapes_and_blocks() -> None:
    m = sv.two_scale(1.0, (0, 24))
    x = np.random.default_rng(0).uniform(0, 24, (7, 30_000))
    cells = m.report(x, rng=5)
    assert cells.shape == x.shape
    assert cells.dtype == np.uint16
    assert (cells == m.report(x, rng=5)).all()
    one, two = (m.report(x, rng=np.random.default_rng(5)) for _ in range(2))
    assert (one == two).all()
    assert (one != cells).mean() > 0.9  # a generator is another stream than the seed it was made with
    assert (cells != m.report(x)).mean() > 0.9
    assert m.report(3.0, rng=1).shape == ()
    assert m.report([]).shape == (0,)
    np.testing.assert_array_equal(m.perturb(x, rng=5), m.decode(cells))
    # coin and noise must not share words: given the part, the noise is not a function of the coin
    part = cells.reshape(-1) >= m.offsets[1]
    assert abs(np.corrcoef(part, m.decode(cells).reshape(-1) - x.reshape(-1))[0, 1]) < 0.015


def test_seeded_words_are_those_of_the_parts_then_the_coins_of_a_block() -> None:
    """The layout that a seed stands for: it must never change, or old simulations would not repeat."""
    m = sv.Mixture(tuple(sv.sw(1.0, (0, 24), cells=n) for n in (64, 300, 128)), (1, 2, 5))
    x = np.random.default_rng(0).uniform(0, 24, 100_000)
    source, expected = word_source(5), np.empty(len(x), dtype=np.int64)
    for block in np.split(np.arange(len(x)), [1 << 16]):
        words, coins = source.words(2 * len(block)).reshape(2, -1)
        side = np.searchsorted([1, 3], coins >> np.uint64(61), side="right")
        for i, part in enumerate(m.parts):
            mine, words = block[side == i], words[(side == i - 1).sum() if i else 0 :]
            expected[mine] = part.report_from(words[: len(mine)], x[mine]) + m.offsets[i]
    np.testing.assert_array_equal(m.report(x, rng=5), expected)


@pytest.mark.parametrize("weights", [(614, 410), (1, 2, 5)], ids=str)
def test_fresh_words_toss_the_coin_with_the_bits_below_their_draws(weights: tuple[int, ...]) -> None:
    """Compiled, all parts are drawn and one is kept; plain, values are sorted by part: the same cells."""
    m = sv.Mixture(tuple(sv.sw(1.0, (0, 24), cells=n) for n in (64, 300, 128)[: len(weights)]), weights)
    x = np.random.default_rng(0).uniform(0, 24, 5000)
    words = np.random.default_rng(3).integers(0, 1 << 64, len(x), dtype=np.uint64)
    coins = words << np.uint64(52)
    expected = m.report_from(np.stack((words, coins), axis=1), x)
    cells = np.empty_like(expected)
    assert m._fill(cells, x, words[None].copy())
    np.testing.assert_array_equal(cells, expected)
    assert m._fill(cells[:300], x[:300], words[None, :300].copy())  # too few to compile for
    np.testing.assert_array_equal(cells[:300], expected[:300])


@pytest.mark.parametrize("weights", [(1,), (614, 410), (1, 2, 5), (1,) * 16], ids=str)
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_values_are_sorted_by_the_side_of_a_coin_and_back(weights: tuple[int, ...], size: int) -> None:
    words = np.random.default_rng(3).integers(0, 1 << 64, size, dtype=np.uint64)
    values, offsets = np.random.default_rng(4).integers(0, 500, size), 1000 * np.arange(len(weights))
    bits = sum(weights).bit_length() - 1
    draw = words >> np.uint64(64 - bits) if bits else np.zeros(size)
    sides = np.searchsorted(np.cumsum(weights), draw, side="right")
    toss = Coin(weights).toss(words)
    np.testing.assert_array_equal(Coin(weights).sides(words), sides)
    np.testing.assert_array_equal(np.diff(toss.begin), np.bincount(sides, minlength=len(weights)))
    found = toss.sort(values)
    np.testing.assert_array_equal(found, values[np.argsort(sides, kind="stable")])
    back = np.empty_like(values)
    toss.put_back(back, found, offsets)
    np.testing.assert_array_equal(back, values + offsets[sides])


def test_refusals_count_over_all_values() -> None:
    m = sv.two_scale(1.0, (0, 24))
    with pytest.raises(DataError, match=r"1 of 4 values are missing .* index 3"):
        m.report([1.0, 25.0, 3.0, np.nan])
    with pytest.raises(DataError, match=r"2 of 4 values are outside .* index 1"):
        m.report([1.0, 25.0, 3.0, -1.0])
    with pytest.raises(DataError, match=r"1 of 4 values are missing .* index 3"):
        m.report([1.0, 25.0, 3.0, np.nan], clip=True)
    with pytest.raises(DataError, match="cells must lie in"):
        m.decode([m.cells])
    with pytest.raises(TypeError, match="rng must be"):
        m.report([1.0], rng="7")


@pytest.mark.parametrize("domain", DOMAINS)
def test_json_round_trip(domain: object) -> None:
    m = sv.two_scale(1.5, domain)
    text = m.to_json()
    again = sv.from_json(text)
    assert isinstance(again, sv.Mixture)
    assert again == m
    assert hash(again) == hash(m)
    assert again.to_json() == text
    assert sv.audit(text).ratio == m.largest_ratio
    assert len(text) < 1000
    assert isinstance(sv.from_json(m.parts[0].to_json()), sv.Mechanism)


def changed(**entries: object) -> str:
    content = json.loads(sv.two_scale(1.0).to_json())
    content.update(entries)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed(format="mixture/2"), "format must be"),
        (changed(weights=[614, 411]), "power of two"),
        (changed(weights=[614]), "one entry per part"),
        (changed(weights=[1024, 0]), "at least 1"),
        (changed(weights=[614.0, 410.0]), "integers"),
        (changed(weights=[True, True]), "integers"),
        (changed(weights=[2**12, 2**12]), "power of two up to 1024"),
        (changed(parts=[], weights=[]), "between 1 and 16"),
        (changed(parts=[1, 2]), "spec must be an object"),
        (changed(code="import os"), "unknown key"),
        ('{"format":"mixture/1","weights":[1]}', "lacks the key"),
        ("[]", "must be an object"),
    ],
)
def test_bad_specs_are_refused(text: str, message: str) -> None:
    for read in (sv.from_json, sv.audit):
        with pytest.raises(SpecError, match=message):
            read(text)


def test_parts_must_agree_and_keep_their_epsilon() -> None:
    m = sv.two_scale(1.0)
    content = json.loads(m.to_json())
    content["parts"][1]["domain"] = [0, 2]
    with pytest.raises(SpecError, match="same epsilon and the same domain"):
        sv.from_json(json.dumps(content))
    content = json.loads(m.to_json())
    for part in content["parts"]:
        part["epsilon"] = 0.99
    assert not sv.audit(json.dumps(content)).holds
    with pytest.raises(ValueError, match="more than the claimed"):
        sv.from_json(json.dumps(content))
    other = uniform_window(2.0, as_domain((0, 1)), mass=0.5, cells=16)
    with pytest.raises(SpecError, match="same epsilon"):
        sv.Mixture((m.parts[0], other), (1, 1))


def test_a_mixture_of_one_is_its_part() -> None:
    part = sv.sw(1.0, cells=16)
    lone = sv.Mixture((part,), (1,))
    x = np.linspace(0, 1, 9)
    np.testing.assert_array_equal(lone.counts(x), part.counts(x))
    assert lone.report(x, rng=3).max() < 16
