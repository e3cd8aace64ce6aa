"""What a campaign asks of a person: any reporter, with the declared rules, answered by one report.

A value that is missing (None, NaN, infinite) or out of range is answered by the declared rule, question by
question, through the same mechanism: neither silence nor an error may depend on what the value is. Only a
value that is no number at all, or the wrong count of them, is an error of the program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.core.domains import FloatArray, Space
from sottovoce.core.errors import ArgumentError, ArgumentTypeError, DataError
from sottovoce.core.policy import Missing, Outside, Policy
from sottovoce.core.randomness import Seeded, word_source
from sottovoce.core.reporter import Reporter
from sottovoce.core.values import number_or_nan

Rule = Missing
#: What is sent: a cell, or of a survey the cells of the questions that were drawn, increasing.
Cell = int | tuple[int, ...]
#: The numbers of each question, NaN where they are missing.
Judged = dict[str, FloatArray]


@dataclass(frozen=True)
class Asking:
    """A reporter and what becomes of missing and out-of-range values of each of its questions."""

    reporter: Reporter
    policies: Mapping[str, Policy]

    @property
    def several(self) -> bool:
        """Whether there are named questions."""
        return set(self.policies) != {"value"}

    @property
    def outcomes(self) -> int:
        """How many different answers there are."""
        ways = [1] + [0] * self.reporter.width  # ways[j]: reports of j questions among those seen so far
        for question in self.reporter.questions.values():
            for j in range(self.reporter.width, 0, -1):
                ways[j] += ways[j - 1] * question.cells
        return ways[-1]

    @property
    def words(self) -> str:
        """What is asked, in words; empty when it is one number."""
        if self.several:
            d, k = len(self.policies), self.reporter.width
            lot = "in one report." if k == d else f"and sends {k} of them, drawn by lot."
            return f"Asks {d} things at once ({', '.join(self.policies)}), {lot}".replace("), and", ") and")
        return "Asks for a position, in one report." if self._space("value").shape else ""

    def _space(self, name: str) -> Space:
        return self.reporter.questions[name].domain  # type: ignore[return-value]

    def judge(self, value: object) -> Judged:
        """The numbers of each question after the rule for values outside.

        Args:
            value: A number or None; a position (x, y) or None; of a survey the values by name, or in order.

        Returns:
            NaN where a value is missing. Never an error because of what a number is.
        """
        values = self._values(value)
        return {name: self._judged(name, values[name]) for name in self.policies}

    def _values(self, value: object) -> Mapping[str, object]:
        if not self.several:
            return {"value": value}
        if value is None:
            return dict.fromkeys(self.policies)
        if isinstance(value, Mapping) and set(value) == set(self.policies):
            return value
        items = value.tolist() if isinstance(value, np.ndarray) else value
        if isinstance(items, Sequence) and not isinstance(items, str | bytes):  # noqa: SIM102
            if len(items) == len(self.policies):
                return dict(zip(self.policies, items, strict=True))
        raise ArgumentTypeError(
            f"value must be {len(self.policies)} values (None: missing), by name or in order, or None",
            argument="value",
        )

    def _judged(self, name: str, value: object) -> FloatArray:
        space = self._space(name)
        if not space.shape:
            number = np.asarray(number_or_nan(value))
        elif value is None:
            number = np.full(space.shape, math.nan)
        else:
            items = value.tolist() if isinstance(value, np.ndarray) else value
            if not isinstance(items, Sequence) or isinstance(items, str | bytes) or len(items) != 2:
                raise ArgumentTypeError("value must be a position (x, y) or None", argument="value")
            number = np.array([number_or_nan(item) for item in items])
        judged, missing = self.policies[name].judge(number, space)
        return np.where(missing[..., None] if space.shape else missing, math.nan, judged)

    def draw(self, judged: Judged, rng: Seeded = None) -> Cell:
        """One exact draw; of what is missing by its stand-in.

        Args:
            judged: What `judge` gave.
            rng: For simulations only.

        Returns:
            What to send.
        """
        source = word_source(rng)
        values: dict[str, Any] = {
            name: policy.prepare(judged[name], self._space(name), source)
            for name, policy in self.policies.items()
        }
        if not self.several:
            return int(self.reporter.report(values["value"], rng=source))
        return tuple(self.reporter.report(values, rng=source).tolist())

    def holds(self, cell: Cell) -> bool:
        """Whether the reporter can give this answer."""
        if isinstance(cell, int) == self.several:
            return False
        try:
            self.reporter.checked(np.array(cell, dtype=np.int64).reshape(-1))
        except (DataError, OverflowError):
            return False
        return not self.several or len(np.atleast_1d(cell)) == self.reporter.width


def ask(reporter: Reporter, missing: Rule | Sequence[Rule] | Mapping[str, Rule], outside: Outside) -> Asking:
    """A reporter with the declared rules: one for all questions, or one each, in order or by name."""
    names = list(reporter.questions)
    if isinstance(missing, Mapping):
        rules = dict(missing)
    elif isinstance(missing, Sequence) and not isinstance(missing, str):
        rules = dict(zip(names, missing, strict=False)) if len(missing) == len(names) else {}
    else:
        rules = dict.fromkeys(names, missing)
    if set(rules) != set(names):
        rule = f"missing must have a rule for each of {len(names)} questions"
        raise ArgumentError(rule, argument="missing")
    policies = {}
    for name in names:
        policy = Policy(rules[name], outside).checked(reporter.questions[name].domain)  # type: ignore[arg-type]
        if policy.silent:
            raise ArgumentError(
                "missing must be 'uniform' or a value, and outside 'clip' or 'missing': a device never stays "
                f"silent because of a value, got missing={policy.missing!r}, outside={policy.outside!r}",
                argument="missing",
            )
        policies[name] = policy
    return Asking(reporter, policies)


def cell_of(entry: object) -> Cell:
    """An answer as it is read from a file."""
    if isinstance(entry, list) and entry and all(type(cell) is int for cell in entry):
        return tuple(entry)
    if type(entry) is not int:
        raise ArgumentTypeError("an answer is a cell, or the cells of a survey's questions")
    return entry
