"""A plan: every suitable mechanism with the error to expect, ranked.

plan = sottovoce.plan("mean", epsilon=1.0, people=10_000, domain=(0, 24))
plan.best.name, plan.best.error, plan.best.half_width
sottovoce.plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.1)   # how many people?
sottovoce.plan("mean", epsilon=None, people=5000, domain=(0, 24), target=0.1)  # which ε?
sottovoce.plan("mean", people=10**5, domain=(0, 24), central=(0.1, 1e-8))      # which ε, for readers?
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from sottovoce.auditing.calibration import largest_local
from sottovoce.core.domains import Domain, DomainLike, as_domain
from sottovoce.core.errors import (
    MAX_EPSILON,
    ArgumentError,
    NoDataError,
    check_confidence,
    check_epsilon,
    one_of,
    positive_number,
    real_number,
    whole_number,
)
from sottovoce.core.values import in_domain
from sottovoce.planning.candidates import TASKS, Candidate, candidates
from sottovoce.planning.expected import Shapes, Tick, sample_shape
from sottovoce.planning.inverse import meeting
from sottovoce.planning.plans import ROUGH, Option, Plan, Progress, Scenario

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
    p: float = 0.5,
    repetitions: int | None = None,
    central: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Rank the mechanisms that suit a task by the error to expect.

    Args:
        task: "mean" (from exact variances, for the worst truth), "distribution" or "quantile" (by simulating
            tallies of two reference shapes until the error is known to 3 %; the result is remembered).
        epsilon: The privacy parameter; None asks which ε meets the target.
        people: How many people report; None asks how many it takes to meet the target.
        domain: Where values lie.
        target: The error to meet, in the units of the domain.
        confidence: That of the intervals.
        sample: Values that stand for the people to come, instead of the worst truth or the reference shapes.
        p: Which quantile.
        repetitions: How many tallies of each shape to simulate, instead of as many as it takes.
        central: The (ε, δ) that the published counts shall keep if all `people` are honest and nobody sees
            reports one by one. Each mechanism then takes the largest local ε that keeps it, which is what
            protects people from whoever sees their reports; `epsilon` is left out.
        progress: Is called with the name of the mechanism that is looked at and the share of the whole work
            that is done.

    Returns:
        The mechanisms, the best first.

    Raises:
        ValueError: If the question is not one, or no mechanism meets the target.

    Example:
        >>> how_many = plan("mean", epsilon=1.0, people=None, domain=(0, 24), target=0.25)
        >>> {option.name: option.people for option in how_many.options}["pm"]
        12036
    """
    one_of(task, "task", TASKS)
    domain = as_domain(domain)
    if task == "quantile" and domain.is_circle:
        raise ArgumentError(
            "a circle has no quantiles: task must be 'mean' or 'distribution' there", argument="task"
        )
    wanted = _check_wanted(epsilon, people, target, central)
    scenario = Scenario(
        task,
        domain,
        check_confidence(confidence),
        _shapes(sample, domain),
        None if repetitions is None else whole_number(repetitions, "repetitions", least=1),
        _level(p),
    )
    options, left_out = [], {}
    suitable = candidates(task, domain)
    for k, candidate in enumerate(suitable):
        tick = _part_of(progress, candidate.name, k, len(suitable))
        tick(0.0)
        search = _Search(scenario, candidate, tick)
        option: Option | None
        if central is not None:
            option = search.central(central, int(people or 0))
        elif epsilon is None:
            option = search.epsilon(int(people or 0), float(target or 0.0))
        elif people is None:
            option = search.people(float(epsilon), float(target or 0.0))
        else:
            option = scenario.option(candidate, float(epsilon), int(people), tick)
        if option is not None:
            options.append(option)
        elif epsilon is None:
            left_out[candidate.name] = f"needs more than ε = {MAX_EPSILON:g} with {people:,} people"
        else:
            left_out[candidate.name] = f"needs more than {_MOST_PEOPLE:,} people"
    if not options:
        reasons = "; ".join(sorted(set(left_out.values())))
        raise ArgumentError(f"no mechanism meets target={target!r}: {reasons}", argument="target")
    rank = {"people": lambda o: (o.people, o.error), "epsilon": lambda o: (o.epsilon, o.error)}
    options.sort(key=rank.get(wanted or "", lambda o: (o.error, o.people)))
    return Plan(scenario, tuple(_explained(options, wanted)), target, wanted, left_out, central)


def _check_wanted(
    epsilon: float | None, people: int | None, target: float | None, central: tuple[float, float] | None
) -> str | None:
    if central is not None:
        if target is not None or epsilon not in (None, 1.0):
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
        whole_number(people, "people", least=1, most=_MOST_PEOPLE)
    return "epsilon" if epsilon is None else "people" if people is None else None


def _level(p: float) -> float:
    if not 0 < real_number(p, "p") < 1:
        raise ArgumentError(f"p must lie strictly between 0 and 1, got p={p!r}", argument="p")
    return float(p)


def _shapes(sample: ArrayLike | None, domain: Domain) -> Shapes | None:
    if sample is None:
        return None
    values = in_domain(sample, domain, "sample").reshape(-1)
    if not values.size:
        raise NoDataError("sample must not be empty", argument="sample")
    return sample_shape(domain.to_unit(values), domain.is_circle)


def _part_of(progress: Progress | None, name: str, part: int, parts: int) -> Tick:
    """Tells the share of the whole from the share of one part."""
    return lambda share: None if progress is None else progress(name, (part + share) / parts)


@dataclass(frozen=True)
class _Search:
    """The people or the ε with which one mechanism meets a target; None if no number does."""

    scenario: Scenario
    candidate: Candidate
    tick: Tick

    def people(self, epsilon: float, target: float) -> Option | None:
        """The option with the fewest people."""

        def option(people: float) -> Option:
            return self.scenario.option(self.candidate, epsilon, round(people), self.tick)

        goal = target / self.scenario.domain.width
        if self._exact:  # the error of a mean is c/√n
            needed = math.ceil((self.scenario.expected(self.candidate, epsilon, 1).error / goal) ** 2)
            return None if needed > _MOST_PEOPLE else option(max(1, needed))
        error = self._rough_error()
        fewest = meeting(lambda n: error(epsilon, round(n)), goal, 100.0, float(_MOST_PEOPLE), 0.05)
        return None if fewest is None else _settled(option, fewest, target, _MOST_PEOPLE)

    def epsilon(self, people: int, target: float) -> Option | None:
        """The option with the least ε."""

        def option(epsilon: float) -> Option:
            return self.scenario.option(self.candidate, round(epsilon, 6), people, self.tick)

        goal, tolerance = target / self.scenario.domain.width, 0.002 if self._exact else 0.03
        error = self._rough_error()
        least = meeting(lambda e: error(round(e, 6), people), goal, _LEAST_EPSILON, MAX_EPSILON, tolerance)
        return None if least is None else _settled(option, least, target, MAX_EPSILON)

    def central(self, central: tuple[float, float], people: int) -> Option:
        """The option with the largest ε whose counts keep a central guarantee."""
        circle = self.scenario.domain.is_circle
        local = largest_local(lambda epsilon: self.candidate.on_unit(epsilon, circle), central, people)
        return self.scenario.option(self.candidate, local, people, self.tick)

    @property
    def _exact(self) -> bool:
        return self.scenario.task == "mean"

    def _rough_error(self) -> Callable[[float, int], float]:
        """The error for ε and people, simulated only roughly.

        Nobody knows how often it will be asked: each time takes a third of what is left of the bar.
        """
        scenario, looks = self.scenario, itertools.count(1)
        if not self._exact and not scenario.repetitions:
            scenario = replace(scenario, repetitions=ROUGH)

        def error(epsilon: float, people: int) -> float:
            expected = scenario.expected(self.candidate, epsilon, people)
            self.tick(0.7 * (1 - (2 / 3) ** next(looks)))
            return expected.error

        return error


def _settled(option: Callable[[float], Option], at: float, target: float, most: float) -> Option:
    """The option where a rough search ended, moved up while a longer simulation misses the target there."""
    result = option(at)
    for _ in range(3):
        if result.error <= target or at >= most:
            break
        at = min(most, at * (result.error / target) ** 2 * 1.02)
        result = option(at)
    return result


def _explained(options: list[Option], wanted: str | None) -> list[Option]:
    """Each reason with how it compares to the best, and the certificate where there is one."""
    best, out = options[0], []
    for option in options:
        reason = option.reason
        m = option.candidate.on_unit(option.epsilon, option.domain.is_circle)
        if m.certificate is not None:
            reason += f" (certified within {m.certificate.ratio - 1:.2%} of the limit of all)"
        if option is not best:
            if wanted == "people":
                reason += f"; {option.people / best.people:.2f} × the people"
            elif wanted == "epsilon":
                reason += f"; {option.epsilon / best.epsilon:.2f} × the ε"
            else:
                reason += f"; {option.error / best.error:.2f} × the error"
        out.append(replace(option, reason=reason))
    return out
