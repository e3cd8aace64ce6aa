"""The optimal mechanism: the least worst case among all ε-LDP mechanisms, with a certificate.

    m = optimal(epsilon=1.0, domain=(0, 24), loss="l1")
    m.certificate.limit      # no ε-LDP mechanism does better than this
    m.certificate.ratio      # what m does, over that

On an interval the background is found by cutting planes (`designs.search`) on a grid that follows the length
of the window, coarse to fine; the multipliers of the same problem are the certificate. On a circle the OGPM
is optimal. Outside the range of ε where the search pays, a closed form is returned with its own certificate.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sottovoce.core.domains import Domain, DomainLike, Interval, as_domain
from sottovoce.core.errors import MIN_EPSILON, check_epsilon, loss_exponent, real_number
from sottovoce.core.mechanism import Mechanism
from sottovoce.designs import cache
from sottovoce.designs.build import background_window
from sottovoce.designs.closed import circular_optimum, large_epsilon, tiny_epsilon
from sottovoce.designs.prior import PriorProblem, as_prior
from sottovoce.designs.problem import MAX_REPORTS, Problem, Solution

SEARCH_UP_TO = 8.0  # above, the windows are too short for that many reports
SEARCH_UNBIASED_FROM = 1e-3  # below, Duchi's two reports are optimal to 0.1 %


def optimal(
    epsilon: float,
    domain: DomainLike = (0, 1),
    loss: str | float = "l2",
    unbiased: bool = False,
    *,
    prior: Any = None,
    tolerance: float | None = None,
) -> Mechanism:
    """The mechanism of least worst-case error, or with `unbiased=True` of least worst-case variance.

    With a `prior`, a public guess of where values lie (samples, or a pair of values and weights), the
    *expected* error or variance under it is minimised instead; without `unbiased=True` such a mechanism
    shrinks reports towards the guess.

    `tolerance` is how far above the limit of all ε-LDP mechanisms the worst case may lie, relatively: by
    default 0.001 up to ε = 4 and 0.008 up to ε = 8.

    >>> m = optimal(epsilon=1.0, unbiased=True)
    >>> 0.996 < m.certificate.limit < 0.998 and m.certificate.ratio < 1.002
    True
    >>> optimal(1.0, (0, 24), "l1", prior=[7, 8, 8, 9, 18]).certificate.quantity
    'expected absolute error'
    """
    epsilon, domain, k = check_epsilon(epsilon), as_domain(domain), loss_exponent(loss)
    if not isinstance(unbiased, bool | np.bool_):
        raise TypeError(f"unbiased must be True or False, got unbiased={unbiased!r}")
    if unbiased and k != 2:
        raise ValueError(f"unbiased=True minimises the variance: loss must be 'l2', got loss={loss!r}")
    if tolerance is not None and not 0 < real_number(tolerance, "tolerance") < 1:
        raise ValueError(f"tolerance must lie between 0 and 1, got tolerance={tolerance!r}")
    if domain.is_circle:
        if unbiased or prior is not None:
            raise ValueError("unbiased=True and prior= need an interval: on a circle use neither")
        return _within(circular_optimum(epsilon, domain, k), tolerance)
    problem = Problem(epsilon, k, bool(unbiased))
    if prior is not None:
        problem = PriorProblem(epsilon, k, bool(unbiased), as_prior(prior, domain))
    return _on(domain, _remembered(problem, tolerance))


def _on(domain: Domain, unit: Mechanism) -> Mechanism:
    return Mechanism(unit.epsilon, domain, unit.window, unit.certificate.scaled(domain.width))


def _remembered(problem: Problem, tolerance: float | None) -> Mechanism:
    """From the cache if it is there; only designs that took a search are kept."""
    name = cache.key({**problem.question, "tolerance": tolerance})
    known = cache.load(name)
    if known is not None:
        return known
    made = _on_unit_interval(problem, tolerance)
    if made.certificate.form == "cuts":
        cache.save(name, made)
    return made


def _on_unit_interval(problem: Problem, tolerance: float | None) -> Mechanism:
    if problem.epsilon > SEARCH_UP_TO or (problem.unbiased and problem.epsilon < SEARCH_UNBIASED_FROM):
        return _within(_outside_the_search(problem), tolerance)
    aim = tolerance if tolerance is not None else problem.usual_tolerance
    reports, best = problem.reports_for(aim), None
    warm: Solution | None = None
    if reports > 100:
        warm = problem.solve(reports // 2, gap=aim / 4)
    while True:
        warm = problem.solve(reports, gap=aim / 20, warm=warm)
        made = _ship(problem, warm)
        if best is None or made.certificate.ratio < best.certificate.ratio:
            best = made
        if best.certificate.ratio <= 1 + aim or reports >= MAX_REPORTS:
            return _within(best, tolerance)
        growth = math.sqrt((best.certificate.ratio - 1) / aim) * 1.1
        reports = min(MAX_REPORTS, math.ceil(reports * min(max(growth, 1.2), 2.0)) | 1)


def _outside_the_search(problem: Problem) -> Mechanism:
    if isinstance(problem, PriorProblem):
        raise ValueError(
            f"prior needs epsilon between {SEARCH_UNBIASED_FROM if problem.unbiased else MIN_EPSILON} and "
            f"{SEARCH_UP_TO}, got epsilon={problem.epsilon!r}"
        )
    if problem.epsilon > SEARCH_UP_TO:
        return large_epsilon(problem.epsilon, problem.k, problem.unbiased)
    return tiny_epsilon(problem.epsilon)


def _ship(problem: Problem, solution: Solution) -> Mechanism:
    """The integer mechanism of a background, its exact worst case, and the certificate."""
    made = background_window(
        problem.epsilon, Interval(0, 1), positions=solution.y, masses=solution.g, unbiased=problem.unbiased
    )
    return replace(made, certificate=problem.certified(made, solution))


def _within(made: Mechanism, tolerance: float | None) -> Mechanism:
    ratio = made.certificate.ratio
    if tolerance is not None and ratio > 1 + tolerance:
        raise ValueError(
            f"tolerance={tolerance!r} is out of reach at epsilon={made.epsilon!r}: "
            f"the best design found is {ratio - 1:.2g} above the limit"
        )
    return made
