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

import numpy as np

from sottovoce.designs.build import background_window
from sottovoce.designs.certificate import Certificate
from sottovoce.designs.closed import circular_optimum, large_epsilon, tiny_epsilon
from sottovoce.designs.problem import Problem, Solution
from sottovoce.domains import Domain, DomainLike, Interval, as_domain
from sottovoce.errors import check_epsilon, loss_exponent, real_number
from sottovoce.mechanism import Mechanism

MAX_REPORTS = 449  # 64 KB of spec
SEARCH_UP_TO = 8.0  # above, the windows are too short for that many reports
SEARCH_UNBIASED_FROM = 1e-3  # below, Duchi's two reports are optimal to 0.1 %


def optimal(
    epsilon: float,
    domain: DomainLike = (0, 1),
    loss: str | float = "l2",
    unbiased: bool = False,
    *,
    tolerance: float | None = None,
) -> Mechanism:
    """The mechanism of least worst-case error, or with `unbiased=True` of least worst-case variance.

    `tolerance` is how far above the limit of all ε-LDP mechanisms the worst case may lie, relatively: by
    default 0.001 up to ε = 4 and 0.008 up to ε = 8.

    >>> m = optimal(epsilon=1.0, unbiased=True)
    >>> round(m.certificate.limit, 3), m.certificate.ratio < 1.002
    (0.998, True)
    """
    epsilon, domain, k = check_epsilon(epsilon), as_domain(domain), loss_exponent(loss)
    if not isinstance(unbiased, bool | np.bool_):
        raise TypeError(f"unbiased must be True or False, got unbiased={unbiased!r}")
    if unbiased and k != 2:
        raise ValueError(f"unbiased=True minimises the variance: loss must be 'l2', got loss={loss!r}")
    if tolerance is not None and not 0 < real_number(tolerance, "tolerance") < 1:
        raise ValueError(f"tolerance must lie between 0 and 1, got tolerance={tolerance!r}")
    if domain.is_circle:
        if unbiased:
            raise ValueError("unbiased=True needs an interval: on a circle a mean is no number")
        return circular_optimum(epsilon, domain, k)
    unit = _on_unit_interval(Problem(epsilon, k, bool(unbiased)), tolerance)
    return _on(domain, unit)


def _on(domain: Domain, unit: Mechanism) -> Mechanism:
    return Mechanism(unit.epsilon, domain, unit.window, unit.certificate.scaled(domain.width))


def _on_unit_interval(problem: Problem, tolerance: float | None) -> Mechanism:
    if problem.epsilon > SEARCH_UP_TO:
        return _within(large_epsilon(problem.epsilon, problem.k, problem.unbiased), tolerance)
    if problem.unbiased and problem.epsilon < SEARCH_UNBIASED_FROM:
        return _within(tiny_epsilon(problem.epsilon), tolerance)
    aim = tolerance if tolerance is not None else 0.001 if problem.epsilon <= 4 else 0.008
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


def _ship(problem: Problem, solution: Solution) -> Mechanism:
    """The integer mechanism of a background, its exact worst case, and the certificate."""
    made = background_window(
        problem.epsilon, Interval(0, 1), positions=solution.y, masses=solution.g, unbiased=problem.unbiased
    )
    worst = made.worst_variance() if problem.unbiased else made.worst_error(problem.k)
    certificate = Certificate(
        problem.epsilon,
        problem.k,
        problem.unbiased,
        solution.limit,
        worst,
        "cuts",
        solution.cuts,
        solution.weights,
    )
    return replace(made, certificate=certificate)


def _within(made: Mechanism, tolerance: float | None) -> Mechanism:
    ratio = made.certificate.ratio
    if tolerance is not None and ratio > 1 + tolerance:
        raise ValueError(
            f"tolerance={tolerance!r} is out of reach at epsilon={made.epsilon!r}: "
            f"the best design found is {ratio - 1:.2g} above the limit"
        )
    return made
