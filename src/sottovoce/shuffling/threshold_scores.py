"""Several answers of each person: how well a sum of scores tells two inputs apart.

The counts of a survey are kept question by question. Every cell has a score, and the observer looks whether
all scores together reach a threshold. Any scores and any threshold are a fair test, so that its error rates
bound what the counts keep from below,

    δ(ε) ≥ max_t [P(T ≥ t | x) − e^ε·P(T ≥ t | x')].

With many people log P(counts | x)/P(counts | x') is nearly the sum of ξ − η over all answers. The score is
ξ − θη with θ near 1, as is best for one question. It is rounded to integers, as a part of the test; its law
is then exact but for the error of the FFT, and all other roundings are relative. Masses are stored times
e^{λT}, centred where δ is small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.shuffling.convolution import UNIT, convolve
from sottovoce.shuffling.input_pair import Contrast, kind_masses

_SMALL = 1e-6  # the δ around which the stored law is centred
_COARSE, _FINE, _POINTS = 5, 64, 16_000  # scores per standard deviation: at least, at most, times √people
_DIRECT, _SHORT = 1 << 23, 256  # so many products, or so short a law, are added up without an FFT
_ROUNDING = 2.0**-41  # of one person's law
_CUT = 1e-11  # stored mass that may be cut off at each end, in the whole


@dataclass(frozen=True, eq=False)
class ScoreTest:
    """Tests by thresholds.

    A relative error of the law of the others is one of both rates alike, and counts only where the report in
    question decides whether a threshold is reached.

    Attributes:
        right: For each threshold, a lower bound of how likely it is reached under the first input.
        wrong: For each threshold, an upper bound of how likely it is reached under the second one.
        near: For each threshold, how likely it depends on the report in question whether it is reached.
        doubt: A bound of the relative error of the law of the others behind these numbers.
    """

    right: FloatArray
    wrong: FloatArray
    near: FloatArray
    doubt: float

    def below(self, epsilon: float) -> float:
        """Bound δ from below.

        Args:
            epsilon: Where the divergence is wanted, not negative.
        """
        theta = math.exp(epsilon)
        error = self.doubt * (math.expm1(epsilon) * self.wrong + theta * self.near)
        return max(0.0, float((self.right - theta * self.wrong - error).max()))


def score_test(parts: Sequence[Contrast], sampled: int, people: int) -> ScoreTest:
    """Tests of people who answer `sampled` of several questions, drawn by lot.

    Args:
        parts: The comparison of each question, against the law of everybody else.
        sampled: How many questions a person answers.
        people: How many, the one in question included.
    """
    square = sum(part.distance() ** 2 for part in parts) * sampled / len(parts)
    unit = math.sqrt(square or 1.0) / min(max(_POINTS / math.sqrt(people), _COARSE), _FINE)
    steepest = max(float(np.log(part.first / part.second).max()) for part in parts)
    deep = _deviations(math.sqrt(square / people))
    theta = math.exp(min(deep * math.sqrt(square / people) / sampled, steepest))
    scores = [np.rint((part.first - theta * part.second) / unit).astype(np.int64) for part in parts]
    least = min(int(score.min()) for score in scores)
    first, second, others = (
        _lot([kind_masses(s - least, part.laws[k]) for s, part in zip(scores, parts, strict=True)], sampled)
        for k in range(3)
    )
    place = np.arange(others.size)
    mean = float(place @ others)
    spread = math.sqrt(float((place - mean) ** 2 @ others))
    tilt = min(deep / (spread * math.sqrt(people)), 300.0 / others.size) if spread else 0.0
    factor = np.exp(tilt * (place - mean))
    norm = math.log(float(factor @ others))
    begin, law, error_bound, doubt = _sum(others * factor * math.exp(-norm), people - 1)
    bounds = []
    for target in (first, second):
        weights, error, rounding = _times(law, target * factor)
        height = tilt * (begin + np.arange(weights.size) - people * mean) - (people - 1) * norm
        decay = np.exp(-height)
        reached = np.cumsum((weights * decay)[::-1])[::-1]
        bounds.append((reached, (error_bound * float((target * factor).sum()) + error) * decay))
    same = rounding + (weights.size + 64 + abs(people * norm)) * 4 * UNIT  # of each rate by itself
    (right, less), (wrong, more) = bounds
    sure = np.cumsum((law * (decay[: law.size] * math.exp(-tilt * mean)))[::-1])[::-1]  # by the others alone
    steps = np.arange(weights.size)
    within = np.append(sure, 0.0)[np.minimum(np.maximum(steps - first.size + 1, 0), law.size)]
    near = within - np.append(sure, 0.0)[np.minimum(steps, law.size)] + 3 * more
    return ScoreTest(right * (1 - same) - less, wrong * (1 + same) + more, near, doubt)


def _deviations(shift: float) -> float:
    """How many standard deviations deep the best threshold is, for a shift of the mean by so many."""
    t = 5.0
    for _ in range(8):  # shift·φ(t)/t² = δ
        t = math.sqrt(max(2 * math.log(max(0.4 * shift / (_SMALL * t * t), 1.0)), 1.0))
    return min(max(t, 1.5), 5.5)


def _lot(laws: Sequence[FloatArray], sampled: int) -> FloatArray:
    """The law of the sum of as many scores as are answered, like an elementary symmetric polynomial."""
    size = max(law.size for law in laws) - 1
    sums = [np.ones(1)] + [np.zeros(k * size + 1) for k in range(1, sampled + 1)]
    for law in laws:
        for k in range(sampled, 0, -1):
            more = np.convolve(sums[k - 1], law)
            sums[k][: more.size] += more
    return sums[sampled] / math.comb(len(laws), sampled)


def _times(a: FloatArray, b: FloatArray) -> tuple[FloatArray, float, float]:
    """The convolution, with bounds of its ℓ₁ error and, if it is added up directly, of its relative one."""
    if a.size * b.size <= _DIRECT or min(a.size, b.size) <= _SHORT:
        return np.convolve(a, b), 0.0, (min(a.size, b.size) + 2) * UNIT
    return *convolve(a, b), 0.0


def _sum(person: FloatArray, people: int) -> tuple[int, FloatArray, float, float]:
    """Where it begins and the law of the sum of people's scores, with bounds of its ℓ₁ and relative error."""
    begin, law, error_bound, doubt, so_far = 0, np.ones(1), 0.0, 0.0, 0
    for bit in f"{people:b}" if people else "":
        law, error, rounding = _times(law, law)
        error_bound, doubt = (2 + error_bound) * error_bound * (1 + 1e-6) + error, 2 * doubt + rounding
        if bit == "1":
            law, more, rounding = _times(law, person)
            error_bound, error, doubt = error_bound + more, error + more, doubt + rounding
        begin, so_far = 2 * begin, 2 * so_far + int(bit)
        least = max(_CUT * so_far / people, error / 4)
        start = int(np.searchsorted(np.cumsum(law), least))
        end = law.size - int(np.searchsorted(np.cumsum(law[::-1]), least))
        begin, law, error_bound = begin + start, law[start:end], error_bound + 3 * least
    return begin, law, error_bound, doubt + _ROUNDING * people
