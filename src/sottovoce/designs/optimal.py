"""The optimal mechanism: the least worst case among all ε-LDP mechanisms, with a certificate.

    m = optimal(epsilon=1.0, domain=(0, 24))
    m.certificate.limit      # no unbiased ε-LDP mechanism has a lower worst-case variance
    m.certificate.ratio      # what m does, over that

On an interval the background is found by cutting planes (`designs.solver.cutting_planes`) on a grid that
follows the length of the window, coarse to fine; the multipliers of the same problem are the certificate.
Where windows are too narrow for a grid, above `most_epsilon`, nothing is offered. On a circle the OGPM is
optimal; for a mean at a tiny ε Duchi's two reports are.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from sottovoce.designs.ordinary_mean import SLACK, classic_ceilings, least_expected
from sottovoce.designs.prior import Prior, PriorLike, PriorProblem, as_prior
from sottovoce.designs.solver import disk_cache
from sottovoce.designs.solver.certificate import Certificate, Proof
from sottovoce.designs.solver.closed_forms import circular_optimum, tiny_epsilon
from sottovoce.designs.solver.cutting_planes import GridSolution
from sottovoce.designs.solver.integer_weights import background_window
from sottovoce.designs.solver.worst_case_problem import MAX_REPORTS, Problem
from sottovoce.errors import (
    MIN_EPSILON,
    ArgumentError,
    check_epsilon,
    loss_exponent,
    real_number,
    refuse_others,
)
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.window_format import read_window
from sottovoce.values.domain import Domain
from sottovoce.values.interval import DomainLike, Interval, as_domain
from sottovoce.wire.checked_json import parse_json

Asked = Literal["mean", "value"]
EXPECTED_UP_TO = 8.0  # of designs that minimise an expectation: under a prior, or of ordinary people
SEARCH_UNBIASED_FROM = 1e-3  # below, Duchi's two reports are optimal to 0.1 %
_SLIVER = 2.0**-15  # of the background: what has less is no report of its own


def most_epsilon(loss: float = 2.0) -> float:
    """The largest ε with an optimal design on an interval.

    Args:
        loss: The k of |y − x|^k; the windows of losses below the square are shorter.

    Returns:
        10 for losses below the square, 12 for others and for means.
    """
    return 10.0 if loss < 2 else 12.0


def optimal(
    epsilon: float,
    domain: DomainLike = (0, 1),
    question: Asked | None = None,
    *,
    loss: str | float = "l2",
    prior: PriorLike | None = None,
    slack: float | None = None,
    tolerance: float | None = None,
) -> Mechanism:
    """Design the best ε-LDP mechanism there is, with a proof of how close to best it is.

    Args:
        epsilon: Privacy parameter ε, at least 1e-6. At most 12; for |y − x|^k with k < 2 at most 10, with a
            prior at most 8. On a circle at most 16.
        domain: Where values lie: (low, high) or a `Circle`.
        question: What is to be known. "mean": unbiased reports of least worst-case variance, for the mean of
            many people. "value": reports of least worst-case error, as close to each single person's value as
            they can be, and biased. By default "mean" on an interval and "value" on a circle, where no report
            is unbiased.
        loss: What "value" minimises: "l1", "l2" or the k ≥ 1 of |y − x|^k.
        prior: A public guess of where values lie: samples, or a pair of values and weights. The expected
            variance or error under it is minimised instead of the worst one. For "mean" reports stay unbiased
            whatever the guess; for "value" they shrink towards it.
        slack: How much of the worst case of a "mean" may be given up, relatively: with 0.1 the worst-case
            variance is at most 1.1 times the limit, and the expected one under the prior least. Without a
            prior, people are fewer and fewer towards the ends of the domain: Beta(2, 2).
        tolerance: How far above the limit of all ε-LDP mechanisms the result may lie, relatively; by default
            0.001 up to ε = 4, 0.008 up to 7 and 0.005 above, if 64 KB of spec can hold it.

    Returns:
        A mechanism whose `certificate` holds its worst case and the limit that no ε-LDP mechanism can pass.

    Raises:
        ValueError: If an argument is out of range, a loss other than "l2" is given for a mean, a mean or a
            prior is asked of a circle, or no design lies within the tolerance.
        TypeError: If an argument is of the wrong type.

    Example:
        >>> m = optimal(epsilon=1.0)
        >>> 0.996 < m.certificate.limit < 0.998 and m.certificate.ratio < 1.002
        True
        >>> optimal(1.0, (0, 24), "value", loss="l1", prior=[7, 8, 8, 9, 18]).certificate.quantity
        'expected absolute error'
    """
    epsilon, domain, k = check_epsilon(epsilon), as_domain(domain), loss_exponent(loss)
    if question not in (None, "mean", "value"):
        raise ArgumentError(
            f"question must be 'mean' or 'value', got question={question!r}", argument="question"
        )
    if tolerance is not None and not 0 < real_number(tolerance, "tolerance") < 1:
        raise ArgumentError(
            f"tolerance must lie between 0 and 1, got tolerance={tolerance!r}", argument="tolerance"
        )
    if domain.is_circle:
        if question == "mean":
            sentence = (
                f"question must be 'value' on a circle: a mean needs an interval, got question={question!r}"
            )
            raise ArgumentError(sentence, argument="question")
        refuse_others(optimal, "a circle", {"prior": prior, "slack": slack})
        return replace(_within(circular_optimum(epsilon, domain, k), tolerance), name="optimal (value)")
    unbiased = question != "value"
    if unbiased and k != 2:
        raise ArgumentError(
            f"loss must be 'l2' unless question is 'value', got loss={loss!r}", argument="loss"
        )
    if slack is not None:
        refuse_others(optimal, "slack", {"tolerance": tolerance})
        if not (unbiased and real_number(slack, "slack") >= 0):
            rule = "slack must be at least 0, and belongs to the question 'mean'"
            raise ArgumentError(f"{rule}, got slack={slack!r}", argument="slack")
        people = None if prior is None else as_prior(prior, domain)
        return _on(domain, _least_expected(epsilon, slack, people), "optimal (mean)")
    problem = Problem(epsilon, k, unbiased)
    if prior is not None:
        problem = PriorProblem(epsilon, k, unbiased, as_prior(prior, domain))
    return _on(domain, _searched(problem, tolerance), f"optimal ({'mean' if unbiased else 'value'})")


def ordinary_mean(epsilon: float, domain: Domain) -> Mechanism:
    """Design what a mean of ordinary people is asked with; `designs.ordinary_mean` says what it promises.

    Args:
        epsilon: Privacy parameter ε.
        domain: The interval that values lie in.

    Returns:
        An unbiased mechanism, worst case at most 1.1 times the certified limit.
    """
    return _on(domain, _least_expected(epsilon, SLACK, None, beside_classics=True), "design (mean)")


def _on(domain: Domain, unit: Mechanism, name: str) -> Mechanism:
    return replace(unit, domain=domain, certificate=unit.certificate.scaled(domain.width), name=name)


def _searched(problem: Problem, tolerance: float | None) -> Mechanism:
    _check_offered(problem)
    question = {**problem.question, "tolerance": tolerance}
    return _remembered(question, lambda: _on_unit_interval(problem, tolerance))


def _least_expected(
    epsilon: float, slack: float, prior: Prior | None, *, beside_classics: bool = False
) -> Mechanism:
    problem = Problem(epsilon, 2.0, True)
    minimax = _searched(problem, None)
    if not SEARCH_UNBIASED_FROM <= epsilon <= EXPECTED_UP_TO or slack == 0:
        return minimax
    ceilings = classic_ceilings(epsilon) if beside_classics else ()
    question = {**problem.question, "slack": slack, "ceilings": [[c.curve, c.level] for c in ceilings]}
    if prior is not None:
        question |= {"points": prior.points.tolist(), "chances": prior.chances.tolist()}
    return _remembered(question, lambda: least_expected(problem, minimax, slack, prior, ceilings))


def _remembered(question: dict[str, object], design: Callable[[], Mechanism]) -> Mechanism:
    """The design from the cache if it is there; only those that took a search are kept."""
    stored = disk_cache.load("designs", question)
    if stored is not None:
        # Not trusted for privacy: a spec's counts are checked. What does not parse is made anew.
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return _read(stored)
    unit = design()
    if unit.certificate.form == "cuts":
        disk_cache.store("designs", question, _written(unit))
    return unit


def _written(design: Mechanism) -> bytes:
    return json.dumps({"spec": design.to_json(), "certificate": design.certificate.to_json()}).encode()


def _read(stored: bytes) -> Mechanism:
    content = json.loads(stored)
    mechanism = Mechanism(*read_window(parse_json(content["spec"])))
    return replace(mechanism, certificate=Certificate.from_json(content["certificate"]))


def _on_unit_interval(problem: Problem, tolerance: float | None) -> Mechanism:
    if problem.unbiased and problem.epsilon < SEARCH_UNBIASED_FROM:
        return _within(tiny_epsilon(problem.epsilon), tolerance)
    aim = tolerance if tolerance is not None else problem.usual_tolerance
    reports, solution, best = problem.reports_for(aim), None, None
    if reports > 100:
        solution = problem.solve(reports // 2, gap=aim / 4)
    while True:
        solution = problem.solve(reports, gap=aim / 20, coarse=solution)
        design = _shipped(problem, solution, problem.proof(solution, gap=aim / 20))
        if best is None or design.certificate.ratio < best.certificate.ratio:
            best = design
        if best.certificate.ratio <= 1 + aim or reports >= MAX_REPORTS:
            return _within(best, tolerance)
        growth = math.sqrt((best.certificate.ratio - 1) / aim) * 1.1
        reports = min(MAX_REPORTS, math.ceil(reports * min(max(growth, 1.2), 2.0)) | 1)


def _check_offered(problem: Problem) -> None:
    """Refuse an ε that the search does not reach, and name what does."""
    epsilon, most = problem.epsilon, most_epsilon(problem.k)
    if isinstance(problem, PriorProblem):
        least = SEARCH_UNBIASED_FROM if problem.unbiased else MIN_EPSILON
        if not least <= epsilon <= EXPECTED_UP_TO:
            rule = f"prior needs epsilon between {least} and {EXPECTED_UP_TO}"
            raise ArgumentError(f"{rule}, got epsilon={epsilon!r}", argument="epsilon")
    elif epsilon > most:
        rule = f"epsilon must be at most {most:g} for this optimal design, got epsilon={epsilon!r}"
        raise ArgumentError(
            f"{rule}: above, use sv.pm for a mean and sv.ogpm for a value", argument="epsilon"
        )


def _shipped(problem: Problem, solution: GridSolution, proof: Proof) -> Mechanism:
    """The integer mechanism of a background, its exact worst case, and the certificate."""
    y, g = solution.reports(_SLIVER)
    design = background_window(
        problem.epsilon, Interval(0, 1), positions=y, masses=g, unbiased=problem.unbiased
    )
    return replace(design, certificate=problem.certified(design, proof))


def _within(design: Mechanism, tolerance: float | None) -> Mechanism:
    excess = design.certificate.ratio - 1
    if tolerance is not None and excess > tolerance:
        rule = f"tolerance={tolerance!r} is out of reach at epsilon={design.epsilon!r}"
        raise ArgumentError(f"{rule}: the best design is {excess:.2g} above the limit", argument="tolerance")
    return design
