"""Means of ordinary people: some of the worst case is given up for less noise where people usually are.

The minimax design is nearly flat: its variance is the same for somebody in the middle of the domain and at
its end. A domain is chosen to hold everybody, so most people are well inside. Here the *expected* variance is
least, under rules that keep the rest of the promise:

    worst case           at most 1 + slack times the limit of all unbiased ε-LDP mechanisms,
    PM                   nowhere passed,
    hybrid               nowhere passed by more than 3 %,
    I-PTT                nowhere passed by more than 5 %: less would cost more elsewhere than it gains.

The others are kept as far as the first allows: with a tenth to give up, for every ε but those around 2.4.
Duchi's two reports cannot be on the list: at the very ends of the domain they have less variance than is
possible under the first two rules. All are parabolas in x: ceilings of the program in
`designs.solver.linear_program`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sottovoce.designs.prior import Prior
from sottovoce.designs.published_formulas import ptt_optimal_q, ptt_parameters, ptt_worst_variance
from sottovoce.designs.solver.cutting_planes import GridSolution, search
from sottovoce.designs.solver.integer_weights import background_window
from sottovoce.designs.solver.linear_program import Ceiling, GridProblem
from sottovoce.designs.solver.oracles import mean_oracle
from sottovoce.designs.solver.worst_case_problem import Problem
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.values.interval import Interval

SLACK = 0.1
_POINTS = 25  # inputs of [0, ½] at which ordinary people are
_GAP = 2e-4
_MOST_REPORTS = 161  # more would be better by less than a percent, and slow
_HYBRID_FROM = 0.61  # below, the hybrid mechanism is Duchi's


def ordinary_prior() -> Prior:
    """Where people are if nothing is known of them: Beta(2, 2), fewer and fewer towards the ends."""
    half = (np.arange(_POINTS) + 0.5) / (2 * _POINTS)
    points = np.append(half, 1 - half[::-1])
    chances = points * (1 - points)
    return Prior(points, chances / chances.sum())


def classic_ceilings(epsilon: float) -> tuple[Ceiling, ...]:
    """The variances of PM, of the best I-PTT with 5 % more and of the hybrid with 3 % more, on [0, 1]."""
    root = math.exp(epsilon / 2)
    pm = Ceiling(1 / (root - 1), (root + 3) / (12 * (root - 1) ** 2))
    q = ptt_optimal_q(epsilon)
    k, _ = ptt_parameters(epsilon, q)
    ptt = Ceiling(k - 1, (ptt_worst_variance(epsilon, q) - (k - 1)) / 4)
    share = 1 - 1 / root if epsilon > _HYBRID_FROM else 0.0
    duchi = 1 / math.tanh(epsilon / 2) ** 2 / 4
    hybrid = Ceiling(share * pm.curve - (1 - share), share * pm.level + (1 - share) * duchi)
    return _times(pm, 1 - _GAP / 2), _times(ptt, 1.05 - _GAP), _times(hybrid, 1.03 - _GAP)


def _times(ceiling: Ceiling, factor: float) -> Ceiling:
    return replace(ceiling, curve=factor * ceiling.curve, level=factor * ceiling.level)


def least_expected(
    problem: Problem, minimax: Mechanism, slack: float, prior: Prior | None, ceilings: tuple[Ceiling, ...]
) -> Mechanism:
    """Find the unbiased design of least expected variance whose worst case is not far above the limit.

    Args:
        problem: The worst-case problem of means.
        minimax: Its solution: what there is if nothing better is found.
        slack: How far above the certified limit the worst case may lie, relatively.
        prior: Where people are; `ordinary_prior` if not given.
        ceilings: What else the variance should not pass.

    Returns:
        The design on [0, 1], with the limit of the minimax design and its own worst case.
    """
    limit = minimax.certificate.unit_limit
    points, chances, symmetric = (ordinary_prior() if prior is None else prior).folded
    everywhere = Ceiling(0.0, limit * (1 + slack) * (1 - _GAP / 2), firm=True)
    oracle = mean_oracle(problem.e, points, (everywhere, *ceilings))

    def best(reports: int, reach: float, gap: float, coarse: GridSolution | None) -> GridSolution:
        y = np.linspace(-reach, 1 + reach, reports)
        grid = GridProblem(problem.epsilon, y, chances, problem.scale, symmetric, (everywhere, *ceilings))
        known = None if coarse is None else coarse.active
        return search(grid, oracle, gap=gap, known=known, per_round=max(32, reports // 3))

    reports = min(problem.reports_for(0.0005), _MOST_REPORTS)
    coarse = best(reports // 2 | 1, 2 * problem.length, 10 * _GAP, None)
    low, high = coarse.support
    reach = max(-low, high - 1) + 1.5 * float(np.diff(coarse.y)[0])
    fine = best(reports, reach, _GAP, coarse)
    # Without narrow cells; with them, should the worst case be too far without.
    for y, g in fine.reports(_GAP / 2), (fine.y, fine.g):
        design = background_window(problem.epsilon, Interval(0, 1), positions=y, masses=g, unbiased=True)
        worst = design.worst_variance()
        if math.isfinite(fine.value) and worst <= limit * (1 + slack):
            return replace(design, certificate=replace(minimax.certificate, unit_worst=worst))
    return minimax
