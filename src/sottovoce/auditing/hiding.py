"""How well the others hide one person's answers: the upper bound of δ for anything that reports.

One report is hidden by the blanket (`blanket.py`), reports of two kinds by coin tosses (`tosses.py`). The
counts of a survey are kept question by question. Where everybody answers all of them, these counts are
independent, and the losses of the questions add up (`losses.py`).

*A lot.* Divide k questions at random into as many groups as are answered, s, and answer one of each group:
that is an even lot again. Suppose the observer is told the groups of the person in question, but not which
question of each. The answers to one group then hide among one answer each of those others whose lot meets the
group, and given who these are the groups are independent. If the questions have the same blanket, a group
of them hides like one question. Otherwise the observer is told the lots, and only those who were asked the
same question hide an answer; or the rows are bounded as a whole, if that is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sottovoce.auditing.blanket import blanket, cover
from sottovoce.auditing.contrast import Contrast
from sottovoce.auditing.curve import Curve
from sottovoce.auditing.exchange import LEAST_DELTA, Exchange
from sottovoce.auditing.losses import added
from sottovoce.auditing.sums import divergence
from sottovoce.auditing.tosses import MOST_BLOCKS, Coin
from sottovoce.core.exact import log_upper
from sottovoce.core.number import Number
from sottovoce.core.questions import MAX_QUESTIONS
from sottovoce.core.reporter import Reporter
from sottovoce.core.rows import Rows
from sottovoce.core.survey import Survey
from sottovoce.core.translates import Translates

_KNOTS, _LEAST_KNOTS = 48, 12  # of the curves of all questions together, and of one
_RARE = 1e-12  # that fewer people answer than the bound of a lot counts on


def hidden(reporter: Reporter, people: int, *, removal: bool = False) -> Curve:
    """The curve of anything that reports, with its upper bound only.

    Args:
        reporter: Whatever reports.
        people: How many, the one in question included.
        removal: Compare an input with a draw from the blanket.

    Raises:
        ArgumentTypeError: If the law of the reporter is not known here.
    """
    if isinstance(reporter, Survey) and reporter.sampled > 1:
        return _survey(reporter, people, removal)
    curve = _covered(blanket(reporter, removal=removal), log_upper(reporter.largest_ratio), people, removal)
    if isinstance(reporter, Number | Translates) and reporter.cells == 2:
        return replace(curve, above=_tossed(reporter, curve.above, people, removal))
    if isinstance(reporter, Rows) and not removal:
        return _exchanged(reporter, curve)
    return curve


def _covered(contrast: Contrast, local: float, people: int, removal: bool) -> Curve:
    """Hidden by a blanket."""
    contrasts = (contrast, contrast.swapped) if removal else (contrast,)

    def above(epsilon: float) -> float:
        return max(divergence(each, people, epsilon).upper for each in contrasts)

    return Curve(above, _nothing, local, people, contrast.distance() / math.sqrt(people))


def _tossed(
    reporter: Number | Translates, above: Callable[[float], float], people: int, removal: bool
) -> Callable[[float], float]:
    """Reports of two kinds: counted out, and never more than the blanket's bound."""
    left, right = (float(p) for p in cover(reporter))
    inputs, empty = (right, 1 - left), right / (left + right)
    pairs = [(p, empty) for p in inputs] if removal else [inputs]
    coins = [Coin(*order, *inputs) for pair in pairs for order in (pair, pair[::-1])]

    def counted(epsilon: float) -> float:
        return max(coin.divergence(people, epsilon).upper for coin in {min(c, c.turned) for c in coins})

    return counted if people <= MOST_BLOCKS else lambda epsilon: min(counted(epsilon), above(epsilon))


def _exchanged(reporter: Rows, curve: Curve) -> Curve:
    """Graded rows: hidden by whole reports, where that is better than the blanket."""
    exchange = Exchange.of(reporter.rows, curve.people)
    if exchange is None or exchange.likely > curve.likely:
        return curve

    def above(epsilon: float) -> float:
        delta = exchange.above(epsilon)
        return min(delta, curve.above(epsilon)) if exchange.few or delta < LEAST_DELTA else delta

    return replace(curve, above=above, likely=exchange.likely)


def _survey(survey: Survey, people: int, removal: bool) -> Curve:
    """The counts of each question of people who answer several."""
    questions, sampled = list(survey.questions.values()), survey.sampled
    asked, local = len(questions), log_upper(survey.largest_ratio)
    covers = [blanket(question, removal=removal) for question in questions]
    whole = sampled == asked
    if not whole and all(_alike(covers[0], other) for other in covers[1:]):
        groups = [len(part) for part in np.array_split(np.arange(asked), sampled)]
        sizes = {size: 1 + _at_least(people - 1, _met(asked, sampled, size)) for size in set(groups)}
        one = log_upper(max(question.largest_ratio for question in questions))
        curves = {size: _covered(covers[0], one, many, removal) for size, many in sizes.items()}
        parts = [curves[size] for size in groups]
    else:
        each = people if whole else 1 + _at_least(people - 1, sampled / asked)
        alike = {question.digest: hidden(question, each, removal=removal) for question in questions}
        parts = [alike[question.digest] for question in questions]
    likely = math.sqrt(math.fsum(part.likely**2 for part in parts) * sampled / len(parts))
    if not whole:
        rows = _covered(blanket(survey, removal=removal), local, people, removal)
        if rows.likely < likely:
            return rows
    losses = added(parts, sampled, max(_KNOTS // len(set(parts)), _LEAST_KNOTS))
    return Curve(lambda epsilon: losses(epsilon) + (not whole) * _RARE, _nothing, local, people, likely)


def _alike(one: Contrast, other: Contrast) -> bool:
    """True if two contrasts are the same, number by number."""
    return all(np.array_equal(a, b) for a, b in zip(one.laws, other.laws, strict=True))


def _met(asked: int, sampled: int, size: int) -> float:
    """The chance that a lot meets a group of questions."""
    return 1 - math.comb(asked - size, sampled) / math.comb(asked, sampled)


def _at_least(people: int, share: float) -> int:
    """How many of some people answer, but with a probability of `_RARE` in all questions (Bernstein)."""
    deep = math.log(MAX_QUESTIONS / _RARE)
    fewer = deep / 3 + math.sqrt(2 * deep * people * share * (1 - share) + deep**2 / 9)
    return people if share == 1 else max(0, math.floor(people * share - fewer))


def _nothing(epsilon: float) -> float:
    """No lower bound."""
    return 0.0
