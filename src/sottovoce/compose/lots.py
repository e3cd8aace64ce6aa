"""What a lot over questions costs: the variance of one question's mean, and bounds for all of them.

When only a share of the people answers a question, the mean of those who do estimates the mean of all
(`worth` in `selection`). The PTT paper scales reports up instead (`scaled_mean`), which varies more; its
Theorem 11 bounds that estimate (`simultaneous_bound`).
"""

from __future__ import annotations

import math

import numpy as np

from sottovoce.compose.selection import SpreadLike, as_spread, unit_grid, variance_curve, worth
from sottovoce.compose.strategies import mechanisms
from sottovoce.core.errors import ArgumentError, real_number, whole_number
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.survey import Survey
from sottovoce.estimates.tally import Tally


def variance_per_person(survey: Survey, question: str, prior: SpreadLike = None) -> float:
    """The variance that one person adds to the estimated mean of one question.

    Args:
        survey: A survey of numbers.
        question: Which one.
        prior: None for the worst truth; or an assumed spread of values, as in `survey`.

    Returns:
        Squared units of the question's domain. On a circle of circumference 2π that of the mean of e^{ix}.
    """
    part = mechanisms(survey)[question]
    return float(part.domain.stretched(worth(part, float(survey.share), as_spread(prior, part.domain)), 2))


def simultaneous_bound(survey: Survey, n: int, beta: float = 0.05) -> FloatArray:
    """How far the scaled means of all questions may be from the truth: PTT's Theorem 11 with its constants.

    Bernstein's inequality for y·d/k (0 when not asked), about the middle of the domain, and a union over
    questions.

    Args:
        survey: A survey of numbers on intervals, with unbiased mechanisms.
        n: How many people answer.
        beta: The error that all questions together may make.

    Returns:
        One distance per question; with probability 1 − β none is exceeded.

    Raises:
        ArgumentError: If `beta` is not between 0 and 1, or a question is on a circle.
    """
    n, beta = whole_number(n, "n", least=1), real_number(beta, "beta")
    if not 0 < beta < 1:
        raise ArgumentError(f"beta must lie strictly between 0 and 1, got beta={beta!r}", argument="beta")
    share, parts = float(survey.share), mechanisms(survey)
    return np.array([_bernstein(part, share, n, beta / len(parts)) for part in parts.values()])


def _bernstein(part: Mechanism, share: float, n: int, beta: float) -> float:
    if part.domain.is_circle:
        raise ArgumentError("the bound is for questions on intervals: a circle has no mean on the line")
    offset = (unit_grid() - 0.5) ** 2
    variance = float(np.max(variance_curve(part) / share + (1 / share - 1) * offset))
    largest = float(np.abs(part.window.v - 0.5).max()) / share + 0.5
    log = math.log(2 / beta)
    within = largest * log / (3 * n) + math.sqrt((largest * log / (3 * n)) ** 2 + 2 * variance * log / n)
    return float(part.domain.stretched(within))


def scaled_mean(tally: Tally, question: str) -> float:
    """PTT's estimate of a mean: reports times d/k, nothing where the lot fell elsewhere, about the middle.

    `sottovoce.mean(tally[question])` varies less: it knows how many answered.

    Args:
        tally: A tally of a survey.
        question: Which mean.

    Returns:
        The estimate, in the units of the question's domain.
    """
    survey, part = tally.required().reporter, tally[question]
    domain, decoded = part.mechanism.domain, part.mechanism.decode(np.arange(part.mechanism.cells))
    middle = float(domain.from_unit(0.5))
    answered = survey.width / len(survey.questions)
    return middle + float(part.counts @ (decoded - middle)) / (tally.n * answered)
