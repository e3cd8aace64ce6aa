"""A pair in two rounds: the second is on domains cut to where values lie, whatever the first one held."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, DataError
from sottovoce.estimates.fits.mean_products import Relation
from sottovoce.surveys.rounds.pair_rounds import PairRounds
from sottovoce.values.interval import Interval


def test_two_rounds_cut_the_domain() -> None:
    plan = sv.pair_rounds(2.0, [(0, 100), (0, 100)])
    x, y = np.random.default_rng(1).normal(40, 8, (2, 60_000))
    y = (x + y) / 2
    first = sv.Tally(plan.first, plan.first.report({"x": x[:20_000], "y": y[:20_000]}, rng=1))
    second = plan.second(first)
    for domain in second.domain.values():
        assert 20 < domain.low < 32 < 48 < domain.high < 60  # type: ignore[union-attr]
    tally = sv.Tally(second, second.report({"x": x[20_000:], "y": y[20_000:]}, clip=True, rng=3))
    answer = plan.estimate(tally)
    assert abs(answer.value - 0.7) < 5 * answer.error < 0.3  # false alarms below 1e-5
    assert "of values clipped to x " in answer.notes[0]
    with pytest.raises(DataError, match="first round"):
        plan.second(tally)
    with pytest.raises(ArgumentError, match="two numbers"):
        sv.pair_rounds(1.0, [(0, 1)] * 3)
    assert isinstance(plan, PairRounds)


def flooded(cells: dict[int, int]) -> sv.Tally:
    """2,000 people around 50 of 100, and reports that an outsider made up: how many of which cell."""
    plan = sv.pair_rounds(2.0, [(0, 100), (0, 100)])
    x, y = np.random.default_rng(1).normal(50, 10, (2, 2000))
    honest = plan.first.report({"x": x, "y": y}, clip=True, rng=2)
    counts = np.bincount(honest.ravel(), minlength=plan.first.cells)
    for cell, number in cells.items():
        counts[cell] += number
    return sv.Tally.from_counts(plan.first, counts)


@pytest.mark.attack("N13")
@pytest.mark.parametrize("cells", [{0: 10_000, 106: 10_000}, {52: 10**6, 106: 10**6}, {0: 10**6}])
def test_fakes_do_not_stop_the_second_round(cells: dict[int, int]) -> None:
    """They put x beyond its domain: as it was, the second round's had no width. It is the whole one now."""
    plan, first = sv.pair_rounds(2.0, [(0, 100), (0, 100)]), flooded(cells)
    centre, spread = Relation.of(first).centre_and_spread(0)
    with pytest.raises(ArgumentError, match="low < high"):
        Interval(*np.clip([centre - 2 * spread, centre + 2 * spread], 0, 1).tolist())
    second = plan.second(first)
    x, y = second.domain.values()
    assert x == plan.domains["x"]
    assert 0 < y.low < 50 < y.high < 100  # type: ignore[union-attr]
    values = np.random.default_rng(3).normal(50, 10, (2, 20_000))
    reports = second.report(dict(zip("xy", values, strict=True)), clip=True, rng=4)
    answer = plan.estimate(sv.Tally(second, reports))
    assert "the first round did not tell where x lies" in answer.notes[-1]
    assert answer.low < 0 < answer.high  # the seed is fixed


def test_whatever_is_reported_there_is_a_second_round() -> None:
    plan, rng = sv.pair_rounds(2.0, [(0, 100), (-3, 5)]), np.random.default_rng(5)
    offsets = plan.first.offsets
    for _ in range(100):
        counts = np.zeros(plan.first.cells, dtype=np.int64)
        for low, high in pairwise(offsets):
            counts[rng.integers(low, high, 2)] += (10 ** rng.uniform(0.5, 6, 2)).astype(int)
        second = plan.second(sv.Tally.from_counts(plan.first, counts))
        for one, whole in zip(second.domain.values(), plan.domains.values(), strict=True):
            assert whole.low <= one.low < one.high <= whole.high  # type: ignore[union-attr]
