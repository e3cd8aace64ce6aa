"""Questions about one number, and the mechanism for each.

What is made says what it was made for (`m.made_for`), also after it was written to JSON and read again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.designs.classic import DEFAULT_CELLS, sw
from sottovoce.designs.optimal import optimal, ordinary_mean
from sottovoce.designs.solver.integer_weights import uniform_window
from sottovoce.designs.solver.roots import root
from sottovoce.designs.three_windows import three_windows
from sottovoce.designs.two_scale import two_scale
from sottovoce.errors import ArgumentError, ArgumentTypeError, one_of, real_number
from sottovoce.exact.rows_that_keep_epsilon import repaired
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.mixture import Mixture
from sottovoce.reporters.rows import Rows
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, as_domain

Designed = Mechanism | Mixture | Rows
_THREE = 4.0  # up to this ε three windows are best for a quantile
_BESIDE = 2.0**-40  # how far from the end of a range, in units of the domain, a value is surely outside


@dataclass(frozen=True)
class Question:
    """What is to be known about whom.

    Attributes:
        name: One of `QUESTIONS`.
        domain: Where values lie.
        p: Which quantile.
        between: The range of a share, in the units of the domain.
        loss: What a single value minimises.
    """

    name: str
    domain: Domain
    p: float | None = None
    between: tuple[float, float] | None = None
    loss: str | float = "l2"

    @classmethod
    def of(
        cls,
        question: str,
        domain: DomainLike,
        *,
        p: float | None = None,
        between: tuple[float, float] | None = None,
        loss: str | float | None = None,
    ) -> Question:
        """Check the arguments of `design`, those that belong to other questions included."""
        one_of(question, "question", tuple(QUESTIONS))
        line = as_domain(domain)
        check_owners(question, p=p, between=between, loss=loss)
        kind = QUESTIONS[question]
        if not kind.suits(line):
            raise ArgumentError(
                f"question must suit the domain: {kind.refusal}, got question={question!r}",
                argument="question",
            )
        if question == "quantile" and p is not None and not 0 < real_number(p, "p") < 1:
            raise ArgumentError(f"p must lie strictly between 0 and 1, got p={p!r}", argument="p")
        bounds = _range(between, line) if question == "share" else None
        return cls(question, line, p, bounds, "l2" if loss is None else loss)

    def design(self, epsilon: float) -> Designed:
        """The mechanism for an ε."""
        return replace(QUESTIONS[self.name].make(epsilon, self), made_for=self.name)


def check_owners(question: str, **arguments: object) -> None:
    """Refuse arguments that belong to other questions."""
    owners = {"p": "quantile", "between": "share", "loss": "value"}
    for name, value in arguments.items():
        if value is not None and question != owners[name]:
            rule = f"{name} belongs to the question {owners[name]!r}"
            raise ArgumentError(f"{rule}, got {name}={value!r} with question={question!r}", argument=name)


def _range(between: object, domain: Domain) -> tuple[float, float]:
    if between is None:
        raise ArgumentError("between must be given for a share: the range (low, high)", argument="between")
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise ArgumentTypeError(
            f"between must be a range (low, high), got between={between!r}", argument="between"
        )
    low, high = (real_number(end, "between") for end in between)
    inside = bool(domain.contains(low)) and bool(domain.contains(high))
    whole = (low, high) == (domain.low, domain.high)
    if not inside or low == high or whole or (low > high and not domain.is_circle):
        rule = f"between must be a range (low, high) within the domain {domain}"
        raise ArgumentError(f"{rule}, got between={between!r}", argument="between")
    return low, high


# -- one function for each question ------------------------------------------------------------------------


def _mean(epsilon: float, question: Question) -> Designed:
    return ordinary_mean(epsilon, question.domain)


def _quantile(epsilon: float, question: Question) -> Designed:
    """Three windows; where ε is so large that they would be thinner than a cell, the square wave."""
    return (three_windows if epsilon <= _THREE else sw)(epsilon, question.domain)


def _distribution(epsilon: float, question: Question) -> Designed:
    return two_scale(epsilon, question.domain)


def _value(epsilon: float, question: Question) -> Designed:
    return optimal(epsilon, question.domain, "value", loss=question.loss)


def _direction(epsilon: float, question: Question) -> Designed:
    """The arc around the truth, E times as likely as elsewhere, whose reports point there most clearly.

    With an arc of w turns the mean of e^{2πi(y − x)} is (E − 1)·sin(πw)/(π(1 + (E − 1)w)); it is
    largest where π·cos(πw)·(1 + (E − 1)w) = (E − 1)·sin(πw).
    """
    more = math.expm1(epsilon)

    def slope(w: float) -> float:
        return math.pi * math.cos(math.pi * w) * (1 / more + w) - math.sin(math.pi * w)

    w = root(slope, 0.0, 0.5)
    m = uniform_window(epsilon, question.domain, mass=1 / (1 + more * w), cells=DEFAULT_CELLS)
    return replace(m, name="arc")


def _share(epsilon: float, question: Question) -> Designed:
    """Randomised response to "is your value in the range?": no other report tells more about a share."""
    assert question.between is not None
    domain = question.domain
    low, high = (float(domain.to_unit(end)) for end in question.between)
    places = np.array([0.0, low - _BESIDE, low, high, high + _BESIDE, 1 - _BESIDE, 1.0])
    t = np.unique(places[(places >= 0) & (places <= (1 - _BESIDE if domain.is_circle else 1.0))])
    inside = (t >= low) & (t <= high) if low <= high else (t >= low) | (t <= high)
    yes = 1 / (1 + math.exp(-epsilon))
    chances = np.where(inside[:, None], [1 - yes, yes], [yes, 1 - yes])
    return Rows(epsilon, domain, t, repaired(chances, epsilon), np.array([0.0, 1.0]), name="yes or no")


@dataclass(frozen=True)
class Kind:
    """What a question needs.

    Attributes:
        make: The design, from ε and the question.
        circle: True if it is asked only on a circle, False only on an interval, None on both.
        refusal: What to say elsewhere.
    """

    make: Callable[[float, Question], Designed]
    circle: bool | None = None
    refusal: str = ""

    def suits(self, domain: Domain) -> bool:
        """Whether the question makes sense on a domain."""
        return self.circle is None or self.circle == domain.is_circle


#: Every question that a design can be asked for.
QUESTIONS = {
    "mean": Kind(_mean, circle=False, refusal="a circle has no mean, ask for a 'direction'"),
    "quantile": Kind(_quantile, circle=False, refusal="a circle has no quantiles, ask for a 'share'"),
    "distribution": Kind(_distribution),
    "direction": Kind(_direction, circle=True, refusal="an interval has no direction, ask for a 'mean'"),
    "share": Kind(_share),
    "value": Kind(_value),
}
