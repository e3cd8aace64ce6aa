"""A randomiser: record batches of people's values in, record batches of reports out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.bulk.keyed_draws import KeyedDraws
from sottovoce.bulk.tables.arrow_columns import (
    Mask,
    cells_array,
    check_type,
    read_values,
    to_arrow,
    value_type,
)
from sottovoce.bulk.tables.csv_dialect import CsvOptions
from sottovoce.bulk.tables.csv_numerals import Words
from sottovoce.bulk.tables.labels import label
from sottovoce.bulk.tables.sources import Source
from sottovoce.bulk.tables.table_files import Data
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, one_of
from sottovoce.reporters.contract import Reporter, as_reporter, described, spaces
from sottovoce.reporters.formats import law_of
from sottovoce.values.missing_and_outside import WORDS, Policy
from sottovoce.values.space import Space


@dataclass(frozen=True)
class Randomiser:
    """What is done to every batch: columns kept as they are, then one column of reports per mechanism.

    The values of a mechanism are in the column of its name; those of a survey in one column per question.
    With `row_id` and `secret` the reports are a keyed function of the row instead of fresh.
    """

    mechanisms: Mapping[str, Reporter]
    keep: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    row_id: str | None = None
    secret: bytes = field(default=b"", repr=False)
    words: Words = "refuse"
    csv: CsvOptions = field(default_factory=CsvOptions)

    def __post_init__(self) -> None:
        if not isinstance(self.mechanisms, Mapping) or not self.mechanisms:
            raise ArgumentTypeError(
                "mechanisms must map at least one column name to its mechanism", argument="mechanisms"
            )
        for name, mechanism in self.mechanisms.items():
            as_reporter(mechanism, f"mechanisms[{name!r}]")
            if self.row_id is not None and law_of(mechanism).draws is None:
                rule = "row_id= draws reports of one number, choice or place; others need output="
                raise ArgumentError(f"{rule}, got {described(mechanism)}", argument="row_id")
        one_of(self.words, "words", ("refuse", "missing"))
        for domain in self.inputs.values():
            self.policy.checked(domain, WORDS)
        if both := sorted({*self.keep} & {*self.mechanisms, *self.inputs}):
            raise ArgumentError(
                f"column {both[0]!r} is randomised, so it cannot be kept as it is", argument="keep"
            )
        if len(set(self.keep)) < len(self.keep):
            raise ArgumentError(
                f"keep must name a column once, got keep={list(self.keep)!r}", argument="keep"
            )

    @cached_property
    def inputs(self) -> dict[str, Space]:
        """The columns of values, and where the values of each lie."""
        inputs: dict[str, Space] = {}
        for name, mechanism in self.mechanisms.items():
            for column, space in _asked(name, mechanism).items():
                if column in inputs:
                    raise ArgumentError(
                        f"mechanisms must ask for a column once, got {column!r} twice", argument="mechanisms"
                    )
                inputs[column] = space
        return inputs

    @property
    def columns(self) -> list[str]:
        """The columns of the result."""
        return [*self.keep, *self.mechanisms]

    def open(self, data: Data) -> Source:
        """The source of some data, with the columns that are needed."""
        kinds = {column: value_type(space) for column, space in self.inputs.items()}
        source = Source(data, [*self.keep, *self.inputs], kinds, words=self.words, **self.csv)
        for column, domain in self.inputs.items():
            check_type(source.field(column).type, column, domain)
        return source

    def schema(self, source: Source) -> pa.Schema:
        """The fields of the result; columns of reports are labelled with their mechanism."""
        fields = [source.field(name) for name in self.keep]
        for name, mechanism in self.mechanisms.items():
            cell = pa.from_numpy_dtype(mechanism.dtype)
            kind = cell if mechanism.width == 1 else pa.list_(cell, mechanism.width)
            fields.append(pa.field(name, kind, metadata=label(mechanism)))
        return pa.schema(fields)

    def reports(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """The batch randomised, with the fields of `schema`; DataError if the policy refuses some value."""
        arrays = [batch.column(name) for name in self.keep]
        present = np.ones(batch.num_rows, dtype=np.bool_)
        for name in self.mechanisms:
            cells, missing = self._cells(batch, name)
            if self.policy.missing == "drop":
                present &= ~missing
            mask = missing if self.policy.missing == "keep" else None
            arrays.append(cells_array(cells, mask).cast(schema.field(name).type))
        reports = pa.RecordBatch.from_arrays(arrays, schema=schema)
        return reports if present.all() else reports.filter(to_arrow(present))

    def _cells(self, batch: pa.RecordBatch, name: str) -> tuple[NDArray[Any], Mask]:
        """One column of reports, and the rows that lacked a value."""
        mechanism, policy = self.mechanisms[name], self.policy
        asked = _asked(name, mechanism)
        values = {column: read_values(batch, column, space) for column, space in asked.items()}
        missing = np.zeros(batch.num_rows, dtype=np.bool_)
        if self.row_id is None and policy.missing not in ("drop", "keep"):
            answers = _answers(name, mechanism, values, asked)
            return mechanism.report(answers, missing=policy.missing, outside=policy.outside), missing
        draws = None
        words = np.zeros(
            batch.num_rows, dtype=np.uint64
        )  # of a row without a report nobody sees what stood in
        if self.row_id is not None:
            draws = KeyedDraws(law_of(mechanism), self.secret, name, batch.column(self.row_id))
            words = draws.stand_ins()
        for column, space in asked.items():
            values[column], absent = policy.judge(values[column], space, f"values of column {column!r}")
            if absent.any():
                filled = np.array(values[column], dtype=np.float64)
                number = None if isinstance(policy.missing, str) else policy.missing
                filled[absent] = space.spread(words[absent]) if number is None else number
                values[column], missing = filled, missing | absent
        if draws is not None:
            return draws.report(values[name]), missing
        return mechanism.report(_answers(name, mechanism, values, asked)), missing

    def replaced(self, batch: pa.RecordBatch) -> Counter[tuple[str, str]]:
        """How many values of each column are missing and outside, where the policy has a rule for them."""
        policy, counts = self.policy, Counter[tuple[str, str]]()
        for column, domain in self.inputs.items() if policy != Policy() else ():
            values = read_values(batch, column, domain)
            missing = domain.absent(values)
            counts[column, "missing"] += int(np.count_nonzero(missing))
            counts[column, "outside"] += int(np.count_nonzero(~missing & ~domain.contains(values)))
        return counts

    def refusal(
        self, batches: Iterable[pa.RecordBatch], where: str, place: Callable[[int], str], rows: int = 0
    ) -> DataError:
        """How many values of a column the policy refuses, and where the first one is, from a bad batch on.

        `rows` came before and were randomised; `place` says where a row is.
        """
        counts: dict[tuple[str, str], int] = {}
        first: dict[tuple[str, str], int] = {}
        for batch in batches:
            for column, domain in self.inputs.items():
                for kind, wrong in self._refused(read_values(batch, column, domain), domain).items():
                    if wrong.any():
                        first.setdefault((column, kind), rows + int(np.argmax(wrong)))
                        counts[column, kind] = counts.get((column, kind), 0) + int(np.count_nonzero(wrong))
            rows += batch.num_rows
        bad, code = next(iter(counts))
        rules = {"missing": "missing (null, NaN or infinite)", "outside": f"outside {self.inputs[bad]}"}
        reasons = [
            f"{count} of {rows} are {rules[kind]}, the first in {place(first[column, kind])}"
            for (column, kind), count in counts.items()
            if column == bad
        ]
        needs_stand_in = code == "missing" or self.policy.outside == "missing"
        stand_in = "missing='uniform' or a number stands in for them, 'drop' leaves them out"
        advice = stand_in if needs_stand_in else self.inputs[bad].advice
        sentence = f"values of column {bad!r} in {where}: {', '.join(reasons)}; {advice}"
        return DataError(sentence, code=code)

    def _refused(self, values: FloatArray, domain: Space) -> dict[str, Mask]:
        """The values of a column that the policy refuses, by what is wrong with them."""
        missing = domain.absent(values)
        refused = {"missing": missing} if self.policy.missing == "refuse" else {}
        if self.policy.outside == "refuse" or (refused and self.policy.outside == "missing"):
            refused["outside"] = ~missing & ~domain.contains(values)
        return refused


def _asked(name: str, mechanism: Reporter) -> Mapping[str, Space]:
    """The columns of values that go into a column of reports, and where the values of each lie."""
    asked = spaces(mechanism)
    return asked if isinstance(mechanism.domain, Mapping) else {name: asked["value"]}


def _answers(
    name: str, mechanism: Reporter, values: Mapping[str, FloatArray], asked: Mapping[str, Space]
) -> Any:
    """The values of each column as the mechanism takes them."""
    named = {column: asked[column].named(numbers) for column, numbers in values.items()}
    return named if isinstance(mechanism.domain, Mapping) else named[name]
