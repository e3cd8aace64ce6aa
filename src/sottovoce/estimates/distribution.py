"""The distribution of a number, reconstructed from a tally, and a band that does not rest on that.

    d = sottovoce.distribution(tally)            # edges, probabilities, cdf_low, cdf_high
    d.sentence; d.quantile(0.9); d.mean; d.plot(); d.to_csv("hours.csv")

What the noise did is undone by likelihood, on a grid finer than the bins that come back, with log-density
splines whose smoothness is chosen by the evidence (`log_density`).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray
from sottovoce.errors import (
    ArgumentError,
    NoDataError,
    check_confidence,
    one_of,
    refuse_others,
    require_extra,
    whole_number,
)
from sottovoce.estimates.answer.linear_algebra import single_threaded
from sottovoce.estimates.answer.most_common_range import Range, Sure, outward, sentence, surely
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.fits import metrics
from sottovoce.estimates.fits.smooth_fits import Smooth
from sottovoce.estimates.limits.envelope import CrossFit, Target
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.distribution_plot import Curve, draw_cumulative, draw_ribbon, draw_rose
from sottovoce.reporters.number import Number
from sottovoce.values.checked_arrays import as_numbers, in_domain
from sottovoce.values.domain import Domain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pyarrow import Table

MOST_BINS = 4096
_POINTS = 32  # of the band, at most, where limits are computed
_ROUNDING = 1e-9  # its limits are rounded outwards by this


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Tabular):
    """Probabilities of equal bins, spread evenly inside each.

    Attributes:
        domain: Where values lie.
        edges: The edges of the bins, one more than there are probabilities. They are even, unless a table
            tells people apart on another scale.
        probabilities: Of the bins.
        confidence: How often the whole of the true distribution function lies between `cdf_low` and
            `cdf_high`, whatever it is.
        n: How many reports there are.
        epsilon: The privacy parameter of the reports.
        method: How the distribution was reconstructed.
        cdf_low: The lower limit of the distribution function at every edge, or None if none was asked for.
        cdf_high: The upper limit.
        ribbon: The lower and the upper limits of the bins' probabilities. About nine in ten hold, except for
            truths with heaps that are finer than ε resolves. None as above.
        shaped: Whether the reports tell the curve from an even one.
        most_common: The ranges where values appear to be most common, one or two of them, whatever bins are
            drawn; none where the reports do not tell. None as the ribbon.
        sure: How many people are surely in some range, if that is more than a flat curve would have there.
        estimand: Whose it is. The band repeats the drawing of people as well as their noise, so it is about
            the population they stand for.
    """

    domain: Domain
    edges: FloatArray
    probabilities: FloatArray
    confidence: float
    n: int
    epsilon: float
    method: str
    cdf_low: FloatArray | None = None
    cdf_high: FloatArray | None = None
    ribbon: tuple[FloatArray, FloatArray] | None = None
    shaped: bool = False
    most_common: tuple[Range, ...] | None = None
    sure: Sure | None = None
    estimand: str = "population"

    def __repr__(self) -> str:
        return (
            f"<Distribution {len(self.probabilities)} bins of {self.domain} n={self.n} "
            f"epsilon={self.epsilon!r} method={self.method!r}>"
        )

    def _facts(self) -> dict[str, str]:
        quarters = ", ".join(f"{value:.4g}" for value in self.quantile([0.25, 0.5, 0.75]))
        line = {} if self.domain.is_circle else {"quarters": quarters}
        named = {"in words": self.sentence} if self.sentence else {}
        return {
            **named,
            "mean": f"{self.mean:.4g}",
            **line,
            "of": f"the {self.estimand}, from {self.n:,} reports",
        }

    @property
    def sentence(self) -> str:
        """Which values appear to be most common, if the reports tell, and where people surely are."""
        return sentence(self.domain, self.n, self.most_common, self.sure, self.confidence)

    @property
    def middles(self) -> FloatArray:
        """The middle of each bin, on a log scale by factors."""
        if self.domain.is_log:
            return np.sqrt(self.edges[1:]) * np.sqrt(self.edges[:-1])
        return (self.edges[1:] + self.edges[:-1]) / 2

    @property
    def density(self) -> FloatArray:
        """Probability per unit of the domain."""
        return self.probabilities / np.diff(self.edges)

    @cached_property
    def _unit(self) -> metrics.Cumulative:
        return metrics.Cumulative.of_bins(self.probabilities)

    # -- what it says -----------------------------------------------------------------------------------

    @property
    def mean(self) -> float:
        """The mean of the reconstruction, on a circle its mean direction, on a log scale the usual mean too.

        `sottovoce.mean` and `sottovoce.circular_mean` give intervals too.
        """
        if self.domain.is_log:  # spread evenly along the logarithm
            step = np.log(self.edges[1:]) - np.log(self.edges[:-1])
            return float(self.probabilities @ (np.diff(self.edges) / step))
        if not self.domain.is_circle:
            return float(self.probabilities @ self.middles)
        turn = np.angle(self.probabilities @ np.exp(2j * np.pi * self.domain.to_unit(self.middles)))
        return float(self.domain.from_unit(turn / (2 * np.pi) % 1.0))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """The probability of values up to x (from the origin of a circle).

        Args:
            x: Values in the domain.

        Returns:
            One probability per value.
        """
        x = np.asarray(as_numbers(x, "x"), dtype=np.float64)
        return np.interp(self.domain.line(x), self.domain.line(self.edges), self._unit.after)

    def quantile(self, p: ArrayLike) -> FloatArray:
        """The least x with cdf(x) ≥ p; `sottovoce.quantile` gives one with an interval.

        Args:
            p: Probabilities between 0 and 1.

        Returns:
            One value per probability.

        Raises:
            ValueError: If `p` is not between 0 and 1.
        """
        p = np.asarray(as_numbers(p, "p"), dtype=np.float64)
        if not ((p >= 0) & (p <= 1)).all():
            raise ArgumentError(f"p must lie between 0 and 1, got p={p.tolist()!r}", argument="p")
        total = self._unit.after
        rank = np.clip(np.searchsorted(total, p * total[-1], side="left"), 1, len(total) - 1)
        below, mass = total[rank - 1], np.maximum(total[rank] - total[rank - 1], 1e-300)
        part = np.clip((p * total[-1] - below) / mass, 0, 1)
        if self.domain.is_log:
            return np.asarray(self.domain.from_unit((rank - 1 + part) / len(self.probabilities)))[()]
        return np.asarray(self.edges[rank - 1] + part * (self.edges[rank] - self.edges[rank - 1]))[()]

    def distance(self, other: Distribution | ArrayLike, metric: str = "wasserstein") -> float:
        """How far another distribution on the same domain, or a sample of values, is from this one.

        Args:
            other: That distribution or sample.
            metric: "wasserstein", in the units of the domain (on a log scale those of the logarithm; around a
                circle mass moves the short way); "ks", the largest difference of cumulative probabilities
                (Kuiper's on a circle); "l1", the sum of the differences of the bins' probabilities.

        Returns:
            The distance.

        Raises:
            ValueError: If the domains differ, the sample is empty or not in the domain, or there is no such
                metric.
        """
        one_of(metric, "metric", metrics.METRICS)
        theirs, circle = self._cumulative(other), self.domain.is_circle
        if metric == "wasserstein":
            return self.domain.width * metrics.wasserstein(self._unit, theirs, circle=circle)
        if metric == "ks":
            return metrics.ks(self._unit, theirs, circle=circle)
        return metrics.l1(self._unit, theirs, len(self.probabilities))

    def _cumulative(self, other: Distribution | ArrayLike) -> metrics.Cumulative:
        if isinstance(other, Distribution):
            if other.domain != self.domain:
                raise ArgumentError(
                    f"domains must agree, got {self.domain} and {other.domain}", argument="other"
                )
            return other._unit
        values = in_domain(other, self.domain, "values").reshape(-1)
        if not values.size:
            raise NoDataError("values must not be empty", argument="other")
        return metrics.Cumulative.of_sample(self.domain.to_unit(values))

    # -- other forms ------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, list[float]]:
        """Plain lists, as JSON takes them.

        Returns:
            Columns: lower, upper and probability; with a band the limits cdf_low and cdf_high of the share
            of people up to `upper`, and with a ribbon the limits ribbon_low and ribbon_high of the
            probability.
        """
        columns = {"lower": self.edges[:-1], "upper": self.edges[1:], "probability": self.probabilities}
        if self.ribbon is not None:
            columns |= dict(zip(("ribbon_low", "ribbon_high"), self.ribbon, strict=True))
        if self.cdf_low is not None and self.cdf_high is not None:
            columns |= {"cdf_low": self.cdf_low[1:], "cdf_high": self.cdf_high[1:]}
        return {name: column.tolist() for name, column in columns.items()}

    @property
    def rows(self) -> list[Row]:
        """One row of plain values per bin."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_arrow(self) -> Table:
        """The same as an Arrow table.

        Returns:
            A table of pyarrow, one row per bin.

        Raises:
            MissingExtra: If pyarrow is not installed.
        """
        require_extra("files", "an Arrow table")
        import pyarrow

        return pyarrow.table(self.to_dict())

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file, one line per bin.

        Args:
            path: The file's name.
        """
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(self.to_dict()))
            writer.writeheader()
            writer.writerows(self.rows)

    def plot(self, ax: Axes | None = None, *, kind: str = "density", label: str | None = None) -> Axes:
        """Draw it: a curve, on a circle one whose areas are the probabilities, or the distribution function.

        Args:
            ax: Axes of matplotlib, polar ones for a circle; by default new ones.
            kind: "density" in its ribbon, with a bar where values appear to be most common (the ribbon alone
                where the reports tell no shape), or "cdf", the distribution function with its band.
            label: Its name in the legend.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        name = label or "the likeliest curve"
        if one_of(kind, "kind", ("density", "cdf")) == "cdf":
            band = None if self.cdf_low is None or self.cdf_high is None else (self.cdf_low, self.cdf_high)
            names = (name, f"{self.confidence:.0%} band, holds the whole curve")
            axes = draw_cumulative(
                self.edges, self._unit.after, band, names=names, ax=ax, log=self.domain.is_log
            )
        else:
            curve = Curve(
                self.edges,
                self.probabilities,
                self.ribbon,
                self.shaped or self.ribbon is None,  # a flat curve's waves would be read as a shape
                [outward(self.domain, *ends) for ends in self.most_common or ()],
                name,
            )
            log = self.domain.is_log
            axes = draw_rose(curve, ax=ax) if self.domain.is_circle else draw_ribbon(curve, ax=ax, log=log)
        axes.set_title(f"{self.n:,} reports, ε = {self.epsilon:g}", fontsize="medium")
        return axes


@single_threaded
def distribution(
    tally: Tally,
    bins: int | None = None,
    *,
    confidence: float = 0.95,
    band: bool = True,
) -> Distribution:
    """Reconstruct the distribution behind a tally on equal bins of the domain.

    Args:
        tally: Counts of reports about a number.
        bins: How many bins; by default their number follows from n and ε.
        confidence: How often the whole of the distribution function should lie inside the band.
        band: Whether to compute it, the ribbon and where values are most common.

    Returns:
        Probabilities of the bins, limits for each, what can be said of where people are, and a band of the
        distribution function that holds for every truth and does not rest on the reconstruction.

    Raises:
        ValueError: If the tally is empty, or there are more bins than the mechanism has cells.

    Example:
        >>> import numpy as np
        >>> from sottovoce.designs.two_scale import two_scale
        >>> m = two_scale(epsilon=2.0, domain=(0, 24))
        >>> hours = np.random.default_rng(1).normal(8, 1.5, 20_000)
        >>> d = distribution(Tally(m, m.report(hours, rng=1)), bins=24)
        >>> bool(abs(d.mean - 8) < 0.2), d.method
        (True, 'ld')
    """
    law = check_tally(tally).law.as_number()
    tally = tally if law.evened is law else Tally.from_counts(law.evened, tally.counts)
    check_confidence(confidence)
    if not band:
        refuse_others(distribution, "band=False", {"confidence": confidence})
    most = min(MOST_BINS, law.cells)
    circle, usual = law.domain.is_circle, default_bins(tally)
    count = usual if bins is None else whole_number(bins, "bins", least=2, most=most)
    smooth = Smooth.of(tally)
    d = Distribution(
        law.domain,
        law.from_even(np.arange(count + 1) / count),
        smooth.probabilities(count),
        confidence=confidence,
        n=tally.n,
        epsilon=law.epsilon,
        method="ld",
    )
    if not band:
        return d
    low, high = cumulative_band(tally, count, confidence)
    d = replace(d, cdf_low=low, cdf_high=high)
    if count != usual:  # what is said of where people are does not depend on the bins that are drawn
        low, high = cumulative_band(tally, usual, confidence)
    surest = surely(low, high, circle=circle)
    return replace(
        d,
        ribbon=smooth.ribbon(count),
        shaped=smooth.shaped,
        most_common=tuple(_range(law, *run, usual) for run in smooth.highest(usual)),
        sure=None if surest is None else Sure(surest.share, *_range(law, *surest.edges, usual)),
    )


def _range(law: Number, first: int, last: int, bins: int) -> Range:
    """From one edge of equal bins to another; around a circle beyond its end."""
    low, high = law.from_even(np.array([first, last - bins * (last > bins)]) / bins).tolist()
    return low, high + law.domain.width * (last > bins)


def default_bins(tally: Tally) -> int:
    """A power of two near 4·(n·ε²)^¼, between 16 and 256: finer bins would show noise or smoothing only.

    >>> from sottovoce.designs.classic import sw
    >>> default_bins(Tally(sw(1.0), [0] * 10_000))
    32
    """
    ideal = 4 * (tally.n * tally.law.as_number().epsilon ** 2) ** 0.25
    return int(min(2 ** np.clip(np.rint(np.log2(ideal)), 4, 8), tally.law.as_number().cells))


def cumulative_band(tally: Tally, bins: int, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Limits of F at the edges of equal bins, all together with the given confidence.

    F(t) is the average of 1[x ≤ t], so it has envelope limits at every t. The band takes them at a few
    points, which share the error evenly; between two of them F is held by the limits at both, because it
    increases.

    Args:
        tally: Counts of reports about a number.
        bins: How many bins.
        confidence: How often the whole of F should lie inside.

    Returns:
        The lower and the upper limit at each of the bins + 1 edges, increasing. Between two edges F lies
        above the lower limit at the left one and below the upper limit at the right one.
    """
    low, high = np.zeros(bins + 1), np.ones(bins + 1)
    low[-1] = 1.0  # everybody is at most at the end
    if tally.n > 1 and bins > 1:
        fit, circle = CrossFit(tally), tally.law.as_number().domain.is_circle
        at = np.unique(np.linspace(0, bins, min(bins, _POINTS) + 1).round().astype(np.int64))[1:-1]
        tail = (1 - confidence) / 2 / len(at)
        targets = [Target.within(0.0, k / bins) if circle else Target.up_to(k / bins) for k in at]
        limits = fit.limits([(target, side) for target in targets for side in (-1, 1)], tail)
        low[at], high[at] = np.reshape(limits, (-1, 2)).T + np.array([[-_ROUNDING], [_ROUNDING]])
    low = np.maximum.accumulate(np.clip(low, 0.0, 1.0))
    high = np.minimum.accumulate(np.clip(high, 0.0, 1.0)[::-1])[::-1]
    # Limits are statistics of their own: where they cross, nothing between the two is excluded.
    return np.minimum(low, high), np.maximum(low, high)
