"""Questions about functions of what a person gives: computed on the device, and one of them asked, by lot.

A relation of two numbers of one person is known from averages of functions of both. Each function is a
question with a reporter of its own that has the whole ε; a lot that does not look at values names the one
that a person answers. The list of functions is closed. With u and v for the unit coordinates of two numbers:

    value         the input itself
    square        (2u − 1)²
    sum           (u + v − 1)²
    difference    (u − v)²
    squares       1/2 + 2(u − v)(u + v − 1), half of 1 + (2u − 1)² − (2v − 1)²
    level         of an option and a number: c + k·level, the number rounded by lot to one of evenly spaced
                  levels, so that its mean stays; the question's options are 0, 1, 2, …, k times the levels

A survey of functions has three more entries in its spec:

    "inputs": [{"circle": false, "domain": [0, 120], "name": "age"}, {"name": "way", "options": […]}, …],
    "questions": [{"function": "sum", "name": "age + time", "of": ["age", "time"], "spec": {…}}, …],
    "weights": [24, 24, …]

Weights are whole numbers that add up to a power of two: how often the lot names each question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import SpecError
from sottovoce.frozen import Compact
from sottovoce.randomness.word_source import WordSource, word_source
from sottovoce.reporters.composites.item_rules import check_items, rule_of
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.question import Question
from sottovoce.reporters.sampling.coin import MAX_COIN_BITS, Coin
from sottovoce.values.domain import Domain
from sottovoce.values.domain_format import read_domain, write_domain
from sottovoce.values.interval import Interval
from sottovoce.values.missing_and_outside import Policy
from sottovoce.values.options import Options
from sottovoce.values.space import Space
from sottovoce.wire.checked_json import as_int, as_list, check_keys

UNIT = Interval(0, 1)


class Function(NamedTuple):
    """A function of the list, and the names of what it is a function of."""

    name: str
    of: tuple[str, ...]


def _difference_of_squares(u: FloatArray, v: FloatArray) -> FloatArray:
    return np.clip(0.5 + 2 * ((u - v) * (u + v - 1)), 0.0, 1.0)


#: Functions of unit coordinates into [0, 1].
_OF_NUMBERS: dict[str, tuple[int, Callable[..., FloatArray]]] = {
    "square": (1, lambda u: (2 * u - 1) * (2 * u - 1)),
    "sum": (2, lambda u, v: (u + v - 1) * (u + v - 1)),
    "difference": (2, lambda u, v: (u - v) * (u - v)),
    "squares": (2, _difference_of_squares),
}
#: What is told where a function is asked, by the function that only such questions have.
_TOLD = {"sum": ("correlation", "slope", "covariance"), "level": ("groups",)}
NAMES = ("value", *_OF_NUMBERS, "level")


@dataclass(frozen=True)
class Functions(Compact):
    """What a person gives, and what each question of a survey is a function of.

    Attributes:
        inputs: Where the values lie that a person gives, by name.
        each: The function of each question, in their order.
        weights: How often the lot names each question, as whole numbers that add up to a power of two.
    """

    inputs: Mapping[str, Space]
    each: tuple[Function, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", MappingProxyType(dict(self.inputs)))
        object.__setattr__(self, "each", tuple(self.each))
        object.__setattr__(self, "weights", tuple(self.weights))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "inputs": dict(self.inputs)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, inputs=MappingProxyType(state["inputs"]))

    def check(self, questions: Sequence[Reporter], sampled: int) -> None:
        """The rules of functions that are not those of the questions.

        Raises:
            SpecError: If a function is not on the list, or does not fit what it is of or the question.
        """
        check_items(list(self.inputs), 1, "inputs")
        if not all(isinstance(space, Domain | Options) for space in self.inputs.values()):
            sentence = "inputs of functions must be numbers or options: places are items of their own"
            raise SpecError(sentence, argument="inputs")
        if sampled != 1:
            raise SpecError("of functions a person answers one: sampled must be 1", argument="sampled")
        if len(self.each) != len(questions) or len(self.weights) != len(questions):
            raise SpecError("there must be a function and a weight for each question", argument="weights")
        total = sum(self.weights)
        if (
            not all(type(weight) is int and weight >= 1 for weight in self.weights)
            or total.bit_count() != 1
            or total > 1 << MAX_COIN_BITS
        ):
            raise SpecError(
                f"weights must be whole numbers that add up to a power of two up to {1 << MAX_COIN_BITS}",
                argument="weights",
            )
        for function, question in zip(self.each, questions, strict=True):
            if function.name not in NAMES:
                raise SpecError(
                    f"function must be one of {', '.join(NAMES)}, got {str(function.name)[:40]!r}",
                    argument="function",
                )
            if not all(name in self.inputs for name in function.of) or len(set(function.of)) < len(
                function.of
            ):
                raise SpecError("a function must be of different inputs", argument="of")
            if not self._fits(function, question.domain):
                raise SpecError(
                    f"the function {function.name!r} does not fit its inputs or its question",
                    argument="function",
                )

    def _fits(self, function: Function, domain: object) -> bool:
        spaces = [self.inputs[name] for name in function.of]
        if function.name == "value":
            return len(spaces) == 1 and domain == spaces[0]
        if function.name == "level":
            if len(spaces) != 2 or not isinstance(domain, Options) or not on_a_line(spaces[1]):
                return False
            options = spaces[0]
            numbered = domain.names == tuple(range(len(domain)))
            if not isinstance(options, Options) or len(domain) % len(options):
                return False
            return numbered and len(domain) > len(options)
        arity, _ = _OF_NUMBERS[function.name]
        return len(spaces) == arity and all(map(on_a_line, spaces)) and domain == UNIT

    @property
    def questions(self) -> tuple[Question, ...]:
        """What several inputs tell together: relations of two numbers, or a number within groups."""
        told = [
            Question(name, about=function.of)
            for function in self.each
            for name in _TOLD.get(function.name, ())
        ]
        return tuple(told)

    # -- what the device does ---------------------------------------------------------------------------

    @cached_property
    def _coin(self) -> Coin:
        return Coin(self.weights)

    def lot(self, people: int, source: WordSource) -> NDArray[np.int64]:
        """Which question each person answers: the top bits of one word; no word where there is one only."""
        if len(self.each) == 1:
            return np.zeros((people, 1), dtype=np.int64)
        return self._coin.sides(source.words(people)).astype(np.int64)[:, None]

    def prepared(
        self, columns: Mapping[str, NDArray[Any]], missing: Any, outside: Any, clip: bool, source: WordSource
    ) -> dict[str, FloatArray]:
        """The numbers that a person gave, each after the rules for its input."""
        numbers = {}
        for name, space in self.inputs.items():
            policy = Policy.of(rule_of(missing, name), rule_of(outside, name), clip).checked(space)
            given = space.numbers(columns[name], f"values of {name!r}").reshape(-1, *space.shape)
            numbers[name] = policy.prepare(given, space, source, f"values of {name!r}")
        return numbers

    def answers(
        self, i: int, numbers: Mapping[str, FloatArray], source: WordSource, domain: object
    ) -> NDArray[Any]:
        """The values of one question.

        Args:
            i: Which one.
            numbers: What `prepared` gave.
            source: Where the words come from that a number is rounded with.
            domain: Where the question's values lie.

        Returns:
            Values as the question's reporter takes them.
        """
        name, of = self.each[i]
        if name == "value":
            return self.inputs[of[0]].named(numbers[of[0]])
        if name == "level":
            words = source.words(numbers[of[1]].size)
            low, high, above = self._levels(of, numbers, domain)
            answer = np.where((words >> np.uint64(11)) * 2.0**-53 < above, high, low)
            words.fill(0)
            return answer
        units = [self.inputs[one].to_unit(numbers[one]) for one in of]  # type: ignore[attr-defined]
        return _OF_NUMBERS[name][1](*units)

    def _levels(
        self, of: tuple[str, ...], numbers: Mapping[str, FloatArray], domain: object
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The two levels beside a number, with its option, and how often the one above is taken."""
        options, line = (self.inputs[one] for one in of)
        assert isinstance(options, Options)
        assert isinstance(domain, Options)
        assert isinstance(line, Domain)
        k, steps = len(options), len(domain) // len(options) - 1
        place = line.to_unit(numbers[of[1]]) * steps
        level = np.minimum(np.floor(place), steps - 1)
        low = numbers[of[0]] + k * level
        return low, low + k, place - level

    def law(self, i: int, numbers: Mapping[str, FloatArray], question: Any) -> FloatArray:
        """The probability of each cell of a question, for those who answer it.

        Args:
            i: Which question.
            numbers: What `prepared` gave.
            question: Its reporter.

        Returns:
            A row per person.
        """
        name, of = self.each[i]
        if name == "level":
            low, high, above = self._levels(of, numbers, question.domain)
            share = above[:, None]
            return np.asarray(
                (1 - share) * question.probabilities(low) + share * question.probabilities(high)
            )
        return np.asarray(question.probabilities(self.answers(i, numbers, word_source(0), question.domain)))


def on_a_line(space: Space) -> bool:
    """Whether products are computed of its values."""
    return isinstance(space, Interval)


# -- the wire format --------------------------------------------------------------------------------------


def write_functions(functions: Functions, questions: list[dict[str, Any]]) -> dict[str, Any]:
    """The entries of a spec."""
    inputs = [{"name": name, **_write_space(space)} for name, space in functions.inputs.items()]
    named = [
        {**question, "function": function.name, "of": list(function.of)}
        for question, function in zip(questions, functions.each, strict=True)
    ]
    return {"inputs": inputs, "questions": named, "weights": list(functions.weights)}


def _write_space(space: Space) -> dict[str, Any]:
    return {"options": list(space.names)} if isinstance(space, Options) else write_domain(space)  # type: ignore[arg-type]


def read_functions(content: dict[str, Any]) -> Functions:
    """What a spec says, checked by its types."""
    inputs: dict[str, Space] = {}
    for one in as_list(content["inputs"], "inputs", lambda entry, _: entry):
        listed = isinstance(one, dict) and "options" in one
        keys = {"name", "options"} if listed else {"circle", "domain", "name"}
        check_keys(one, keys, "inputs", optional=frozenset() if listed else {"scale"})
        if not isinstance(one["name"], str) or one["name"] in inputs:
            raise SpecError("inputs must have different names", argument="inputs")
        inputs[one["name"]] = Options.read(one["options"]) if listed else read_domain(one)
    each = []
    for question in content["questions"]:
        if not isinstance(question["function"], str):
            raise SpecError("function must be a name", argument="function")
        of = as_list(question["of"], "of", _as_name)
        each.append(Function(question["function"], tuple(of)))
    weights = as_list(content["weights"], "weights", as_int)
    return Functions(inputs, tuple(each), tuple(weights))


def _as_name(content: Any, where: str) -> str:
    if not isinstance(content, str):
        raise SpecError(f"{where} must hold names", argument=where)
    return content
