"""The reporter for a question: nobody needs to know a mechanism's name.

m = design("mean", epsilon=1.0, domain=(0, 24))
m = design("quantile", epsilon=1.0, domain=(0, 24), p=0.9)
m = design("choice", epsilon=1.0, domain=["car", "bike", "train"])
m = design("pair", epsilon=1.0, domain={"age": (0, 120), "commute": (0, 3)})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

from sottovoce.designs.choice import choice
from sottovoce.designs.place import Box, place
from sottovoce.designs.question import QUESTIONS, TAKEN, Designed, asked, designed
from sottovoce.errors import ArgumentTypeError, check_epsilon, one_of, refuse_others
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.translates import Translates
from sottovoce.surveys.any_of import any_of
from sottovoce.surveys.pair import pair
from sottovoce.surveys.within import within
from sottovoce.values.disc import Disc
from sottovoce.values.interval import DomainLike, as_domain

Listed = Sequence[str] | Sequence[int]  # options
Pair = Sequence[DomainLike] | Mapping[str, DomainLike]
Grouped = tuple[Listed, DomainLike]  # options, and where the number lies
Several = Listed | Pair | Grouped


@overload
def design(question: Literal["place"], epsilon: float, domain: Disc | Box) -> Translates: ...


@overload
def design(question: Literal["choice"], epsilon: float, domain: Listed) -> Translates: ...


@overload
def design(question: Literal["choices", "pair", "group"], epsilon: float, domain: Several) -> Survey: ...


@overload
def design(
    question: str, epsilon: float, domain: DomainLike, *, p: float | None = None,
    between: tuple[float, float] | None = None, loss: str | float | None = None,
) -> Designed: ...  # fmt: skip


def design(
    question: str,
    epsilon: float,
    domain: DomainLike | Disc | Box | Several,
    *,
    p: float | None = None,
    between: tuple[float, float] | None = None,
    loss: str | float | None = None,
) -> Designed | Translates | Survey:
    """Make the reporter that suits a question best.

    Args:
        question: What is to be known: "mean", "quantile" or "distribution" of all people; "probability", how
            many are within a range; "direction", the mean on a circle; "value", each single person's number
            as well as it can be told; "choice", the share of each of a list of options, of which a person has
            one, or "choices", any of them; "place", where people are; "pair", how numbers of one person vary
            together; or "group", a number within groups that are private too.
        epsilon: Privacy parameter ε.
        domain: Where values lie: (low, high) or a `Circle`; of places a `Disc` or ((x₀, x₁), (y₀, y₁)); the
            list of options; of a pair the interval of each number, of a group the options and the interval.
        p: Which quantile, between 0 and 1; 0.5 is the median.
        between: The range of a "probability", ends included; on a circle it may cross the seam.
        loss: What "value" minimises: "l1", "l2" (the default) or the k ≥ 1 of |y − x|^k.

    Returns:
        A mechanism, a mixture or rows, with `made_for` set; of options and places translates, and a survey
        where there is more than one item.

    Raises:
        ArgumentError: If an argument is out of range, missing for the question or not one of its own, or the
            question does not suit the domain.
        ArgumentTypeError: If an argument is of the wrong type.

    Example:
        >>> m = design("probability", epsilon=1.0, domain=(0, 24), between=(6, 9))
        >>> m.made_for, m.cells
        ('probability', 2)
        >>> list(design("group", 1.0, (["car", "bike"], (0, 3))).domain)
        ['group', 'number']
    """
    one_of(question, "question", (*QUESTIONS, *OTHERS))
    refuse_others(design, f"question={question!r}", locals(), TAKEN.get(question, ""))
    epsilon = check_epsilon(epsilon)
    if question in OTHERS:
        return OTHERS[question](epsilon, domain)
    line = as_domain(domain)  # type: ignore[arg-type]
    return designed(asked(question, line, p=p, between=between), epsilon, line, loss)


def _place(epsilon: float, domain: Any) -> Translates:
    return place(epsilon, domain.radius) if isinstance(domain, Disc) else place(epsilon, box=domain)


def _group(epsilon: float, domain: Any) -> Survey:
    if not isinstance(domain, tuple | list) or len(domain) != 2:
        raise ArgumentTypeError("domain must be (options, interval) of a group", argument="domain")
    return within(epsilon, *domain)


#: Questions about something else than one number, and what makes their reporters.
OTHERS: dict[str, Callable[[float, Any], Translates | Survey]] = {
    "choice": choice,
    "choices": any_of,
    "place": _place,
    "pair": pair,
    "group": _group,
}
