"""Reports against their exact probabilities: χ² tests whose false alarms are bounded by a formula.

A χ² of k degrees of freedom exceeds k + 2√(kt) + 2t with probability at most e^{−t} (Laurent and Massart,
Annals of Statistics 2000, lemma 1), so no table of quantiles is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.auditing.require import require
from sottovoce.randomness.word_source import Seeded
from sottovoce.reporters.contract import Reporter, space_of, spaces

_BINS = 200
_LEAST = 10.0  # draws that must be expected of a bin


def limit(freedom: int, alarm: float) -> float:
    """What a χ² exceeds with probability `alarm` at most."""
    t = -math.log(alarm)
    return freedom + 2 * math.sqrt(freedom * t) + 2 * t


def follows(counts: IntArray, chances: FloatArray, alarm: float) -> bool:
    """Whether counts look like draws with these chances.

    Args:
        counts: How often each outcome was drawn.
        chances: Its probability.
        alarm: How often draws that do have them may be refused.

    Returns:
        False if Pearson's statistic is beyond its limit.
    """
    n = int(counts.sum())
    # Outcomes are pooled by cumulative probability, and what is then still rare once more.
    bin_of = np.minimum((np.cumsum(chances) * _BINS).astype(int), _BINS - 1)
    both = np.stack([np.bincount(bin_of, weights, _BINS) for weights in (counts, n * chances)])
    rare = both[1] < _LEAST
    pool = both[:, rare].sum(axis=1)
    both = both[:, ~rare]
    if pool[1] >= _LEAST or not both.size:
        both = np.column_stack((both, pool))
    else:
        both[:, -1] += pool
    drawn, expected = both
    statistic = float(((drawn - expected) ** 2 / expected).sum())
    return statistic <= limit(len(expected) - 1, alarm)


def check_sampler(reporter: Reporter, law: Any, rng: Seeded, draws: int, alarm: float) -> None:
    """Reports of one thing follow their probabilities, at three inputs.

    Args:
        reporter: A reporter of one thing.
        law: Its law.
        rng: A seed or generator; None for the secure stream.
        draws: How many reports for each input.
        alarm: How often a sampler that is right may be refused.

    Raises:
        ContractError: If they do not.
    """
    for one in space_of(reporter).examples(4)[[0, 2, -1]]:
        many = np.broadcast_to(one, (draws, *np.shape(one)))
        counts = np.bincount(reporter.report(many, rng=rng), minlength=reporter.cells)
        right = follows(counts, law.probabilities(one), alarm / 3)
        require(right, "sampler", "reports do not follow the probabilities")


def check_lot(survey: Reporter, law: Any, rng: Seeded, draws: int, alarm: float) -> None:
    """Every set of questions is as likely as it should be, whatever the values; answers are independent.

    Args:
        survey: A reporter of several questions.
        law: Its law; without one, only whether answers depend on each other is looked at.
        rng: A seed or generator; None for the secure stream.
        draws: How many people.
        alarm: How often a survey that is right may be refused.

    Raises:
        ContractError: If a rule is broken.
    """
    sizes = [question.cells for question in survey.items.values()]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    for place in (0, 1):
        truth = {name: space.examples(1)[place] for name, space in spaces(survey).items()}
        values = {name: np.broadcast_to(one, (draws, *np.shape(one))) for name, one in truth.items()}
        reports = survey.checked(survey.report(values, rng=rng))
        asked = np.searchsorted(offsets, reports, side="right") - 1
        if law is not None:
            _fair(asked, law.composition.shares, alarm / 8)
            for i, name in enumerate(survey.items):
                counts = np.bincount(reports[asked == i] - offsets[i], minlength=sizes[i])
                right = follows(counts, law.item_law(name, truth), alarm / (8 * len(sizes)))
                require(right, "sampler", f"reports of question {name!r} do not follow its probabilities")
        if survey.width > 1:
            _independent(reports - offsets[asked], asked, alarm / 8)


def _fair(asked: IntArray, shares: Sequence[float], alarm: float) -> None:
    """Sets of questions where they are few, the first question of each where they are many."""
    questions, width = len(shares), asked.shape[1]
    if width == 1:
        counts = np.bincount(asked[:, 0], minlength=questions)
        chances = np.array(shares)
    elif math.comb(questions, width) <= _BINS:
        lots = list(combinations(range(questions), width))
        place = {lot: i for i, lot in enumerate(lots)}
        counts = np.bincount([place[tuple(lot)] for lot in asked.tolist()], minlength=len(lots))
        chances = np.full(len(lots), 1 / len(lots))
    else:
        counts = np.bincount(asked[:, 0], minlength=questions)
        ways = [math.comb(questions - 1 - first, width - 1) for first in range(questions)]
        chances = np.array([way / math.comb(questions, width) for way in ways])
    require(follows(counts, chances, alarm), "lot", "sets of questions are not as likely as they should be")


def _independent(cells: IntArray, asked: IntArray, alarm: float) -> None:
    """Two answers of one person: the table of both, in halves, against the product of its margins."""
    pair = (asked[:, :2] == asked[0, :2]).all(axis=1)
    one, two = (cells[pair, i] > np.median(cells[pair, i]) for i in (0, 1))
    table = np.array([[np.sum((one == a) & (two == b)) for b in (False, True)] for a in (False, True)])
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(one)
    if expected.min() >= _LEAST:
        statistic = float(((table - expected) ** 2 / expected).sum())
        require(statistic <= limit(1, alarm), "independence", "answers of one person depend on each other")
