"""One attribute of many: which mechanism it gets, and what a person's report of it is worth.

`worth(m)` is the variance that one person adds to the estimate of the attribute's mean, in units of the
domain's width: in the worst case over all truths, or in expectation for an assumed spread. When only a
share s of the people report the attribute, the mean of those who do estimates the mean of all with variance
per person

    V(x)/s + (1/s − 1)·(x − x̄)²        averaged over the people

(noise, and the luck of who is asked). The spread around the mean is the least around any c, so by minimax
the worst case is min over c of max over x of V(x)/s + (1/s − 1)(x − c)², with c = ½ for a mechanism that is
symmetric about the middle. That luck is what the worst case and ordinary values differ in most: ¼ per person
at both ends, 1/12 for an even spread.

On a circle the mean is that of e^{ix}: a report e^{iy}/ρ is unbiased for it, with ρ = E cos(y − x), and the
variance is 1/(sρ²) − 1 − (1/s − 1)R², R the length of the mean of e^{ix} (at worst 0), here divided by (2π)²
as the width is 2π.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.choice import choice, least_total_variance
from sottovoce.designs.classic import pm, ptt
from sottovoce.designs.optimal import EXPECTED_UP_TO, SEARCH_UNBIASED_FROM, most_epsilon, optimal
from sottovoce.designs.place import place
from sottovoce.designs.prior import Prior, PriorLike, as_prior
from sottovoce.designs.published_formulas import ptt_optimal_q, ptt_worst_variance
from sottovoce.designs.solver.integer_weights import uniform_window
from sottovoce.designs.solver.roots import lowest
from sottovoce.errors import ArgumentError, ArgumentTypeError
from sottovoce.estimates.position import position_variance
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.formats import law_of
from sottovoce.reporters.law.moments import resultant
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.number import Number
from sottovoce.values.area import Area
from sottovoce.values.disc import Disc
from sottovoce.values.domain import Domain
from sottovoce.values.interval import Interval
from sottovoce.values.options import Options
from sottovoce.values.space import Space

CIRCLE_CELLS = 2**12
UNIT = Interval(0, 1)
#: How values are assumed to spread: None (the worst case), "uniform", samples, or (values, weights).
SpreadLike = str | PriorLike | None
#: Makes the mechanism of a number.
Design = Callable[[float, Domain], Reporter]
_T, _NODES = np.linspace(0, 1, 2001), 65
_SAMPLES = (0.0625, 0.25, 0.5, 1.0, 1.4, 2.0, 2.8, 4.0)  # of ε, whose designs stand for others
_ENOUGH = 3e-3  # of the weights of a place: its variance to a hundredth


def suited(
    epsilon: float, space: Space, spread: Prior | None = None, design: Design | None = None
) -> Reporter:
    """The reporter that suits a space: what an item of a survey gets.

    Args:
        epsilon: The privacy parameter.
        space: Where values lie.
        spread: How numbers are assumed to spread.
        design: What makes the mechanism of a number instead of the default.

    Returns:
        A choice, a place, or the mechanism of a number.

    Raises:
        ArgumentTypeError: If there is none.
    """
    match space:
        case Options():
            return choice(epsilon, space.names)
        case Disc():
            return place(epsilon, space.radius)
        case Domain():
            return item_mechanism(epsilon, space, spread) if design is None else design(epsilon, space)
    raise ArgumentTypeError(f"there is no design for {space}", argument="items")


def item_mechanism(epsilon: float, domain: Domain, spread: Prior | None = None) -> Mechanism:
    """The default: the unbiased mechanism of least variance; on a circle the one of largest E cos(y − x).

    Least in the worst case, or in expectation under an assumed spread of values (`designs.prior`).
    """
    if domain.is_circle:
        return _cosine_window(epsilon, domain)
    return replace(_unit(epsilon, spread), domain=domain, certificate=None)


@lru_cache(maxsize=1024)
def _unit(epsilon: float, spread: Prior | None) -> Mechanism:
    if spread is not None and SEARCH_UNBIASED_FROM <= epsilon <= EXPECTED_UP_TO:
        return optimal(epsilon, UNIT, prior=(spread.points, spread.chances))
    worst_case = (optimal if epsilon <= most_epsilon() else ptt)(epsilon, UNIT)
    if spread is None:
        return worst_case
    # Out of reach of the search: PM may be better than the worst-case design where values are not extreme.
    return min(worst_case, pm(epsilon, UNIT), key=lambda m: worth(m, spread=spread))


def about_worst_variance(epsilon: float) -> float:
    """The worst-case variance of the default for a number, to less than a hundredth, from designs at few ε.

    It is between 0.75 and 0.8 times that of the best I-PTT, which has a formula.
    """
    above = min(max(bisect(_SAMPLES, epsilon), 1), len(_SAMPLES) - 1)
    near = _SAMPLES[above - 1 : above + 1]
    ratio = np.interp(math.log(epsilon), np.log(near), [_of_ptt(sample) for sample in near])
    return float(ratio) * _ptt_variance(epsilon)


@lru_cache(maxsize=16)
def _of_ptt(epsilon: float) -> float:
    return _unit(epsilon, None).worst_variance() / _ptt_variance(epsilon)


def _ptt_variance(epsilon: float) -> float:
    return ptt_worst_variance(epsilon, ptt_optimal_q(epsilon)) / 4


@lru_cache(maxsize=1)
def even_spread() -> Prior:
    """Values anywhere in the domain alike. Nodes include both ends: a design is poor beyond its nodes."""
    chances = np.full(_NODES, 1 / (_NODES - 1))
    chances[[0, -1]] /= 2
    return Prior(np.linspace(0, 1, _NODES), chances)


def as_spread(prior: SpreadLike, domain: Domain) -> Prior | None:
    """None for the worst case, "uniform", samples, or a pair (values, weights)."""
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior != "uniform":
            sentence = f"prior must be 'uniform', samples or (values, weights), got prior={prior!r}"
            raise ArgumentError(sentence, argument="prior")
        return even_spread()
    return as_prior(prior, domain)


def _cosine_window(epsilon: float, domain: Domain) -> Mechanism:
    """A window of half-width c around the truth: ρ = sin(c)·(E − 1)/(π + c(E − 1)) is largest.

    By the bathtub argument no ε-LDP mechanism on the circle has a larger ρ.
    """
    gain = math.expm1(epsilon)
    half_width, _ = lowest(lambda c: -math.sin(c) / (math.pi + c * gain), 1e-9, math.pi / 2)
    mass = math.pi / (math.pi + half_width * gain)
    return replace(uniform_window(epsilon, domain, mass=mass, cells=CIRCLE_CELLS), name="cosine window")


def worth(m: Reporter, share: float = 1.0, spread: Prior | None = None) -> float:
    """Variance per person of the estimated mean, in squared widths of the domain.

    In the worst case, or in expectation when values are spread as assumed. Of a choice it is that of the
    average option's share, where all options are chosen alike; of a place that of a coordinate, where people
    are everywhere alike.
    """
    law = law_of(m)
    match law.domain:
        case Options():
            # The limit is that of a population: the drawing of the people themselves is counted in it.
            many = len(law.domain)
            return (least_total_variance(law.epsilon, many) / share - (1 - 1 / many)) / many
        case Area():
            (low, high), even = law.domain.x, 1 / 16 if law.domain.round else 1 / 12
            return position_variance(law.as_places(), _ENOUGH) / (high - low) ** 2 / share - even
    number, luck = law.as_number(), 1 / share - 1
    if number.domain.is_circle:
        turn = 0.0 if spread is None else spread.chances @ np.exp(2j * math.pi * spread.points)
        return (1 / (share * resultant(number) ** 2) - 1 - luck * abs(turn) ** 2) / (2 * math.pi) ** 2
    if spread is None:
        return _worst_spread(variance_curve(number), share)
    points, chances = spread.points, spread.chances
    noise = float(chances @ _variance(number, np.clip(points, 0.0, 1.0)))
    return noise / share + luck * float(chances @ (points - chances @ points) ** 2)


def _worst_spread(variance: FloatArray, share: float) -> float:
    """min over c of max over x of V(x)/s + (1/s − 1)(x − c)²: convex in c."""

    def about(c: float) -> float:
        return float(np.max(variance / share + (1 / share - 1) * (_T - c) ** 2))

    return about(0.5) if share == 1 else min(about(0.5), lowest(about, 0.0, 1.0, 1e-9)[1])


@lru_cache(maxsize=256)
def variance_curve(m: Number) -> FloatArray:
    """V(x) in squared widths, on an even grid of the domain that holds both ends and the middle."""
    return _variance(m, _T)


def _variance(m: Number, t: FloatArray) -> FloatArray:
    """The same at unit coordinates: squares of a width need not be doubles."""
    law, y = m.operator(np.clip(m.domain.from_unit(t), m.domain.low, m.domain.high)), m.positions - 0.5
    return np.maximum(law.expect(y**2) - law.expect(y) ** 2, 0.0)
