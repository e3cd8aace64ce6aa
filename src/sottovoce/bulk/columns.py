"""Randomising the columns of one record batch, with a declared rule for absent and outlying values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.bulk.arrow import Source, check_numeric, numbers, open_source
from sottovoce.bulk.keyed import KeyedDraws
from sottovoce.bulk.labels import AnyMechanism, label
from sottovoce.core.errors import DataError, real_number
from sottovoce.core.values import count_outside

Missing = float | str | None


@dataclass(frozen=True)
class Rule:
    """What happens to nulls, NaN and infinity (`missing`) and to finite values outside the domain (`clip`).

    missing=None refuses them; a number inside the domain stands in for them and is randomised like any other;
    "keep" leaves the report null, which tells everybody who had no value.
    """

    missing: Missing = None
    clip: bool = False

    def check(self, mechanism: AnyMechanism) -> None:
        if not isinstance(self.clip, bool | np.bool_):
            raise TypeError(f"clip must be True or False, got clip={self.clip!r}")
        if self.missing is None or self.missing == "keep":
            return
        if isinstance(self.missing, str):
            raise ValueError(f"missing must be None, 'keep' or a number, got missing={self.missing!r}")
        if not mechanism.domain.contains(real_number(self.missing, "missing")):
            raise ValueError(f"missing must lie in the domain, got missing={self.missing!r}")


@dataclass(frozen=True)
class Work:
    """What is done to every batch: columns kept as they are, then one column of cells per mechanism."""

    mechanisms: Mapping[str, AnyMechanism]
    keep: list[str]
    rule: Rule

    def __post_init__(self) -> None:
        if not isinstance(self.mechanisms, Mapping) or not self.mechanisms:
            raise TypeError("mechanisms must map at least one column name to its mechanism")
        for mechanism in self.mechanisms.values():
            if not hasattr(mechanism, "report"):
                raise TypeError(f"mechanisms must hold mechanisms, got {type(mechanism).__name__}")
            self.rule.check(mechanism)
        if both := sorted(set(self.keep) & set(self.mechanisms)):
            raise ValueError(f"column {both[0]!r} is randomised, so it cannot be kept as it is")
        if len(set(self.keep)) < len(self.keep):
            raise ValueError(f"keep must name a column once, got keep={self.keep!r}")

    @property
    def columns(self) -> list[str]:
        return [*self.keep, *self.mechanisms]

    @property
    def rule_text(self) -> str:
        return f"missing={self.rule.missing!r} clip={self.rule.clip!r}"

    def open(self, data: Any) -> Source:
        """The source of some data, with the columns that are needed."""
        source = open_source(data, self.columns, dict.fromkeys(self.mechanisms, pa.float64()))
        for name in self.mechanisms:
            check_numeric(source.field(name).type, name)
        return source

    def schema(self, source: Source) -> Any:
        """The columns of the result; columns of cells are labelled with their mechanism."""
        fields = [source.field(name) for name in self.keep]
        for name, mechanism in self.mechanisms.items():
            fields.append(pa.field(name, pa.from_numpy_dtype(mechanism.dtype), metadata=label(mechanism)))
        return pa.schema(fields)

    def reports(self, batch: Any, schema: Any) -> Any:
        """The batch with its columns randomised; DataError if the rule does not cover some value."""
        arrays = []
        for name in schema.names:
            if name in self.mechanisms:
                arrays.append(cells_of(batch, name, self.mechanisms[name], self.rule))
            else:
                arrays.append(batch.column(name))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def cells_of(
    batch: Any,
    name: str,
    mechanism: AnyMechanism,
    rule: Rule,
    draws: KeyedDraws | None = None,
    rows: Any = None,
) -> Any:
    """The reports of one column; with `draws` they are keyed by `rows` instead of fresh."""
    values, null = numbers(batch, name)
    if rule.missing is not None:
        null = _absent(values, null)
        if null is not None:
            stand_in = mechanism.domain.low if rule.missing == "keep" else float(rule.missing)
            values = np.where(null, stand_in, values)
    elif null is not None:
        raise DataError(
            f"values of column {name!r} must be present: {int(null.sum())} of {null.size} are null"
        )
    if draws is None:
        cells = mechanism.report(values, clip=rule.clip)
    else:
        cells = draws.report(rows, values, clip=rule.clip)
    return pa.array(cells, mask=null if rule.missing == "keep" else None)


def _absent(values: NDArray[Any], null: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Null, NaN and infinite alike; None if there are none."""
    absent = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=np.bool_)
    if null is not None:
        absent |= null
    return absent if absent.any() else None


def refusal(
    batches: Iterable[Any],
    mechanisms: Mapping[str, AnyMechanism],
    rule: Rule,
    where: str,
    rows: int = 0,
) -> DataError | None:
    """How many values of which column are refused, and where the first is, from the first bad batch on.

    `rows` came before and were covered by the rule. None if nothing is found.
    """
    wrong, nulls = dict.fromkeys(mechanisms, 0), dict.fromkeys(mechanisms, 0)
    first: dict[str, int] = {}
    for batch in batches:
        for name, mechanism in mechanisms.items():
            values, null = numbers(batch, name)
            found, at = _refused(values, null, mechanism, rule)
            nulls[name] += 0 if null is None else int(null.sum())
            if found:
                first.setdefault(name, rows + at)
            wrong[name] += found
        rows += batch.num_rows
    for name, row in first.items():
        domain = mechanisms[name].domain
        must = "be present and finite" if rule.clip else f"lie in [{domain.low!r}, {domain.high!r}]"
        absent = f" ({nulls[name]} of them null)" if nulls[name] and rule.missing is None else ""
        hints = ["missing= for absent values"] if rule.missing is None else []
        hints += [] if rule.clip else ["clip=True for those outside"]
        return DataError(
            f"values of column {name!r} in {where} must {must}: {wrong[name]} of {rows} do not{absent}, "
            f"the first in row {row}; declare {', '.join(hints)}"
        )
    return None


def _refused(
    values: NDArray[Any], null: NDArray[np.bool_] | None, mechanism: AnyMechanism, rule: Rule
) -> tuple[int, int]:
    """How many values of a batch the rule does not cover, and the first one's place."""
    numbers = values.astype(np.float64)
    absent = ~np.isfinite(numbers) if null is None else null | ~np.isfinite(numbers)
    stand_in = np.nan if rule.missing is None else mechanism.domain.low
    numbers = np.where(absent, stand_in, numbers)
    return count_outside(numbers, np.isfinite if rule.clip else mechanism.domain.contains)
