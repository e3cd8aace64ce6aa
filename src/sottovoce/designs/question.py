"""Questions about one number, and the mechanism for each.

What is made says what it was made for (`m.made_for`), also after it was written to JSON and read again.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sottovoce.designs.classic import DEFAULT_CELLS, sw
from sottovoce.designs.optimal import optimal, ordinary_mean
from sottovoce.designs.solver.integer_weights import uniform_window
from sottovoce.designs.solver.roots import root
from sottovoce.designs.three_windows import three_windows
from sottovoce.designs.two_scale import two_scale
from sottovoce.errors import ArgumentError, ArgumentTypeError, one_of, proper_fraction, real_number
from sottovoce.exact.rows_that_keep_epsilon import repaired
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.mixture import Mixture
from sottovoce.reporters.question import Question
from sottovoce.reporters.rows import Rows
from sottovoce.values.domain import Domain

Designed = Mechanism | Mixture | Rows
#: Every question about one number that a design can be asked for.
QUESTIONS = ("mean", "quantile", "distribution", "direction", "probability", "value")
#: What each takes.
TAKEN = {"quantile": "p", "probability": "between", "value": "loss"}
_ELSEWHERE = {
    "mean": "a circle has no mean, ask for a 'direction'",
    "quantile": "a circle has no quantiles, ask for a 'probability'",
    "direction": "an interval has no direction, ask for a 'mean'",
}
_THREE = 4.0  # up to this ε three windows are best for a quantile; above they would be thinner than a cell
_BESIDE = 2.0**-40  # how far from the end of a range, in units of the domain, a value is surely outside


def asked(
    question: str, domain: Domain, *, p: float | None = None, between: tuple[float, float] | None = None
) -> Question:
    """What is asked of a number, checked.

    Args:
        question: One of `QUESTIONS`.
        domain: Where values lie.
        p: Which quantile.
        between: The range of a probability, in the units of the domain.

    Returns:
        The question.

    Raises:
        ArgumentError: If it does not suit the domain, or an argument is out of range or missing.
    """
    one_of(question, "question", QUESTIONS)
    if question in _ELSEWHERE and domain.is_circle != (question == "direction"):
        raise ArgumentError(
            f"question must suit the domain: {_ELSEWHERE[question]}, got question={question!r}",
            argument="question",
        )
    if p is not None:
        proper_fraction(p, "p")
    return Question(question, p=p, between=_range(between, domain) if question == "probability" else None)


def _range(between: object, domain: Domain) -> tuple[float, float]:
    if between is None:
        rule = "between must be given for a probability: the range (low, high)"
        raise ArgumentError(rule, argument="between")
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


def designed(question: Question, epsilon: float, domain: Domain, loss: str | float | None = None) -> Designed:
    """The mechanism for a question.

    Args:
        question: What `asked` gave.
        epsilon: Privacy parameter ε.
        domain: Where values lie.
        loss: What a single value minimises; the square if not given.

    Returns:
        A mechanism that says what it was made for.
    """
    made: Designed
    match question.name:
        case "mean":
            made = ordinary_mean(epsilon, domain)
        case "quantile":
            made = (three_windows if epsilon <= _THREE else sw)(epsilon, domain)
        case "distribution":
            made = two_scale(epsilon, domain)
        case "direction":
            made = _arc(epsilon, domain)
        case "probability":
            made = _yes_or_no(epsilon, domain, question.between or domain.ends)
        case _:
            made = optimal(epsilon, domain, "value", loss="l2" if loss is None else loss)
    return replace(made, made_for=question.name)


def _arc(epsilon: float, domain: Domain) -> Mechanism:
    """The arc around the truth, E times as likely as elsewhere, whose reports point there most clearly.

    With an arc of w turns the mean of e^{2πi(y − x)} is (E − 1)·sin(πw)/(π(1 + (E − 1)w)); it is
    largest where π·cos(πw)·(1 + (E − 1)w) = (E − 1)·sin(πw).
    """
    more = math.expm1(epsilon)

    def slope(w: float) -> float:
        return math.pi * math.cos(math.pi * w) * (1 / more + w) - math.sin(math.pi * w)

    w = root(slope, 0.0, 0.5)
    m = uniform_window(epsilon, domain, mass=1 / (1 + more * w), cells=DEFAULT_CELLS)
    return replace(m, name="arc")


def _yes_or_no(epsilon: float, domain: Domain, between: tuple[float, float]) -> Rows:
    """Randomised response to "is your value in the range?": no other report tells more about a share."""
    low, high = (float(domain.to_unit(end)) for end in between)
    places = np.array([0.0, low - _BESIDE, low, high, high + _BESIDE, 1 - _BESIDE, 1.0])
    t = np.unique(places[(places >= 0) & (places <= (1 - _BESIDE if domain.is_circle else 1.0))])
    inside = (t >= low) & (t <= high) if low <= high else (t >= low) | (t <= high)
    yes = 1 / (1 + math.exp(-epsilon))
    chances = np.where(inside[:, None], [1 - yes, yes], [yes, 1 - yes])
    return Rows(epsilon, domain, t, repaired(chances, epsilon), np.array([0.0, 1.0]), name="yes or no")
