"""The law of places on their grid, and a smooth log density over it.

    P(cell | point) = background + extra·1[the cell holds the point]

is a convolution, so its products are fast Fourier transforms. The log density is a sum of cosines over the
box, its roughness |gradient|² and |second derivatives|², which cosines make diagonal (`log_density` fits it).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.fits.log_density import DensityFit, LogDensity
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.translates import Translates
from sottovoce.values.area import Area

COSINES = 15  # along the longer side, the constant among them
_START = (1e-1, 1e-3)  # where the search for smoothing begins
_LEAST = 1e-3  # of a square: the least area around a point
_FINE = 8  # positions between two points, along a side, that areas are measured by


@dataclass(frozen=True, eq=False)
class PlaceLaw:
    """P(cell | point) for the points that positions in the area can become.

    Attributes:
        reporter: What the reports came from.
        area: Where positions lie.
    """

    reporter: Translates
    area: Area

    @classmethod
    def of(cls, tally: Tally, least: int = 1) -> PlaceLaw:
        """The law behind a tally of places.

        Args:
            tally: Counts of reports about places.
            least: How many reports there must be.

        Returns:
            The law.

        Raises:
            DataError: If the reports are about something else.
            NoDataError: If there are too few.
        """
        reporter = check_tally(tally, least).law.as_places()
        return cls(reporter, reporter.domain)  # type: ignore[arg-type]  # places lie in an area

    @cached_property
    def even(self) -> FloatArray:
        """What each point gets of people who are spread evenly over the area, rows × columns."""
        rows, columns = self.area.points
        v, u = ((np.arange((many - 1) * _FINE) + 0.5) / _FINE for many in (rows, columns))
        inside = self.area.contains(self.area.at(*np.meshgrid(v, u, indexing="ij"))).astype(np.float64)
        hats = [
            np.maximum(1 - np.abs(np.arange(many)[:, None] - t), 0) for many, t in ((rows, v), (columns, u))
        ]
        share = hats[0] @ inside @ hats[1].T
        share = np.where(self.used, np.maximum(share, _LEAST), 0.0)  # some reach the rim by less than is seen
        return np.asarray(share / share.sum())

    @cached_property
    def areas(self) -> FloatArray:
        """How large the surroundings of each point are, in units of length squared; 0 outside."""
        area = self.area
        box = (area.x[1] - area.x[0]) * (area.y[1] - area.y[0]) * area.scale[0] * area.scale[1]
        whole = np.asarray(self.even * box * (math.pi / 4 if area.round else 1))
        if area.degrees:  # a degree of longitude is shorter towards the poles
            latitude = np.radians(area.at(np.arange(area.points[0]), 0)[:, 1])
            whole = whole * (np.cos(latitude) / math.cos(math.radians(sum(area.y) / 2)))[:, None]
        return whole

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which points some position can become: the corners of squares of the grid that meet the area."""
        rows, columns = self.area.points
        middle = (rows - 1) / 2, (columns - 1) / 2
        nearest = (
            np.clip(c, np.arange(n - 1), np.arange(1, n))
            for c, n in zip(middle, (rows, columns), strict=True)
        )
        meets = np.pad(self.area.contains(self.area.at(*np.meshgrid(*nearest, indexing="ij"))), 1)
        return np.asarray(meets[1:, 1:] | meets[1:, :-1] | meets[:-1, 1:] | meets[:-1, :-1])

    @cached_property
    def positions(self) -> FloatArray:
        """Where the points are, x and y of each."""
        return self.area.at(*np.nonzero(self.used))

    @property
    def shape(self) -> tuple[int, int]:
        """(points, cells)."""
        return int(self.used.sum()), self.reporter.cells

    @cached_property
    def background(self) -> FloatArray:
        """How likely each cell is for somebody whom it does not hold."""
        return self.reporter.backgrounds / (1 << self.reporter.bits)

    @cached_property
    def extra(self) -> float:
        """How much more likely it is for somebody whom it holds."""
        return self.reporter.extra / (1 << self.reporter.bits)

    @cached_property
    def elements(self) -> NDArray[np.int64]:
        """The points as elements of the group."""
        row, column = np.nonzero(self.used)
        return np.asarray(row * self.area.moduli[1] + column)

    @cached_property
    def _spectrum(self) -> NDArray[np.complex128]:
        return np.fft.rfft2(self.reporter.indicator)

    def mix(self, w: FloatArray) -> FloatArray:
        """The probability of every cell, from those of the points; w may have columns.

        Args:
            w: A row per point.

        Returns:
            A row per cell.
        """
        from scipy import fft

        columns = w.reshape(len(w), -1).T
        grid = np.zeros((len(columns), self.area.moduli[0] * self.area.moduli[1]))
        grid[:, self.elements] = columns
        transform = fft.rfft2(grid.reshape(-1, 1, *self.area.moduli)) * self._spectrum
        sums = fft.irfft2(transform, self.area.moduli).reshape(len(columns), -1)
        q = self.extra * sums + columns.sum(axis=1, keepdims=True) * self.background
        return np.asarray(q.T.reshape(-1, *w.shape[1:]))

    def expect(self, f: FloatArray) -> FloatArray:
        """An expectation for every point, from a number for every cell.

        Args:
            f: One number per cell.

        Returns:
            One number per point.
        """
        return float(self.background @ f) + self.extra * self.reporter.held(f)[self.elements]


@dataclass(frozen=True, eq=False)
class Surface(LogDensity):
    """A log density over positions in a box, by cosines.

    Attributes:
        at: The positions that the law knows, y and x from 0 on, of a box whose longer side is 1.
        even: What share of people who are spread evenly is at each.
    """

    at: FloatArray
    even: FloatArray

    @classmethod
    def of(cls, counts: NDArray[Any], law: PlaceLaw) -> Surface:
        """The surface over the points of a map.

        Args:
            counts: Of the cells.
            law: That of the places.

        Returns:
            What is to be fitted.
        """
        at = np.argwhere(law.used) / (max(law.area.points) - 1)
        return cls(counts.astype(np.float64), law, at, law.even[law.used])

    @cached_property
    def _frequencies(self) -> FloatArray:
        """How often each function goes up and down along y and along x, per longer side."""
        sides = np.maximum(self.at.max(axis=0), 1e-9)
        many = np.maximum(np.ceil(COSINES * sides), 2).astype(int)
        waves = np.stack(np.meshgrid(*(np.arange(n) for n in many), indexing="ij"), axis=-1).reshape(-1, 2)
        return np.asarray(waves[1:] / sides)

    @cached_property
    def _smooth(self) -> FloatArray:
        one, two = (
            np.cos(np.pi * np.outer(c, wave)) for c, wave in zip(self.at.T, self._frequencies.T, strict=True)
        )
        return np.asarray(one * two)

    def _penalty(self, order: int) -> FloatArray:
        return np.diag(np.square(self._frequencies).sum(axis=1) ** order)

    @cached_property
    def offset(self) -> FloatArray:
        return np.log(self.even)

    def best(self) -> DensityFit:
        """The fit whose smoothness the reports call for; other starts lead to the same."""
        return self.search(2, _START)

    def variation(self, fit: DensityFit) -> FloatArray:
        """The standard deviation of each share, to first order, if the surface is as smooth as was fitted."""
        state, s = fit.state, self.smoothing(fit)
        moves = state.design - state.f @ state.design
        a = np.linalg.solve(state.information + s, moves.T)
        half = np.linalg.solve(state.information + s, state.information @ a)
        return np.asarray(state.f * np.sqrt(np.maximum((moves.T * half).sum(axis=0), 0.0)))
