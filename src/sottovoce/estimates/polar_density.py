"""Where people are on a disc, from polar reports: the density as a heat map.

The law of a joint report is the product of the laws of its two parts, distance and angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import whole_number
from sottovoce.estimates.fits.spatial_density import Surface
from sottovoce.estimates.polar_position import BINS, joint_counts
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.reporters.mechanism import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 48  # of an even grid, along each side


@dataclass(frozen=True, eq=False, repr=False)
class DiscDensity(Tabular):
    """Probabilities on rings × sectors of a disc.

    Attributes:
        radii: The edges of the rings.
        angles: The edges of the sectors, in radians.
        probabilities: A row per ring, a column per sector.
        n: How many people reported.
        epsilon: Privacy parameter of their reports.
    """

    radii: FloatArray
    angles: FloatArray
    probabilities: FloatArray
    n: int
    epsilon: float

    @property
    def round(self) -> bool:
        """Whether it is drawn around a point."""
        return True

    @property
    def density(self) -> FloatArray:
        """Probability per unit of area."""
        area = np.diff(self.radii**2)[:, None] / 2 * np.diff(self.angles)[None, :]
        return self.probabilities / area

    @property
    def mean(self) -> tuple[float, float]:
        """The mean position of the reconstruction (without an interval: see `mean_position`)."""
        # The centroid of a ring's sector along its middle ray.
        r = 2 / 3 * np.diff(self.radii**3) / np.diff(self.radii**2)
        half = np.diff(self.angles) / 2
        ray = np.exp(1j * (self.angles[:-1] + half)) * np.sinc(half / np.pi)
        z = complex((self.probabilities * r[:, None] * ray[None, :]).sum())
        return z.real, z.imag

    @property
    def rows(self) -> list[Row]:
        """A row for each part of a ring."""
        radii, angles = ((edges[1:] + edges[:-1]) / 2 for edges in (self.radii, self.angles))
        return [
            {"radius": float(r), "angle": float(a), "share": float(self.probabilities[i, j])}
            for (i, r), (j, a) in product(enumerate(radii), enumerate(angles))
        ]

    def grid(self) -> dict[str, Any]:
        """The map on an even grid.

        Returns:
            The same as that of `Heatmap.grid`.
        """
        at = self.radii[-1] * (2 * (np.arange(_POINTS) + 0.5) / _POINTS - 1)
        x, y = np.meshgrid(at, at)
        away, angle = np.hypot(x, y), np.mod(np.arctan2(y, x), 2 * math.pi)
        ring, sector = (
            np.searchsorted(edges[1:-1], where) for edges, where in ((self.radii, away), (self.angles, angle))
        )
        shares = self.density[ring, sector] * (at[1] - at[0]) ** 2
        inside = np.where(away <= self.radii[-1], shares, np.nan)
        return {"x": at.tolist(), "y": at.tolist(), "shares": inside, "aspect": 1.0, "degrees": False}

    def __str__(self) -> str:
        rings, sectors = self.probabilities.shape
        return f"A map of {self.n:,} people on {rings} rings × {sectors} sectors."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a heat map.

        Args:
            ax: Polar axes to draw on; new ones if not given.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        from sottovoce.plots.distribution_plot import new_axes

        axes: Axes = new_axes(polar=True) if ax is None else ax
        mesh = axes.pcolormesh(self.angles, self.radii, self.density, cmap="magma_r", vmin=0, shading="flat")
        axes.grid(False)
        axes.set_yticklabels([])
        axes.set_title(f"{self.n:,} reports, ε = {self.epsilon:g}", fontsize="medium")
        axes.figure.colorbar(mesh, ax=axes, shrink=0.75, label="density")
        return axes


def polar_density(tally: Tally, *, rings: int = 16, sectors: int = 32) -> DiscDensity:
    """Reconstruct the density on rings × sectors: `heatmap` of polar reports, with a grid of your own.

    The law of the joint report is the product of the two parts' laws, so a step costs two small products.
    Rings have equal width; within one, people are taken to be spread evenly over its area.

    Args:
        tally: A tally of a `Polar`.
        rings: How many rings there are, 2 to 128.
        sectors: How many sectors there are, 3 to 256.

    Returns:
        Probabilities, with a picture.

    Raises:
        ValueError: If an argument is out of range.
        DataError: If the tally is of something else.
        NoDataError: If there are no reports.
    """
    rings, sectors = whole_number(rings, "rings", 2, 128), whole_number(sectors, "sectors", 3, 256)
    distance, angle, counts = joint_counts(tally.required())
    radius = distance.domain.high
    radii, angles = np.linspace(0, radius, rings + 1), np.linspace(0, 2 * math.pi, sectors + 1)
    inside = (np.arange(16) + 0.5) / 16
    r = np.sqrt(radii[:-1, None] ** 2 + np.diff(radii**2)[:, None] * inside)
    one, counts = _law(distance, r, counts)
    two, turned = _law(angle, angles[:-1, None] + np.diff(angles)[:, None] * inside, counts.T)
    middle, turn = r.mean(axis=1)[:, None], (angles[1:] + angles[:-1]) / 2
    at = np.stack((middle * np.sin(turn), middle * np.cos(turn)), axis=-1).reshape(-1, 2)
    area = np.repeat(np.diff(radii**2) / radii[-1] ** 2 / sectors, sectors)
    surface = Surface(turned.T.reshape(-1), _PolarLaw(one, two), (at / radius + 1) / 2, area)
    shares = surface.best().density.reshape(rings, sectors)
    return DiscDensity(radii, angles, shares, tally.n, tally.law.epsilon)


@dataclass(frozen=True, eq=False)
class _PolarLaw:
    """The laws of distance and angle bins given rings and sectors."""

    one: FloatArray
    two: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(areas, pairs of bins)."""
        return len(self.one) * len(self.two), self.one.shape[1] * self.two.shape[1]

    def mix(self, w: FloatArray) -> FloatArray:
        """The probability of every pair of bins; w may have columns."""
        areas = w.reshape(len(self.one), len(self.two), -1)
        pairs = np.tensordot(self.one.T, np.tensordot(areas, self.two, (1, 0)), 1)
        return np.asarray(np.moveaxis(pairs, 1, 2).reshape(-1, *w.shape[1:]))

    def expect(self, f: FloatArray) -> FloatArray:
        """An expectation for every ring and sector."""
        return np.asarray((self.one @ f.reshape(self.one.shape[1], -1) @ self.two.T).reshape(-1))


def _law(m: Mechanism, x: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(bin | x) averaged over each row of x, and the counts with their rows summed to the same bins."""
    first = m.bins(BINS)
    law = m.operator(np.minimum(x, m.domain.high).reshape(-1)).coarsen(first).dense()
    return law.reshape(*x.shape, -1).mean(axis=1), np.add.reduceat(counts, first, axis=0)
