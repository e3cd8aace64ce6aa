"""The exact divergence of shuffled reports, by counting out every multiset of reports.

Laws are fractions, or whole numbers of a common denominator, which are much quicker to count with.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, combinations_with_replacement, pairwise, permutations, product
from operator import add

import numpy as np

from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.mixture import Mixture
from sottovoce.reporters.rows import Rows
from sottovoce.reporters.translates import Translates

Row = tuple[Fraction, ...]
Whole = tuple[int, ...]
Marks = tuple[tuple[int, ...], ...]
Counts = dict[tuple[int, ...], Fraction | int]


def rows_of(reporter: Reporter) -> list[Row]:
    """The different laws of a report, a row per input that matters; for small reporters with step tables."""
    if isinstance(reporter, Mechanism):
        window = reporter.window
        assert window.stepwise
        return _fractions(window.counts(window.starts(window.knot_t)), window.total)
    if isinstance(reporter, Rows):
        return _fractions(reporter.rows, reporter.total)
    if isinstance(reporter, Translates):
        return _fractions(reporter.counts(list(reporter.domain.names)), reporter.total)
    if isinstance(reporter, Mixture):
        ts = np.unique(np.concatenate([part.window.knot_t for part in reporter.parts]))
        return _fractions(reporter.counts(reporter.domain.from_unit(ts)), reporter.total)
    assert isinstance(reporter, Survey)
    laws = [rows_of(question) for question in reporter.items.values()]
    lots = list(combinations(range(len(laws)), reporter.sampled))
    return [
        tuple(math.prod(cell) / len(lots) for lot in lots for cell in product(*(row[q] for q in lot)))
        for row in product(*laws)
    ]


def marks_of(reporter: Reporter) -> Marks | None:
    """What each report adds to the counts of a survey: one in each question that is answered."""
    if not isinstance(reporter, Survey):
        return None
    cells = [range(a, b) for a, b in pairwise(reporter.offsets.tolist())]
    lots = combinations(cells, reporter.sampled)
    return tuple(tuple(int(i in row) for i in range(reporter.cells)) for lot in lots for row in product(*lot))


def blanket_law(rows: Sequence[Row]) -> Row:
    """The least probability of each report, scaled to a probability."""
    least = [min(column) for column in zip(*rows, strict=True)]
    return tuple(p / sum(least) for p in least)


def delta(
    rows: Sequence[Row],
    people: int,
    theta: Fraction,
    pairs: Iterable[tuple[Row, Row]] | None = None,
    marks: Marks | None = None,
) -> Fraction:
    """sup of P(A) − θ·Q(A) over pairs of inputs of one person and all truths of the others."""
    distinct = list(dict.fromkeys(rows))
    tried = list(permutations(distinct, 2)) if pairs is None else list(pairs)
    own = list(dict.fromkeys(chain(*tried)))
    denominator = math.lcm(*(p.denominator for row in (*distinct, *own) for p in row))
    whole = {row: tuple(int(p * denominator) for p in row) for row in (*distinct, *own)}
    worst = Fraction(0)
    for others in combinations_with_replacement([whole[row] for row in distinct], people - 1):
        laws = {row: multisets((*others, whole[row]), marks) for row in own}
        worst = max(worst, *(divergence(laws[first], laws[second], theta) for first, second in tried))
    return worst / denominator**people


@cache
def multisets(rows: tuple[Row | Whole, ...], marks: Marks | None = None) -> Counts:
    """How likely all counts are, a row per person."""
    if not rows:
        return {}
    return _plus(multisets(rows[:-1], marks), rows[-1], marks)


def divergence(p: Counts, q: Counts, theta: Fraction) -> Fraction:
    """The hockey-stick divergence of two laws."""
    above, below = theta.as_integer_ratio()
    return Fraction(sum(max(below * mass - above * q.get(key, 0), 0) for key, mass in p.items()), below)


def both(p: Counts, q: Counts) -> Counts:
    """Two independent laws."""
    law: Counts = defaultdict(Fraction)
    for (a, mass), (b, other) in product(p.items(), q.items()):
        law[(*a, *b)] += mass * other
    return law


def _plus(law: Counts, row: Row | Whole, marks: Marks | None) -> Counts:
    """One more report, of a given law."""
    marks = marks or tuple(np.eye(len(row), dtype=int).tolist())
    total: Counts = defaultdict(int)
    for key, mass in (law or {(0,) * len(marks[0]): 1}).items():
        for p, mark in zip(row, marks, strict=True):
            if p:
                total[tuple(map(add, key, mark))] += mass * p
    return dict(total)


def _fractions(counts: np.ndarray, total: int) -> list[Row]:
    return [tuple(Fraction(int(count), total) for count in row) for row in counts]
