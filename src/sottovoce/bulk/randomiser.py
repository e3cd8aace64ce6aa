"""A randomiser: record batches of people's values in, record batches of reports out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.bulk.keyed_draws import KeyedDraws
from sottovoce.bulk.labels import label
from sottovoce.bulk.sources import Data, Source
from sottovoce.core.errors import ArgumentError, ArgumentTypeError, DataError
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.number import Number
from sottovoce.core.policy import WORDS, Missing, Outside, Policy
from sottovoce.core.randomness import word_source

Mask = NDArray[np.bool_]


def declared(missing: Missing, outside: Outside, clip: bool) -> Policy:
    """The policy that a verb's arguments name."""
    if not isinstance(clip, bool | np.bool_):
        raise ArgumentTypeError(f"clip must be True or False, got clip={clip!r}", argument="clip")
    return Policy.of(missing, outside, bool(clip))


@dataclass(frozen=True)
class Randomiser:
    """What is done to every batch: columns kept as they are, then one column of cells per mechanism.

    With `row_id` and `secret` the reports are a keyed function of the row instead of fresh.
    """

    mechanisms: Mapping[str, Number]
    keep: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    row_id: str | None = None
    secret: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanisms, Mapping) or not self.mechanisms:
            raise ArgumentTypeError(
                "mechanisms must map at least one column name to its mechanism", argument="mechanisms"
            )
        for mechanism in self.mechanisms.values():
            if not hasattr(mechanism, "report"):
                kind = type(mechanism).__name__
                raise ArgumentTypeError(f"mechanisms must hold mechanisms, got {kind}", argument="mechanisms")
            self.policy.checked(mechanism.domain, WORDS)
        if both := sorted(set(self.keep) & set(self.mechanisms)):
            raise ArgumentError(
                f"column {both[0]!r} is randomised, so it cannot be kept as it is", argument="keep"
            )
        if len(set(self.keep)) < len(self.keep):
            raise ArgumentError(
                f"keep must name a column once, got keep={list(self.keep)!r}", argument="keep"
            )

    @property
    def columns(self) -> list[str]:
        """The columns of the result."""
        return [*self.keep, *self.mechanisms]

    def open(self, data: Data) -> Source:
        """The source of some data, with the columns that are needed."""
        source = Source(data, self.columns, dict.fromkeys(self.mechanisms, pa.float64()))
        for name in self.mechanisms:
            _check_numeric(source.field(name).type, name)
        return source

    def schema(self, source: Source) -> pa.Schema:
        """The fields of the result; columns of cells are labelled with their mechanism."""
        fields = [source.field(name) for name in self.keep]
        for name, mechanism in self.mechanisms.items():
            fields.append(pa.field(name, pa.from_numpy_dtype(mechanism.dtype), metadata=label(mechanism)))
        return pa.schema(fields)

    def reports(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """The batch randomised, with the fields of `schema`; DataError if the policy refuses some value."""
        arrays = [batch.column(name) for name in self.keep]
        present = np.ones(batch.num_rows, dtype=np.bool_)
        for name in self.mechanisms:
            values, missing = self._judged(batch, name)
            cells = self._cells(batch, name, values, missing)
            if self.policy.missing == "drop":
                present &= ~missing
            mask = missing if self.policy.missing == "keep" else None
            arrays.append(pa.array(cells, mask=mask).cast(schema.field(name).type))
        reports = pa.RecordBatch.from_arrays(arrays, schema=schema)
        return reports if present.all() else reports.filter(pa.array(present))

    def _judged(self, batch: pa.RecordBatch, name: str) -> tuple[FloatArray, Mask]:
        """The values of a column, clipped if that is the policy, and which of them are missing."""
        values, domain = _numbers(batch, name), self.mechanisms[name].domain
        ends = (values.min(), values.max()) if values.size else ()  # NaN if there is one
        if domain.contains(ends).all():  # the usual case, seen in one pass
            return values, np.zeros(values.shape, dtype=np.bool_)
        return self.policy.judge(values, domain, f"values of column {name!r}")

    def _cells(self, batch: pa.RecordBatch, name: str, values: FloatArray, missing: Mask) -> NDArray[Any]:
        """The reports of a column, with something that stands in for the missing values."""
        mechanism, stand_in = self.mechanisms[name], self.policy.missing
        draws: FreshDraws | KeyedDraws = FreshDraws(mechanism, batch.num_rows)
        if self.row_id is not None:
            draws = KeyedDraws(mechanism, self.secret, name, batch.column(self.row_id))
        if not missing.any():
            return draws.report(values)
        if stand_in == "uniform":
            return draws.report(np.where(missing, draws.stand_ins(), values))
        # Of a row that is dropped or stays empty nobody sees what stood in.
        other = mechanism.domain.low if isinstance(stand_in, str) else stand_in
        return draws.report(np.where(missing, other, values))

    def refusal(self, batches: Iterable[pa.RecordBatch], where: str, rows: int = 0) -> DataError:
        """How many values of a column the policy refuses, and the first one's row, from a bad batch on.

        `rows` came before and were randomised.
        """
        counts: dict[tuple[str, str], int] = {}
        first: dict[tuple[str, str], int] = {}
        for batch in batches:
            for name in self.mechanisms:
                for kind, wrong in self._refused(batch, name).items():
                    if wrong.any():
                        first.setdefault((name, kind), rows + int(np.argmax(wrong)))
                        counts[name, kind] = counts.get((name, kind), 0) + int(np.count_nonzero(wrong))
            rows += batch.num_rows
        column, code = next(iter(counts))
        reasons = [
            f"{count} of {rows} are {self._rule(column, kind)}, the first in row {first[column, kind]}"
            for (name, kind), count in counts.items()
            if name == column
        ]
        needs_stand_in = code == "missing" or self.policy.outside == "missing"
        advice = "missing= says what stands in" if needs_stand_in else "clip=True brings them inside"
        sentence = f"values of column {column!r} in {where}: {', '.join(reasons)}; {advice}"
        return DataError(sentence, code=code)

    def _rule(self, column: str, kind: str) -> str:
        domain = self.mechanisms[column].domain
        between = f"outside [{domain.low!r}, {domain.high!r}]"
        return between if kind == "outside" else "missing (null, NaN or infinite)"

    def _refused(self, batch: pa.RecordBatch, name: str) -> dict[str, Mask]:
        """The values of a column that the policy refuses, by what is wrong with them."""
        values, domain = _numbers(batch, name), self.mechanisms[name].domain
        missing = ~np.isfinite(values)
        outside = ~missing & ~domain.contains(np.where(missing, domain.low, values))
        refused = {}
        if self.policy.missing == "refuse":
            refused["missing"] = missing
        if self.policy.outside == "refuse" or (self.policy.outside, self.policy.missing) == (
            "missing",
            "refuse",
        ):
            refused["outside"] = outside
        return refused


@dataclass(frozen=True)
class FreshDraws:
    """Draws of the secure stream, as `KeyedDraws` gives those of a secret."""

    mechanism: Number
    rows: int

    def report(self, values: FloatArray) -> NDArray[Any]:
        """The cells of these values."""
        return self.mechanism.report(values)

    def stand_ins(self) -> FloatArray:
        """A value for every row, spread evenly over the domain."""
        return self.mechanism.domain.spread(word_source().words(self.rows))


def _check_numeric(kind: pa.DataType, column: str) -> None:
    """A column without a single value has Arrow's null type, and is numeric as much as anything else."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(is_kind(kind) for is_kind in kinds):
        sentence = f"column {column!r} must be numeric, got {kind}"
        raise ArgumentTypeError(sentence, argument="mechanisms")


def _numbers(batch: pa.RecordBatch, column: str) -> FloatArray:
    """A numeric column as numpy, NaN where it is null."""
    array = batch.column(column)
    _check_numeric(array.type, column)
    if pa.types.is_decimal(array.type) or pa.types.is_null(array.type):
        array = array.cast(pa.float64())
    return array.to_numpy(zero_copy_only=False)
