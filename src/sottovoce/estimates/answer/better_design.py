"""Was the right mechanism asked? An answer that another mechanism would give better says so, in numbers.

What the other one gives is a formula, so that saying it costs nothing: for a mean an upper bound of what PM
gives, whatever the people (the shipped design for means has nowhere more noise); for the share of a range
that of answering "are you in it?" at random; for a quantile the interval that the shipped design is expected
to give if people are spread evenly. Where reports of a mechanism leave a quantity open however many there
are, its law does not identify it: how far is the same envelope problem as every interval's, without noise.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import check_confidence
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.fits.binned_cells import Binned, em
from sottovoce.estimates.limits.envelope import BINS, Envelope, Nodes, Target
from sottovoce.estimates.limits.quantile_interval import Level, Sample, quantile_interval
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.reporters.number import Number
from sottovoce.reporters.question import Question
from sottovoce.values.domain import Domain
from sottovoce.values.interval import Interval

_WORSE = 2.0  # times the interval of a mechanism for the question: then it is worth a word
_OPEN = 0.2  # of the people: more than that bins of cells leave open by themselves
_WIDE = 0.1  # of the domain: narrower intervals of quantiles are not looked at
_EVERYBODY = 10**8
_MADE_FOR = {
    "direction": "directions",
    "distribution": "distributions",
    "mean": "means",
    "probability": "the share of one range",
    "quantile": "quantiles",
    "value": "single values",
}


def advice(
    question: str,
    mechanism: Number,
    estimate: Estimate,
    *,
    binned: Binned | None = None,
    between: tuple[float, float] = (0.0, 1.0),
    p: float = 0.5,
) -> tuple[str, ...]:
    """What to know about the mechanism of an answer, before its notes.

    Args:
        question: What was asked: "mean", "quantile" or "probability".
        mechanism: What it was asked with.
        estimate: The answer.
        binned: The reports on a few bins of cells, for quantiles and shares.
        between: The range of a probability, in the unit coordinate.
        p: Which quantile.

    Returns:
        One or two sentences, if the interval is at least twice as wide as it could be.
    """
    domain, epsilon, is_share = mechanism.domain, mechanism.epsilon, question == "probability"
    limits = [estimate.low, estimate.value, estimate.high]
    low, middle, high = limits if is_share else domain.to_unit(limits).tolist()
    half = (high - low) / 2
    if question == "quantile":
        instead = _instead(epsilon, estimate, p, half)
        target = Target.up_to(middle)
    else:
        target = Target.within(*between)
        spread = (_share_variance if is_share else _mean_variance)(epsilon, middle)
        instead = normal_quantile((1 - estimate.confidence) / 2) * math.sqrt(spread / estimate.n)
    if half < _WORSE * instead:
        return ()
    better, here = (_size(question, domain, size) for size in (instead, half))
    made_for = _MADE_FOR.get(mechanism.made_for or "")
    made = f"this mechanism was made for {made_for}; " if made_for else ""
    other = f"a mechanism for {_MADE_FOR[question]} gives {better} instead of {here}"
    hint = f"{made}for the same ε and people {other}"
    if binned is None:  # of a mean, what the envelope leaves open is noted there
        return (hint,)
    gap = openness(binned, target)
    if is_share:  # no more than these reports leave open already
        gap = min(gap, 2 * half)
    first: tuple[str, ...] = ()
    if gap > max(_OPEN, half if is_share else 0.0):
        share = "it" if is_share else f"the share below {estimate.value:.4g}"
        first = (
            f"reports of this mechanism do not identify it: with any number of people {share} stays open by "
            f"± {50 * gap:.2g} %",
        )
    return (*first, hint)


def _mean_variance(epsilon: float, middle: float) -> float:
    """The most that the variance of a report of PM can be over people whose mean is `middle`, on [0, 1].

    On [−1, 1] the noise at x has variance x²/(s − 1) + (s + 3)/(3(s − 1)²), s = e^{ε/2}; x² is at most 1.
    """
    s = math.exp(epsilon / 2)
    return (s / (s - 1) + (s + 3) / (3 * (s - 1) ** 2) - (2 * middle - 1) ** 2) / 4


def _share_variance(epsilon: float, middle: float) -> float:
    """The variance of an unbiased answer to "are you in it?", right with probability e^ε/(1 + e^ε)."""
    return 1 / (4 * math.tanh(epsilon / 2) ** 2) - (middle - 0.5) ** 2


def _instead(epsilon: float, estimate: Estimate, p: float, half: float) -> float:
    """Half the width that the square wave is expected to give, if that is worth a word; no less otherwise.

    More people get less, so a power of two of them often says that it is not: where reports come in, it is
    the same for long.
    """
    if half <= _WIDE:
        return half
    about = epsilon, p, estimate.confidence
    least = _even_quantile(1 << (estimate.n - 1).bit_length(), *about) / 2
    return least if half < _WORSE * least else _even_quantile(estimate.n, *about) / 2


@lru_cache(maxsize=256)
def _even_quantile(people: int, epsilon: float, p: float, confidence: float) -> float:
    from sottovoce.designs.question import designed  # rarely needed

    design = designed(Question("quantile", p=p), epsilon, Interval(0, 1))
    return quantile_width(design, people, np.full(BINS, 1 / BINS), p, confidence).expected


def openness(binned: Binned, target: Target) -> float:
    """How much of an average all reports in the world would leave open, if people are as they seem to be."""
    law = binned.table_of_parts(BINS)
    pilot = law.mix(em(law, binned.counts, np.full(BINS, 1 / BINS)))
    limits = Envelope(Nodes(binned), pilot, _EVERYBODY)
    above, below = (float(pilot @ limits.weights(target, side, 1.0)) for side in (1, -1))
    return float(np.clip(above - below, 0.0, 1.0))


def _size(question: str, domain: Domain, half: float) -> str:
    if question == "probability":
        return f"± {100 * half:.2g} %"
    length = float(domain.stretched(half))
    return f"a factor of {math.exp(length):.3g}" if domain.is_log else f"± {length:.2g}"


class Width(NamedTuple):
    """The width of the interval that `quantile` is expected to give, and that no honest one can go below."""

    expected: float
    bound: float


def quantile_width(
    reporter: Number, people: int, density: FloatArray, p: float, confidence: float = 0.95
) -> Width:
    """Say how wide the interval of a quantile will be, and how narrow any honest one can be.

    Args:
        reporter: What people would report with.
        people: How many of them.
        density: Probabilities of equal bins of the domain, the truth to expect.
        p: Which quantile.
        confidence: How often the interval should hold.

    Returns:
        Two widths, with the domain's as unit.

    Example:
        >>> from sottovoce.designs.classic import sw
        >>> even = np.full(256, 1 / 256)
        >>> width = quantile_width(sw(epsilon=1.0), 20_000, even, 0.5)
        >>> bool(0.9 < width.bound / width.expected <= 1)
        True
    """
    shares = np.asarray(density, dtype=np.float64) / np.sum(density)
    tail = (1 - check_confidence(confidence)) / 2
    ends = quantile_interval(Sample(reporter, people, [shares]), Level(p, tail))
    return Width(ends.high - ends.low, min(ends.bound, ends.high - ends.low))
