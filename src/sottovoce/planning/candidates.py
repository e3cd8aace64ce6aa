"""What a plan knows about each question of one number: how to predict it, and what to compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from sottovoce.designs import classic
from sottovoce.designs.optimal import most_epsilon, optimal
from sottovoce.designs.question import designed
from sottovoce.designs.two_scale import two_scale
from sottovoce.errors import MAX_EPSILON, ArgumentError, loss_exponent
from sottovoce.estimates.limits.direct_question import yes_chances
from sottovoce.planning import prediction
from sottovoce.planning.prediction import Expected, Setting
from sottovoce.reporters.contract import Reporter, as_reporter
from sottovoce.reporters.formats import law_of
from sottovoce.reporters.number import Number
from sottovoce.reporters.question import Question
from sottovoce.values.domain import Domain

#: How a number is meant: in the units of the domain, or in percentage points.
UNITS, POINTS = "units", "points"
#: The code of the error of a candidate that is of no use for the question.
ELSE = "question"


@dataclass(frozen=True)
class Candidate:
    """A design that a plan looks at.

    Attributes:
        name: What it is called.
        build: Makes the mechanism for an ε; None if only one ε is possible and it is not this.
        reason: What it is good for.
        ours: True if it is what `design` gives.
        most: The largest ε that it is made for.
    """

    name: str
    build: Callable[[float], Number | None]
    reason: str
    ours: bool = False
    most: float = MAX_EPSILON


class Kind(NamedTuple):
    """One kind of question.

    Attributes:
        predict: The error to expect for people of one shape.
        rivals: Names of designs to compare with, on an interval and on a circle.
        error: What the error is called.
        error_in: Its unit.
        half_in: The unit of the interval's half-width; None if there is none, or it is the error.
    """

    predict: Callable[[Setting], Expected]
    rivals: tuple[tuple[str, ...], tuple[str, ...]]
    error: str = "standard error"
    error_in: str = UNITS
    half_in: str | None = UNITS


_CLASSIC = ("optimal", "ptt", "pm", "duchi")
#: By the name of the question, as in the table of `estimates.summary`; "value" is about one person.
KINDS = {
    "mean": Kind(prediction.mean, (_CLASSIC, ())),
    "direction": Kind(prediction.direction, ((), ("ogpm", "two_scale"))),
    "quantile": Kind(prediction.quantile, (("sw",), ()), "half-width of the interval", half_in=None),
    "distribution": Kind(
        prediction.distribution, (("sw",), ("ogpm",)), "Wasserstein distance", half_in=POINTS
    ),
    "probability": Kind(prediction.probability, (("sw", "ogpm"), ("ogpm",)), error_in=POINTS, half_in=POINTS),
    "value": Kind(prediction.value, (("ogpm",), ()), "worst error of one report", half_in=None),
}

Build = Callable[[float, Domain], Number]
#: A mechanism of one's own, or what makes one from ε and the domain, such as `sottovoce.pm`.
Own = Reporter | Callable[[float, Domain], Reporter]
_RIVALS: dict[str, tuple[Build, str]] = {
    "optimal": (optimal, "unbiased, the least worst-case variance there is"),
    "ptt": (classic.ptt, "unbiased, the best with a uniform background"),
    "pm": (classic.pm, "unbiased, three pieces; its reports reach far beyond the domain"),
    "duchi": (classic.duchi, "unbiased, two reports only; good for small ε, flat for large"),
    "two_scale": (two_scale, "two window widths, together no frequency is lost"),
    "sw": (classic.sw, "the square wave: one window that moves evenly"),
    "ogpm": (classic.ogpm, "the least error for one person with a uniform background"),
}


def candidates(question: Question, domain: Domain, loss: str | float = "l2") -> list[Candidate]:
    """What `design` gives, and designs to compare it with."""

    def rival(name: str) -> Candidate:
        build, reason = _RIVALS[name]
        build = partial(classic.ogpm, loss=loss) if (question.name, name) == ("value", "ogpm") else build
        most = most_epsilon() if name == "optimal" else MAX_EPSILON
        return Candidate(name, lambda epsilon: build(epsilon, domain), reason, most=most)

    def design(epsilon: float) -> Number:
        return designed(question, epsilon, domain, loss)

    ours = Candidate("design", design, "made for this question", ours=True)
    if question.name == "mean" or (question.name == "value" and not domain.is_circle):
        ours = replace(ours, most=most_epsilon(loss_exponent(loss)))
    return [ours, *map(rival, KINDS[question.name].rivals[domain.is_circle])]


def own_candidate(own: Own, question: Question, domain: Domain, epsilon: float | None) -> Candidate:
    """Somebody's own mechanism among the candidates.

    Args:
        own: A reporter, or what makes one.
        question: What is to be known.
        domain: Where values lie.
        epsilon: The privacy parameter, if it is given.

    Returns:
        The candidate; its mechanism is the law of the reporter.

    Raises:
        ArgumentError: If it is for another domain or ε.
    """
    if callable(own):
        name, fixed = getattr(own, "__name__", type(own).__name__), None
    else:
        reporter = as_reporter(own, "candidates")
        name, fixed = reporter.name, reporter.epsilon
        if epsilon not in (None, fixed):
            rule = f"candidates must have epsilon={epsilon!r}, got {name!r} with epsilon={fixed!r}"
            raise ArgumentError(rule, argument="candidates")

    def build(e: float) -> Number | None:
        reporter = as_reporter(own(e, domain) if callable(own) else own, "candidates")
        if reporter.domain != domain:
            rule = f"candidates must have the domain {domain}, got {name!r} on {reporter.domain}"
            raise ArgumentError(rule, argument="candidates")
        law = law_of(reporter).as_number()
        if not _says(reporter.questions, law, question):
            raise ArgumentError("asks something else", code=ELSE, argument="candidates")
        return law if fixed in (None, e) else None

    return Candidate(name, build, "your own")


def _says(said: tuple[Question, ...], law: Number, question: Question) -> bool:
    """Whether reports answer a question: what tells quantiles or a distribution tells every range too."""
    if question.name == "value":
        return True
    if any(
        (one.name, one.p or question.p, one.between or question.between)
        == (question.name, question.p, question.between)
        for one in said
    ):
        return True
    if question.between is None:
        return False
    ends = law.domain.to_unit(question.between).tolist()
    names = {one.name for one in said}
    return not names.isdisjoint(("quantile", "distribution")) or yes_chances(law, *ends) is not None
