"""The mechanism for a question: nobody needs to know a mechanism's name.

    m = design("mean", epsilon=1.0, domain=(0, 24))
    m = design("quantile", epsilon=1.0, domain=(0, 24), p=0.9)
    m = design("direction", epsilon=1.0, domain=Circle(24))
    m = design("share", epsilon=1.0, domain=(0, 24), between=(6, 9))

What it makes says what it was made for (`m.task`), also after it was written to JSON and read again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, overload

import numpy as np

from sottovoce.core.discs import Disc
from sottovoce.core.domains import Domain, DomainLike, as_domain
from sottovoce.core.errors import ArgumentError, ArgumentTypeError, check_epsilon, one_of, real_number
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.mixture import Mixture
from sottovoce.core.repair import repaired
from sottovoce.core.rows import Rows
from sottovoce.core.translates import Translates
from sottovoce.designs.build import uniform_window
from sottovoce.designs.choices import choice
from sottovoce.designs.classic import DEFAULT_CELLS, sw
from sottovoce.designs.formulas import square_wave_reach
from sottovoce.designs.optimal import optimal, ordinary_mean
from sottovoce.designs.places import Box, place
from sottovoce.designs.roots import root
from sottovoce.designs.two_scale import two_scale

Designed = Mechanism | Mixture | Rows
#: The window for quantiles: its width in those of the square wave, how it slows at the ends, up to which ε.
_NARROW, _LAG, _NARROWED = 0.75, 0.3, 6.0
_BESIDE = 2.0**-40  # how far from the end of a range, in units of the domain, a value is surely outside


@overload
def design(task: Literal["place"], epsilon: float, domain: Disc | Box) -> Translates: ...


@overload
def design(task: Literal["choice"], epsilon: float, domain: Sequence[str] | Sequence[int]) -> Translates: ...


@overload
def design(
    task: str,
    epsilon: float,
    domain: DomainLike,
    *,
    p: float | None = None,
    between: tuple[float, float] | None = None,
    loss: str | float | None = None,
) -> Designed: ...


def design(
    task: str,
    epsilon: float,
    domain: DomainLike | Disc | Box | Sequence[str] | Sequence[int],
    *,
    p: float | None = None,
    between: tuple[float, float] | None = None,
    loss: str | float | None = None,
) -> Designed | Translates:
    """Make the mechanism that suits a question best.

    Args:
        task: What is to be known: "mean", "quantile", "distribution" or "share" of all people; "direction",
            the mean on a circle; "value", each single person's number as well as it can be told; "place",
            where people are; or "choice", the share of each of a list of options, given as the domain.
        epsilon: Privacy parameter ε.
        domain: Where values lie: (low, high) or a `Circle`; of places a `Disc` or ((x₀, x₁), (y₀, y₁)).
        p: Which quantile, between 0 and 1; 0.5 is the median.
        between: The range whose share is asked for, ends included; on a circle it may cross the seam.
        loss: What "value" minimises: "l1", "l2" (the default) or the k ≥ 1 of |y − x|^k.

    Returns:
        A mechanism, a mixture or rows, with `task` set.

    Raises:
        ArgumentError: If an argument is out of range, missing for the task or not one of it, or the task does
            not suit the domain.
        ArgumentTypeError: If an argument is of the wrong type.

    Example:
        >>> m = design("share", epsilon=1.0, domain=(0, 24), between=(6, 9))
        >>> m.task, m.cells
        ('share', 2)
    """
    if task == "choice" and (p, between, loss) == (None, None, None):
        return choice(epsilon, domain)  # type: ignore[arg-type]
    if task == "place":
        if isinstance(domain, Disc):
            return place(epsilon, domain.radius)
        return place(epsilon, box=domain)  # type: ignore[arg-type]  # it says what a box is
    question = Question.of(task, domain, p=p, between=between, loss=loss)  # type: ignore[arg-type]
    return question.design(check_epsilon(epsilon))


@dataclass(frozen=True)
class Question:
    """What is to be known about whom.

    Attributes:
        task: One of `TASKS`.
        domain: Where values lie.
        p: Which quantile.
        between: The range of a share, in the units of the domain.
        loss: What a single value minimises.
    """

    task: str
    domain: Domain
    p: float | None = None
    between: tuple[float, float] | None = None
    loss: str | float = "l2"

    @classmethod
    def of(
        cls,
        task: str,
        domain: DomainLike,
        *,
        p: float | None = None,
        between: tuple[float, float] | None = None,
        loss: str | float | None = None,
    ) -> Question:
        """Check the arguments of `design`, those that belong to other tasks included."""
        one_of(task, "task", tuple(TASKS))
        line = as_domain(domain)
        owners = {"p": (p, "quantile"), "between": (between, "share"), "loss": (loss, "value")}
        for name, (value, owner) in owners.items():
            if value is not None and task != owner:
                sentence = f"{name} belongs to the task {owner!r}, got {name}={value!r} with task={task!r}"
                raise ArgumentError(sentence, argument=name)
        kind = TASKS[task]
        if not kind.suits(line):
            raise ArgumentError(
                f"task must suit the domain: {kind.refusal}, got task={task!r}", argument="task"
            )
        if task == "quantile" and p is not None and not 0 < real_number(p, "p") < 1:
            raise ArgumentError(f"p must lie strictly between 0 and 1, got p={p!r}", argument="p")
        bounds = _range(between, line) if task == "share" else None
        return cls(task, line, p, bounds, "l2" if loss is None else loss)

    def design(self, epsilon: float) -> Designed:
        """The mechanism for an ε."""
        return replace(TASKS[self.task].make(epsilon, self), task=self.task)


def _range(between: object, domain: Domain) -> tuple[float, float]:
    if between is None:
        raise ArgumentError("between must be given for a share: the range (low, high)", argument="between")
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise ArgumentTypeError(
            f"between must be a pair (low, high), got between={between!r}", argument="between"
        )
    low, high = (real_number(end, "between") for end in between)
    inside = bool(domain.contains(low)) and bool(domain.contains(high))
    whole = (low, high) == (domain.low, domain.high)
    if not inside or low == high or whole or (low > high and not domain.is_circle):
        rule = f"between must be a part (low, high) of the domain {domain}"
        raise ArgumentError(f"{rule}, got between={between!r}", argument="between")
    return low, high


# -- one function for each task --------------------------------------------------------------------------


def _mean(epsilon: float, question: Question) -> Designed:
    return ordinary_mean(epsilon, question.domain)


def _quantile(epsilon: float, question: Question) -> Designed:
    """A narrower window than the square wave's that moves faster between the ends (benchmarks/tasks.py).

    Unlike OGPM's it stands still nowhere, so no two values look alike.
    """
    if epsilon > _NARROWED:
        return sw(epsilon, question.domain)
    reach = square_wave_reach(epsilon)
    share = _NARROW * 2 * reach / (1 + 2 * reach)  # of all cells
    margin = 0.5 / (1 - share * (1 - _LAG)) - 0.5  # centred on the truth, but for the ends
    mass = 1 / (1 + share * math.expm1(epsilon))
    made = uniform_window(epsilon, question.domain, mass=mass, cells=DEFAULT_CELLS, margin=margin, lag=_LAG)
    return replace(made, name="narrow wave")


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
class Task:
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
TASKS = {
    "mean": Task(_mean, circle=False, refusal="a circle has no mean, ask for a 'direction'"),
    "quantile": Task(_quantile, circle=False, refusal="a circle has no quantiles, ask for a 'share'"),
    "distribution": Task(_distribution),
    "direction": Task(_direction, circle=True, refusal="an interval has no direction, ask for a 'mean'"),
    "share": Task(_share),
    "value": Task(_value),
}
