"""Reconstructed distributions: accuracy, bins, bands, circles, other forms, bad input."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from papers.reconstructions import ems, inversion, raw
from scipy import stats

import sottovoce as sv
from sottovoce.errors import DataError, NoDataError
from sottovoce.estimates.distribution import default_bins

RNG = np.random.default_rng(20)
SKEWED = RNG.beta(5, 2, 40_000)
PEAKS = np.where(RNG.random(40_000) < 0.5, RNG.normal(0.3, 0.06, 40_000), RNG.normal(0.7, 0.05, 40_000))


def tally(m: sv.Mechanism | sv.Mixture, values: np.ndarray, seed: int = 1) -> sv.Tally:
    return sv.Tally(m, m.report(m.domain.from_unit(values), rng=seed))


# -- accuracy ---------------------------------------------------------------------------------------------

REPETITIONS = 10
#: Student's quantile for a false alarm of 1e-6 in a comparison of paired errors.
SURE = float(stats.t.isf(1e-6, REPETITIONS - 1))


Reconstruct = Callable[[sv.Tally, int], sv.Distribution]
Way = tuple[sv.Mechanism | sv.Mixture, Reconstruct, sv.Mechanism | sv.Mixture]


def distances(values: np.ndarray, ways: list[Way]) -> np.ndarray:
    """Wasserstein errors, a row per repetition, a column per (mechanism, reconstruction, believed law)."""
    found = np.empty((REPETITIONS, len(ways)))
    for k, row in enumerate(found):
        people = np.random.default_rng(k).permutation(values)[:20_000]
        for j, (m, reconstruct, believed) in enumerate(ways):
            t = sv.Tally.from_counts(believed, tally(m, people, seed=k).counts)
            row[j] = reconstruct(t, 16).distance(m.domain.from_unit(people))
    return found


def excess(found: np.ndarray, better: int, worse: int) -> float:
    """Mean of error minus other error, in standard errors of that mean."""
    gap = found[:, better] - found[:, worse]
    return float(gap.mean() / (gap.std(ddof=1) / np.sqrt(len(gap))))


@pytest.mark.parametrize("values", [SKEWED, PEAKS], ids=["skewed", "peaks"])
def test_against_the_published_standard_and_the_raw_histogram(values: np.ndarray) -> None:
    """On the same people, with the error of simulation: the default is no worse than SW + EMS, every
    reconstruction beats the raw histogram, and one that believes a wrong ε is caught."""
    sw, two = sv.sw(2.0, (10, 34)), sv.two_scale(2.0, (10, 34))
    wrong = sv.sw(3.0, (10, 34), cells=sw.cells)
    splines = partial(sv.distribution, band=False)
    ways: list[Way] = [
        (sw, ems, sw),
        (sw, inversion, sw),
        (sw, raw, sw),
        (two, splines, two),
        (sw, ems, wrong),
    ]
    found = distances(values, ways)
    standard, inverted, histogram, default, mutant = range(5)
    assert excess(found, default, standard) < SURE
    for method in (standard, default, inverted):
        assert excess(found, method, histogram) < -SURE
    assert excess(found, mutant, standard) > SURE


def test_a_spike_is_found_as_a_spike() -> None:
    values = np.where(RNG.random(100_000) < 0.3, 0.37, RNG.beta(2, 3, 100_000))
    t = tally(sv.two_scale(2.0), values)
    d = sv.distribution(t, bins=256, band=False)
    spike = int(0.37 * 256)
    assert d.probabilities[spike - 1 : spike + 2].sum() > 0.27
    assert d.distance(values) < 0.7 * ems(t, 256).distance(values)


@pytest.mark.parametrize("origin", [0.0, -12.0, 5.0])
def test_circles_have_no_seam(origin: float) -> None:
    """The same people on a circle cut elsewhere: the same answer, turned, with a peak across the seam."""
    circle = sv.Circle(24, origin=origin)
    hours = np.random.default_rng(3).normal(origin, 1.5, 50_000)
    m = sv.two_scale(2.0, circle)
    t = sv.Tally(m, m.report(hours, clip=True, rng=4))
    d = sv.distribution(t, bins=24, band=False)
    truth = np.histogram(np.mod(hours - origin, 24), 24, (0, 24))[0] / 50_000
    assert np.abs(d.probabilities - truth).max() < 0.02
    assert abs(d.probabilities[0] - d.probabilities[-1]) < 0.04
    gap = abs(d.mean - origin) % 24
    assert min(gap, 24 - gap) < 0.2
    assert d.distance(np.mod(hours - origin, 24) + origin) < 0.15


# -- choices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 300, 40_000])
def test_splines_serve_any_number_of_people(n: int) -> None:
    d = sv.distribution(tally(sv.two_scale(0.5), SKEWED[:n]), band=False)
    assert (d.method, d.estimand) == ("ld", "population")
    assert d.probabilities.min() >= 0
    assert abs(d.probabilities.sum() - 1) < 1e-9


def test_default_bins_grow_with_n_and_epsilon_and_respect_the_resolution() -> None:
    m = sv.sw(1.0)
    sizes = [default_bins(sv.Tally(m, [0] * n)) for n in (10, 10_000, 100_000)]
    assert sizes == [16, 32, 64]
    assert default_bins(sv.Tally(sv.sw(8.0), [0] * 10**6)) == 256
    assert default_bins(sv.Tally(sv.duchi(1.0), [0] * 100_000)) == 2
    d = sv.distribution(sv.Tally(sv.duchi(1.0, (0, 1)), [0, 1, 1]), band=False)
    assert len(d.probabilities) == 2


def test_bins_do_not_change_what_is_reconstructed() -> None:
    t = tally(sv.two_scale(2.0), PEAKS)
    fine = sv.distribution(t, bins=64, band=False)
    coarse = sv.distribution(t, bins=16, band=False)
    assert fine.probabilities.reshape(16, 4).sum(axis=1) == pytest.approx(coarse.probabilities, abs=1e-12)
    odd, finest = (sv.distribution(t, bins=bins, band=False) for bins in (7, 1024))
    assert odd.cdf(odd.edges) == pytest.approx(finest.cdf(odd.edges), abs=1e-4)


# -- bands ------------------------------------------------------------------------------------------------


def test_bands_hold_the_truth_and_repeat() -> None:
    t = tally(sv.two_scale(2.0), PEAKS)
    one, two = (sv.distribution(t, bins=16) for _ in range(2))
    for name in ("cdf_low", "cdf_high", "ribbon"):
        assert (np.array(getattr(one, name)) == np.array(getattr(two, name))).all()
    true = np.searchsorted(np.sort(PEAKS), one.edges, side="right") / len(PEAKS)
    assert (one.cdf_low <= true).all()
    assert (true <= one.cdf_high).all()
    assert (np.diff(one.cdf_low) >= 0).all()
    assert (np.diff(one.cdf_high) >= 0).all()
    slim = sv.distribution(t, bins=16, confidence=0.5)
    assert (one.cdf_high - one.cdf_low).sum() > (slim.cdf_high - slim.cdf_low).sum()
    fewer = sv.distribution(tally(sv.two_scale(2.0), PEAKS[:2500]), bins=16)
    assert (fewer.cdf_high - fewer.cdf_low).mean() > 1.5 * (one.cdf_high - one.cdf_low).mean()
    assert np.subtract(*fewer.ribbon[::-1]).mean() > 1.5 * np.subtract(*one.ribbon[::-1]).mean()
    alone = sv.distribution(sv.Tally(sv.sw(1.0), [5]), bins=4)
    assert alone.cdf_low.tolist() == [0, 0, 0, 0, 1]
    assert alone.cdf_high.tolist() == [1] * 5


def test_bands_of_fine_bins_are_those_of_coarse_ones() -> None:
    """Where no limit is computed F is held by the nearest ones that are; on a circle it starts at zero."""
    for m in (sv.sw(2.0), sv.ogpm(2.0, sv.Circle(1))):
        t = tally(m, PEAKS)
        fine, coarse = (sv.distribution(t, bins) for bins in (128, 32))
        assert (fine.cdf_low[::4] == coarse.cdf_low).all()
        assert (fine.cdf_low[1:4] == coarse.cdf_low[0]).all()
        assert (fine.cdf_high[1:4] == coarse.cdf_high[1]).all()
        true = np.searchsorted(np.sort(PEAKS), fine.edges, side="right") / len(PEAKS)
        assert ((fine.cdf_low <= true) & (true <= fine.cdf_high)).all()


def test_shares_of_coarse_bins_hold_together() -> None:
    t = tally(sv.sw(4.0), PEAKS)
    shares = sv.probabilities(t, 4)
    true = np.histogram(PEAKS, 4, (0, 1))[0] / len(PEAKS)
    assert all(e.low <= p <= e.high for e, p in zip(shares, true, strict=True))
    alone = sv.probability(t, 0.25, 0.5)
    assert shares[1].half_width > alone.half_width
    assert (shares[1].value, shares[1].confidence) == (pytest.approx(alone.value, abs=0.01), 0.95)
    with pytest.raises(ValueError, match="bins"):
        sv.probabilities(t, 65)


# -- what it says, other forms ----------------------------------------------------------------------------


def flat(bins: int = 4) -> sv.Distribution:
    t = sv.Tally(sv.sw(1.0, (0, 8)), [0, 100, 40_000])
    d = sv.distribution(t, bins, band=False)
    object.__setattr__(d, "probabilities", np.full(bins, 1 / bins))
    return d


def test_cdf_quantile_mean_density() -> None:
    d = flat()
    assert d.mean == pytest.approx(4)
    assert d.cdf([-1, 0, 2, 3, 9]).tolist() == pytest.approx([0, 0, 0.25, 0.375, 1])
    assert d.quantile([0, 0.25, 0.5, 1]).tolist() == pytest.approx([0, 2, 4, 8])
    assert float(d.quantile(0.5)) == pytest.approx(4)
    assert d.density.tolist() == pytest.approx([0.125] * 4)
    assert "4 bins of [0.0, 8.0]" in repr(d)
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="p must lie between 0 and 1"):
            d.quantile(bad)
    gap = flat(3)
    object.__setattr__(gap, "probabilities", np.array([0.5, 0.0, 0.5]))
    gap.__dict__.pop("_unit", None)
    assert gap.quantile(0.5) == pytest.approx(8 / 3)  # the least x


def test_other_forms(tmp_path: Path) -> None:
    d = sv.distribution(tally(sv.two_scale(2.0, (0, 24)), SKEWED), bins=12)
    frame, table = d.to_frame(), d.to_arrow()
    assert (
        list(frame.columns)
        == table.column_names
        == ["lower", "upper", "probability", "ribbon_low", "ribbon_high", "cdf_low", "cdf_high"]
    )
    assert frame["probability"].to_numpy() == pytest.approx(d.probabilities)
    d.to_csv(tmp_path / "d.csv")
    with open(tmp_path / "d.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["cdf_high"]) for row in rows] == d.to_dict()["cdf_high"]
    bare = sv.distribution(tally(sv.sw(2.0), SKEWED), bins=12, band=False)
    assert list(bare.to_dict()) == ["lower", "upper", "probability"]


def test_pictures() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    line = sv.distribution(tally(sv.two_scale(2.0, (0, 24)), SKEWED), bins=12)
    rose = sv.distribution(tally(sv.two_scale(2.0, sv.Circle(24)), SKEWED), bins=12)
    ax = line.plot()
    assert ax.name == "rectilinear"
    curve, even, bar = ax.get_lines()
    assert curve.get_ydata()[1:-1] == pytest.approx(line.density)  # at the middles of bins
    assert even.get_ydata() == pytest.approx([1 / 24] * 2)
    [(low, high)] = line.most_common
    assert bar.get_xdata()[0] <= low < high <= bar.get_xdata()[1]  # rounded outward
    assert bar.get_ydata()[0] < 0  # under the axis
    assert ax.get_ylim()[0] == 0
    around = rose.plot()
    assert around.name == "polar"
    radius = around.get_lines()[0].get_ydata()
    assert np.square(radius[:-1]) / 12 == pytest.approx(rose.probabilities)  # areas are probabilities
    flat = sv.distribution(tally(sv.two_scale(1.0, (0, 24)), RNG.random(300)))
    ax = flat.plot()
    assert not flat.shaped
    assert len(ax.get_lines()) == 1  # the even level: a line would be read as a shape
    assert ax.get_ylim()[1] >= 2 / 24
    with pytest.raises(ValueError, match="polar"):
        rose.plot(plt.subplots()[1])
    plt.close("all")


# -- bad input --------------------------------------------------------------------------------------------


def test_bad_arguments_are_refused() -> None:
    t = tally(sv.sw(1.0), SKEWED[:100])
    with pytest.raises(NoDataError):
        sv.distribution(sv.Tally(sv.sw(1.0)))
    for bins in (1, 0, -3, 2**20):
        with pytest.raises(ValueError, match="bins must be between 2 and"):
            sv.distribution(t, bins)
    with pytest.raises(ValueError, match="bins must be between 2 and 2"):
        sv.distribution(sv.Tally(sv.duchi(1.0), [0]), 3)
    with pytest.raises(TypeError, match="bins must be a whole number"):
        sv.distribution(t, 8.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="confidence"):
        sv.distribution(t, confidence=95)
    with pytest.raises(TypeError, match="tally must be a Tally"):
        sv.distribution([1, 2, 3])  # type: ignore[arg-type]
    d = sv.distribution(t, band=False)
    with pytest.raises(ValueError, match="metric must be"):
        d.distance(SKEWED, "chebyshev")
    with pytest.raises(DataError, match="1 of 2 do not, the first at index 1"):
        d.distance([0.5, 7.0])
    with pytest.raises(NoDataError):
        d.distance([])
    with pytest.raises(ValueError, match="domains must agree"):
        d.distance(flat())


@pytest.mark.parametrize("n", [1, 2, 10])
def test_a_handful_of_reports_still_gives_a_distribution(n: int) -> None:
    for m in (sv.two_scale(1.0), sv.ogpm(8.0, sv.Circle(1)), sv.duchi(0.1)):
        x = m.domain.from_unit(SKEWED[:n])
        d = sv.distribution(sv.Tally(m, m.report(x, rng=1)))
        assert np.isfinite(d.probabilities).all()
        assert abs(d.probabilities.sum() - 1) < 1e-9
        assert (d.cdf_low >= 0).all()


def test_everyone_the_same_at_an_end() -> None:
    for end in (0.0, 1.0):
        d = sv.distribution(tally(sv.two_scale(4.0), np.full(50_000, end)), bins=32, band=False)
        assert d.probabilities[0 if end == 0 else -1] > 0.9


def test_means_agree_with_the_sample() -> None:
    """Within five standard errors of the mean of the raw reports."""
    m = sv.two_scale(2.0)
    t = tally(m, SKEWED)
    noise = np.std(m.decode(np.arange(m.cells))) / np.sqrt(t.n)
    assert abs(sv.distribution(t, band=False).mean - SKEWED.mean()) < 5 * noise
    assert stats.norm.sf(5) * 2 < 1e-6
