"""What a plan knows about each question: how to predict it, what to compare, what its numbers mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sottovoce.designs import classic
from sottovoce.designs.optimal import most_epsilon, optimal
from sottovoce.designs.question import Question
from sottovoce.designs.two_scale import two_scale
from sottovoce.errors import MAX_EPSILON, loss_exponent
from sottovoce.planning import prediction
from sottovoce.planning.prediction import Expected, Setting
from sottovoce.reporters.number import Number
from sottovoce.values.domain import Domain

#: How a number is meant: in the units of the domain, or in percentage points.
UNITS, POINTS = "units", "points"


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


@dataclass(frozen=True)
class Kind:
    """One kind of question.

    Attributes:
        predict: The error to expect for people of one shape.
        error: What the error is called.
        error_in: Its unit.
        half_in: The unit of the interval's half-width; None if there is none, or it is the error.
        rivals: Names of designs to compare with, on an interval and on a circle.
    """

    predict: Callable[[Setting], Expected]
    error: str
    error_in: str = UNITS
    half_in: str | None = UNITS
    rivals: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


KINDS = {
    "mean": Kind(prediction.mean, "standard error", rivals=(("optimal", "ptt", "pm", "duchi"), ())),
    "direction": Kind(prediction.direction, "standard error", rivals=((), ("ogpm", "two_scale"))),
    "quantile": Kind(
        prediction.quantile,
        "half-width of the interval",
        half_in=None,
        rivals=(("sw",), ()),
    ),
    "distribution": Kind(
        prediction.distribution,
        "Wasserstein distance",
        half_in=POINTS,
        rivals=(("sw",), ("ogpm",)),
    ),
    "share": Kind(prediction.share, "standard error", POINTS, POINTS, (("sw", "ogpm"), ("ogpm",))),
    "value": Kind(prediction.value, "worst error of one report", half_in=None, rivals=(("ogpm",), ())),
}

Build = Callable[[float, Domain], Number]
_RIVALS: dict[str, tuple[Build, str]] = {
    "optimal": (optimal, "unbiased, the least worst-case variance there is"),
    "ptt": (classic.ptt, "unbiased, the best with a uniform background"),
    "pm": (classic.pm, "unbiased, three pieces; its reports reach far beyond the domain"),
    "duchi": (classic.duchi, "unbiased, two reports only; good for small ε, flat for large"),
    "two_scale": (two_scale, "two window widths, together no frequency is lost"),
    "sw": (classic.sw, "the square wave: one window that moves evenly"),
    "ogpm": (classic.ogpm, "the least error for one person with a uniform background"),
}
_OURS = "made for this question"


def candidates(question: Question) -> list[Candidate]:
    """What `design` gives, and designs to compare it with."""
    rivals = {name: _rival(name, question) for name in KINDS[question.name].rivals[question.domain.is_circle]}
    ours = Candidate("design", question.design, _OURS, ours=True)
    if question.name == "mean":
        ours = replace(ours, most=most_epsilon())
        rivals["optimal"] = replace(rivals["optimal"], most=most_epsilon())
    elif question.name == "value" and rivals:
        ours = replace(ours, most=most_epsilon(loss_exponent(question.loss)))
    return [ours, *rivals.values()]


def _rival(name: str, question: Question) -> Candidate:
    build, reason = _RIVALS[name]
    if (question.name, name) == ("value", "ogpm"):
        return Candidate(name, lambda epsilon: classic.ogpm(epsilon, question.domain, question.loss), reason)
    return Candidate(name, lambda epsilon: build(epsilon, question.domain), reason)
