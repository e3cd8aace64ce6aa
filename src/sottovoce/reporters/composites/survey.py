"""Several items of one person within one ε: all of them, or a few chosen by lot.

    s = Survey(2.0, {"age": age, "start": start}, sampled=1)
    reports = s.report({"age": ages, "start": starts})     # a row of integers per person
    t = sottovoce.Tally(s, reports)
    sottovoce.mean(t["age"])

The cells of all items lie one after the other in one range, so a report is a few integers, a tally is one
array of counts, and stores, files and engines need nothing special. Which items a person answers is a lot
that does not look at the values; the reports of the others are independent. So the ratio of the joint report
is at most the product of the largest ratios among as many items as are answered.

    {"epsilon": ε, "format": "survey/1", "questions": [{"name": …, "spec": {…}}, …], "sampled": k}

Where items are functions of what a person gives, as in a pair, `functions_by_lot` says of what.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import DataError, SpecError
from sottovoce.randomness.secure_stream import SecureStream
from sottovoce.randomness.word_source import Seeded, WordSource, seeded_generator, word_source
from sottovoce.reporters.base import Composition, ReporterBase, check_claim
from sottovoce.reporters.composites.functions_by_lot import Functions, write_functions
from sottovoce.reporters.composites.item_rules import check_items, columns_of, product_of_largest, rule_of
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.question import Question
from sottovoce.values.checked_arrays import as_cells
from sottovoce.values.domain import Domain
from sottovoce.values.missing_and_outside import Missing, Outside
from sottovoce.values.options import NO_OR_YES
from sottovoce.values.space import Space
from sottovoce.wire.canonical import SURVEY, canonical

if TYPE_CHECKING:
    from sottovoce.reporters.number import Number

MAX_CELLS = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class Survey(ReporterBase):
    """Named items, each a reporter of its own, and how many of them a person answers.

    Attributes:
        epsilon: What one person's whole report may cost.
        items: The reporters, by name, in the order of their cells.
        sampled: How many items a person answers, chosen by lot.
        considered: What was compared when the survey was designed: {how many are answered: total variance
            per person}.
        name: Which design it is.
        functions: What the items are functions of; None where each is about a value of its own.
    """

    epsilon: float
    items: Mapping[str, Reporter]
    sampled: int
    considered: Mapping[int, float] = field(default_factory=dict, compare=False)
    name: str = field(default="survey", compare=False)
    functions: Functions | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", MappingProxyType(dict(self.items)))
        check_items(list(self.items), self.sampled)
        if any(item.width != 1 or isinstance(item.domain, Mapping) for item in self.items.values()):
            raise SpecError("an item of a survey must not be a survey", argument="items")
        if sum(item.cells for item in self.items.values()) > MAX_CELLS:
            raise SpecError(f"the items must have at most {MAX_CELLS} cells in all", argument="items")
        if self.functions is not None:
            self.functions.check(list(self.items.values()), self.sampled)
        check_claim(self)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "items": dict(self.items)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, items=MappingProxyType(state["items"]))

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def questions(self) -> tuple[Question, ...]:
        """Those of its items, then what functions of several tell. All yes or no: the share of each."""
        flags = [item.domain == NO_OR_YES for item in self.items.values()]
        if self.functions is None:
            return (Question("shares"),) if len(flags) > 1 and all(flags) else self._of_items(self.items)
        functions = zip(self.items, self.functions.each, strict=True)
        together = self.functions.questions
        grouped = {name for one in together if one.name == "groups" for name in one.about}
        own = [name for name, (kind, of) in functions if kind == "value" and of[0] not in grouped]
        return (*self._of_items(own), *together)

    def _of_items(self, names: Iterable[str]) -> tuple[Question, ...]:
        return tuple(one._replace(item=name) for name in names for one in self.items[name].questions)

    @property
    def composition(self) -> Composition:  # type: ignore[override]
        """What a report is put together from."""
        return Composition(tuple(self.items.values()), tuple(self.shares), self.sampled, tuple(self.items))

    def as_number(self) -> Number:
        numbers = [name for name, item in self.items.items() if isinstance(item.domain, Domain)]
        hint = f"; ask one of its items, such as tally[{numbers[0]!r}]" if numbers else ""
        raise self._another("one number" + hint)

    @property
    def domain(self) -> Mapping[str, Space]:
        """Where the values lie that a person gives, by name: by item, or the inputs of functions."""
        if self.functions is not None:
            return self.functions.inputs
        return {name: item.domain for name, item in self.items.items()}  # type: ignore[misc]

    @property
    def width(self) -> int:  # type: ignore[override]
        """How many integers one report is: one for each item that is answered."""
        return self.sampled

    @property
    def share(self) -> Fraction:
        """The part of the people who answer a given item, where the lot treats all alike."""
        return Fraction(self.sampled, len(self.items))

    @property
    def shares(self) -> list[float]:
        """The part of the people who answer each item."""
        if self.functions is None:
            return [float(self.share)] * len(self.items)
        return [weight / sum(self.functions.weights) for weight in self.functions.weights]

    @cached_property
    def offsets(self) -> IntArray:
        """Item i has the cells offsets[i] … offsets[i+1]−1."""
        return np.concatenate(([0], np.cumsum([item.cells for item in self.items.values()])))

    @property
    def cells(self) -> int:
        """How many different integers a report is made of."""
        return int(self.offsets[-1])

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The exact ratio of the joint report."""
        return product_of_largest((item.largest_ratio for item in self.items.values()), self.sampled)

    def to_json(self) -> str:
        questions = [{"name": name, "spec": json.loads(item.to_json())} for name, item in self.items.items()]
        content = {
            "format": SURVEY, "epsilon": self.epsilon, "sampled": self.sampled, "questions": questions,
        }  # fmt: skip
        if self.functions is not None:
            content |= write_functions(self.functions, questions)
        return canonical(content)

    def __repr__(self) -> str:
        return (
            f"<{self.name} epsilon={self.epsilon!r} {self.sampled} of {len(self.items)} items "
            f"({', '.join(self.items)}) digest={self.digest[:12]}>"
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
            values: The values of each item or input by name (a dataframe will do), or an array with a
                column for each.
            clip: Bring values outside into their domain. Short for `outside="clip"`.
            missing: What stands in for missing values, for all or by name; as in `Mechanism.report`.
            outside: What happens to values outside, for all or by name.
            rng: A seed or generator, for simulations only.

        Returns:
            A row of `width` increasing integers per person; one row if the values are those of one person.

        Raises:
            DataError: If an item lacks values, there is one too many, or values are refused.
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
        for i, (name, item) in enumerate(self.items.items()):
            try:
                cells = item.report(
                    columns[name],
                    clip=clip,
                    missing=rule_of(missing, name),
                    outside=rule_of(outside, name),
                    rng=_passed_on(source, item),
                )
            except DataError as refusal:
                raise DataError(f"item {name!r}: {refusal}", code=refusal.code, argument=name) from None
            person, place = np.nonzero(lot == i)
            reports[person, place] = np.reshape(cells, -1)[person] + self.offsets[i].astype(self.dtype)
        return reports if people is not None else reports[0]

    def _functions_of(
        self, of: Functions, given: Mapping[str, FloatArray], people: int, source: WordSource
    ) -> NDArray[Any]:
        """One function of each person's values. All values are looked at before: the lot decides nothing."""
        lot = of.lot(people, source)
        reports = np.empty(lot.shape, dtype=self.dtype)
        for i, item in enumerate(self.items.values()):
            person = np.flatnonzero(lot[:, 0] == i)
            own = {name: column[person] for name, column in given.items()}
            cells = item.report(of.answers(i, own, source, item.domain), rng=_passed_on(source, item))
            reports[person, 0] = cells + self.offsets[i].astype(self.dtype)
        return reports

    def _lot(self, people: int, source: WordSource) -> NDArray[np.int64]:
        """Which items each person answers, in increasing order."""
        d, k = len(self.items), self.sampled
        if k == d:
            return np.tile(np.arange(d), (people, 1))
        keys = source.words(people * d).reshape(people, d)
        lot = np.sort(np.argpartition(keys, k - 1, axis=1)[:, :k], axis=1)
        keys.fill(0)
        return lot

    def item_law(self, item: str, values: Mapping[str, ArrayLike]) -> FloatArray:
        """The probability of each cell of an item, for those who answer it.

        Args:
            item: Its name.
            values: What people give, by name.

        Returns:
            A row per person; one row if the values are those of one person.
        """
        reporter: Any = self.items[item]
        if self.functions is None:
            return np.asarray(reporter.probabilities(values[item]))
        columns, people = columns_of(values, self.domain)
        given = self.functions.prepared(columns, "refuse", "refuse", False, word_source(0))
        rows = self.functions.law(list(self.items).index(item), given, reporter)
        return rows if people is not None else np.asarray(rows[0])

    def decode(self, cells: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """What each report stands for.

        Args:
            cells: Reports of this survey, a row each.

        Returns:
            Values by item, one per report; NaN where the item was not answered.

        Raises:
            DataError: If something is not a report of this survey.
        """
        reports = self.checked(cells)
        decoded: dict[str, NDArray[np.float64]] = {}
        for i, (name, item) in enumerate(self.items.items()):
            own = (reports >= self.offsets[i]) & (reports < self.offsets[i + 1])
            column = np.full((len(reports), *item.domain.decoded), np.nan)  # type: ignore[union-attr]
            column[own.any(axis=1)] = item.decode(reports[own] - self.offsets[i])
            decoded[name] = column
        return decoded

    def checked(self, cells: ArrayLike) -> IntArray:
        """The reports as rows of integers, if this survey can give them.

        Args:
            cells: A row of `width` cells per person, or all of them one after the other.

        Returns:
            An array with a row per person.

        Raises:
            DataError: If a report lacks an item, has one twice, or holds something that is not a cell.
        """
        array = as_cells(cells, self.cells)
        if array.size % self.width or (array.ndim == 2 and array.shape[1] != self.width) or array.ndim > 2:
            raise DataError(f"a report must be {self.width} cells", code="width", argument="cells")
        reports = array.reshape(-1, self.width)
        item = np.searchsorted(self.offsets, reports, side="right")
        wrong = (np.diff(item, axis=1) <= 0).any(axis=1)
        if wrong.any():
            raise DataError(
                f"a report must answer {self.width} different items in order: {int(wrong.sum())} of "
                f"{len(reports)} do not, the first at index {int(np.argmax(wrong))}",
                code="questions",
                argument="cells",
            )
        return reports


def _passed_on(source: WordSource, item: Reporter) -> Seeded:
    """What an item draws with: the same words; of anybody's own class what its `report` is promised."""
    if isinstance(item, ReporterBase):
        return source
    return None if isinstance(source, SecureStream) else seeded_generator(source)
