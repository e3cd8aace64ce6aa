"""The binned observation model and EM on it."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import NoDataError
from sottovoce.estimates.fits.binned_cells import Binned, em

MECHANISMS = [
    sv.sw(1.0, (0, 24)),
    sv.ogpm(2.0, sv.Circle(24)),
    sv.duchi(1.0),
    sv.two_scale(1.0, (0, 24)),
]


@pytest.mark.parametrize("m", MECHANISMS, ids=repr)
def test_the_law_of_a_bin_is_the_average_over_it(m: sv.Mechanism) -> None:
    x = np.random.default_rng(1).uniform(m.domain.low, m.domain.high, 1000)
    tally = sv.Tally(m, m.report(x, rng=1))
    binned = Binned.of(tally, 64)
    assert binned.counts.sum() == binned.n == 1000
    assert binned.counts.tolist() == [int(part.sum()) for part in np.split(tally.counts, binned.first[1:])]
    assert len(binned.counts) <= 64
    inside = m.domain.from_unit((np.arange(8 * 128) + 0.5) / (8 * 128))
    expected = binned.law(inside).dense().reshape(8, 128, -1).mean(axis=1)
    law = binned.law_of_parts(8)
    assert np.abs(law.dense() - expected).max() < 1e-14
    f = np.random.default_rng(2).random(8)
    assert np.abs(law.mix(f) - f @ expected).max() < 1e-13
    w = np.random.default_rng(3).normal(size=law.shape[1])
    assert np.abs(law.expect(w) - expected @ w).max() < 1e-13
    assert np.abs(law.dense().sum(axis=1) - 1).max() < 1e-12


def test_em_raises_the_likelihood_and_finds_the_truth_in_exact_counts() -> None:
    m = sv.sw(4.0)
    truth = np.array([0.1, 0.2, 0.05, 0.3, 0.1, 0.05, 0.05, 0.15])
    binned = Binned.of(sv.Tally(m, [0]), 256)
    law = binned.law_of_parts(8)
    counts = 1e6 * law.mix(truth)
    even = np.full(8, 1 / 8)
    fits = [em(law, counts, even, most=k, tolerance=0) for k in (1, 5, 50)]
    likelihoods = [float(counts @ np.log(law.mix(f))) for f in fits]
    assert likelihoods == sorted(likelihoods)
    assert np.abs(em(law, counts, even, tolerance=1e-9, most=10_000) - truth).max() < 1e-4


def test_nothing_to_estimate_from_is_an_error() -> None:
    with pytest.raises(NoDataError, match="no reports"):
        Binned.of(sv.Tally(sv.sw(1.0)))
