"""What is asked of several tallies at once, and sums of the answers over independent people."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, one_of
from sottovoce.estimates.answer.arithmetic import combined, share_of
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.sums_of_bounds import Sides
from sottovoce.estimates.summary import TABLE, number
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.question import Question

_NUMBERS = tuple(name for name in TABLE if TABLE[name].number)
_GOES_WITH = {"p": "quantile", "between": "probability", "option": "share"}
_USUAL = {"estimand": "population", "sequential": False, "fakes": 0}
_LEAST_P = 1e-6  # p-values are not looked for below

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Quantity:
    """A question with everything but the tally and the confidence.

    Attributes:
        question: What is asked; its answer is one number.
        options: What was given beside it, such as `estimand`.
    """

    question: Question
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        question: str | Question,
        p: float | None = None,
        between: tuple[float, float] | None = None,
        option: str | int | None = None,
        **options: Any,
    ) -> Quantity:
        """What the arguments of a comparison ask.

        Args:
            question: The name of a question, or a whole one.
            p: Which quantile.
            between: The range of a probability.
            option: The option of a share.
            **options: `estimand`, `sequential` and `fakes`; the usual ones are left out.

        Returns:
            The quantity.

        Raises:
            ArgumentError: If the answer is not one number, or what it is about is missing or too much.
        """
        given: dict[str, Any] = {"p": p, "between": between, "option": option}
        whole = question if isinstance(question, Question) else Question(question)
        whole = whole._replace(**{name: value for name, value in given.items() if value is not None})
        one_of(whole.name, "question", _NUMBERS)
        for name, other in _GOES_WITH.items():
            has, needs = getattr(whole, name) is not None, whole.name == other
            if has != needs and (has or name != "p"):  # the median by default
                rule = f"{name} goes with question={other!r} and only with that"
                raise ArgumentError(f"{rule}, got question={whole.name!r}", argument=name)
        return cls(whole, {name: value for name, value in options.items() if value != _USUAL[name]})

    @property
    def is_direction(self) -> bool:
        """Whether its values lie around a circle: then there are turns from one to another, but no sums."""
        return self.question.name == "direction"

    def __call__(self, tally: Tally, confidence: float) -> Estimate:
        """The estimate from one tally."""
        return number(tally, self.question, confidence=confidence, **self.options)

    def total(self, terms: Sequence[tuple[float, Tally]], confidence: float, what: str) -> Estimate:
        """Σ factor·quantity over independent tallies.

        Args:
            terms: Factors and tallies.
            confidence: How often the interval should hold.
            what: What the sum is called, with braces where the name of the quantity stands.

        Returns:
            By the bounds of all of them together where they are known, otherwise by intervals that all hold.
        """
        terms = [(factor, tally) for factor, tally in terms if factor]
        answers = [(factor, self(tally, confidence)) for factor, tally in terms]
        known = [(factor, one.sides) for factor, one in answers if one.sides is not None]
        enough = bool(known) and Sides.total(known).allows((1 - confidence) / 2)
        if not enough or len(known) < len(terms):
            level = share_of(confidence, len(terms) - len(known) + 1 if enough else len(terms))
            answers = [
                (f, one if enough and one.sides is not None else replace(self(tally, level), sides=None))
                for (f, one), (_, tally) in zip(answers, terms, strict=True)
            ]
        whole: Estimate = combined(answers, what=what.format(answers[0][1].what), confidence=confidence)
        return whole


def common_question(tallies: Iterable[Tally]) -> Question | None:
    """What several tallies can be compared by, as their reporters say.

    Args:
        tallies: Tallies, of one reporter or of several.

    Returns:
        The first question that all of them say and whose answer is one number. Where they have only `shares`
        in common, that: each option is then a share of its own, and the error is shared among them.
    """
    first, *others = (tally.law.questions for tally in tallies)
    common = [question for question in first if all(question in said for said in others)]
    numbers = [question for question in common if question.name in _NUMBERS]
    return next(iter(numbers + [question for question in common if question.name == "shares"]), None)


def at_level(estimate: Estimate, confidence: float) -> Estimate:
    """The same estimate with the limits of another confidence, where it carries its bounds."""
    if estimate.sides is None or not estimate.sides.allows((1 - confidence) / 2):
        return estimate
    low, high = estimate.sides.limits((1 - confidence) / 2)
    value = min(max(estimate.value, low), high)
    return replace(estimate, value=value, low=low, high=high, confidence=confidence)


def inverted_p(excluded: Callable[[float], bool]) -> float:
    """The least error at which an interval excludes a value, to a tenth of a decade, rounded up.

    Args:
        excluded: Whether the interval of a confidence does.

    Returns:
        At most 1; not looked for below 1e-6.
    """
    below, above = math.log10(_LEAST_P), math.log10(0.9)
    if not excluded(1 - 10**above):
        return 1.0
    if excluded(1 - 10**below):
        return _LEAST_P
    while above - below > 0.1:
        middle = (below + above) / 2
        below, above = (below, middle) if excluded(1 - 10**middle) else (middle, above)
    return float(10**above)


def checked_groups(groups: Mapping[K, Tally], least: int = 1) -> dict[K, Tally]:
    """Tallies by name, none of which shares reports with another."""
    if not isinstance(groups, Mapping):
        kind = type(groups).__name__
        raise ArgumentTypeError(
            f"groups must be a mapping of names to tallies, got {kind}", argument="groups"
        )
    tallies = dict(groups)
    if len(tallies) < least:
        raise DataError(f"there must be at least {least} groups, got {len(tallies)}", argument="groups")
    sources = [check_tally(tally, 0).sources for tally in tallies.values()]
    if len(frozenset().union(*sources)) < sum(map(len, sources)):
        sentence = "two groups share reports: only different people can be compared"
        raise ArgumentError(sentence, code="dependent", argument="groups")
    return tallies
