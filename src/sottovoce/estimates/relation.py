"""How two numbers of one person vary together: covariance, correlation, slope.

    t = sottovoce.Tally(p, reports)            # p = sottovoce.pair(…)
    sottovoce.correlation(t), sottovoce.slope(t), sottovoce.covariance(t)
    sottovoce.covariances(t)                   # of a few numbers: all of them

A correlation and a slope are ratios, whose limits are those of Fieller: all r for which C − r·S is not
different from zero. Where S is not resolved, nothing is excluded.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.mean_products import Relation
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.plots.distribution_plot import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def correlation(
    tally: Tally, x: str | None = None, y: str | None = None, *, confidence: float = 0.95
) -> Estimate:
    """Estimate the correlation of two numbers of one person.

    Args:
        tally: Counts of reports of a pair.
        x: The name of the first number; needed where there are more than two.
        y: That of the second.
        confidence: How often the interval should hold.

    Returns:
        Between −1 and 1. Where the spread of a number is not resolved, nothing is excluded, and it says so.

    Raises:
        DataError: If the reports are not of a pair.
        NoDataError: If a question has fewer than two reports.

    Example:
        >>> import numpy as np
        >>> from sottovoce.surveys.pair import pair
        >>> p, u = pair(4.0, [(0, 1), (0, 1)]), np.random.default_rng(1).random((2, 50_000))
        >>> r = correlation(Tally(p, p.report({"x": u[0], "y": (u[0] + u[1]) / 2}, rng=2)))
        >>> bool(r.low < 0.5**0.5 < r.high)
        True
    """
    return _asked(tally, "correlation", x, y, confidence)


def slope(tally: Tally, x: str | None = None, y: str | None = None, *, confidence: float = 0.95) -> Estimate:
    """Estimate by how much `y` grows with `x`: the slope of the regression line.

    Args:
        tally: Counts of reports of a pair.
        x: The number on the horizontal axis; by default the first.
        y: The number on the vertical one; by default the second.
        confidence: How often the interval should hold.

    Returns:
        In units of y per unit of x. Where the spread of x is not resolved, the interval has no ends.

    Raises:
        DataError: If the reports are not of a pair.
        NoDataError: If a question has fewer than two reports.
    """
    return _asked(tally, "slope", x, y, confidence)


def covariance(
    tally: Tally, x: str | None = None, y: str | None = None, *, confidence: float = 0.95
) -> Estimate:
    """Estimate the covariance of two numbers of one person; of a number with itself its variance.

    Args:
        tally: Counts of reports of a pair.
        x: The name of the first number; needed where there are more than two.
        y: That of the second.
        confidence: How often the interval should hold.

    Returns:
        In units of x times units of y.

    Raises:
        DataError: If the reports are not of a pair.
        NoDataError: If a question has fewer than two reports.
    """
    return _asked(tally, "covariance", x, y, confidence)


def _asked(tally: Tally, question: str, x: str | None, y: str | None, confidence: float) -> Estimate:
    relation = Relation.of(tally)
    if x is None and y is None and len(relation.names) == 2:
        x, y = relation.names
    if x is None or y is None:
        raise ArgumentError(f"x and y must be two of {', '.join(relation.names)}", argument="x")
    return relation.estimate(question, x, y, confidence)


@dataclass(frozen=True, eq=False, repr=False)
class Covariances(Tabular):
    """The covariance matrix of several numbers of one person.

    Attributes:
        names: The numbers.
        value: The covariances, in units of one times units of the other.
        low: The lower limit of each.
        high: The upper limit of each.
        correlation: The correlations; NaN where a spread is not resolved.
        confidence: How often each interval holds.
        n: How many people reported.
    """

    names: tuple[str, ...]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    correlation: FloatArray
    confidence: float
    n: int

    @property
    def rows(self) -> list[Row]:
        """A row for every two numbers, and for each with itself."""
        return [
            {"x": x, "y": y, "covariance": float(self.value[i, j]), "low": float(self.low[i, j]),
             "high": float(self.high[i, j]), "correlation": float(self.correlation[i, j])}
            for (i, x), (j, y) in combinations_with_replacement(enumerate(self.names), 2)
        ]  # fmt: skip

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the correlations.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        axes: Any = new_axes(polar=False) if ax is None else ax
        places = range(len(self.names))
        mesh = axes.imshow(self.correlation, cmap="RdBu_r", vmin=-1, vmax=1)
        axes.set_xticks(places, self.names)
        axes.set_yticks(places, self.names)
        axes.figure.colorbar(mesh, ax=axes, shrink=0.8, label=f"correlation, {self.n:,} reports")
        return axes

    def __str__(self) -> str:
        level = f"{100 * self.confidence:.10g} % intervals"
        return f"covariances of {', '.join(self.names)} from {self.n:,} reports, {level}"


def covariances(tally: Tally, *, confidence: float = 0.95) -> Covariances:
    """Estimate the covariance of every two numbers, and the variance of each.

    Args:
        tally: Counts of reports of a pair, or of more numbers.
        confidence: How often each interval should hold.

    Returns:
        The matrix, with limits of each entry.

    Raises:
        DataError: If the reports are not of a pair.
        NoDataError: If a question has fewer than two reports.
    """
    relation = Relation.of(tally)
    names = relation.names
    table = [[relation.estimate("covariance", x, y, confidence) for y in names] for x in names]
    value, low, high = (
        np.array([[getattr(one, end) for one in row] for row in table]) for end in ("value", "low", "high")
    )
    spread = np.sqrt(np.where(np.diag(value) > 0, np.diag(value), np.nan))
    ratio = np.clip(value / np.outer(spread, spread), -1, 1)
    return Covariances(names, value, low, high, ratio, confidence, tally.n)
