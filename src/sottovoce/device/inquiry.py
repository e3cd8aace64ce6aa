"""What a campaign asks of a person: any reporter, and the rule for values missing or outside the domain.

A value that is missing (None, NaN, infinite) or outside its domain is reported by the declared rule, question
by question, through the same mechanism: neither silence nor an error may depend on what the value is. What
cannot be an answer at all (`sottovoce.device.checked_answers`), or the wrong count of values, is an error of
the program, which is found before anything is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.device.checked_answers import about, items_of, read_many, read_one
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, SpecError
from sottovoce.randomness.word_source import Seeded, word_source
from sottovoce.reporters.composites.item_rules import columns_of
from sottovoce.reporters.contract import Reporter, spaces
from sottovoce.values.missing_and_outside import Missing, Outside, Policy
from sottovoce.values.space import Space

#: A number, an option, a position (x, y), or the answers to a survey, by name or in order; None: missing.
Value = float | str | Sequence[object] | Mapping[str, object] | None
#: A report: one integer, or as many as a survey asks for.
Cells = tuple[int, ...]
#: What a report stands for: a number, a position, or these by question.
Decoded = float | FloatArray | dict[str, float | FloatArray]
#: The numbers of each question, NaN where they are missing.
Numbers = dict[str, FloatArray]


@dataclass(frozen=True)
class Inquiry:
    """A reporter, and what becomes of values missing or outside the domain in each of its questions.

    Attributes:
        reporter: What randomises.
        policies: The rules, by question.
    """

    reporter: Reporter
    policies: Mapping[str, Policy]

    @classmethod
    def of(cls, reporter: Reporter, missing: Missing | Mapping[str, Missing], outside: Outside) -> Inquiry:
        """An inquiry whose rules leave no value without a report.

        Args:
            reporter: What randomises.
            missing: What stands in for missing values, "uniform" or a number; for all questions, or by name.
            outside: What happens to values outside, "clip" or "missing".

        Raises:
            ArgumentError: If a rule is none for the question, is lacking, or would leave a value unreported.
        """
        names = list(spaces(reporter))
        rules = dict(missing) if isinstance(missing, Mapping) else dict.fromkeys(names, missing)
        if set(rules) != set(names):
            raise ArgumentError(
                f"missing must have a rule for each of {', '.join(names)}", code="lacking", argument="missing"
            )
        policies = {}
        for name in names:
            policies[name] = policy = Policy(rules[name], outside).checked(_space(reporter, name))
            if policy.silent:
                raise ArgumentError(
                    "missing must be 'uniform' or a value, and outside 'clip' or 'missing': a device is "
                    f"never silent because of a value, got missing={policy.missing!r}, outside={outside!r}",
                    code="choice",
                    argument="outside" if outside == "refuse" else "missing",
                )
        return cls(reporter, policies)

    @classmethod
    def of_campaign(cls, campaign: Mapping[str, Any], reporter: Reporter) -> Inquiry:
        """What is asked, if the campaign's rule leaves no value without a report."""
        try:
            return cls.of(reporter, campaign.get("missing"), campaign.get("outside"))  # type: ignore[arg-type]
        except (ArgumentError, TypeError) as error:
            argument = getattr(error, "argument", None)
            raise SpecError(f"the campaign's rule: {error}", argument=argument) from error

    @property
    def _several(self) -> bool:
        return set(self.policies) != {"value"}

    @property
    def outcomes(self) -> int:
        """How many different reports there are."""
        ways = [1] + [0] * self.reporter.width  # ways[j]: reports of j questions among those seen so far
        for question in self.reporter.items.values():
            for j in range(self.reporter.width, 0, -1):
                ways[j] += ways[j - 1] * question.cells
        return ways[-1]

    def __str__(self) -> str:
        """What is asked, in words; empty when it is one number."""
        if self._several:
            names, width = ", ".join(self.policies), self.reporter.width
            if set(self.policies) != set(self.reporter.items):
                return f"Asks for {names}; one function of them, drawn by lot, is sent."
            lot = "" if width == len(self.policies) else f", of which {width} drawn by lot are sent"
            return f"Asks for {names} in one report{lot}."
        return "Asks for a position, in one report." if _space(self.reporter, "value").shape else ""

    # -- one person's value -----------------------------------------------------------------------------

    def judge(self, value: Value) -> Numbers:
        """The numbers of each question, after the rule for values outside.

        Args:
            value: What the person's value is.

        Returns:
            NaN where a value is missing. Never an error because of what a number is.

        Raises:
            ArgumentTypeError: If something has the wrong type, or there are too many or too few values.
            DataError: If an option is not on the list.
        """
        values = self._by_question(value)
        numbers = {}
        for name, policy in self.policies.items():
            space = _space(self.reporter, name)
            try:
                given = read_one(values[name], space)
            except (ArgumentTypeError, DataError) as error:
                raise about(error, f"question {name!r}", name) if self._several else error from None
            judged, missing = policy.judge(given, space)
            numbers[name] = np.where(missing[..., None] if space.shape else missing, math.nan, judged)
        return numbers

    def _by_question(self, value: object) -> Mapping[str, object]:
        if not self._several:
            return {"value": value}
        if value is None:
            return dict.fromkeys(self.policies)
        if isinstance(value, Mapping) and set(value) == set(self.policies):
            return value
        items = items_of(value)
        if items is None or len(items) != len(self.policies):
            raise ArgumentTypeError(
                f"value must be {len(self.policies)} values (None: missing), by name or in order, or None",
                argument="value",
            )
        return dict(zip(self.policies, items, strict=True))

    def draw(self, numbers: Numbers, rng: Seeded = None) -> Cells:
        """One exact draw; of what is missing by its stand-in.

        Args:
            numbers: What `judge` gave.
            rng: A seed, for simulations only.

        Returns:
            The report.
        """
        source = word_source(rng)
        values = {
            name: _space(self.reporter, name).named(
                policy.prepare(numbers[name], _space(self.reporter, name), source)
            )
            for name, policy in self.policies.items()
        }
        report = self.reporter.report(values if self._several else values["value"], rng=source)
        cells: Cells = tuple(np.atleast_1d(report).tolist())
        self.check(cells)  # before anybody writes it down
        return cells

    def read_many(self, values: Any) -> tuple[dict[str, NDArray[Any]], int]:
        """The values of many people by question, every one of which can be an answer; nothing is drawn.

        Args:
            values: One value per person, in a list, an array or a table.

        Returns:
            A column for each question, and how many people they are of.

        Raises:
            ArgumentTypeError: If a value has the wrong type. The error gives its index, never the value.
            DataError: If an option is not on the list, or a table lacks a column.
        """
        if not self._several:
            column = read_many(values, _space(self.reporter, "value"))
            return {"value": column}, len(column)
        asked, by_name = spaces(self.reporter), hasattr(values, "keys")
        columns = {name: values[name] for name in values.keys()} if by_name else columns_of(values, asked)[0]  # noqa: SIM118
        for name in [name for name in asked if name in columns]:
            column = columns[name]
            many = column if isinstance(column, list | tuple) or np.ndim(column) else [column]
            try:
                columns[name] = read_many(many, asked[name])
            except (ArgumentTypeError, DataError) as error:
                raise about(error, f"question {name!r}", "values") from None
        return columns_of(columns, asked)[0], len(next(iter(columns.values())))

    def draw_many(self, columns: Mapping[str, NDArray[Any]], rng: Seeded = None) -> NDArray[Any]:
        """Independent draws for many people.

        Args:
            columns: What `read_many` gave.
            rng: A seed, for simulations only.

        Returns:
            A report per person.
        """
        missing: Any = {name: policy.missing for name, policy in self.policies.items()}
        outside = next(iter(self.policies.values())).outside
        values: Any = columns if self._several else columns["value"]
        missing = missing if self._several else missing["value"]
        return self.reporter.report(values, missing=missing, outside=outside, rng=rng)

    def decode(self, cells: Cells) -> Decoded:
        """What a report stands for: a number, a position, or the values of the questions that it answers."""
        decoded = self.reporter.decode(cells)
        if self._several:
            return {name: column[0] for name, column in decoded.items() if not np.isnan(column[0]).any()}
        return decoded[0]

    def check(self, cells: Cells) -> None:
        """Refuse what is not a report of this inquiry.

        Raises:
            DataError: If it is none.
        """
        if len(cells) != self.reporter.width:
            raise DataError(f"a report must be {self.reporter.width} cells", code="width", argument="cells")
        self.reporter.checked(np.array(cells, dtype=np.int64))


def read_cells(entry: object) -> Cells:
    """A report as a file holds it.

    Raises:
        TypeError: If it is something else.
    """
    if not isinstance(entry, list) or not all(type(cell) is int for cell in entry):
        raise ArgumentTypeError("a report must be a list of integers", argument="cells")
    return tuple(entry)


def _space(reporter: Reporter, name: str) -> Space:
    return spaces(reporter)[name]
