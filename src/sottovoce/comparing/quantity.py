"""What is asked of several tallies at once, and sums of the answers over independent people."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, one_of, refuse_others
from sottovoce.estimates.answer.arithmetic import combined, share_of
from sottovoce.estimates.answer.units import check_tally
from sottovoce.estimates.direction import circular_mean
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.limits.sums_of_bounds import Sides
from sottovoce.estimates.mean import mean
from sottovoce.estimates.probability import probability
from sottovoce.estimates.quantile import quantile
from sottovoce.estimates.shares import shares
from sottovoce.estimates.tally import Tally
from sottovoce.estimates.variance import variance

KINDS = ("mean", "quantile", "probability", "variance", "direction", "share")
_SEQUENTIAL = ("mean", "probability")  # that have limits for every look, and against fakes
_LEAST_P = 1e-6  # p-values are not looked for below

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Quantity:
    """A question with everything but the tally and the confidence.

    Attributes:
        question: One of `KINDS`.
        p: Which quantile; the median by default.
        between: The range of a probability.
        option: The option of a share.
        estimand: Whose it is.
        sequential: Whether limits hold at every look.
        fakes: How many reports of each tally may be fakes.
    """

    question: str = "mean"
    p: float | None = None
    between: tuple[float, float] | None = None
    option: str | int | None = None
    estimand: str = "population"
    sequential: bool = False
    fakes: int = 0

    def __post_init__(self) -> None:
        one_of(self.question, "question", KINDS)
        if self.p is not None and self.question != "quantile":
            raise ArgumentError(f"p is for question='quantile', got question={self.question!r}", argument="p")
        if (self.between is None) == (self.question == "probability"):
            rule = "between=(low, high) goes with question='probability' and only with that"
            raise ArgumentError(f"{rule}, got question={self.question!r}", argument="between")
        if (self.option is None) == (self.question == "share"):
            rule = "option goes with question='share' and only with that"
            raise ArgumentError(f"{rule}, got question={self.question!r}", argument="option")
        if self.question == "share":
            refuse_others(Quantity, "question='share'", {"estimand": self.estimand})
        for name, value in (("sequential", self.sequential), ("fakes", self.fakes)):
            if value and self.question not in _SEQUENTIAL:
                rule = f"{name} is for question='mean' and question='probability'"
                raise ArgumentError(f"{rule}, got question={self.question!r}", argument=name)

    def __call__(self, tally: Tally, confidence: float) -> Estimate:
        """The estimate from one tally."""
        if self.option is not None:
            every = shares(tally, confidence=confidence)
            if self.option not in every:
                rule = f"option must be one of {', '.join(map(repr, every))}"
                raise ArgumentError(f"{rule}, got option={self.option!r}", code="choice", argument="option")
            return every[self.option]
        asked: dict[str, Any] = {"estimand": self.estimand, "confidence": confidence}
        if self.question == "quantile":
            return quantile(tally, 0.5 if self.p is None else self.p, **asked)
        if self.question in _SEQUENTIAL:
            asked |= {"sequential": self.sequential, "fakes": self.fakes}
        if self.between is not None:
            return probability(tally, *self.between, **asked)
        estimators = {"mean": mean, "variance": variance, "direction": circular_mean}
        return estimators[self.question](tally, **asked)

    def total(self, terms: Sequence[tuple[float, Tally]], confidence: float, what: str) -> Estimate:
        """Σ factor·quantity over independent tallies.

        Args:
            terms: Factors and tallies.
            confidence: How often the interval should hold.
            what: What the sum is called.

        Returns:
            By the bounds of all of them together where they are known, otherwise by intervals that all hold.
        """
        terms = [(factor, tally) for factor, tally in terms if factor]
        answers = [(factor, self(tally, confidence)) for factor, tally in terms]
        known = [(factor, one.sides) for factor, one in answers if one.sides is not None]
        enough = bool(known) and Sides.total(known).allows((1 - confidence) / 2)
        if enough and len(known) == len(terms):
            return _estimate(combined(answers, what=what, confidence=confidence))
        level = share_of(confidence, len(terms) - len(known) + 1 if enough else len(terms))
        answers = [
            (f, one if enough and one.sides is not None else replace(self(tally, level), sides=None))
            for (f, one), (_, tally) in zip(answers, terms, strict=True)
        ]
        return _estimate(combined(answers, what=what, confidence=confidence))


def _estimate(answer: object) -> Estimate:
    assert isinstance(answer, Estimate)
    return answer


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
