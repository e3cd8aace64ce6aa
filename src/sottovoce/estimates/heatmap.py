"""Where people are: a map from reports about places.

    h = sottovoce.heatmap(tally)
    h.plot()
    h.to_geojson("map.geojson")

The log density is a smooth surface, as rough as the reports ask for (`spatial_density`), so the map gains
with every report. What it shows is a reconstruction: for numbers that hold whatever the truth, see
`position`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.estimates.answer.linear_algebra import single_threaded
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.fits.spatial_density import PlaceLaw, Surface
from sottovoce.estimates.polar_density import DiscDensity, polar_density
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.distribution_plot import new_axes
from sottovoce.values.area import Area

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Heatmap(Tabular):
    """The share of people around each point of a grid.

    Attributes:
        area: Where positions lie.
        shares: What share of people is around each point, rows (from the lowest y) × columns; 0 outside.
        variation: How much each would vary if others had answered and other noise had been drawn: a standard
            deviation. It does not show what smoothing hides.
        areas: How large the surroundings of each point are, in units of length squared (km² in degrees).
        n: How many people reported.
        epsilon: The privacy parameter of their reports.
    """

    area: Area
    shares: FloatArray
    variation: FloatArray
    areas: FloatArray
    n: int
    epsilon: float

    @property
    def round(self) -> bool:
        """Whether it is drawn around a point."""
        return False

    @property
    def density(self) -> FloatArray:
        """Share of people per unit of area; NaN outside."""
        return np.divide(self.shares, self.areas, out=np.full_like(self.shares, np.nan), where=self.areas > 0)

    @cached_property
    def positions(self) -> FloatArray:
        """x and y of each point: rows × columns × 2."""
        return self.area.at(*np.indices(self.area.points))

    @property
    def mean(self) -> tuple[float, float]:
        """The mean position of the map (without an interval: see `sottovoce.mean_position`)."""
        x, y = (self.shares[..., None] * self.positions).sum(axis=(0, 1)).tolist()
        return x, y

    @property
    def unit(self) -> str:
        """What an area is measured in."""
        return "km²" if self.area.degrees else "unit of area"

    @property
    def rows(self) -> list[Row]:
        """A row for each point that people can be around."""
        inside = self.areas > 0
        columns = {
            "x": self.positions[inside][:, 0],
            "y": self.positions[inside][:, 1],
            "share": self.shares[inside],
            "variation": self.variation[inside],
            "density": self.density[inside],
        }
        lists = [column.tolist() for column in columns.values()]
        return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]

    def grid(self) -> dict[str, Any]:
        """The map as plain numbers.

        Returns:
            x and y of the points, `shares` by row (NaN outside), how much longer a step along is than one
            across, and whether positions are in degrees.
        """
        shares, (across, along) = np.where(self.areas > 0, self.shares, np.nan), self.area.scale
        x, y = self.positions[0, :, 0].tolist(), self.positions[:, 0, 1].tolist()
        return {"x": x, "y": y, "shares": shares, "aspect": along / across, "degrees": self.area.degrees}

    def to_geojson(self, path: str | Path | None = None) -> dict[str, Any]:
        """The map as a GeoJSON feature collection: a rectangle around each point.

        Args:
            path: Where to write it, if anywhere.

        Returns:
            The collection. Each feature has the properties `share`, `variation` and `density`; coordinates
            are x and y, which are longitude and latitude where places are in degrees.
        """
        columns, lines = (_edges(at) for at in (self.positions[0, :, 0], self.positions[:, 0, 1]))
        density = self.density
        features = []
        for j, i in zip(*(at.tolist() for at in np.nonzero(self.areas)), strict=True):
            (left, right), (low, high) = columns[i : i + 2], lines[j : j + 2]
            ring = [[left, low], [right, low], [right, high], [left, high], [left, low]]
            numbers = (self.shares[j, i], self.variation[j, i], density[j, i])
            properties = dict(zip(("share", "variation", "density"), map(float, numbers), strict=True))
            geometry = {"type": "Polygon", "coordinates": [ring]}
            features.append({"type": "Feature", "geometry": geometry, "properties": properties})
        collection = {"type": "FeatureCollection", "features": features}
        if path is not None:
            Path(path).write_text(json.dumps(collection, allow_nan=False), encoding="utf-8")
        return collection

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the map, with a scale in percent of people per unit of area.

        Args:
            ax: Axes of matplotlib to draw on; by default a new figure.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        axes: Any = new_axes(polar=False) if ax is None else ax
        x, y = self.positions[0, :, 0], self.positions[:, 0, 1]
        mesh = axes.pcolormesh(x, y, 100 * self.density, cmap="magma_r", vmin=0, shading="nearest")
        across, along = self.area.scale
        axes.set_aspect(along / across)
        names = ("longitude", "latitude") if self.area.degrees else ("x", "y")
        axes.set(xlabel=names[0], ylabel=names[1])
        axes.set_title(f"{self.n:,} reports, ε = {self.epsilon:g}", fontsize="medium")
        axes.figure.colorbar(mesh, ax=axes, shrink=0.8, label=f"% of people per {self.unit}")
        return axes

    def __str__(self) -> str:
        rows, columns = self.area.points
        return f"A map of {self.n:,} people on {rows} × {columns} points of {self.area}."

    def _facts(self) -> dict[str, str]:
        return {"of": f"the population, from {self.n:,} reports", "privacy": f"ε = {self.epsilon:g}"}


def _edges(at: FloatArray) -> list[float]:
    """Halfway between neighbours, and the first and the last themselves."""
    return np.concatenate((at[:1], (at[1:] + at[:-1]) / 2, at[-1:])).tolist()


@single_threaded
def heatmap(tally: Tally) -> Heatmap | DiscDensity:
    """Reconstruct where people are.

    Args:
        tally: Counts of reports about places.

    Returns:
        A map that shows the more, the more people reported; of polar reports on rings and sectors.

    Raises:
        DataError: If the reports are not about places.
        NoDataError: If there are none.

    Example:
        >>> from sottovoce.designs.place import place
        >>> m = place(4.0, radius=10.0, points=24)
        >>> h = heatmap(Tally(m, m.report(np.tile([3.0, -4.0], (5000, 1)), rng=1)))
        >>> [round(c) for c in h.mean]
        [3, -4]
    """
    if check_tally(tally).law.distance_and_angle is not None:
        return polar_density(tally)
    law = PlaceLaw.of(tally)
    model = Surface.of(tally.counts, law)
    fit = model.best()
    shares, variation = np.zeros(law.area.points), np.zeros(law.area.points)
    shares[law.used], variation[law.used] = fit.density, model.variation(fit)
    return Heatmap(law.area, shares, variation, law.areas, tally.n, law.reporter.epsilon)
