"""A plan: the mechanism for a question beside others, with the error to expect of each.

plan = sottovoce.plan("mean", epsilon=1.0, people=10_000, domain=(0, 24))
plan.best.mechanism, plan.best.error, plan.best.half_width
sottovoce.plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.1)   # how many people?
sottovoce.plan("mean", epsilon=None, people=5000, domain=(0, 24), target=0.1)  # which ε?
sottovoce.plan("mean", people=10**5, domain=(0, 24), central=(0.1, 1e-8))      # which ε, for readers?
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Literal, overload

from numpy.typing import ArrayLike

from sottovoce.designs.place import Box
from sottovoce.designs.question import QUESTIONS, TAKEN, asked
from sottovoce.errors import (
    ArgumentError,
    ArgumentTypeError,
    check_confidence,
    check_epsilon,
    one_of,
    positive_number,
    refuse_others,
    whole_number,
)
from sottovoce.planning.candidates import ELSE, Own, own_candidate
from sottovoce.planning.candidates import candidates as usual_candidates
from sottovoce.planning.least_people import MOST_PEOPLE, Search
from sottovoce.planning.plan_difference import DifferencePlan, plan_difference
from sottovoce.planning.prediction import sample_shape
from sottovoce.planning.scenario import Option, Plan, Progress, Scenario
from sottovoce.planning.ways_to_ask import WaysPlan, plan_ways
from sottovoce.surveys.design import OTHERS, Listed, Several
from sottovoce.values.disc import Disc
from sottovoce.values.interval import DomainLike, as_domain

_AS_GOOD = 1.02  # so much better another mechanism has to be to come before ours

#: What each question takes beside ε, people, the domain and its own arguments; all others take the same.
_TAKEN = dict.fromkeys(OTHERS, "") | {"pair": "sample", "difference": "shift power confidence sample"}
_USUAL = "target confidence sample candidates simulate repetitions central progress"


@overload
def plan(
    question: Literal["difference"], epsilon: float | None = ..., people: int | None = ...,
    domain: DomainLike | None = ..., *, shift: float, power: float = ..., confidence: float = ...,
    sample: ArrayLike | None = ...,
) -> DifferencePlan: ...  # fmt: skip


@overload
def plan(
    question: Literal["choice", "choices", "group", "pair", "place"], epsilon: float, people: int,
    domain: Several | Listed | Disc | Box, *, sample: ArrayLike | None = ...,
) -> WaysPlan: ...  # fmt: skip


@overload
def plan(
    question: str, epsilon: float | None = ..., people: int | None = ..., domain: DomainLike | None = ...,
    target: float | None = ..., *, p: float | None = ..., between: tuple[float, float] | None = ...,
    loss: str | float | None = ..., confidence: float = ..., sample: ArrayLike | None = ...,
    candidates: Sequence[Own] = ..., simulate: bool = ..., repetitions: int | None = ...,
    central: tuple[float, float] | None = ..., progress: Progress | None = ...,
) -> Plan: ...  # fmt: skip


def plan(
    question: str,
    epsilon: float | None = None,
    people: int | None = None,
    domain: DomainLike | Disc | Box | Several | None = None,
    target: float | None = None,
    *,
    p: float | None = None,
    between: tuple[float, float] | None = None,
    loss: str | float | None = None,
    shift: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    sample: ArrayLike | None = None,
    candidates: Sequence[Own] = (),
    simulate: bool = False,
    repetitions: int | None = None,
    central: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> Plan | DifferencePlan | WaysPlan:
    """Say what error to expect, of the mechanism that `design` gives and of others.

    Args:
        question: What is to be known, as in `design`: "mean", "quantile", "distribution", "direction",
            "probability" or "value"; or "difference": how many people of each of two groups, or which ε, it
            takes to see one of their means; "place": where people are, in a `Disc` or a box
            ((x₀, x₁), (y₀, y₁)); "choice" or "choices", with the options as the domain; "pair", with the
            intervals of two numbers; or "group", with options and an interval.
        epsilon: The privacy parameter; left out, it is asked which ε meets the target.
        people: How many people report; left out, it is asked how many it takes to meet the target.
        domain: Where values lie: always to be given.
        target: The error to meet, in the units of the domain (of a probability: as it is).
        p: Which quantile.
        between: The range of a probability.
        loss: What a "value" minimises.
        shift: The difference to see, in the units of the domain.
        power: The chance of seeing it, where ε or people are asked for.
        confidence: That of the intervals.
        sample: Values that stand for the people to come, instead of reference shapes.
        candidates: Mechanisms of your own to rank with ours: reporters for this domain and ε, or functions
            that make them from ε and the domain. One that does not say the question is left out.
        simulate: Simulate answers instead of predicting them, until errors are known to 3 %. It takes
            minutes; results are remembered.
        repetitions: How many tallies to simulate, instead of as many as it takes.
        central: The (ε, δ) that the published counts shall keep if all `people` are honest and nobody sees
            reports one by one. Each mechanism then takes the largest local ε that keeps it, which is what
            protects people from whoever sees their reports; `epsilon` is left out.
        progress: Is called with the name of the mechanism that is looked at and the share of the whole work
            that is done.

    Returns:
        The mechanisms, the best first. Errors of a mean, a direction or a probability are standard errors
        that count the people's own spread too; that of a quantile is half of its interval, that of a
        distribution the Wasserstein distance, and that of a value its worst case. For a difference a
        `DifferencePlan` with what was left open; for choices, pairs, groups and places a `WaysPlan`.

    Raises:
        ArgumentError: If the question is none, an argument is out of range or does not belong to it, or no
            mechanism meets the target.
        ArgumentTypeError: If an argument is of the wrong type.

    Example:
        >>> how_many = plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.25)
        >>> how_many.best.name, how_many.best.people
        ('design', 9069)
    """
    one_of(question, "question", (*QUESTIONS, *_TAKEN))
    taken = f"epsilon people domain {_TAKEN.get(question, _USUAL)} {TAKEN.get(question, '')}"
    refuse_others(plan, f"question={question!r}", locals(), taken)
    if domain is None:
        raise ArgumentError("domain must be given: (low, high) or a Circle", argument="domain")
    if question in OTHERS:
        return plan_ways(question, epsilon, people, domain, sample)
    line = as_domain(domain)  # type: ignore[arg-type]  # others are asked above
    if question == "difference":
        return plan_difference(
            epsilon, people, line, shift=shift, power=power, confidence=check_confidence(confidence),
            sample=sample,
        )  # fmt: skip
    about = asked(question, line, p=p, between=between)
    if question == "quantile" and p is None:
        raise ArgumentError("p must be given for a quantile: 0.5 is the median", argument="p")
    wanted = _check_wanted(epsilon, people, target, central)
    if repetitions is not None:
        whole_number(repetitions, "repetitions", least=1)
    if not isinstance(candidates, Iterable):
        raise ArgumentTypeError(f"candidates must be a list, got {candidates!r}", argument="candidates")
    scenario = Scenario(
        about, line, check_confidence(confidence), sample_shape(sample, line), bool(simulate or repetitions),
        repetitions, "l2" if loss is None else loss,
    )  # fmt: skip
    if central is not None and not all(map(callable, candidates)):
        raise ArgumentError("candidates must be functions with central", argument="candidates")
    ours = usual_candidates(about, line, scenario.loss)
    ranked = (*ours, *(own_candidate(own, about, line, epsilon) for own in candidates))

    search = Search(scenario, epsilon, people, target, central)
    options, left_out = list[Option](), dict[str, str]()
    for k, candidate in enumerate(reversed(ranked)):  # what is quick to build tells the others where to begin
        if progress is not None:
            progress(candidate.name, k / len(ranked))
        try:
            option = search.best(candidate)
        except ArgumentError as error:
            if error.code != ELSE:
                raise
            left_out[candidate.name] = str(error)
            continue
        if option is not None:
            same = [other for other in options if other.mechanism == option.mechanism]
            options = [option, *(other for other in options if other not in same)]
        elif epsilon is not None and epsilon > candidate.most:
            left_out[candidate.name] = f"is made up to ε = {candidate.most:g}"
        else:
            most = f"ε = {candidate.most:g} with {people:,}" if epsilon is None else f"{MOST_PEOPLE:,}"
            left_out[candidate.name] = f"needs more than {most} people"
    if not options:
        reasons = "; ".join(sorted(set(left_out.values())))
        raise ArgumentError(f"no mechanism meets target={target!r}: {reasons}", argument="target")
    favourite = options[0].name if ranked[0].name == options[0].name else None
    rank = attrgetter(wanted or "error")
    options.sort(key=lambda option: rank(option) / (_AS_GOOD if option.name == favourite else 1.0))
    return Plan(scenario, tuple(_explained(options, wanted)), target, wanted, left_out, central, ranked)


def _check_wanted(
    epsilon: float | None, people: int | None, target: float | None, central: tuple[float, float] | None
) -> str | None:
    if central is not None:
        if not isinstance(central, tuple | list) or len(central) != 2:
            raise ArgumentTypeError(
                f"central must be (epsilon, delta), got central={central!r}", argument="central"
            )
        if target is not None or epsilon is not None:
            argument = "epsilon" if target is None else "target"
            raise ArgumentError(f"{argument} must be left out with central", argument=argument)
        if people is None:
            raise ArgumentError("people must be given with central", argument="people")
        return None
    if epsilon is None and people is None:
        raise ArgumentError("give epsilon or people: only one of them can be asked for", argument="people")
    if target is not None:
        positive_number(target, "target")
    elif epsilon is None or people is None:
        raise ArgumentError("target must be given to ask for people or epsilon", argument="target")
    if epsilon is not None:
        check_epsilon(epsilon)
    if people is not None:
        whole_number(people, "people", least=1, most=MOST_PEOPLE)
    return "epsilon" if epsilon is None else "people" if people is None else None


def _explained(options: list[Option], wanted: str | None) -> list[Option]:
    """Each reason with how it compares to the best, and the certificate where there is one."""
    out, rank = [], attrgetter(wanted or "error")
    for option in options:
        reason, certificate = option.reason, option.mechanism.certificate
        if certificate is not None:
            reason += f" (worst case {certificate.ratio:.3g} × the limit of all)"
        if option is not options[0]:
            what = "ε" if wanted == "epsilon" else wanted or "error"
            reason += f"; {rank(option) / rank(options[0]):.2f} × the {what}"
        out.append(replace(option, reason=reason))
    return out
