"""What a release says: functions of the noisy integers and public parameters, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sottovoce.central.groups import Keys
from sottovoce.core.domains import FloatArray


@dataclass(frozen=True)
class Release:
    """One private number.

    `low` and `high` enclose the data's true statistic with the stated confidence (the noise only: data as a
    sample of a larger population add their own uncertainty). `count` is the noisy number of people that
    comes with a mean: unbiased, not necessarily whole, negative at times; exact in the swap model, where
    the number is public; None for a sum.
    `value` is the statistic with its noise, `standard_error` the spread of that noise.
    """

    statistic: str
    value: float
    low: float
    high: float
    standard_error: float
    count: float | None
    epsilon: float
    mechanism: str
    confidence: float

    def __str__(self) -> str:
        return (
            f"{self.statistic} {self.value:.6g}, "
            f"{100 * self.confidence:.10g}% interval [{self.low:.6g}, {self.high:.6g}], "
            f"epsilon {self.epsilon:g} ({self.mechanism})"
        )


@dataclass(frozen=True)
class GroupedRelease:
    """One private number per declared group, in the order of the keys; arrays under the names of `Release`.

    `statistic` names what it is, `groups` holds the keys; `value`, `low`, `high`, `standard_error` and
    `count` have one entry per key.

    >>> import sottovoce as sv
    >>> wait = sv.central.mean([5, 7, 30], 1.0, (0, 60), by=["a", "a", "b"], groups=["a", "b", "c"], rng=1)
    >>> wait.keys, 0 <= wait["c"].value <= 60
    (('a', 'b', 'c'), True)
    """

    statistic: str
    groups: Keys
    value: FloatArray
    low: FloatArray
    high: FloatArray
    standard_error: FloatArray
    count: FloatArray | None
    epsilon: float
    mechanism: str
    confidence: float

    @property
    def keys(self) -> tuple[Any, ...]:
        """The declared group keys, in their order."""
        return self.groups.keys

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys)

    def __getitem__(self, key: Any) -> Release:
        return self.at(self.groups.position(key))

    def at(self, i: int) -> Release:
        """The release of the group at place `i` of `keys`."""
        return Release(
            self.statistic,
            float(self.value[i]),
            float(self.low[i]),
            float(self.high[i]),
            float(self.standard_error[i]),
            None if self.count is None else float(self.count[i]),
            self.epsilon,
            self.mechanism,
            self.confidence,
        )

    def to_dict(self) -> dict[str, Any]:
        """Columns by name, as `pandas.DataFrame`, `polars.DataFrame` and `pyarrow.table` take them."""
        columns = {
            "group": list(self.keys),
            self.statistic: self.value,
            "low": self.low,
            "high": self.high,
            "standard_error": self.standard_error,
        }
        if self.count is not None and self.statistic != "count":
            columns["count"] = self.count
        return columns
