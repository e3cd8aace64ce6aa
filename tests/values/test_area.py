"""Places by counting: every draw and every lot of small cases, positions and areas that are refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import values
from sottovoce.errors import ArgumentError, DataError
from sottovoce.reporters.sampling.dispatch import fill_translates
from sottovoce.reporters.translates import Translates
from sottovoce.values.area import Area
from sottovoce.values.disc import Disc


def small(points: Any, moduli: Any, blocks: Any, background: int, bits: int, **options: Any) -> Translates:
    area = Area((0.0, 3.0), (0.0, 2.0), points=points, moduli=moduli, **options)
    cells = len(blocks) * moduli[0] * moduli[1]
    elements = sum(map(sum, blocks))
    extra = ((1 << bits) - cells * background) // elements
    return Translates(8.0, area, blocks, (1,), background, extra, bits, name="small")


CASES = [
    small((3, 4), (5, 6), ((1, 3, 1),), 2, 7),
    small((3, 4), (3, 4), ((1, 3, 1),), 1, 6),
    small((2, 2), (4, 5), ((3,), (1, 1, 3)), 3, 8, round=True),
]


def inside(block: Any, row: int, column: int) -> bool:
    """Whether a base set of rows has an element, as the format says."""
    return row < len(block) and abs(column - (max(block) - 1) / 2) <= (block[row] - 1) / 2


@pytest.mark.parametrize("m", CASES, ids=lambda m: f"{m.cells}")
@pytest.mark.parametrize("compiled", [False, True])
def test_every_draw_and_every_lot_counted(m: Translates, compiled: bool) -> None:
    """All words that matter: 2^bits draws times 1,024 lots, against the rule of the format in fractions."""
    (rows, columns), points, laws = m.domain.group, m.domain.points, []
    draws = np.arange(1 << m.bits, dtype=np.uint64) << np.uint64(64 - m.bits)
    for x in ([0.0, 0.0], [3.0, 2.0], [1.3, 0.7]):
        if not m.domain.contains(x):
            continue
        exact = [0] * m.cells
        u, v = Fraction(x[0]) * (points[1] - 1) / 3, Fraction(x[1]) * (points[0] - 1) / 2
        lots = [
            (int(v + Fraction(2 * i + 1, 64)), int(u + Fraction(2 * j + 1, 64)))
            for i, j in product(range(32), range(32))
        ]
        for (row, column), (j, cell) in product(
            sorted(set(lots)), enumerate(np.ndindex(len(m.blocks), rows, columns))
        ):
            b, s, t = cell
            held = inside(m.blocks[b], (s - row) % rows, (t - column) % columns)
            exact[j] += lots.count((row, column)) * (m.background + (j < m.left_over) + m.extra * held)
        counted = np.zeros(m.cells, dtype=np.int64)
        for lot in np.unique(lots, axis=0):
            word = np.uint64(lots.index(tuple(lot.tolist())))
            element = m.domain.elements(np.tile(x, (len(draws), 1)), draws | word)
            out = np.empty(draws.size, dtype=m.dtype)
            fill_translates(out, draws | word, element, m._tables, compiled=compiled)
            counted += lots.count(tuple(lot.tolist())) * np.bincount(out, minlength=m.cells)
        assert exact == m.counts(x).tolist() == counted.tolist()
        assert sum(exact) == m.total
        laws.append(exact)
    largest = max(Fraction(max(column), min(column)) for column in zip(*laws, strict=True))
    assert largest <= m.largest_ratio


def test_a_lot_that_prefers_a_side_is_noticed() -> None:
    m, x = CASES[0], [1.3, 0.7]
    words = np.arange(1024, dtype=np.uint64)
    element = m.domain.elements(np.tile(x, (1024, 1)), words)
    elements, lots = m.domain.lot(np.array([x]))
    right = dict(zip(elements[0].tolist(), lots[0].tolist(), strict=True))
    assert {int(e): int(n) for e, n in zip(*np.unique(element, return_counts=True), strict=True)} == {
        e: n for e, n in right.items() if n
    }
    one_side = m.domain.elements(np.tile(x, (1024, 1)), words | np.uint64(16))
    assert not np.array_equal(np.sort(element), np.sort(one_side))
    # On average a position is itself, to half of a 32nd of the way between points.
    mean = lots[0] @ m.domain.at(*np.divmod(elements[0], m.domain.moduli[1])) / 1024
    assert np.abs(mean - x).max() <= 1 / 64


def test_words_decide_alike_however_they_come() -> None:
    m = sv.place(2.0, box=((-1, 3), (0, 1)), points=20)
    rng = np.random.default_rng(5)
    x = m.domain.spread(rng.integers(0, 1 << 64, 3000, dtype=np.uint64))
    words = rng.integers(0, 1 << 64, 3000, dtype=np.uint64)
    again = sv.from_json(m.to_json())
    assert np.array_equal(m.report_from(words, x), again.report_from(words, x))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"radius": 0}, "radius must be positive"),
        ({"radius": -1.0}, "radius must be positive"),
        ({"radius": float("nan")}, "radius must be finite"),
        ({}, "radius or box must be given"),
        ({"radius": 1.0, "box": ((0, 1), (0, 1))}, "not both"),
        ({"box": ((1, 0), (0, 1))}, "ends in order"),
        ({"box": ((0, 1), (2, 2))}, "ends in order"),
        ({"box": (0, 1)}, r"box must be \(\(x0, x1\), \(y0, y1\)\)"),
        ({"box": ((170, -170), (-20, -15)), "degrees": True}, "date line"),
        ({"box": ((170, 190), (-20, -15)), "degrees": True}, "date line"),
        ({"radius": 100.0, "centre": (179.9, -17.0), "degrees": True}, "date line"),
        ({"box": ((-125, -66), (24, 50)), "degrees": True}, "project positions first"),
        ({"radius": 900.0, "centre": (20.0, 75.0), "degrees": True}, "project positions first"),
        ({"radius": 10.0, "centre": (20.0, 90.0), "degrees": True}, "project positions first"),
        ({"radius": 1.0, "points": 7}, "points must be between 8 and 256"),
        ({"radius": 1.0, "edge": "none"}, "edge must be one of"),
    ],
)
def test_areas_that_are_refused(changes: Any, words: str) -> None:
    with pytest.raises((ArgumentError, TypeError), match=words):
        sv.place(1.0, **changes)


def test_degrees_are_measured_where_they_are() -> None:
    """A disc of 10 km is higher than wide in degrees, and its grid is square in kilometres."""
    area = sv.place(1.0, 10.0, centre=(13.4, 52.5), degrees=True).domain
    assert isinstance(area, Area)
    wide, high = area.x[1] - area.x[0], area.y[1] - area.y[0]
    assert wide * area.scale[0] == pytest.approx(20.0)
    assert high * area.scale[1] == pytest.approx(20.0)
    assert high / wide == pytest.approx(np.cos(np.radians(52.5)))
    assert area.points == (48, 48)


def test_positions_outside_follow_the_policy() -> None:
    m = sv.place(1.0, 10.0)
    with pytest.raises(DataError, match="1 of 2 values are outside the disc around") as refusal:
        m.report([[1, 1], [8.25, 8.25]])
    assert "8.25" not in str(refusal.value)
    assert m.report([[1, 1], [8, 8]], clip=True).shape == (2,)
    assert m.report([[1, 1], [np.nan, 8]], missing="uniform").shape == (2,)
    assert m.report([[1, 1], [8, 8]], outside="missing", missing="uniform").shape == (2,)
    with pytest.raises(DataError, match="must be positions x, y"):
        m.report([1.0, 2.0, 3.0])
    far = m.domain.bring_inside(np.array([[1e308, -1e308], [0.0, 1e300], [3.0, 4.0]]))
    assert m.domain.contains(far).all()
    assert far[2].tolist() == [3.0, 4.0]


def test_positions_outside_a_box_follow_the_policy() -> None:
    m = sv.place(1.0, box=((-1, 3), (0, 1)), points=8)
    beyond = [[float(np.nextafter(3, 4)), 0.5], [0.0, -5e-324], [np.inf, 0.5], [3.0, 1.0]]
    with pytest.raises(DataError, match="1 of 4 values are missing") as refusal:
        m.report(beyond)
    assert refusal.value.code == "missing"
    with pytest.raises(DataError, match="2 of 4 values are outside the box") as refusal:
        m.report(beyond, missing="uniform")
    assert refusal.value.code == "outside"
    assert m.report(beyond, missing="uniform", clip=True, rng=1).shape == (4,)
    assert m.domain.bring_inside(np.array(beyond[:2])).tolist() == [[3.0, 0.5], [0.0, 0.0]]


@pytest.mark.parametrize(
    "m",
    [
        sv.place(1.0, 10.0),
        sv.place(1.0, 0.7, centre=(1e6, -3.0)),
        sv.place(1.0, 0.1, centre=(-179.9, -17.3), degrees=True),
        sv.polar(1.0, 0.7),
    ],
    ids=["disc", "far away", "degrees", "polar"],
)
def test_the_rim_belongs_to_the_disc(m: Any) -> None:
    """However its coordinates are rounded; what rounding does not explain is outside."""
    turn, domain = np.random.default_rng(2).uniform(0, 2 * np.pi, 2000), m.domain
    ends = [domain.x, domain.y] if isinstance(domain, Area) else [(-domain.radius, domain.radius)] * 2
    half = np.array([(high - low) / 2 for low, high in ends])
    way = half * np.stack((np.cos(turn), np.sin(turn)), axis=-1)
    middle = np.array([low for low, _ in ends]) + half
    assert m.report(middle + way, rng=1).shape == turn.shape
    assert not domain.contains(middle + way * (1 + 1e-7)).any()
    assert domain.contains(domain.bring_inside(middle + 3 * way)).all()
    strict = np.square((middle + way - middle) / half).sum(axis=-1) <= 1
    assert strict.mean() < 0.95  # what a rule without rounding would refuse


# -- N7: areas that are hardly there --------------------------------------------------------------------


def lost(space: Area | Disc) -> int:
    """How many positions are brought or spread to where the area says that they are not."""
    rng = np.random.default_rng(0)
    turn = rng.uniform(0, 7, 4000)
    rays = np.stack((np.cos(turn), np.sin(turn)), axis=-1) * rng.choice([1e3, 1.0, 1e-300, 1e-323], (4000, 1))
    words = rng.integers(0, 1 << 64, size=4000, dtype=np.uint64)
    with np.errstate(all="ignore"):
        return sum(int((~space.contains(x)).sum()) for x in (space.bring_inside(rays), space.spread(words)))


@pytest.mark.attack("N7", "succeeds")
def test_of_a_disc_of_a_few_least_doubles_positions_get_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client raised for a missing position, or one outside: that tells the collector that it was."""
    monkeypatch.setattr(values.area, "LEAST", 5e-324)
    monkeypatch.setattr(values.disc, "LEAST", 5e-324)
    assert lost(Area((0.0, 1.5e-323), (0.0, 1.0), round=True)) > 0
    assert lost(Disc(1.5e-323)) > 0


@pytest.mark.attack("N7", "refused")
def test_areas_have_a_least_width() -> None:
    """The clients' readers are in the shared vectors."""
    for ends in ((0.0, 1.5e-323), (0.0, 9e-301), (-4e-301, 4e-301)):
        for x, y, name in ((ends, (0.0, 1.0), "x"), ((0.0, 1.0), ends, "y")):
            with pytest.raises(ArgumentError, match="at least 1e-300") as error:
                Area(x, y, round=True)
            assert error.value.argument == name
    with pytest.raises(ArgumentError, match="radius must be at least 1e-300"):
        Disc(1.5e-323)
    for y in ((0.0, 1.0), (0.0, 1e300), (0.0, 1e-300)):
        assert lost(Area((0.0, 1e-300), y, round=True)) == lost(Area((-5e-301, 5.1e-301), y, round=True)) == 0
    assert lost(Disc(1e-300)) == 0
