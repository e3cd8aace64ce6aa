"""Functions of what a person gives, by counting: every lot, every rounding, every draw of small surveys."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.reporters.composites import functions_by_lot
from sottovoce.reporters.composites.functions_by_lot import Function, Functions
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.translates import Translates
from sottovoce.values.options import Options
from tests.reporters.test_exhaustive import small_window
from tests.vectors.make import Replay

LINE = sv.Interval(0, 1)
QUARTERS = [Fraction(i, 4) for i in range(5)]
WAYS = Options(("car", "bike", "on foot"))
SQUARE = Mechanism(8.0, LINE, small_window(wraps=False, bits=9))
LEVELS = Translates(8.0, Options(tuple(range(9))), ((0, 1, 3), (0, 4, 5)), (1,), 2, 4, 6)
WAY = Translates(8.0, WAYS, ((0,),), (1,), 11, 31, 6)

#: With p and q for the numbers on a scale from −1 to 1, as exact fractions.
FORMULAS: dict[str, Callable[..., Fraction]] = {
    "value": lambda p, q: (p + 1) / 2,
    "square": lambda p, q: p**2,
    "sum": lambda p, q: ((p + q) / 2) ** 2,
    "difference": lambda p, q: ((p - q) / 2) ** 2,
    "squares": lambda p, q: (1 + p**2 - q**2) / 2,
}


def pair() -> Survey:
    """All functions of numbers; the lot is not even."""
    each = tuple(
        Function(name, ("u", "v")[: 1 + (name in ("sum", "difference", "squares"))]) for name in FORMULAS
    )
    of = Functions({"u": LINE, "v": LINE}, each, (1, 2, 3, 1, 1))
    return Survey(8.0, dict.fromkeys(FORMULAS, SQUARE), 1, functions=of)


def within() -> Survey:
    """An option by itself, and together with a number that is rounded by lot to one of three levels."""
    each = (Function("value", ("way",)), Function("level", ("way", "u")))
    of = Functions({"way": WAYS, "u": LINE}, each, (1, 3))
    return Survey(8.0, {"way": WAY, "both": LEVELS}, 1, functions=of)


def counted(survey: Survey, values: dict[str, Any], rounds: int = 1) -> list[int]:
    """How often each cell comes up, over all lots, `rounds` words that round, and all draws of a question."""
    assert survey.functions is not None
    weights, words = survey.functions.weights, []
    top = np.arange(sum(weights), dtype=np.uint64) << np.uint64(64 - sum(weights).bit_length() + 1)
    bits = {(question.total - 1).bit_length() for question in survey.items.values()}  # type: ignore[attr-defined]
    [bits_of_all] = bits
    draws = np.arange(1 << bits_of_all, dtype=np.uint64) << np.uint64(64 - bits_of_all)
    words.append(np.repeat(top, rounds * draws.size))
    for weight, function in zip(weights, survey.functions.each, strict=True):
        if function.name == "level":
            turns = np.arange(rounds, dtype=np.uint64) << np.uint64(64 - (rounds - 1).bit_length())
            words.append(np.tile(np.repeat(turns, draws.size), weight))
        words.append(np.tile(draws, rounds * weight))
    source = Replay(np.concatenate(words))
    people = len(words[0])
    cells = survey.report({name: [value] * people for name, value in values.items()}, rng=source)
    assert not len(source.left)
    return np.bincount(cells[:, 0].astype(np.int64), minlength=survey.cells).tolist()


def of_pair(survey: Survey, u: Fraction, v: Fraction) -> list[int]:
    """The law of all cells in fractions: the weight of each function times the counts at its value."""
    assert survey.functions is not None
    row: list[int] = []
    for name, weight in zip(FORMULAS, survey.functions.weights, strict=True):
        value = FORMULAS[name](2 * u - 1, 2 * v - 1)
        row += (weight * SQUARE.counts(float(value))).tolist()
    return row


def largest(rows: list[list[int]]) -> Fraction:
    return max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))


def test_every_function_of_two_numbers() -> None:
    survey, rows = pair(), []
    for u, v in product(QUARTERS, QUARTERS):
        row = of_pair(survey, u, v)
        assert counted(survey, {"u": float(u), "v": float(v)}) == row
        assert sum(row) == 8 << 9
        rows.append(row)
    assert 1 < largest(rows) <= survey.largest_ratio == SQUARE.largest_ratio


def test_every_rounding_of_a_number_within_groups() -> None:
    """Numbers in quarters between three levels: four words that round decide exactly."""
    survey, rows = within(), []
    for (c, way), u in product(enumerate(WAYS.names), [Fraction(i, 8) for i in range(9)]):
        place = 2 * u
        level = min(int(place), 1)
        above = int(4 * (place - level))
        low, high = (LEVELS.counts(c + 3 * at) for at in (level, level + 1))
        row = (4 * WAY.counts(way)).tolist() + (3 * ((4 - above) * low + above * high)).tolist()
        assert counted(survey, {"way": way, "u": float(u)}, rounds=4) == row
        rows.append(row)
    assert 1 < largest(rows) <= survey.largest_ratio


@pytest.mark.parametrize("mutant", ["sum", "lot", "level"])
def test_mutants_are_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that is shifted, a lot with other weights, a number that is rounded to the nearest level."""
    survey, lot = pair(), Functions.lot
    if mutant == "sum":
        monkeypatch.setitem(functions_by_lot._OF_NUMBERS, "sum", (2, lambda u, v: (u + v) * (u + v) / 4))
        assert counted(survey, {"u": 0.25, "v": 0.5}) != of_pair(survey, Fraction(1, 4), Fraction(1, 2))
    elif mutant == "lot":
        monkeypatch.setattr(Functions, "lot", lambda *given: (lot(*given) + 1) % 5)
        assert counted(survey, {"u": 0.25, "v": 0.5}) != of_pair(survey, Fraction(1, 4), Fraction(1, 2))
    else:
        survey, way, u = within(), "bike", 0.375
        honest = counted(survey, {"way": way, "u": u}, rounds=4)
        levels = Functions._levels

        def nearest(self: Functions, *given: Any) -> Any:
            low, high, above = levels(self, *given)
            return low, high, np.round(above)

        monkeypatch.setattr(Functions, "_levels", nearest)
        assert counted(survey, {"way": way, "u": u}, rounds=4) != honest
