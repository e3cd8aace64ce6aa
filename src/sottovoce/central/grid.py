"""Values to integers: rounding to a declared grid, and sums that cannot overflow.

A value of [low, high] becomes the nearest of the positions 0 … M; data become two integers, the number
of people and the sum of their positions. Whatever floating point does to one value, the position is an
integer between 0 and M, which is all that privacy needs. One pass over blocks that stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, whole_number
from sottovoce.values.checked_arrays import as_numbers, from_arrow, one_column
from sottovoce.values.interval import DomainLike, Interval, as_domain
from sottovoce.values.missing_and_outside import Missing, Outside, Policy

#: 2^32 steps move a mean by at most 1.2e−10 of the domain; a block's sum of positions is an exact double.
STEPS = 1 << 32
_BLOCK = 1 << 15


@dataclass(frozen=True)
class Grid:
    """The positions 0 … steps over [low, high], and what becomes of values that have none.

    Attributes:
        domain: Where values lie.
        steps: M, how many steps the domain is divided into.
        policy: The rule for missing values and those outside.
    """

    domain: Interval
    steps: int
    policy: Policy

    @staticmethod
    def of(
        domain: DomainLike,
        steps: int = STEPS,
        *,
        missing: Missing = "refuse",
        outside: Outside = "refuse",
        clip: bool = False,
    ) -> Grid:
        """A grid from the arguments of `mean`, checked."""
        if not isinstance(clip, bool | np.bool_):
            raise ArgumentTypeError(f"clip must be True or False, got clip={clip!r}", argument="clip")
        interval = _interval(domain)
        policy = Policy.of(missing, outside, bool(clip)).checked(interval, ("refuse", "drop"))
        return Grid(interval, whole_number(steps, "grid", 1, STEPS), policy)

    @property
    def origin(self) -> int:
        """The position 0 in grid steps from the number zero, to the nearest step."""
        low, high = Fraction(self.domain.low), Fraction(self.domain.high)
        return round(low * self.steps / (high - low))

    @property
    def step(self) -> float:
        """The distance between positions, finite for any domain."""
        return self.domain.scaled_width / self.steps / self.domain.factor

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
        ulps of M: the nearest integer lies in 0 … M for any domain. Comparisons are in doubles as well: numpy
        would round a bound to the type of narrower values, and let in what lies beyond it.
        """
        keep = None
        if not (float(x.min()) >= self.domain.low and float(x.max()) <= self.domain.high):
            x = x.astype(np.float64)
            keep = self._bring_inside(x, wrong)
        wrong.seen += x.size
        if self.domain.factor != 1.0:
            x = x * self.domain.factor
        np.subtract(x, self.domain.scaled_low, out=out, dtype=np.float64)
        out *= self.domain.per_width * self.steps
        np.rint(out, out=out)
        return keep

    def _bring_inside(self, x: FloatArray, wrong: Wrong) -> NDArray[np.bool_] | None:
        """Apply the policy in place; what it refuses is counted in `wrong`."""
        missing, policy, keep = ~np.isfinite(x), self.policy, None
        if policy.outside == "missing":
            missing |= ~self.domain.contains(x)
        if missing.any():
            if policy.missing == "refuse":
                wrong.missing.add(missing, wrong.seen)
            elif policy.missing == "drop":
                keep = ~missing
            x[missing] = self.domain.low if isinstance(policy.missing, str) else policy.missing
        if policy.outside == "refuse":
            wrong.outside.add(~self.domain.contains(x), wrong.seen)
        np.clip(x, self.domain.low, self.domain.high, out=x)
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
        wrong.refuse(self.domain)
        return people, total


@dataclass
class Offences:
    """Values against a rule: how many, and the first index. Never which values."""

    count: int = 0
    first: int = -1

    def add(self, mask: NDArray[np.bool_], seen: int) -> None:
        """Count those of a block that comes after `seen` values."""
        if self.first < 0 and mask.any():
            self.first = seen + int(np.argmax(mask))
        self.count += int(np.count_nonzero(mask))


class Wrong:
    """What the policy refuses, over all blocks."""

    def __init__(self) -> None:
        self.seen, self.missing, self.outside = 0, Offences(), Offences()

    def refuse(self, domain: Interval) -> None:
        """Raise DataError if anything was refused."""
        rules = (
            (self.missing, "missing", "missing (NaN or infinite)", "missing= says what they count as"),
            (
                self.outside,
                "outside",
                f"outside [{domain.low!r}, {domain.high!r}]",
                "clip=True brings them inside",
            ),
        )
        for offences, code, what, advice in rules:
            if offences.count:
                sentence = f"{offences.count} of {self.seen} values are {what}, the first at index "
                error = DataError(f"{sentence}{offences.first}; {advice}", code=code, argument="values")
                error.row = offences.first
                raise error


def _interval(domain: DomainLike) -> Interval:
    try:
        interval = as_domain(domain)
    except ValueError as error:
        raise ArgumentError(
            f"domain must be two finite numbers, low < high, got domain={domain!r}", argument="domain"
        ) from error
    except TypeError:
        interval = None
    if interval is None or interval.is_circle or interval.is_log:  # nor is it a line with two ends
        raise ArgumentTypeError(f"domain must be (low, high), got domain={domain!r}", argument="domain")
    return Interval(interval.low, interval.high)


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
    values = one_column(values, "values")
    if hasattr(values, "columns") or isinstance(values, dict):
        raise ArgumentTypeError("values is a table: say which column holds the numbers", argument="values")
    if values is None or isinstance(values, str | bytes):
        raise ArgumentTypeError(
            f"values must be one-dimensional numbers, got {type(values).__name__}", argument="values"
        )
    module = type(values).__module__.partition(".")[0]
    if module == "pyarrow":
        values = from_arrow(values)
    elif module == "pandas" and not isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf":
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    elif isinstance(values, Iterable) and not hasattr(values, "__len__"):
        values = list(values)
    array = as_numbers(values, "values")
    if array.ndim != 1:
        raise ArgumentError(
            f"values must be one-dimensional, one number per person, got shape={array.shape}",
            code="shape",
            argument="values",
        )
    return array
