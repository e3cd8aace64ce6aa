"""A plan: every suitable mechanism with the error to expect, ranked.

p = sottovoce.plan("mean", epsilon=1.0, people=10_000, domain=(0, 24))
p.best.name, p.best.error, p.best.half_width
p = sottovoce.plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.1)   # how many people?
p = sottovoce.plan("mean", epsilon=None, people=5000, domain=(0, 24), target=0.1)  # which ε?
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.domains import Domain, DomainLike, as_domain
from sottovoce.errors import (
    MAX_EPSILON,
    NoDataError,
    check_confidence,
    check_epsilon,
    positive_number,
    real_number,
    whole_number,
)
from sottovoce.planning.candidates import TASKS, Candidate, candidates
from sottovoce.planning.expected import (
    Expected,
    Shapes,
    direction_error,
    mean_error,
    reference_shapes,
    sample_shape,
    simulated,
)
from sottovoce.planning.search import meeting
from sottovoce.values import in_domain

Progress = Callable[[str], None]
_MOST_PEOPLE = 10**12
_LEAST_EPSILON = 0.01
ERROR_NAMES = {
    "mean": "standard error",
    "distribution": "Wasserstein error",
    "quantile": "mean absolute error",
}


@dataclass(frozen=True)
class Option:
    """One mechanism in a plan. `error` is in the units of the domain; `half_width` of the interval too.

    For a distribution the half-width is that of its cumulative distribution, a probability.
    `name` is that of the design, for so many `people`; `reason` says in words what it is good for.
    `candidate` knows how to make it.
    """

    name: str
    epsilon: float
    people: int
    error: float
    half_width: float
    reason: str
    candidate: Candidate
    domain: Domain

    def mechanism(self) -> Any:
        """The mechanism itself, ready to report."""
        return self.candidate.build(self.epsilon, self.domain)


@dataclass(frozen=True, eq=False)
class Question:
    """What a plan was asked, and how it finds the error of one mechanism."""

    task: str
    domain: Domain
    confidence: float
    shapes: Shapes | None
    repetitions: int
    q: float

    def expected(self, candidate: Candidate, epsilon: float, people: int) -> Expected:
        """Error and half-width on the unit domain."""
        m = candidate.on_unit(epsilon, self.domain.is_circle)
        if self.task == "mean" and not self.domain.is_circle:
            return mean_error(m, people, self.shapes, self.confidence)
        shapes = self.shapes or reference_shapes(self.domain.is_circle)
        if self.task == "mean":
            return direction_error(m, people, shapes, self.confidence)
        return simulated(self.task, m, people, shapes, self.confidence, self.repetitions, self.q)

    def option(self, candidate: Candidate, epsilon: float, people: int) -> Option:
        found = self.expected(candidate, epsilon, people)
        scale = self.domain.width
        half = found.half_width * (1.0 if self.task == "distribution" else scale)
        return Option(
            candidate.name,
            epsilon,
            people,
            scale * found.error,
            half,
            candidate.reason,
            candidate,
            self.domain,
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """Options, the best first. `left_out` says which could not meet the target.

    `question` is what was asked, `options` are the mechanisms in order; `wanted` is "people" or "epsilon"
    when that was asked for.
    """

    question: Question
    options: tuple[Option, ...]
    target: float | None
    wanted: str | None
    left_out: dict[str, str]

    @property
    def best(self) -> Option:
        """The first option."""
        return self.options[0]

    def rows(self) -> list[dict[str, Any]]:
        """The table as dictionaries, the best first."""
        names = ("name", "epsilon", "people", "error", "half_width", "reason")
        return [{name: getattr(option, name) for name in names} for option in self.options]

    def __str__(self) -> str:
        lines = [self.title, ""]
        lines.append(f"{'mechanism':<16}{'ε':>8}{'people':>14}{'error':>12}{'± ' + self.level:>12}  why")
        for o in self.options:
            numbers = f"{o.epsilon:>8.3g}{o.people:>14,}{o.error:>12.4g}{o.half_width:>12.4g}"
            lines.append(f"{o.name:<16}{numbers}  {o.reason}")
        lines += [f"{name}: {why}" for name, why in self.left_out.items()]
        return "\n".join(lines)

    @property
    def level(self) -> str:
        """The confidence, as it is printed."""
        return f"{100 * self.question.confidence:g} %"

    @property
    def title(self) -> str:
        """What the numbers are, in one line."""
        task, shapes = self.question.task, self.question.shapes
        of = f"{self.question.q:g}-quantile" if task == "quantile" else task
        truth = "the given sample" if shapes is not None else "two reference shapes"
        if task == "mean" and shapes is None and not self.question.domain.is_circle:
            truth = "the worst truth"
        return f"{of} on {self.question.domain}: {ERROR_NAMES[task]} for {truth}"

    def plot(self, axes: Any = None, *, progress: Progress | None = None) -> Any:
        """Error against ε and against the number of people, a line per mechanism; returns the two axes."""
        from sottovoce.planning.pictures import draw_plan

        return draw_plan(self, axes, progress)


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
    repetitions: int = 8,
    progress: Progress | None = None,
) -> Plan:
    """Rank the mechanisms that suit a task by the error to expect.

    Tasks: "mean" (exact, from exact variances, for the worst truth), "distribution" and "quantile" (by
    simulating `repetitions` tallies per reference shape; remembered). `sample`: values that stand for the
    people to come, instead of the worst truth or the reference shapes. With a `target` for the error, in the
    units of the domain, `people=None` asks how many people it takes and `epsilon=None` which ε.
    `progress` is called with the name of each mechanism before it is looked at.
    `q` says which quantile.

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
        whole_number(repetitions, "repetitions", least=1),
        _level(q),
    )
    options, left_out = [], {}
    for candidate in candidates(task, domain):
        if progress is not None:
            progress(candidate.name)
        try:
            options.append(_option(question, candidate, epsilon, people, target))
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


def _option(
    question: Question, candidate: Candidate, epsilon: float | None, people: int | None, target: float | None
) -> Option:
    """The option for given ε and people, or with the one that is missing found for the target."""
    if epsilon is not None and people is not None:
        return question.option(candidate, float(epsilon), int(people))
    assert target is not None
    goal, exact = target / question.domain.width, question.task == "mean"
    if epsilon is not None:
        e = float(epsilon)
        if exact:  # the error of a mean is c/√n
            needed = (question.expected(candidate, e, 1).error / goal) ** 2
            if needed > _MOST_PEOPLE:
                raise LookupError(f"needs more than {_MOST_PEOPLE:,} people")
            return question.option(candidate, e, max(1, int(np.ceil(needed))))
        found = meeting(
            lambda n: question.expected(candidate, e, round(n)).error, goal, 100.0, float(_MOST_PEOPLE), 0.05
        )
        if found is None:
            raise LookupError(f"needs more than {_MOST_PEOPLE:,} people")
        return question.option(candidate, e, round(found))
    n = int(people or 0)
    found = meeting(
        lambda e: question.expected(candidate, round(e, 6), n).error,
        goal,
        _LEAST_EPSILON,
        MAX_EPSILON,
        0.002 if exact else 0.03,
    )
    if found is None:
        raise LookupError(f"needs more than ε = {MAX_EPSILON:g} with {n:,} people")
    return question.option(candidate, round(found, 6), n)


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
