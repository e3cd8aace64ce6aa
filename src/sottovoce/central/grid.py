"""Values to integers: rounding to a declared grid, and sums that cannot overflow.

A value of [low, high] becomes the nearest of the positions 0 … M; data become two integers, the number
of people and the sum of their positions. Whatever floating point does to one value, the position is an
integer between 0 and M, which is all that privacy needs. One pass over blocks that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.domains import DomainLike, FloatArray, Interval, as_domain
from sottovoce.core.errors import DataError, real_number, whole_number
from sottovoce.core.values import as_numbers

#: 2^32 steps move a mean by at most 1.2e−10 of the range; a block's sum of positions is an exact double.
STEPS = 1 << 32
_BLOCK = 1 << 15

Missing = Literal["refuse", "drop"] | float


@dataclass(frozen=True)
class Grid:
    """The positions 0 … steps over [low, high], and what to do with values that have none."""

    bounds: Interval
    steps: int
    clip: bool
    missing: Missing

    @staticmethod
    def of(
        bounds: DomainLike, steps: int = STEPS, *, clip: bool = False, missing: Missing = "refuse"
    ) -> Grid:
        interval = _interval(bounds)
        steps = whole_number(steps, "grid", 1, STEPS)
        if not isinstance(clip, bool | np.bool_):
            raise TypeError(f"clip must be True or False, got clip={clip!r}")
        if isinstance(missing, str):
            if missing not in ("refuse", "drop"):
                raise ValueError(f"missing must be 'refuse', 'drop' or a number, got missing={missing!r}")
        else:
            missing = real_number(missing, "missing")
            if not interval.low <= missing <= interval.high:
                raise ValueError(f"missing must lie within the bounds, got missing={missing!r}")
        return Grid(interval, steps, bool(clip), missing)

    @property
    def origin(self) -> int:
        """The position 0 in grid steps from the number zero, to the nearest step."""
        low, high = Fraction(self.bounds.low), Fraction(self.bounds.high)
        return round(low * self.steps / (high - low))

    @property
    def step(self) -> float:
        """The distance between positions, finite for any bounds."""
        return self.bounds.scaled_width / self.steps / self.bounds.scale

    def positions(
        self, values: NDArray[Any], wrong: Wrong, out: FloatArray | None = None
    ) -> tuple[FloatArray, NDArray[np.bool_] | None]:
        """Positions as whole doubles (in `out`, if given), and which values are kept (None: all of them)."""
        out = np.empty(values.size) if out is None else out[: values.size]
        keep = None
        for first in range(0, values.size, _BLOCK):
            part = slice(first, first + _BLOCK)
            kept = self._place(values[part], out[part], wrong)
            if kept is not None:
                keep = np.ones(values.size, dtype=np.bool_) if keep is None else keep
                keep[part] = kept
        return (out if keep is None else out[keep]), keep

    def _place(self, x: NDArray[Any], out: FloatArray, wrong: Wrong) -> NDArray[np.bool_] | None:
        """Positions of one block.

        Subtraction is monotone, so 0 ≤ x − low ≤ width in doubles too, and the product stays within a few
        ulps of M: the nearest integer lies in 0 … M for any bounds. Comparisons are in doubles as well: numpy
        would round a bound to the type of narrower values, and let in what lies beyond it.
        """
        keep = None
        if not (float(x.min()) >= self.bounds.low and float(x.max()) <= self.bounds.high):
            x = x.astype(np.float64)
            keep = self._bring_inside(x, wrong)
        wrong.seen += x.size
        if self.bounds.scale != 1.0:
            x = x * self.bounds.scale
        np.subtract(x, self.bounds.scaled_low, out=out, dtype=np.float64)
        out *= self.bounds.per_width * self.steps
        np.rint(out, out=out)
        return keep

    def _bring_inside(self, x: FloatArray, wrong: Wrong) -> NDArray[np.bool_] | None:
        """Apply the declared choices in place; what no choice covers is counted in `wrong`."""
        absent = np.isnan(x)
        keep = None
        if absent.any():
            if self.missing == "refuse":
                wrong.add_missing(absent)
            elif self.missing == "drop":
                keep = ~absent
            x[absent] = self.bounds.low if isinstance(self.missing, str) else self.missing
        if not self.clip:
            wrong.add_outside(~self.bounds.contains(x))
        np.clip(x, self.bounds.low, self.bounds.high, out=x)
        return keep

    def total(self, values: Any) -> tuple[int, int]:
        """Number of people and sum of positions, exact at any size.

        >>> Grid.of((0, 10), 10).total([1.0, 2.0, 9.7])
        (3, 13)
        """
        people = total = 0
        wrong, buffer = Wrong(), np.empty(_BLOCK)
        for chunk in chunks_of(values):
            for first in range(0, chunk.size, _BLOCK):
                positions, _ = self.positions(chunk[first : first + _BLOCK], wrong, buffer)
                people += positions.size
                total += int(positions.sum())
        wrong.refuse(self.bounds)
        return people, total


class Wrong:
    """Values that no declared choice covers: how many, and the first index. Never which values."""

    def __init__(self) -> None:
        self.seen = self.outside = self.missing = 0
        self.first_outside = self.first_missing = -1

    def add_outside(self, mask: NDArray[np.bool_]) -> None:
        if self.first_outside < 0 and mask.any():
            self.first_outside = self.seen + int(np.argmax(mask))
        self.outside += int(np.count_nonzero(mask))

    def add_missing(self, mask: NDArray[np.bool_]) -> None:
        if self.first_missing < 0:
            self.first_missing = self.seen + int(np.argmax(mask))
        self.missing += int(np.count_nonzero(mask))

    def refuse(self, bounds: Interval) -> None:
        if self.missing:
            raise DataError(
                f"values must not be missing (missing='drop' or a number decides what they count as): "
                f"{self.missing} of {self.seen} are, the first at index {self.first_missing}"
            )
        if self.outside:
            raise DataError(
                f"values must lie in [{bounds.low!r}, {bounds.high!r}] (or pass clip=True): "
                f"{self.outside} of {self.seen} do not, the first at index {self.first_outside}"
            )


def _interval(bounds: DomainLike) -> Interval:
    try:
        domain = as_domain(bounds)
    except ValueError as error:
        raise ValueError(f"bounds must be two finite numbers, low < high, got bounds={bounds!r}") from error
    except TypeError as error:
        raise TypeError(f"bounds must be (low, high), got bounds={bounds!r}") from error
    if not isinstance(domain, Interval):
        raise TypeError(f"bounds must be (low, high), got bounds={bounds!r}")
    return domain


def chunks_of(values: Any) -> Iterator[NDArray[Any]]:
    """One-dimensional arrays of numbers: from one array, series or Arrow column, or an iterator of such."""
    if hasattr(values, "iterchunks"):  # an Arrow column in several pieces
        yield from map(one_array, values.iterchunks())
    elif isinstance(values, Iterator):
        for chunk in values:
            yield from chunks_of(chunk)
    else:
        yield one_array(values)


def one_array(values: Any) -> NDArray[Any]:
    """Numbers of one column; missing entries of pandas, polars and Arrow become NaN."""
    if hasattr(values, "columns") or isinstance(values, dict):
        raise TypeError("values is a table: say which column holds the numbers")
    if values is None or isinstance(values, str | bytes):
        raise TypeError(f"values must be one-dimensional numbers, got {type(values).__name__}")
    module = type(values).__module__.partition(".")[0]
    if module == "pyarrow":
        # a column without a single value has Arrow's null type
        values = values.cast("float64") if str(values.type).startswith(("decimal", "null")) else values
        values = values.to_numpy(zero_copy_only=False)
    elif module == "pandas" and not isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf":
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    elif isinstance(values, Iterable) and not hasattr(values, "__len__"):
        values = list(values)
    array = as_numbers(values, "values")
    if array.ndim != 1:
        raise ValueError(f"values must be one-dimensional, one number per person, got shape={array.shape}")
    return array
