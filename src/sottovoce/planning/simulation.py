"""The same errors by simulation, from reports to answers: slow, and what predictions are measured against.

A simulation draws the tally itself: the counts of n reports are multinomial with the exact law of the cells,
so a million people cost no more than a thousand. Results are kept in the cache; losing them costs time only.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver import disk_cache
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.fits.metrics import Cumulative, wasserstein
from sottovoce.estimates.limits.envelope import Target
from sottovoce.estimates.summary import number
from sottovoce.estimates.tally import Tally
from sottovoce.planning.prediction import MIDDLES, Expected, Setting, value
from sottovoce.wire.canonical import TASKS

_PROBES = np.arange(1, 64) / 64  # where the cumulative distribution is compared
_LEAST, _MOST = 16, 1000
_SURE = 0.03  # a simulation ends when its standard error is this share of the error

Answer = tuple[float, float]  # the error and the half-width of one answer, where the domain has width 1


def simulated(setting: Setting, repetitions: int | None = None) -> Expected:
    """The error and the half-width of the default estimate over simulated tallies.

    Args:
        setting: Who answers what.
        repetitions: How many tallies; by default as many as it takes to know the error to 3 % (standard
            error), at most 1000.

    Returns:
        Root mean squares for a mean, direction or probability, otherwise averages.
    """
    s, name = setting, setting.question.name
    if name == "value":
        return value(s)
    shape = hashlib.sha256(s.density.tobytes()).hexdigest()
    which = [TASKS.get(name, name), s.question.p, s.question.between, s.reporter.digest]  # as once remembered
    question = [*which, s.people, shape, s.confidence, repetitions]
    if (known := _remembered(question)) is not None:
        return known
    rng = np.random.default_rng(list(hashlib.sha256(json.dumps(question).encode()).digest()))
    chances = np.maximum(s.reporter.operator(s.x).mix(s.density), 0.0)
    answer, square = _answers(s), name in ("mean", "direction", "probability")
    answers: list[Answer] = []
    while True:
        counts = rng.multinomial(s.people, chances / chances.sum())
        answers.append(answer(Tally.from_counts(s.reporter, counts)))
        error, doubt = _pooled(np.array([error for error, _ in answers]), square)
        done = len(answers) >= (repetitions or _MOST)
        if done or (repetitions is None and len(answers) >= _LEAST and doubt <= _SURE * error):
            break
    power = 2 if name == "distribution" else 1
    half = float(np.mean([half**power for _, half in answers])) ** (1 / power)
    disk_cache.store("plans", question, json.dumps([error, half, doubt]).encode())
    return Expected(error, half, doubt)


def _pooled(errors: FloatArray, square: bool) -> tuple[float, float]:
    """Mean or root mean square, with its standard error."""
    if len(errors) < 2:
        return float(errors[0]), float(errors[0])
    if not square:
        return float(errors.mean()), float(errors.std(ddof=1)) / math.sqrt(len(errors))
    root = math.sqrt(float((errors**2).mean()))
    return root, float((errors**2).std(ddof=1)) / math.sqrt(len(errors)) / 2 / root


def _remembered(question: Sequence[object]) -> Expected | None:
    """What was computed before; a file that does not hold three numbers is none."""
    try:
        error, half_width, doubt = map(float, json.loads(disk_cache.load("plans", question) or b"[]"))
    except (ValueError, TypeError):
        return None
    return Expected(error, half_width, doubt)


# -- one answer after the other, against the truth ----------------------------------------------------------


def _answers(s: Setting) -> Callable[[Tally], Answer]:
    """How far the answer to a question is off, in the unit coordinate, and half of its interval."""
    name, domain = s.question.name, s.reporter.domain
    if name == "distribution":
        return _distribution(s)
    truth = float(s.density @ MIDDLES)
    if name == "direction":
        truth = float(np.angle(s.density @ np.exp(2j * np.pi * MIDDLES)) / (2 * np.pi) % 1)
    elif name == "probability":
        truth = float(s.density @ Target.within(*s.ends).at(MIDDLES))

    def answer(tally: Tally) -> Answer:
        e = number(tally, s.question, confidence=s.confidence)
        ends = np.array([e.value, e.low, e.high])
        value, low, high = (ends if name == "probability" else domain.to_unit(ends)).tolist()
        half, off = (high - low) / 2, abs(value - truth)
        if name == "quantile":
            return half, half
        return min(off, abs(1 - off)) if name == "direction" else off, half

    return answer


def _distribution(s: Setting) -> Callable[[Tally], Answer]:
    truth, circle = Cumulative.of_bins(s.density), s.reporter.domain.is_circle

    def answer(tally: Tally) -> Answer:
        fitted = Cumulative.of_bins(distribution(tally, band=False).probabilities)
        gaps = fitted.limits(_PROBES)[0] - truth.limits(_PROBES)[0]
        return wasserstein(fitted, truth, circle=circle), s.z * float(np.sqrt((gaps**2).mean()))

    return answer
