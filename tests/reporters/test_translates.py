"""Choices by counting: every draw of small cases, both samplers, and specs from strangers."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, DataError, PrivacyError, SpecError
from sottovoce.reporters.sampling.dispatch import fill_translates
from sottovoce.reporters.translates import Translates
from sottovoce.values.options import Options

LETTERS = "abcdefghij"


def small(options: int, blocks: Any, multipliers: Any, background: int, bits: int) -> Translates:
    elements = len(multipliers) * sum(map(len, blocks))
    extra = ((1 << bits) - len(multipliers) * len(blocks) * options * background) // elements
    names = Options(tuple(LETTERS[:options]))
    return Translates(8.0, names, blocks, multipliers, background, extra, bits, name="small")


CASES = [
    small(2, ((0,),), (1,), 3, 4),
    small(3, ((0,),), (1,), 1, 4),
    small(4, ((2, 3), (0, 2), (3, 0)), (1,), 1, 5),
    small(5, ((0, 1),), (1, 2), 5, 7),
    small(7, ((0, 1, 3),), (1,), 9, 8),
    small(10, ((0, 1, 2), (0, 3, 7)), (1, 3), 7, 10),
]


def drawn(m: Translates, option: str, compiled: bool) -> list[int]:
    """How often each cell comes up over all 2^bits draws, by the sampler that ships."""
    words = np.arange(m.total, dtype=np.uint64) << np.uint64(64 - m.bits)
    out = np.empty(words.size, dtype=m.dtype)
    element = np.full(words.size, m.domain.names.index(option))
    fill_translates(out, words, element, m._tables, compiled=compiled)
    return np.bincount(out, minlength=m.cells).tolist()


@pytest.mark.parametrize("m", CASES, ids=lambda m: f"{len(m.domain)}-{m.cells}")
@pytest.mark.parametrize("compiled", [False, True])
def test_every_draw_counted(m: Translates, compiled: bool) -> None:
    rows = []
    for x, option in enumerate(m.domain.names):
        held = [
            (s - x) % len(m.domain) in {e * h % len(m.domain) for e in block}
            for block, h, s in product(m.blocks, m.multipliers, range(len(m.domain)))
        ]
        row = [m.background + (j < m.left_over) + m.extra * inside for j, inside in enumerate(held)]
        assert sum(row) == m.total
        assert drawn(m, str(option), compiled) == row == m.counts(option).tolist()
        assert [cell[x] == 1 for cell in m.decode(range(m.cells))] == held
        rows.append(row)
    largest = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert largest == m.largest_ratio


def test_a_sampler_that_forgets_the_shift_is_noticed() -> None:
    m = CASES[3]
    tables = m._tables._replace(column=m._tables.column * 0)
    words = np.arange(m.total, dtype=np.uint64) << np.uint64(64 - m.bits)
    out = np.empty(words.size, dtype=m.dtype)
    fill_translates(out, words, np.zeros(words.size, dtype=np.int64), tables, compiled=False)
    assert np.bincount(out, minlength=m.cells).tolist() != m.counts("a").tolist()


@pytest.mark.parametrize(("options", "epsilon"), [(2, 0.25), (20, 1.0), (64, 2.0), (1000, 8.0)])
def test_both_samplers_agree_and_take_edges(options: int, epsilon: float) -> None:
    m = sv.choice(epsilon, range(options))
    rng, tables = np.random.default_rng(3), m._tables
    edges = [0, tables.first - 1, tables.first, tables.rest - 1, tables.rest, m.total - 1]
    multiples = rng.integers(0, m.cells, 2000) * m.background
    draws = np.concatenate((edges, multiples, multiples - 1, rng.integers(0, m.total, 5000)))
    draws = np.clip(draws, 0, m.total - 1).astype(np.uint64)
    element = rng.integers(0, options, draws.size)
    cells = []
    for compiled in (False, True):
        out = np.empty(draws.size, dtype=m.dtype)
        fill_translates(out, draws << np.uint64(12), element, tables, compiled=compiled)
        cells.append(out)
    assert np.array_equal(*cells)
    members = [
        (b, e * h % options) for b, (block, h) in enumerate(product(m.blocks, m.multipliers)) for e in block
    ]
    for draw, x, cell in zip(draws.tolist(), element.tolist(), cells[0].tolist(), strict=True):
        assert cell == _by_integers(m, members, draw, x)


def _by_integers(m: Translates, members: list[tuple[int, int]], draw: int, x: int) -> int:
    """The rule of the format, in Python's integers."""
    a, left = m.background, m.left_over
    below = m.cells * a + left
    if draw < left * (a + 1):
        return draw // (a + 1)
    if draw < below:
        return left + (draw - left * (a + 1)) // a
    entry = (draw - below) // m.extra
    k = len(m.domain)
    which, element = members[entry]
    return which * k + (x + element) % k


# -- what people choose from ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["one"], "2 to 1000"),
        ([f"o{i}" for i in range(1001)], "2 to 1000"),
        (["car", "bike", "car"], "twice"),
        (["car", "Car "], "case or spaces"),
        (["a  b", "a b"], "case or spaces"),
        ("car", "a list of options"),
        (["car", True], "a text or a whole number"),
        (["car", 1.5], "a text or a whole number"),
        (["car", ""], "printable"),
        (["car", "bi\u202eke"], "printable"),
        (["car", "x" * 201], "printable"),
    ],
)
def test_wrong_options(options: Any, words: str) -> None:
    with pytest.raises((ArgumentError, TypeError), match=words):
        sv.choice(1.0, options)


def test_choices_are_read_as_people_write_them() -> None:
    m = sv.choice(1.0, ["Car", "bike"])
    assert m.domain.numbers([" car", "BIKE", "CAR"]).tolist() == [0, 1, 0]
    ratings = sv.choice(1.0, [1, 2, 3])
    assert ratings.domain.numbers([1, 2.0, "3"]).tolist() == [0, 1, 2]
    assert ratings.domain.numbers(np.array([1, 3], dtype=np.int16)).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (["car", "boat"], {}, "1 of 2 values are outside the 2 options, the first at index 1"),
        (["car", None], {}, "1 of 2 values are missing"),
        (["car", "boat"], {"clip": True}, "outside the 2 options.*missing='uniform'"),
        (["car", None], {"missing": 0.0}, "'uniform' or 'refuse'"),
    ],
)
def test_refusals_name_no_choice(values: Any, options: Any, words: str) -> None:
    with pytest.raises((DataError, ArgumentError), match=words) as refusal:
        sv.choice(1.0, ["car", "bike"]).report(values, **options)
    assert "boat" not in str(refusal.value)


def test_stand_ins() -> None:
    m = sv.choice(1.0, ["car", "bike"])
    assert m.report(["car", None, "boat"], missing="uniform", outside="missing").shape == (3,)
    with pytest.raises(TypeError, match="must be options, got"):
        m.report([["car"], ["bike", "car"]])
    with pytest.raises(TypeError, match="must be options, got bool"):
        m.report([True, False])


# -- specs from strangers ---------------------------------------------------------------------------------


def changed(**changes: Any) -> str:
    content = json.loads(sv.choice(1.0, [f"o{i}" for i in range(10)]).to_json())
    return json.dumps({**content, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"blocks": [[0, 1, 1]]}, "cover all options equally"),
        ({"blocks": [[]]}, "cover all options equally"),
        ({"blocks": [list(range(10))]}, "cover all options equally"),
        ({"blocks": [[0, 1, 10]]}, "numbers from 0 to 9"),
        ({"blocks": [[0, -1]]}, "numbers from 0 to 9"),
        ({"blocks": []}, "1 to 1048576 cells"),
        ({"multipliers": [1, 1]}, "multipliers must be different"),
        ({"multipliers": [2]}, "without a divisor in common"),
        ({"multipliers": [0]}, "without a divisor in common"),
        ({"background": 0}, "background"),
        ({"extra": -1}, "extra"),
        ({"background": 1}, "must leave"),
        ({"bits": 53}, "bits"),
        ({"bits": 20}, "bits"),
        ({"options": ["a", "A", *"cdefghij"]}, "case or spaces"),
        ({"options": [" a", *"bcdefghij"]}, "without spaces"),
        ({"options": "abcdefghij"}, "list"),
        ({"more": 1}, "more"),
        ({"epsilon": "1"}, "epsilon"),
    ],
)
def test_hostile_specs(changes: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        sv.from_json(changed(**changes))


def test_a_claim_is_counted() -> None:
    with pytest.raises(PrivacyError, match="more than the claimed"):
        sv.from_json(changed(epsilon=0.99))
    audit = sv.audit(changed(epsilon=0.99))
    assert not audit.holds
    assert audit.epsilon == pytest.approx(1.0, abs=1e-9)


def test_categories_and_whole_numbers_take_the_quick_way() -> None:
    """The same cells as option by option; what is not on the list still is found."""
    import pandas as pd

    way = sv.choice(1.0, ["car", "bike", "train"])
    people = np.random.default_rng(1).choice(["car", "bike", "train"], 5000)
    kinds = pd.Categorical(people, categories=["car", "bike", "train"])
    other = pd.Categorical(people)  # in another order
    cells = way.report([f" {person.upper()}" for person in people], rng=3)
    for quick in (kinds, other, pd.Series(kinds), pd.Series(other)):
        assert way.domain.quick_elements(quick) is not None
    for quick in (kinds, other, pd.Series(kinds), pd.Series(other), people, people.astype(object)):
        assert np.array_equal(way.domain.numbers(quick), way.domain.numbers(people.tolist()))
        assert np.array_equal(way.report(quick, rng=3), cells)
    boat = pd.Series(pd.Categorical(["car", "boat", None, "Bike"]))
    for slow in (boat, boat.to_numpy(), boat.tolist()):
        assert way.domain.numbers(slow).tolist()[:2] == [0.0, -1.0]
        assert np.isnan(way.domain.numbers(slow)[2])
        with pytest.raises(DataError, match="1 of 4 values are missing"):
            way.report(slow)
        assert way.report(slow, missing="uniform", outside="missing").shape == (4,)
    stars = sv.choice(1.0, [1, 2, 3, 4, 5])
    numbers = np.random.default_rng(1).integers(1, 6, (50, 100))
    assert stars.domain.quick_elements(numbers) is not None
    assert np.array_equal(stars.report(numbers, rng=3), stars.report(numbers.tolist(), rng=3))
    with pytest.raises(DataError, match="1 of 2 values are outside"):
        stars.report(np.array([5, 6]))
    with pytest.raises(DataError, match="1 of 2 values are missing"):
        way.report(pd.Categorical(["car", None], categories=["car", "bike", "train"]))
    for far in (2**32 + 2, -(2**63), 2**63 - 1):
        for n in (2, 5000):
            with pytest.raises(DataError, match="1 of"):
                stars.report(np.array([3] * (n - 1) + [far]))


def test_columns_of_texts_are_read_in_any_layout():
    """Texts of one width and objects, whichever way they lie in memory, and objects of several kinds."""
    import pandas as pd

    rng = np.random.default_rng(2)
    codes = rng.integers(0, 900, (2, 6000))
    way = sv.choice(1.0, [f"way {i}" for i in range(900)])
    texts = np.array(way.domain.names)[codes]
    for column in (texts, texts.astype(">U7"), texts.astype("U8"), texts.astype(object), texts.T.copy().T):
        assert np.array_equal(way.domain.numbers(column), codes)
    assert np.array_equal(way.domain.numbers(texts[:, ::2]), codes[:, ::2])
    shared = np.array(["car", None, 2.0, math.nan, "bike"], dtype=object)[rng.integers(0, 5, 4000)]
    domain = sv.choice(1.0, ["car", "bike", 2]).domain
    assert np.array_equal(np.isnan(domain.numbers(shared)), [one is None or one != one for one in shared])
    kinds = pd.Categorical(np.array(["bike", "car", "none"])[rng.integers(0, 3, 4000)])
    wanted = [{"car": 0, "bike": 1}.get(kind, -1) for kind in kinds]
    assert domain.quick_elements(kinds).tolist() == wanted
