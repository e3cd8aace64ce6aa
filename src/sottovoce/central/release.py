"""What a release says: functions of the noisy integers and public parameters, nothing else."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sottovoce.arrays import FloatArray
from sottovoce.central.group_keys import Keys
from sottovoce.estimates.estimate import Estimate
from sottovoce.plots.data_table import Row, Tabular, label
from sottovoce.plots.forest_plot import draw_forest

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(Estimate):
    """One private number: an estimate whose interval is about the noise.

    If the people are a sample of more, add the usual sampling error to the interval.

    Attributes:
        value: The statistic with its noise.
        low: The lower end of the interval.
        high: The upper end of the interval.
        error: The standard error of the noise.
        confidence: How often the interval holds.
        n: `count` as a whole number, at least 0; 0 for a sum.
        what: Which statistic it is.
        estimand: "respondents": the interval is for the statistic of these people.
        method: The mechanism.
        notes: What the reader should know.
        reach: Not known: None.
        p_value: None, as it is no difference.
        effective: None, as it is not weighted.
        bound: None, as it is no quantile.
        sides: None: only the limits are known.
        advisers: Empty: nothing is compared with another design.
        sources: Empty: two releases may be of the same people, so arithmetic refuses them.
        epsilon: What it cost.
        count: The noisy number of people that comes with a mean: unbiased, not always whole, below zero at
            times; exact in the swap model, where it is public; None for a sum.
    """

    epsilon: float
    count: float | None

    def __str__(self) -> str:
        people = "" if self.count is None else f", n={self.n}"
        return (
            f"{self.what}: {self.value:.6g}, {100 * self.confidence:.10g} % interval {self.low:.6g} to "
            f"{self.high:.6g} ({self.method}, epsilon {self.epsilon:g}{people})"
        )


@dataclass(frozen=True, repr=False)
class GroupedRelease(Tabular):
    """One private number per declared group; arrays in the order of the keys, under the names of `Release`.

    Attributes:
        what: Which statistic it is.
        groups: The declared keys.
        value: The statistic, one entry per key; so are `low`, `high`, `error` and `count`.
        low: Lower ends of the intervals.
        high: Upper ends of the intervals.
        error: The standard error of the noise.
        count: The noisy number of people, None for a sum.
        epsilon: What all of it cost together.
        method: The mechanism.
        confidence: Of each interval.

    Example:
        >>> import sottovoce as sv
        >>> wait = sv.central.mean(
        ...     [5, 7, 30], 1.0, (0, 60), by=["a", "a", "b"], groups=["a", "b", "c"], rng=1
        ... )
        >>> wait.keys, 0 <= wait["c"].value <= 60
        (('a', 'b', 'c'), True)
    """

    what: str
    groups: Keys
    value: FloatArray
    low: FloatArray
    high: FloatArray
    error: FloatArray
    count: FloatArray | None
    epsilon: float
    method: str
    confidence: float

    @property
    def keys(self) -> tuple[Hashable, ...]:
        """The declared keys, in their order."""
        return self.groups.keys

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.keys)

    def __getitem__(self, key: Hashable) -> Release:
        return self.at(self.groups.position(key))

    def at(self, i: int) -> Release:
        """Pick one group's release.

        Args:
            i: The place of the group in `keys`.

        Returns:
            The release.
        """
        count = None if self.count is None else float(self.count[i])
        return Release(
            value=float(self.value[i]),
            low=float(self.low[i]),
            high=float(self.high[i]),
            error=float(self.error[i]),
            confidence=self.confidence,
            n=0 if count is None else max(0, round(count)),
            what=self.what,
            estimand="respondents",
            method=self.method,
            epsilon=self.epsilon,
            count=count,
        )

    @property
    def rows(self) -> list[Row]:
        """A row per group."""
        releases = [(label(key), self.at(i)) for i, key in enumerate(self.keys)]
        return [{"group": key, **one.rows[0], "count": one.count} for key, one in releases]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each group's release, with its interval.

        Args:
            ax: Axes of matplotlib; by default new ones.

        Returns:
            The axes.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        releases = [self.at(i) for i in range(len(self))]
        title = f"{100 * self.confidence:.10g} % intervals"
        return draw_forest([label(key) for key in self.keys], releases, title, ax)

    def __str__(self) -> str:
        return f"{self.what} of {len(self)} groups ({self.method}, epsilon {self.epsilon:g} in all)"

    def to_dict(self) -> dict[str, list[Hashable] | FloatArray]:
        """Make a table.

        Returns:
            Columns by name, as `pandas.DataFrame`, `polars.DataFrame` and `pyarrow.table` take them.
        """
        columns: dict[str, list[Hashable] | FloatArray] = {
            "group": list(self.keys),
            self.what: self.value,
            "low": self.low,
            "high": self.high,
            "error": self.error,
        }
        if self.count is not None and self.what != "count":
            columns["count"] = self.count
        return columns
