"""Bad input is refused in one sentence; unusual but good input is accepted and keeps its shape."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DataError

M = sv.ogpm(epsilon=1.0, domain=(0, 24))


@pytest.mark.parametrize(
    ("epsilon", "kind", "words"),
    [
        (0, ValueError, "epsilon must be positive, got epsilon=0.0"),
        (-1.0, ValueError, "epsilon must be positive, got epsilon=-1.0"),
        (float("nan"), ValueError, "epsilon must be finite, got epsilon=nan"),
        (float("inf"), ValueError, "epsilon must be finite"),
        (17, ValueError, "epsilon must be between 1e-06 and 16.0, got epsilon=17.0"),
        (1e-9, ValueError, "epsilon must be between"),
        ("1", TypeError, "epsilon must be a real number, got epsilon='1'"),
        (True, TypeError, "epsilon must be a real number"),
        (1j, TypeError, "epsilon must be a real number"),
        (None, TypeError, "epsilon must be a real number"),
    ],
)
def test_epsilon(epsilon: Any, kind: type[Exception], words: str) -> None:
    for design in (sv.ogpm, sv.pm, sv.sw, sv.ptt, sv.duchi, sv.ogpm_unbiased):
        with pytest.raises(kind, match=words.replace("(", r"\(")):
            design(epsilon)


@pytest.mark.parametrize(
    ("domain", "kind", "words"),
    [
        ((1, 1), ValueError, "low < high"),
        ((2, 1), ValueError, "low < high, got low=2.0, high=1.0"),
        ((0, float("inf")), ValueError, "high must be finite"),
        ((float("nan"), 1), ValueError, "low must be finite"),
        ((0, "1"), TypeError, "high must be a real number"),
        ((0, 1, 2), TypeError, "domain must be"),
        ("01", TypeError, "domain must be"),
        (5, TypeError, "domain must be"),
        ((), TypeError, "domain must be"),
    ],
)
def test_domain(domain: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        sv.ogpm(1.0, domain)


def test_circle_arguments() -> None:
    for around in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="circumference"):
            sv.Circle(around)
    with pytest.raises(ValueError, match="origin"):
        sv.Circle(1.0, origin=1e300)
    with pytest.raises(ValueError, match="pm is defined on an interval; on a circle use ogpm"):
        sv.pm(1.0, sv.Circle(24))


def test_other_parameters() -> None:
    for loss in ("l3", "", 0.5, float("nan"), -2):
        with pytest.raises(ValueError, match="loss must be"):
            sv.ogpm(1.0, loss=loss)
    with pytest.raises(ValueError, match=r"at must lie in the domain, got at=2\.0"):
        sv.ogpm(1.0, at=2)
    for q in (0, 1, -0.5, 7):
        with pytest.raises(ValueError, match="q must lie strictly between 0 and 1"):
            sv.ptt(1.0, q=q)
    with pytest.raises(ValueError, match="cells must be between 2 and"):
        sv.ogpm(1.0, cells=1)
    with pytest.raises(TypeError, match="cells must be a whole number"):
        sv.ogpm(1.0, cells=2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="distance must be"):
        M.error(1.0, distance="manhattan")
    with pytest.raises(TypeError, match="rng must be"):
        M.report(1.0, rng="seed")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -0.001, 24.001, 1e300])
def test_bad_values_are_counted_not_shown(bad: float) -> None:
    values = np.full(100_000, 7.0)
    values[[70_001, 99_999]] = bad
    with pytest.raises(DataError) as refusal:
        M.report(values)
    text = str(refusal.value)
    assert "2 of 100000 values are" in text
    assert "the first at index 70001" in text
    assert ("clip=True" if np.isfinite(bad) else "missing=") in text
    assert repr(bad) not in text.replace("[0.0, 24.0]", "").replace("NaN or infinite", "")


def test_clip_is_an_explicit_choice() -> None:
    assert np.array_equal(M.report([-5, 99], clip=True, rng=1), M.report([0, 24], rng=1))
    with pytest.raises(DataError, match=r"1 of 2 values are missing .* index 1; missing='uniform'"):
        M.report([1, np.nan], clip=True)
    clock = sv.ogpm(1.0, sv.Circle(24))
    assert np.array_equal(clock.report([25, -1, 24], clip=True, rng=4), clock.report([1, 23, 24], rng=4))
    with pytest.raises(DataError):
        clock.report([25])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1.0"], "text"),
        ("7", "text"),
        ([None], "objects"),
        ([object()], "objects"),
        ([1 + 2j], "complex"),
        ([[1, 2], [3]], "ragged"),
        (np.ma.masked_array([1.0, 2.0], mask=[0, 1]), "masked array"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "datetime64"),
    ],
)
def test_wrong_kinds_of_values(values: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        M.report(values)


def test_shapes_and_types_are_kept() -> None:
    assert M.report([]).shape == (0,)
    assert M.report(np.empty((0, 3))).shape == (0, 3)
    assert M.report(7.5).shape == ()
    assert M.report(np.array(7.5)).dtype == np.uint16
    values = np.arange(24.0).reshape(2, 3, 4)
    expected = M.report(values, rng=9)
    assert expected.shape == (2, 3, 4)
    read_only = values.copy()
    read_only.setflags(write=False)
    for same in (
        read_only,
        values.astype(np.float32),
        values.astype(np.int8),
        values.astype(np.uint64),
        values.tolist(),
    ):
        assert np.array_equal(M.report(same, rng=9), expected)
    wide = np.zeros((2, 3, 8))
    wide[..., ::2] = values
    assert np.array_equal(M.report(wide[..., ::2], rng=9), expected)
    assert np.array_equal(M.report(np.asfortranarray(values), rng=9), expected)
    assert np.array_equal(values.ravel(), np.arange(24.0))  # the input is not written to
    assert M.perturb(values, rng=9) == pytest.approx(M.decode(expected))


def test_narrowest_cells() -> None:
    assert sv.duchi(1.0).report(0.5).dtype == np.uint8
    assert sv.ogpm(1.0, cells=2**17).report(0.5).dtype == np.uint32


def test_decode_refuses_what_is_not_a_cell() -> None:
    with pytest.raises(DataError, match=r"cells must lie in 0..65535: 2 of 3 do not, the first at index 1"):
        M.decode([0, -1, 65536])
    with pytest.raises(TypeError, match="cells must be integers"):
        M.decode([0.5])
    assert M.decode([]).shape == (0,)


BOUNDS = [
    (0, 5e-324),
    (1e-300, 2e-300),
    (-1e308, 1e308),
    (1e15, 1e15 + 1),
    (-1e-5, 3.0),
    (-7, -6.5),
    (0, 1.7e308),
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_any_finite_bounds(bounds: tuple[float, float]) -> None:
    unit = sv.ogpm(1.0)
    m = sv.ogpm(1.0, bounds)
    x = np.array([bounds[0], bounds[1]])
    assert np.array_equal(m.report(x, rng=3), unit.report([0.0, 1.0], rng=3))
    decoded = m.decode(np.arange(m.cells))
    assert np.isfinite(decoded).all()
    assert decoded.min() >= bounds[0]
    assert decoded.max() <= bounds[1]
    assert sv.from_json(m.to_json()).domain == m.domain
    for compiled in (False, True):
        out, words = np.empty(2, np.uint16), np.array([1 << 63, 3 << 62], dtype=np.uint64)
        assert m._sampler.fill(out, words, x, compiled=compiled) == 0


@pytest.mark.parametrize("count", [0, 1, 5, 7])
def test_given_words_must_be_one_per_value(count: int) -> None:
    """The compiled loop would read on behind them."""
    with pytest.raises(ValueError, match=f"words must be one for each value, got {count} for 6"):
        M.report_from(np.zeros(count, dtype=np.uint64), np.full(6, 7.0))
    with pytest.raises(TypeError, match="words must be unsigned 64-bit integers, got float64"):
        M.report_from(np.zeros(6), np.full(6, 7.0))  # type: ignore[arg-type]
    assert M.report_from(np.zeros(6, dtype=np.uint64), np.full(6, 7.0)).tolist() == [0] * 6


def test_any_finite_number_comes_round_a_circle() -> None:
    """Also where its distance from the origin is beyond doubles."""
    for origin in (-1e300, 1e300):
        clock = sv.Circle(1e292, origin=origin)
        largest = np.array([np.finfo(float).max, -np.finfo(float).max])
        assert clock.contains(clock.bring_inside(largest)).all()
        assert sv.ogpm(1.0, clock).report(largest, clip=True).shape == (2,)


@pytest.mark.parametrize("domain", [(-1e308, 1e308), (0, 1e200), (0, 1e-200), (0, 5e-324)])
def test_errors_on_domains_of_any_size(domain: tuple[float, float]) -> None:
    """Beyond doubles they are infinite or zero; nothing overflows on the way to what is not."""
    unit, m = sv.ogpm(1.0, (0, 1)), sv.ogpm(1.0, domain)
    half = Fraction(domain[1]) / 2 - Fraction(domain[0]) / 2
    for loss, k in (("l1", 1), ("l2", 2), (3, 3)):
        exact = Fraction(unit.worst_error(loss)) * (2 * half) ** k
        expected = float(exact) if exact < 10**308 else math.inf
        assert m.worst_error(loss) == pytest.approx(expected, rel=1e-12, abs=5e-324)
    assert m.bias(domain[0]) == pytest.approx(float(Fraction(float(unit.bias(0.0))) * 2 * half), rel=1e-12)
    both = sv.survey(1.0, [domain, (0, 1)])
    assert both.considered == sv.survey(1.0, [(0, 1), (0, 1)]).considered


def test_cells_and_seeds() -> None:
    with pytest.raises(TypeError, match="cells must not be a masked array"):
        M.decode(np.ma.array([1, 2], mask=[False, True]))
    with pytest.raises(ValueError, match="rng must not be a negative seed, got rng=-1"):
        M.report(1.0, rng=-1)
    for nothing in (None, 5, [1]):
        with pytest.raises(TypeError, match="mechanism must be a mechanism or a survey"):
            sv.audit(nothing)  # type: ignore[arg-type]
