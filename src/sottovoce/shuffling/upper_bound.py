"""How well the others hide one person's answers: the upper bound of δ for anything that reports.

One report is hidden by the blanket (`blanket.py`), reports of two kinds by coin tosses (`two_outcomes.py`).
The counts of a survey are kept question by question. Where everybody answers all of them, these counts are
independent, and the losses of the questions add up (`composition.py`).

A lot that chooses several questions is divided into groups (`several_answers.py`); or the rows are
bounded as a whole, if that is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from sottovoce.exact.rational_bounds import log_upper
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.formats import law_of
from sottovoce.shuffling.blanket import blanket, common
from sottovoce.shuffling.composition import composed_delta, composed_deltas
from sottovoce.shuffling.convolution import divergence
from sottovoce.shuffling.input_pair import Contrast
from sottovoce.shuffling.privacy_curve import Curve
from sottovoce.shuffling.several_answers import RARE, Meeting, all_answers
from sottovoce.shuffling.two_outcomes import Coin

_MOST_COUNTED = 10**8  # people whose reports of two kinds hide better than their blanket
_KNOTS, _LEAST_KNOTS = 48, 12  # of the curves of all questions together, and of one
_MET_KNOTS = 36  # of each level of a meeting


def hidden(law: ReporterBase, people: int, *, removal: bool = False) -> Curve:
    """The curve of anything that reports, with its upper bound only.

    Args:
        law: What reports.
        people: How many, the one in question included.
        removal: Compare an input with a draw from the blanket.
    """
    if law.width > 1:
        return _survey(law, people, removal)
    curve = _covered(blanket(law, removal=removal), log_upper(law.largest_ratio), people, removal)
    if law.composition is None and law.cells == 2:
        return replace(curve, above=_tossed(law, curve.above, people, removal))
    return curve


def _covered(contrast: Contrast, local: float, people: int, removal: bool) -> Curve:
    """Hidden by a blanket."""
    contrasts = (contrast, contrast.swapped) if removal else (contrast,)

    def above(epsilon: float) -> float:
        return max(divergence(each, people, epsilon).upper for each in contrasts)

    return Curve(above, _nothing, local, people, contrast.distance() / math.sqrt(people))


def _tossed(
    law: Any, above: Callable[[float], float], people: int, removal: bool
) -> Callable[[float], float]:
    """Reports of two kinds: counted out, and never more than the blanket's bound."""
    left, right = (float(p) for p in law.cover)
    inputs, empty = (right, 1 - left), right / (left + right)
    pairs = [(p, empty) for p in inputs] if removal else [inputs]
    coins = [Coin(*order, *inputs) for pair in pairs for order in (pair, pair[::-1])]

    def counted(epsilon: float) -> float:
        return max(coin.divergence(people, epsilon).upper for coin in {min(c, c.turned) for c in coins})

    return counted if people <= _MOST_COUNTED else lambda epsilon: min(counted(epsilon), above(epsilon))


def _survey(survey: ReporterBase, people: int, removal: bool) -> Curve:
    """The counts of each question of people who answer several."""
    questions, sampled = [law_of(item) for item in survey.items.values()], survey.width
    local = log_upper(survey.largest_ratio)
    if sampled == len(questions):
        each = {question.digest: hidden(question, people, removal=removal) for question in questions}
        return _together([each[question.digest] for question in questions], local, people)
    curves = [_covered(blanket(survey, removal=removal), local, people, removal)]
    one = log_upper(max(question.largest_ratio for question in questions))
    covers = [blanket(question, removal=removal) for question in questions]
    alike = all(_alike(covers[0], other) for other in covers[1:])
    lot = covers[0] if alike or removal else common(covers), len(questions), sampled, people
    if alike or not removal:
        curves += [_met(lot, one, local, removal), _evened(lot, one, local, removal)]
    return min(curves, key=lambda curve: curve.likely)


def _met(lot: tuple[Contrast, int, int, int], one: float, local: float, removal: bool) -> Curve:
    """One answer of each group of a lot; `one` is the ε of one answer, `local` that of all."""
    cover, asked, sampled, people = lot
    meeting = Meeting.of(asked, sampled, people)
    curves = [_covered(cover, one, 1 + others, removal) for others in meeting.levels]
    patterns = cache(lambda: composed_deltas(curves, meeting.patterns, _MET_KNOTS))

    def above(epsilon: float) -> float:
        return meeting.expected(np.array([min(1.0, delta(epsilon)) for delta in patterns()]))

    typical = curves[min(1, len(curves) - 1)].likely
    return Curve(above, _nothing, local, people, math.sqrt(sampled) * typical)


def _evened(lot: tuple[Contrast, int, int, int], one: float, local: float, removal: bool) -> Curve:
    """All answers of a lot, with weights within a range that is rarely missed."""
    parts = all_answers(*lot)
    known = {part: _covered(part[0], one, part[1], removal) for part in parts}
    curve = _together([known[part] for part in parts], local, lot[3])

    def above(epsilon: float) -> float:
        return (RARE + min(curve.above(epsilon), 1.0)) * (1 + 2.0**-50)

    return replace(curve, above=above)


def _together(parts: list[Curve], local: float, people: int) -> Curve:
    """The answers of one person to several questions."""
    losses = cache(lambda: composed_delta(parts, len(parts), max(_KNOTS // len(set(parts)), _LEAST_KNOTS)))
    likely = math.hypot(*(part.likely for part in parts))
    return Curve(lambda epsilon: losses()(epsilon), _nothing, local, people, likely)


def _alike(one: Contrast, other: Contrast) -> bool:
    """True if two contrasts are the same, number by number."""
    return all(np.array_equal(a, b) for a, b in zip(one.laws, other.laws, strict=True))


def _nothing(epsilon: float) -> float:
    """No lower bound."""
    return 0.0
