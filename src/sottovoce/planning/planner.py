"""A plan: every suitable mechanism with the error to expect, ranked.

p = sottovoce.plan("mean", epsilon=1.0, people=10_000, domain=(0, 24))
p.best.name, p.best.error, p.best.half_width
p = sottovoce.plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.1)   # how many people?
p = sottovoce.plan("mean", epsilon=None, people=5000, domain=(0, 24), target=0.1)  # which ε?
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.domains import Domain, DomainLike, as_domain
from sottovoce.core.errors import (
    MAX_EPSILON,
    NoDataError,
    check_confidence,
    check_epsilon,
    positive_number,
    real_number,
    whole_number,
)
from sottovoce.core.values import in_domain
from sottovoce.planning.candidates import TASKS, Candidate, candidates
from sottovoce.planning.expected import Shapes, Tick, sample_shape
from sottovoce.planning.plans import ROUGH, Option, Plan, Progress, Question
from sottovoce.planning.search import meeting

_MOST_PEOPLE = 10**12
_LEAST_EPSILON = 0.01


def plan(
    task: str = "mean",
    epsilon: float | None = 1.0,
    people: int | None = 10_000,
    domain: DomainLike = (0, 1),
    target: float | None = None,
    *,
    confidence: float = 0.95,
    sample: ArrayLike | None = None,
    q: float = 0.5,
    repetitions: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Rank the mechanisms that suit a task by the error to expect.

    Tasks: "mean" (exact, from exact variances, for the worst truth), "distribution" and "quantile" (by
    simulating tallies of two reference shapes until the error is known to 3 %, or `repetitions` of them; the
    result is remembered). `sample`: values that stand for the people to come, instead of the worst truth or
    the reference shapes. With a `target` for the error, in the units of the domain, `people=None` asks how
    many people it takes and `epsilon=None` which ε. `progress` is called with the name of the mechanism that
    is looked at and the share of the whole work that is done. `q` says which quantile.

    >>> p = plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.25)
    >>> {option.name: option.people for option in p.options}["pm"]
    12036
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, got task={task!r}")
    domain = as_domain(domain)
    if task == "quantile" and domain.is_circle:
        raise ValueError("a circle has no quantiles: task must be 'mean' or 'distribution' there")
    wanted = _check_wanted(epsilon, people, target)
    question = Question(
        task,
        domain,
        check_confidence(confidence),
        _shapes(sample, domain),
        None if repetitions is None else whole_number(repetitions, "repetitions", least=1),
        _level(q),
    )
    options, left_out = [], {}
    suitable = candidates(task, domain)
    for k, candidate in enumerate(suitable):
        tick = _part_of(progress, candidate.name, k, len(suitable))
        tick(0.0)
        try:
            options.append(_option(question, candidate, epsilon, people, target, tick))
        except LookupError as missed:
            left_out[candidate.name] = str(missed)
    if not options:
        raise ValueError(f"no mechanism meets target={target!r}: {'; '.join(sorted(set(left_out.values())))}")
    rank = {"people": lambda o: (o.people, o.error), "epsilon": lambda o: (o.epsilon, o.error)}
    options.sort(key=rank.get(wanted or "", lambda o: (o.error, o.people)))
    return Plan(question, tuple(_explained(options, wanted)), target, wanted, left_out)


def _check_wanted(epsilon: float | None, people: int | None, target: float | None) -> str | None:
    if epsilon is None and people is None:
        raise ValueError("give epsilon or people: only one of them can be asked for")
    if target is not None:
        positive_number(target, "target")
    elif epsilon is None or people is None:
        raise ValueError("target must be given to ask for people or epsilon")
    if epsilon is not None:
        check_epsilon(epsilon)
    if people is not None:
        whole_number(people, "people", least=1, most=_MOST_PEOPLE)
    return "epsilon" if epsilon is None else "people" if people is None else None


def _level(q: float) -> float:
    if not 0 < real_number(q, "q") < 1:
        raise ValueError(f"q must lie strictly between 0 and 1, got q={q!r}")
    return float(q)


def _shapes(sample: ArrayLike | None, domain: Domain) -> Shapes | None:
    if sample is None:
        return None
    values = in_domain(sample, domain, "sample").reshape(-1)
    if not values.size:
        raise NoDataError("sample must not be empty")
    return sample_shape(domain.to_unit(values), domain.is_circle)


def _part_of(progress: Progress | None, name: str, part: int, parts: int) -> Tick:
    """Tells the share of the whole from the share of one part."""
    return lambda share: None if progress is None else progress(name, (part + share) / parts)


def _option(
    question: Question,
    candidate: Candidate,
    epsilon: float | None,
    people: int | None,
    target: float | None,
    tick: Tick,
) -> Option:
    """The option for given ε and people, or with the one that is missing found for the target."""
    if epsilon is not None and people is not None:
        return question.option(candidate, float(epsilon), int(people), tick)
    assert target is not None
    goal, exact = target / question.domain.width, question.task == "mean"
    # A search looks roughly, and nobody knows how often: each look takes a third of what is left of the bar.
    rough = question if exact or question.repetitions else replace(question, repetitions=ROUGH)
    looks = itertools.count(1)

    def error(epsilon: float, people: int) -> float:
        found = rough.expected(candidate, epsilon, people).error
        tick(0.7 * (1 - (2 / 3) ** next(looks)))
        return found

    if epsilon is not None:
        e = float(epsilon)
        if exact:  # the error of a mean is c/√n
            needed = (question.expected(candidate, e, 1).error / goal) ** 2
            if needed > _MOST_PEOPLE:
                raise LookupError(f"needs more than {_MOST_PEOPLE:,} people")
            return question.option(candidate, e, max(1, int(np.ceil(needed))), tick)
        found = meeting(lambda n: error(e, round(n)), goal, 100.0, float(_MOST_PEOPLE), 0.05)
        if found is None:
            raise LookupError(f"needs more than {_MOST_PEOPLE:,} people")
        return _settled(lambda n: question.option(candidate, e, round(n), tick), found, target, _MOST_PEOPLE)
    n = int(people or 0)
    found = meeting(
        lambda e: error(round(e, 6), n), goal, _LEAST_EPSILON, MAX_EPSILON, 0.002 if exact else 0.03
    )
    if found is None:
        raise LookupError(f"needs more than ε = {MAX_EPSILON:g} with {n:,} people")
    return _settled(lambda e: question.option(candidate, round(e, 6), n, tick), found, target, MAX_EPSILON)


def _settled(option: Callable[[float], Option], found: float, target: float, most: float) -> Option:
    """The option at what a rough search found, moved up while a longer simulation misses the target there."""
    result = option(found)
    for _ in range(3):
        if result.error <= target or found >= most:
            break
        found = min(most, found * (result.error / target) ** 2 * 1.02)
        result = option(found)
    return result


def _explained(options: list[Option], wanted: str | None) -> list[Option]:
    """Each reason with how it compares to the best, and the certificate where there is one."""
    best, out = options[0], []
    for option in options:
        reason = option.reason
        certificate = getattr(
            option.candidate.on_unit(option.epsilon, option.domain.is_circle), "certificate", None
        )
        if certificate is not None:
            reason += f" (certified within {certificate.ratio - 1:.2%} of the limit of all)"
        if option is not best:
            if wanted == "people":
                reason += f"; {option.people / best.people:.2f} × the people"
            elif wanted == "epsilon":
                reason += f"; {option.epsilon / best.epsilon:.2f} × the ε"
            else:
                reason += f"; {option.error / best.error:.2f} × the error"
        out.append(Option(**{**option.__dict__, "reason": reason}))
    return out
