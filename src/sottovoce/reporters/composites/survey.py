"""Several questions to one person within one ε: all of them, or a few chosen by lot.

    s = Survey(2.0, {"age": age, "start": start}, sampled=1)
    reports = s.report({"age": ages, "start": starts})     # a row of integers per person
    t = sottovoce.Tally(s, reports)
    sottovoce.mean(t["age"])

The cells of all questions lie one after the other in one range, so a report is a few integers, a tally is one
array of counts, and stores, files and engines need nothing special. Which questions a person answers is a lot
that does not look at the values; the reports of the others are independent. So the ratio of the joint report
is at most the product of the largest ratios among as many questions as are answered.

    {"epsilon": ε, "format": "survey/1", "questions": [{"name": …, "spec": {…}}, …], "sampled": k}

Where questions are functions of what a person gives, as in a pair, `functions_by_lot` says of what.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import DataError, SpecError
from sottovoce.randomness.word_source import Seeded, WordSource, word_source
from sottovoce.reporters.base import ReporterBase, check_claim
from sottovoce.reporters.composites.functions_by_lot import Functions, write_functions
from sottovoce.reporters.composites.item_rules import check_items, columns_of, product_of_largest, rule_of
from sottovoce.reporters.contract import Reporter
from sottovoce.values.checked_arrays import as_cells
from sottovoce.values.missing_and_outside import Missing, Outside
from sottovoce.values.space import Space
from sottovoce.wire.canonical import SURVEY, canonical

MAX_CELLS = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class Survey(ReporterBase):
    """Named questions, each a reporter of its own, and how many of them a person answers.

    Attributes:
        epsilon: What one person's whole report may cost.
        questions: The reporters, by name, in the order of their cells.
        sampled: How many questions a person answers, chosen by lot.
        considered: What was compared when the survey was designed: {how many are answered: total variance
            per person}.
        name: Which design it is.
        functions: What the questions are functions of; None where each is about a value of its own.
    """

    epsilon: float
    questions: Mapping[str, Reporter]
    sampled: int
    considered: Mapping[int, float] = field(default_factory=dict, compare=False)
    name: str = field(default="survey", compare=False)
    functions: Functions | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", MappingProxyType(dict(self.questions)))
        check_items(list(self.questions), self.sampled)
        if any(question.width != 1 for question in self.questions.values()):
            raise SpecError("a question of a survey must not be a survey", argument="questions")
        if sum(question.cells for question in self.questions.values()) > MAX_CELLS:
            raise SpecError(f"the questions must have at most {MAX_CELLS} cells in all", argument="questions")
        if self.functions is not None:
            self.functions.check(list(self.questions.values()), self.sampled)
        check_claim(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "questions": dict(self.questions)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, questions=MappingProxyType(state["questions"]))

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def domain(self) -> Mapping[str, Space]:
        """Where the values lie that a person gives, by name: by question, or the inputs of functions."""
        if self.functions is not None:
            return self.functions.inputs
        return {name: question.domain for name, question in self.questions.items()}  # type: ignore[misc]

    @property
    def width(self) -> int:  # type: ignore[override]
        """How many integers one report is: one for each question that is answered."""
        return self.sampled

    @property
    def share(self) -> Fraction:
        """The part of the people who answer a given question, where the lot treats all alike."""
        return Fraction(self.sampled, len(self.questions))

    @property
    def shares(self) -> list[float]:
        """The part of the people who answer each question."""
        if self.functions is None:
            return [float(self.share)] * len(self.questions)
        return [weight / sum(self.functions.weights) for weight in self.functions.weights]

    @cached_property
    def offsets(self) -> IntArray:
        """Question i has the cells offsets[i] … offsets[i+1]−1."""
        return np.concatenate(([0], np.cumsum([question.cells for question in self.questions.values()])))

    @property
    def cells(self) -> int:
        """How many different integers a report is made of."""
        return int(self.offsets[-1])

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The exact ratio of the joint report."""
        return product_of_largest(
            (question.largest_ratio for question in self.questions.values()), self.sampled
        )

    def to_json(self) -> str:
        questions = [
            {"name": name, "spec": json.loads(question.to_json())}
            for name, question in self.questions.items()
        ]
        content = {
            "format": SURVEY, "epsilon": self.epsilon, "sampled": self.sampled, "questions": questions,
        }  # fmt: skip
        if self.functions is not None:
            content |= write_functions(self.functions, questions)
        return canonical(content)

    def __repr__(self) -> str:
        return (
            f"<{self.name} epsilon={self.epsilon!r} {self.sampled} of {len(self.questions)} questions "
            f"({', '.join(self.questions)}) digest={self.digest[:12]}>"
        )

    # -- what the device does ---------------------------------------------------------------------------

    def report(
        self,
        values: Mapping[str, ArrayLike] | ArrayLike,
        *,
        clip: bool = False,
        missing: Missing | Mapping[str, Missing] = "refuse",
        outside: Outside | Mapping[str, Outside] = "refuse",
        rng: Seeded = None,
    ) -> NDArray[Any]:
        """Randomise the answers of one person or of many.

        Args:
            values: The values of each question or input by name (a dataframe will do), or an array with a
                column for each.
            clip: Bring values outside into their domain. Short for `outside="clip"`.
            missing: What stands in for missing values, for all or by name; as in `Mechanism.report`.
            outside: What happens to values outside, for all or by name.
            rng: A seed or generator, for simulations only.

        Returns:
            A row of `width` increasing integers per person; one row if the values are those of one person.

        Raises:
            DataError: If a question lacks values, there is one too many, or values are refused.
        """
        columns, people = columns_of(values, self.domain)
        source = word_source(rng)
        if self.functions is not None:
            given = self.functions.prepared(columns, missing, outside, clip, source)
            reports = self._functions_of(self.functions, given, 1 if people is None else people, source)
            return reports if people is not None else reports[0]
        lot = self._lot(1 if people is None else people, source)
        reports = np.empty(lot.shape, dtype=self.dtype)
        # Every value is randomised, also those that are not sent: a refusal must not depend on the lot.
        for i, (name, question) in enumerate(self.questions.items()):
            try:
                cells = question.report(
                    columns[name],
                    clip=clip,
                    missing=rule_of(missing, name),
                    outside=rule_of(outside, name),
                    rng=source,
                )
            except DataError as refusal:
                raise DataError(f"question {name!r}: {refusal}", code=refusal.code, argument=name) from None
            person, place = np.nonzero(lot == i)
            reports[person, place] = np.reshape(cells, -1)[person] + self.offsets[i].astype(self.dtype)
        return reports if people is not None else reports[0]

    def _functions_of(
        self, of: Functions, given: Mapping[str, FloatArray], people: int, source: WordSource
    ) -> NDArray[Any]:
        """One function of each person's values. All values are looked at before: the lot decides nothing."""
        lot = of.lot(people, source)
        reports = np.empty(lot.shape, dtype=self.dtype)
        for i, question in enumerate(self.questions.values()):
            person = np.flatnonzero(lot[:, 0] == i)
            own = {name: column[person] for name, column in given.items()}
            cells = question.report(of.answers(i, own, source, question.domain), rng=source)
            reports[person, 0] = cells + self.offsets[i].astype(self.dtype)
        return reports

    def _lot(self, people: int, source: WordSource) -> NDArray[np.int64]:
        """Which questions each person answers, in increasing order."""
        d, k = len(self.questions), self.sampled
        if k == d:
            return np.tile(np.arange(d), (people, 1))
        keys = source.words(people * d).reshape(people, d)
        lot = np.sort(np.argpartition(keys, k - 1, axis=1)[:, :k], axis=1)
        keys.fill(0)
        return lot

    def law_of(self, question: str, values: Mapping[str, ArrayLike]) -> FloatArray:
        """The probability of each cell of a question, for those who answer it.

        Args:
            question: Its name.
            values: What people give, by name.

        Returns:
            A row per person; one row if the values are those of one person.
        """
        reporter: Any = self.questions[question]
        if self.functions is None:
            return np.asarray(reporter.probabilities(values[question]))
        columns, people = columns_of(values, self.domain)
        given = self.functions.prepared(columns, "refuse", "refuse", False, word_source(0))
        rows = self.functions.law(list(self.questions).index(question), given, reporter)
        return rows if people is not None else np.asarray(rows[0])

    def decode(self, cells: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """What each report stands for.

        Args:
            cells: Reports of this survey, a row each.

        Returns:
            Values by question, one per report; NaN where the question was not answered.

        Raises:
            DataError: If something is not a report of this survey.
        """
        reports = self.checked(cells)
        decoded: dict[str, NDArray[np.float64]] = {}
        for i, (name, question) in enumerate(self.questions.items()):
            own = (reports >= self.offsets[i]) & (reports < self.offsets[i + 1])
            column = np.full((len(reports), *question.domain.decoded), np.nan)  # type: ignore[union-attr]
            column[own.any(axis=1)] = question.decode(reports[own] - self.offsets[i])
            decoded[name] = column
        return decoded

    def checked(self, cells: ArrayLike) -> IntArray:
        """The reports as rows of integers, if this survey can give them.

        Args:
            cells: A row of `width` cells per person, or all of them one after the other.

        Returns:
            An array with a row per person.

        Raises:
            DataError: If a report lacks a question, has one twice, or holds something that is not a cell.
        """
        array = as_cells(cells, self.cells)
        if array.size % self.width or (array.ndim == 2 and array.shape[1] != self.width) or array.ndim > 2:
            raise DataError(f"a report must be {self.width} cells", code="width", argument="cells")
        reports = array.reshape(-1, self.width)
        question = np.searchsorted(self.offsets, reports, side="right")
        wrong = (np.diff(question, axis=1) <= 0).any(axis=1)
        if wrong.any():
            raise DataError(
                f"a report must answer {self.width} different questions in order: {int(wrong.sum())} of "
                f"{len(reports)} do not, the first at index {int(np.argmax(wrong))}",
                code="questions",
                argument="cells",
            )
        return reports
