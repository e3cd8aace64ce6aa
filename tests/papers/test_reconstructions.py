"""EMS, inversion and the raw histogram: what the library's reconstruction is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from papers.reconstructions import (
    Smoothing,
    ems,
    inversion,
    onto_simplex,
    raw,
    smooth_circle,
    smooth_line,
    smoothed_em,
)

import sottovoce as sv
from sottovoce.estimates.fits.binned_cells import Binned

SKEWED = np.random.default_rng(20).beta(5, 2, 40_000)
WAYS = [ems, inversion, raw]
Reconstruct = Callable[[sv.Tally, int], sv.Distribution]


def tally(m: sv.Mechanism | sv.Mixture, values: np.ndarray) -> sv.Tally:
    return sv.Tally(m, m.report(m.domain.from_unit(values), rng=1))


@pytest.mark.parametrize("reconstruct", WAYS)
@pytest.mark.parametrize("n", [1, 10, 40_000])
@pytest.mark.parametrize(
    "m",
    [sv.sw(2.0, (10, 34)), sv.two_scale(2.0, (10, 34)), sv.ogpm(8.0, sv.Circle(1)), sv.duchi(0.1)],
    ids=repr,
)
def test_every_way_gives_probabilities(
    m: sv.Mechanism | sv.Mixture, n: int, reconstruct: Reconstruct
) -> None:
    d = reconstruct(tally(m, SKEWED[:n]), 2 if m.cells < 16 else 16)
    assert (d.method, d.most_common, d.cdf_low) == (reconstruct.__name__, None, None)
    assert d.probabilities.min() >= 0
    assert abs(d.probabilities.sum() - 1) < 1e-9


def test_the_raw_histogram_is_what_was_reported_and_no_reconstruction() -> None:
    m = sv.ogpm(2.0)
    t = tally(m, SKEWED)
    d = raw(t, 16)
    reports = np.repeat(m.decode(np.arange(m.cells)), t.counts)
    assert d.probabilities == pytest.approx(np.histogram(reports, 16, (0, 1))[0] / t.n, abs=1e-12)
    best = sv.distribution(t, bins=16, band=False)
    assert best.distance(SKEWED) < 0.3 * d.distance(SKEWED)
    outside = raw(tally(sv.pm(1.0, (0, 1)), SKEWED), 8)
    assert outside.probabilities.sum() == pytest.approx(1)  # reports beyond the domain count at its ends


def test_exact_counts_give_the_truth_back() -> None:
    """Inversion of the probabilities themselves, without noise, is exact."""
    m = sv.sw(3.0, cells=1024)
    truth = np.array([0.1, 0.2, 0.05, 0.3, 0.1, 0.05, 0.05, 0.15])
    x = (np.arange(8 * 128) + 0.5) / (8 * 128)
    t = sv.Tally.from_counts(
        m, np.rint(1e12 * (np.repeat(truth / 128, 128) @ m.probabilities(x))).astype(int)
    )
    assert inversion(t, 8).probabilities == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("smooth", [smooth_line, smooth_circle])
def test_ems_is_the_dense_one_to_1e_9(smooth: Smoothing) -> None:
    binned = Binned.of(tally(sv.sw(1.0), SKEWED), 1024)
    law, even = binned.law_of_parts(1024, 1), np.full(1024, 1 / 1024)
    f, matrix = even, law.dense()
    for _ in range(100):
        f = smooth(f * (matrix @ (binned.counts / (f @ matrix))) / binned.n)
    found = smoothed_em(law, binned.counts, even, smooth, tolerance=0, most=100)
    assert np.abs(found - f / f.sum()).max() < 1e-9
    assert np.abs(smoothed_em(law, binned.counts, even, smooth, most=90) - found).max() > 1e-9


def test_smoothing_wraps_only_on_a_circle() -> None:
    turned = np.zeros(8)
    turned[0] = 1.0
    assert smooth_circle(turned)[-1] == 0.25
    assert smooth_line(turned)[-1] == 0.0
    assert smooth_line(np.ones(8) / 8) == pytest.approx(np.ones(8) / 8)
    hours = np.random.default_rng(3).normal(0, 1.5, 50_000)
    d = ems(sv.Tally(m := sv.two_scale(2.0, sv.Circle(24)), m.report(hours, clip=True, rng=4)), 24)
    truth = np.histogram(np.mod(hours, 24), 24, (0, 24))[0] / len(hours)
    assert np.abs(d.probabilities - truth).max() < 0.02


def test_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        v = rng.normal(0.1, 0.4, 9)
        p = onto_simplex(v)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        others = rng.dirichlet(np.ones(9), 500)
        assert (((others - v) ** 2).sum(axis=1) >= ((p - v) ** 2).sum() - 1e-12).all()
