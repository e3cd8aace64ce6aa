"""Randomising the columns of one record batch, with a declared rule for absent and outlying values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.bulk.arrow import Source, numbers
from sottovoce.bulk.keyed import KeyedDraws
from sottovoce.bulk.labels import AnyMechanism, label
from sottovoce.errors import DataError, real_number
from sottovoce.values import count_outside

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
        if self.missing is None or self.missing == "keep":
            return
        if isinstance(self.missing, str):
            raise ValueError(f"missing must be None, 'keep' or a number, got missing={self.missing!r}")
        if not mechanism.domain.contains(real_number(self.missing, "missing")):
            raise ValueError(f"missing must lie in the domain, got missing={self.missing!r}")


def report_schema(source: Source, mechanisms: Mapping[str, AnyMechanism], keep: list[str]) -> Any:
    """Kept columns as they are, then one labelled column of cells for each mechanism."""
    fields = [source.field(name) for name in keep]
    for name, mechanism in mechanisms.items():
        fields.append(pa.field(name, pa.from_numpy_dtype(mechanism.dtype), metadata=label(mechanism)))
    return pa.schema(fields)


def report_batch(batch: Any, schema: Any, mechanisms: Mapping[str, AnyMechanism], rule: Rule) -> Any:
    """The batch with its columns randomised; DataError if the rule does not cover some value."""
    arrays = []
    for name in schema.names:
        if name in mechanisms:
            arrays.append(cells_of(batch, name, mechanisms[name], rule))
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


def explain(source: Source, mechanisms: Mapping[str, AnyMechanism], rule: Rule) -> DataError | None:
    """Read the source again to say how many values of which column are refused, and where the first is."""
    for name, mechanism in mechanisms.items():
        wrong, first, row, nulls = 0, -1, 0, 0
        for batch in source.batches():
            values, null = numbers(batch, name)
            found, at = _refused(values, null, mechanism, rule)
            nulls += 0 if null is None else int(null.sum())
            if found and first < 0:
                first = row + at
            wrong, row = wrong + found, row + batch.num_rows
        if wrong:
            domain = mechanism.domain
            rule_text = "be present and finite" if rule.clip else f"lie in [{domain.low!r}, {domain.high!r}]"
            hint = "declare missing= for absent values" + (
                "" if rule.clip else ", clip=True for those outside"
            )
            return DataError(
                f"values of column {name!r} in {source.name} must {rule_text}: {wrong} of {row} do not "
                f"({nulls} of them null), the first in row {first}; {hint}"
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
