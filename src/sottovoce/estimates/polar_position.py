"""Where people are on a disc, from polar reports: the mean position, and the density as a heat map.

    x, y = mean_position(t)            # two estimates with intervals
    density(t).plot()

Distance and angle are randomised independently, so the expectation of f(distance report)·g(angle report)
is F(r)·G(θ). For the angle e^{iθ'}/ρ has mean e^{iθ}. For the distance linear programming finds weights w_j
with Σ_j w_j P(j | r) near r, trading their noise against the largest bias B over **every** r; the interval
is the normal one, widened by B. So it holds for every truth, also where windows stop at the ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentTypeError, check_confidence, whole_number
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.spatial_density import Surface
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.reporters.composites.polar import Polar
from sottovoce.reporters.law.moments import resultant
from sottovoce.reporters.mechanism import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GROUPS = 64


def mean_position(tally: Tally, *, confidence: float = 0.95) -> tuple[Estimate, Estimate]:
    """Estimate the mean position, with intervals that hold for every truth.

    Args:
        tally: A tally of a `Polar`.
        confidence: How often each interval should hold.

    Returns:
        The mean of x and the mean of y, around the pole, in the units of the radius.

    Raises:
        TypeError: If the tally is of something else.
        NoDataError: If there are fewer than two reports.

    Example:
        >>> from sottovoce.surveys.polar import polar
        >>> m = polar(4.0, radius=10.0, design="unbiased")
        >>> t = Tally(m, m.report(np.tile([3.0, 4.0], (2000, 1)), rng=1))
        >>> x, y = mean_position(t)
        >>> x.low < 3.0 < x.high and y.low < 4.0 < y.high
        True
    """
    m, counts = _joint(tally.required(2))
    z = normal_quantile((1 - check_confidence(confidence)) / 2)
    rho = resultant(m.angle)
    weights, bias = _radial_weights(m.distance, z / math.sqrt(tally.n) / rho)
    bias = bias * m.radius + m.radius * _angular_bias(m.angle, rho)
    turn = np.exp(1j * m.angle.decode(np.arange(m.angle.cells))) / rho
    value = m.radius * weights[:, None] * turn[None, :]
    estimates = []
    for name, part in (("x", value.real), ("y", value.imag)):
        mean = float((counts * part).sum() / tally.n)
        square = float((counts * part**2).sum() / tally.n)
        error = math.sqrt(max(square - mean**2, 0.0) / (tally.n - 1))
        reach = z * error + bias
        note = f"the interval allows for a bias of {bias:.3g}"
        estimates.append(
            Estimate(mean, mean - reach, mean + reach, math.hypot(error, bias), confidence, tally.n,
                     f"mean {name}", "population", "phasor", (note,))
        )  # fmt: skip
    return estimates[0], estimates[1]


def _joint(tally: Tally) -> tuple[Polar, FloatArray]:
    """The mechanism and the counts, distance cells by angle cells."""
    m = tally.reporter
    if not isinstance(m, Polar):
        sentence = f"tally must be of a polar mechanism, got {type(m).__name__}"
        raise ArgumentTypeError(sentence, argument="tally")
    return m, tally.counts.reshape(m.distance.cells, m.angle.cells).astype(np.float64)


def _radial_weights(m: Mechanism, noise: float) -> tuple[FloatArray, float]:
    """Weights per cell for the distance as a share of the radius, and their largest bias over every r.

    Minimises B + noise·max|w|. The probabilities are linear in r between bends, so B is attained at a bend
    or just below one.
    """
    from scipy.optimize import linprog

    first = m.groups(_GROUPS)
    bends = m.bends(first)
    nodes = np.unique(np.concatenate((bends, np.nextafter(bends[1:], 0.0), [0.0])))
    law = m.operator(nodes).coarsen(first).dense()
    r = nodes / m.domain.high
    count, groups = law.shape
    one, zero = np.ones((count, 1)), np.zeros((count, 1))
    eye, edge, none = np.eye(groups), np.ones((groups, 1)), np.zeros((groups, 1))
    rows = np.block([[law, -one, zero], [-law, -one, zero], [eye, none, -edge], [-eye, none, -edge]])
    limits = np.concatenate((r, -r, np.zeros(2 * groups)))
    cost = np.concatenate((np.zeros(groups), [1.0, noise]))
    bounds = [(None, None)] * groups + [(0, None), (0, None)]
    solution = linprog(cost, A_ub=rows, b_ub=limits, bounds=bounds, method="highs")
    weights = np.asarray(solution.x)[:groups]
    bias = float(np.abs(law @ weights - r).max())
    size = np.diff(np.append(first, m.cells))
    return np.repeat(weights, size), bias


def _angular_bias(m: Mechanism, rho: float) -> float:
    """How far the mean of e^{iθ'}/ρ can be from e^{iθ}: what is left by cells of finite width."""
    theta = m.domain.low + m.domain.width / m.cells * np.linspace(0, 1, 33)
    mean = m.probabilities(theta) @ np.exp(1j * m.decode(np.arange(m.cells))) / rho
    return float(np.abs(mean - np.exp(1j * theta)).max())


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

    def __str__(self) -> str:
        rings, sectors = self.probabilities.shape
        return f"map of {self.n:,} people on {rings} rings × {sectors} sectors"

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


def density(tally: Tally, *, rings: int = 16, sectors: int = 32) -> DiscDensity:
    """Reconstruct the density on rings × sectors as a smooth log density, as rough as the reports call for.

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
        TypeError: If the tally is of something else.
        NoDataError: If there are no reports.
    """
    rings, sectors = whole_number(rings, "rings", 2, 128), whole_number(sectors, "sectors", 3, 256)
    m, counts = _joint(tally.required())
    radii, angles = np.linspace(0, m.radius, rings + 1), np.linspace(0, 2 * math.pi, sectors + 1)
    inside = (np.arange(16) + 0.5) / 16
    r = np.sqrt(radii[:-1, None] ** 2 + np.diff(radii**2)[:, None] * inside)
    one, counts = _law(m.distance, r, counts)
    two, turned = _law(m.angle, angles[:-1, None] + np.diff(angles)[:, None] * inside, counts.T)
    middle, turn = r.mean(axis=1)[:, None], (angles[1:] + angles[:-1]) / 2
    at = np.stack((middle * np.sin(turn), middle * np.cos(turn)), axis=-1).reshape(-1, 2)
    area = np.repeat(np.diff(radii**2) / radii[-1] ** 2 / sectors, sectors)
    surface = Surface(turned.T.reshape(-1), _PolarLaw(one, two), (at / m.radius + 1) / 2, area)
    return DiscDensity(radii, angles, surface.best().density.reshape(rings, sectors), tally.n, m.epsilon)


@dataclass(frozen=True, eq=False)
class _PolarLaw:
    """The laws of distance and angle groups given rings and sectors."""

    one: FloatArray
    two: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(areas, pairs of groups)."""
        return len(self.one) * len(self.two), self.one.shape[1] * self.two.shape[1]

    def mix(self, w: FloatArray) -> FloatArray:
        """The probability of every pair of groups; w may have columns."""
        areas = w.reshape(len(self.one), len(self.two), -1)
        pairs = np.tensordot(self.one.T, np.tensordot(areas, self.two, (1, 0)), 1)
        return np.asarray(np.moveaxis(pairs, 1, 2).reshape(-1, *w.shape[1:]))

    def expect(self, f: FloatArray) -> FloatArray:
        """An expectation for every ring and sector."""
        return np.asarray((self.one @ f.reshape(self.one.shape[1], -1) @ self.two.T).reshape(-1))


def _law(m: Mechanism, x: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(group | x) averaged over each row of x, and the counts with their rows summed to the same groups."""
    first = m.groups(_GROUPS)
    law = m.operator(np.minimum(x, m.domain.high).reshape(-1)).coarsen(first).dense()
    return law.reshape(*x.shape, -1).mean(axis=1), np.add.reduceat(counts, first, axis=0)
