"""Was the right mechanism asked? An answer that another mechanism would give better says so, in numbers.

What the other one gives is a formula, so that saying it costs nothing: for a mean an upper bound of what PM
gives, whatever the people (the shipped design for means has nowhere more noise); for the share of a range
that of answering "are you in it?" at random; for a quantile the interval that the square wave is expected to
give if people are spread evenly. Where reports of a mechanism leave a quantity open however many there are,
its law does not identify it: how far is the same envelope problem as every interval's, without noise.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sottovoce.core.domains import Domain
from sottovoce.estimates.em import em
from sottovoce.estimates.envelope import BINS, IDENTITY, Envelope, Target
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.model import Coarse, Nodes
from sottovoce.estimates.query import FEW
from sottovoce.estimates.tally import Tally

_WORSE = 2.0  # times the interval of a mechanism for the question: then it is worth a word
_OPEN = 0.2  # of the people: more than that groups of cells leave open by themselves
_WIDE = 0.1  # of the domain: narrower intervals of quantiles are not looked at
_GROUPS, _EVERYBODY = 64, 10**8
_MADE_FOR = {
    "direction": "directions",
    "distribution": "distributions",
    "mean": "means",
    "quantile": "quantiles",
    "share": "the share of one range",
    "value": "single values",
}


def advised(
    task: str, tally: Tally, estimate: Estimate, *, target: Target = IDENTITY, p: float = 0.5
) -> Estimate:
    """The same answer, with what to know about its mechanism before everything else.

    Args:
        task: What was asked: "mean", "quantile" or "share".
        tally: The counts that it was asked of.
        estimate: The answer.
        target: What a mean or a share is the average of.
        p: Which quantile.

    Returns:
        An estimate with one or two more notes, if its interval is at least twice as wide as it could be.
    """
    m = tally.mechanism
    if tally.n < FEW or m.task in (task, "distribution"):
        return estimate
    domain = m.domain
    low, high = (
        (estimate.low, estimate.high) if task == "share" else domain.to_unit([estimate.low, estimate.high])
    )
    half = float(high - low) / 2
    if task == "quantile":
        instead = _even_quantile(m.epsilon, tally.n, p, estimate.confidence) / 2 if half > _WIDE else half
        target = Target.up_to(float(domain.to_unit(estimate.value)))
    else:
        middle = estimate.value if task == "share" else float(domain.to_unit(estimate.value))
        spread = {"mean": _mean_variance, "share": _share_variance}[task](m.epsilon, middle)
        instead = _z(estimate.confidence) * math.sqrt(spread / tally.n)
    if half < _WORSE * instead:
        return estimate
    better, here = (_size(task, domain, size) for size in (instead, half))
    made = f"this mechanism was made for {_MADE_FOR[m.task]}; " if m.task in _MADE_FOR else ""
    hint = (
        f"{made}for the same ε and people a mechanism for {_MADE_FOR[task]} gives {better} instead of {here}"
    )
    if task == "mean":  # what the envelope leaves open is noted there
        return replace(estimate, notes=(*estimate.notes, hint))
    gap = _openness(tally, target)
    first: tuple[str, ...] = ()
    if gap > max(_OPEN, half if task == "share" else 0.0):
        share = "it" if task == "share" else f"the share below {estimate.value:.4g}"
        first = (
            f"reports of this mechanism do not identify it: with any number of people {share} stays open by "
            f"± {50 * gap:.2g} %",
        )
    return replace(estimate, notes=(*first, hint, *estimate.notes))


def _mean_variance(epsilon: float, middle: float) -> float:
    """The most that the variance of a report of PM can be over people whose mean is `middle`, on [0, 1].

    On [−1, 1] the noise at x has variance x²/(s − 1) + (s + 3)/(3(s − 1)²), s = e^{ε/2}; x² is at most 1.
    """
    s = math.exp(epsilon / 2)
    return (s / (s - 1) + (s + 3) / (3 * (s - 1) ** 2) - (2 * middle - 1) ** 2) / 4


def _share_variance(epsilon: float, middle: float) -> float:
    """The variance of an unbiased answer to "are you in it?", right with probability e^ε/(1 + e^ε)."""
    return 1 / (4 * math.tanh(epsilon / 2) ** 2) - (middle - 0.5) ** 2


@lru_cache(maxsize=256)
def _even_quantile(epsilon: float, people: int, p: float, confidence: float) -> float:
    from sottovoce.designs.classic import sw  # rarely needed
    from sottovoce.estimates.crossing import quantile_width

    return quantile_width(sw(epsilon), people, np.full(BINS, 1 / BINS), p, confidence).expected


def _openness(tally: Tally, target: Target) -> float:
    """How much of an average all reports in the world would leave open, if people are as they seem to be."""
    coarse = Coarse.of(tally, _GROUPS)
    pilot = em(coarse.law_of_bins(BINS, 1), coarse.counts, tolerance=0.05, most=300).reports
    limits = Envelope(Nodes(coarse), pilot, _EVERYBODY)
    above, below = (float(pilot @ limits.weights(target, side, 1.0)) for side in (1, -1))
    return float(np.clip(above - below, 0.0, 1.0))


def _size(task: str, domain: Domain, half: float) -> str:
    if task == "share":
        return f"± {100 * half:.2g} %"
    length = float(domain.stretched(half))
    return f"a factor of {math.exp(length):.3g}" if domain.is_log else f"± {length:.2g}"


def _z(confidence: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri((1 - confidence) / 2))
