"""Maps: nearer to the truth with more reports, whole, and in forms that other programs read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DataError, NoDataError
from sottovoce.estimates.fits.spatial_density import PlaceLaw

TOWNS = np.array([[-4.0, -2.0], [5.0, 3.0]])


def people(n: int, seed: int) -> np.ndarray:
    """Two towns of different size in a disc of radius 10."""
    rng = np.random.default_rng(seed)
    return TOWNS[(rng.random(n) < 0.3).astype(int)] + rng.normal(0, 1.2, (n, 2))


def error(m: sv.Translates, n: int) -> float:
    """The total variation between the map and very many people, in blocks of 4 × 4 points."""
    h = sv.heatmap(sv.Tally(m, m.report(people(n, 1), rng=n, clip=True)))
    truth = m.domain.bring_inside(people(400_000, 2))
    words = np.random.default_rng(3).integers(0, 1 << 64, len(truth), dtype=np.uint64)
    row, column = np.divmod(m.domain.elements(truth, words), m.domain.moduli[1])
    two = np.histogram2d(row, column, [range(25), range(25)])[0] / len(truth)
    blocks = (h.shares - two).reshape(6, 4, 6, 4).sum(axis=(1, 3))
    return float(np.abs(blocks).sum() / 2)


@pytest.fixture(scope="module")
def m() -> sv.Translates:
    return sv.place(2.0, 10.0, points=24)


def test_a_map_gains_with_every_report(m: sv.Translates, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = error(m, 2000), error(m, 100_000)
    assert many < few / 2
    assert many < 0.1
    # With half of the window's weight the fitted law is another one, and the map stays wrong.
    extra = PlaceLaw.of(sv.Tally(m, [0])).extra
    monkeypatch.setattr(PlaceLaw, "extra", extra / 2)
    assert error(m, 100_000) > 2 * many


def test_what_a_map_is(m: sv.Translates, tmp_path: Path) -> None:
    tally = sv.Tally(m, m.report(people(5000, 3), rng=1, clip=True))
    h = sv.heatmap(tally)
    assert h.shares.sum() == pytest.approx(1)
    assert (h.shares[h.areas == 0] == 0).all()
    assert h.areas.sum() == pytest.approx(np.pi * 100, rel=0.01)
    assert 0 < h.variation.max() < h.shares.max()
    assert h.mean == pytest.approx(people(400_000, 3).mean(axis=0), abs=0.5)
    frame = h.to_frame()
    assert list(frame.columns) == ["x", "y", "share", "variation", "density"]
    assert frame.share.sum() == pytest.approx(1)
    written = h.to_geojson(tmp_path / "map.geojson")
    assert json.loads((tmp_path / "map.geojson").read_text()) == written
    rings = [np.array(f["geometry"]["coordinates"][0]) for f in written["features"]]
    assert all((ring[0] == ring[-1]).all() and _area(ring) > 0 for ring in rings)  # closed, to the left
    assert sum(f["properties"]["share"] for f in written["features"]) == pytest.approx(1)
    assert "map of 5,000 people" in h._repr_html_()
    axes = h.plot()
    assert axes.figure.axes[1].get_ylabel() == "% of people per unit of area"


def _area(ring: np.ndarray) -> float:
    x, y = ring.T
    return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() / 2)


def test_degrees_are_shown_as_they_are() -> None:
    m = sv.place(4.0, 8.0, centre=(13.4, 52.5), degrees=True, points=16)
    h = sv.heatmap(sv.Tally(m, m.report(np.tile([13.42, 52.51], (2000, 1)), rng=1)))
    assert h.areas.sum() == pytest.approx(np.pi * 64, rel=0.01)  # km²
    axes = h.plot()
    assert axes.get_aspect() == pytest.approx(1 / np.cos(np.radians(52.5)), rel=1e-6)
    assert axes.figure.axes[1].get_ylabel() == "% of people per km²"


def test_only_places_have_maps() -> None:
    choice = sv.choice(1.0, ["car", "bike"])
    with pytest.raises(DataError, match="a tally of a choice of 2, not of places"):
        sv.heatmap(sv.Tally(choice, [0]))
    with pytest.raises(NoDataError):
        sv.heatmap(sv.Tally(sv.place(1.0, 1.0, points=8)))
    with pytest.raises(DataError, match="a tally of places, not of a choice"):
        sv.shares(sv.Tally(sv.place(1.0, 1.0, points=8), [0]))
