"""The exact divergence of shuffled reports, by counting out every multiset of reports in fractions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations

import numpy as np

from sottovoce.core.mechanism import Mechanism
from sottovoce.core.mixture import Mixture
from sottovoce.core.reporter import Reporter
from sottovoce.core.rows import Rows
from sottovoce.core.survey import Survey
from sottovoce.core.translates import Translates

Row = tuple[Fraction, ...]


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
    one, two = (rows_of(question) for question in reporter.questions.values())
    if reporter.sampled == 1:
        return [tuple(p / 2 for p in (*a, *b)) for a in one for b in two]
    return [tuple(p * q for p in a for q in b) for a in one for b in two]


def blanket_law(rows: Sequence[Row]) -> Row:
    """The least probability of each report, scaled to a probability."""
    least = [min(column) for column in zip(*rows, strict=True)]
    return tuple(p / sum(least) for p in least)


def delta(
    rows: Sequence[Row], people: int, theta: Fraction, pairs: Iterable[tuple[Row, Row]] | None = None
) -> Fraction:
    """sup of P(A) − θ·Q(A) over pairs of inputs of one person and all truths of the others."""
    distinct = list(dict.fromkeys(rows))
    tried = list(permutations(distinct, 2)) if pairs is None else list(pairs)
    worst = Fraction(0)
    for others in combinations_with_replacement(distinct, people - 1):
        base = multisets(others)
        for first, second in tried:
            p, q = _plus(base, first), _plus(base, second)
            worst = max(
                worst, sum((max(mass - theta * q.get(key, 0), 0) for key, mass in p.items()), Fraction(0))
            )
    return worst


@cache
def multisets(rows: tuple[Row, ...]) -> dict[tuple[int, ...], Fraction]:
    """How likely each multiset of reports is, a row per person."""
    if not rows:
        return {}
    return _plus(multisets(rows[:-1]), rows[-1])


def _plus(law: dict[tuple[int, ...], Fraction], row: Row) -> dict[tuple[int, ...], Fraction]:
    """One more report, of a given law."""
    total: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for key, mass in (law or {(0,) * len(row): Fraction(1)}).items():
        for j, p in enumerate(row):
            if p:
                total[(*key[:j], key[j] + 1, *key[j + 1 :])] += mass * p
    return dict(total)


def _fractions(counts: np.ndarray, total: int) -> list[Row]:
    return [tuple(Fraction(int(count), total) for count in row) for row in counts]
