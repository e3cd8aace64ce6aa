"""sv.central.mean, sum and count: what comes in, what is refused, what is released."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.central.grid import STEPS, Grid
from sottovoce.central.noise.by_name import NAMES, noise_of
from sottovoce.central.noise.exact_draws import ExactDraws
from sottovoce.central.noise.hourglass import sigma2
from sottovoce.central.noise.noise import add_noise
from sottovoce.central.totals import Totals
from sottovoce.errors import DataError, NoDataError

WAITS = np.random.default_rng(0).uniform(0, 60, 5000)
TIGHT: dict[str, Any] = {"epsilon": 16.0, "domain": (0, 60), "rng": 1}


def test_positions_are_integers_in_range_whatever_the_bounds() -> None:
    for domain in [(0, 60), (-1e308, 1e308), (0, 5e-324), (1e15, 1e15 + 1), (-3.3, 0.1), (-1e-300, 1e-300)]:
        for steps in (1, 3, 1000, STEPS):
            grid = Grid.of(domain, steps)
            low, high = domain
            n, total = grid.total(np.array([low, high, high, np.nextafter(low, high)]))
            assert n == 4
            assert 2 * steps <= total <= 4 * steps


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_a_narrow_number_just_beyond_a_bound_is_outside(dtype: Any) -> None:
    """0.1 as a float32 is larger than 0.1, but numpy compares it with a Python float in float32, where both
    are equal. Taken as inside it lay 64 steps beyond the last position, and ε did not hold."""
    for bound in (0.1, 0.3, 0.7, 1e-3, 1.1, 12.3):
        x = np.array([bound], dtype=dtype)
        for domain, outside in (
            ((-bound, bound), x[0] > np.float64(bound)),
            ((bound, 20), x[0] < np.float64(bound)),
        ):
            assert 0 <= Grid.of(domain, clip=True).total(x)[1] <= STEPS
            if outside:
                with pytest.raises(DataError, match="1 of 1 values are outside"):
                    Grid.of(domain).total(x)
            else:
                assert 0 <= Grid.of(domain).total(x)[1] <= STEPS


def test_whole_numbers_beyond_2_to_53_stay_on_the_grid() -> None:
    top = float(2**53)
    for dtype in (np.int64, np.uint64):
        x = np.array([2**53 - 1, 2**53, 2**53 + 1], dtype=dtype)
        assert 0 <= Grid.of((0, top)).total(x)[1] <= 3 * STEPS


def test_sums_are_exact_at_any_size() -> None:
    """The sum of a hundred thousand positions, against Python's integers."""
    x = np.random.default_rng(1).uniform(-2, 5, 100_000)
    grid = Grid.of((-2, 5))
    one_by_one = sum(int(np.rint((float(v) + 2) * (1 / 7.0 * STEPS))) for v in x)
    assert grid.total(x) == (len(x), one_by_one)
    assert grid.total(iter([x[:7], x[7:70_000], x[70_000:]])) == (len(x), one_by_one)


def test_rounding_to_the_grid_moves_a_mean_by_at_most_half_a_step() -> None:
    for steps in (1, 10, 1000, STEPS):
        n, total = Grid.of((0, 60), steps).total(WAITS)
        assert abs(total * 60 / steps / n - WAITS.mean()) <= 30 / steps + 1e-12


@pytest.mark.parametrize("mechanism", NAMES)
def test_a_mean_is_close_and_says_how_close(mechanism: str) -> None:
    found = sv.central.mean(WAITS, mechanism=mechanism, **TIGHT)
    assert abs(found.value - WAITS.mean()) < 0.05
    assert 0 <= found.low <= found.value <= found.high <= 60
    assert abs(found.count - 5000) < 5
    assert 0 < found.error < 0.02
    assert (found.what, found.method, found.epsilon) == ("mean", mechanism, 16.0)
    assert isinstance(found, sv.Estimate)
    assert found.n == round(found.count)
    assert (found.estimand, found.notes) == ("respondents", ())


@pytest.mark.parametrize(
    "values",
    [
        WAITS.tolist(),
        tuple(WAITS),
        pd.Series(WAITS),
        pd.Series(WAITS, dtype="Float64"),
        pd.Series(WAITS, dtype="double[pyarrow]"),
        pl.Series(WAITS),
        pa.array(WAITS),
        pa.chunked_array([WAITS[:100], WAITS[100:]]),
        WAITS[::-1],
    ],
    ids=lambda values: f"{type(values).__module__}.{type(values).__name__}",
)
def test_every_kind_of_column_gives_the_same_release(values: Any) -> None:
    assert sv.central.mean(values, **TIGHT) == sv.central.mean(WAITS, **TIGHT)


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame({"w": WAITS}), pl.DataFrame({"w": WAITS}), pa.table({"w": WAITS}), {"w": WAITS}],
    ids=["pandas", "polars", "arrow", "dict"],
)
def test_tables(table: Any) -> None:
    assert sv.central.mean(table, column="w", **TIGHT) == sv.central.mean(WAITS, **TIGHT)
    with pytest.raises(TypeError, match="which column"):
        sv.central.mean(table, **TIGHT)
    with pytest.raises(ValueError, match="no column 'x'"):
        sv.central.mean(table, column="x", **TIGHT)


def test_streams_of_batches_and_readers() -> None:
    table = pa.table({"w": WAITS})
    expected = sv.central.mean(WAITS, **TIGHT)
    assert sv.central.mean(iter(table.to_batches(max_chunksize=77)), column="w", **TIGHT) == expected
    assert sv.central.mean(table.to_reader(max_chunksize=77), column="w", **TIGHT) == expected
    assert sv.central.mean((WAITS[i : i + 10] for i in range(0, 5000, 10)), **TIGHT) == expected


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.float16])
def test_number_types(dtype: Any) -> None:
    x = np.arange(60).astype(dtype)
    assert Grid.of((0, 60), 60).total(x) == (60, 1770)


@pytest.mark.parametrize("mechanism", [name for name in NAMES if name != "swap"])
def test_empty_data_give_an_answer_within_the_bounds(mechanism: str) -> None:
    """The number of people is private: nobody must not look different from a few."""
    for seed in range(50):
        found = sv.central.mean([], 1.0, (-5, 3), mechanism, rng=seed)
        assert -5 <= found.low <= found.value <= found.high <= 3
        assert math.isfinite(found.error)


def test_swap_needs_people_because_their_number_is_public() -> None:
    with pytest.raises(NoDataError):
        sv.central.mean([], 1.0, (0, 1), "swap")
    with pytest.raises(ValueError, match="'drop' with mechanism='swap'"):
        sv.central.mean([0.5], 1.0, (0, 1), "swap", missing="drop")
    assert sv.central.mean([0.5] * 7, 1.0, (0, 1), "swap").count == 7


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"domain": (60, 0)}, ValueError, "low < high, got domain="),
        ({"domain": (0, math.inf)}, ValueError, "domain must be two finite numbers"),
        ({"domain": (math.nan, 1)}, ValueError, "domain must be two finite numbers"),
        ({"domain": (5, 5)}, ValueError, "low < high"),
        ({"domain": 60}, TypeError, "domain must be"),
        ({"domain": sv.Circle(24)}, TypeError, "domain must be"),
        ({"epsilon": 0}, ValueError, "epsilon must be positive"),
        ({"epsilon": -1.0}, ValueError, "epsilon must be positive"),
        ({"epsilon": math.nan}, ValueError, "epsilon must be finite"),
        ({"epsilon": 17}, ValueError, "epsilon must be between"),
        ({"mechanism": "gauss"}, ValueError, "mechanism must be one of 'hourglass'"),
        ({"confidence": 1.0}, ValueError, "confidence"),
        ({"grid": 0}, ValueError, "grid must be between"),
        ({"grid": 1.5}, TypeError, "grid must be a whole number"),
        ({"clip": "yes"}, TypeError, "clip must be"),
        ({"missing": "ignore"}, ValueError, "missing must be"),
        ({"missing": "uniform"}, ValueError, "missing must be"),
        ({"outside": "drop"}, ValueError, "outside must be"),
        ({"outside": "missing", "clip": True}, ValueError, "clip=True means outside='clip'"),
        ({"missing": 99}, ValueError, "missing must lie in the domain"),
        ({"rng": "7"}, TypeError, "rng must be"),
        ({"by": ["a"]}, ValueError, "by and groups go together"),
        ({"values": 5.0}, ValueError, "one-dimensional"),
        ({"values": [[1.0, 2.0]]}, ValueError, "one-dimensional"),
        ({"values": ["a"]}, TypeError, "real numbers, got text"),
        ({"values": "12"}, TypeError, "one-dimensional numbers, got str"),
        ({"values": None}, TypeError, "one-dimensional numbers, got NoneType"),
        ({"values": [1j]}, TypeError, "complex"),
        ({"values": [[1], [1, 2]]}, TypeError, "ragged"),
        ({"values": np.ma.array([1.0])}, TypeError, "masked"),
    ],
)
def test_bad_input_is_refused_in_words(change: dict[str, Any], error: type[Exception], words: str) -> None:
    arguments = {"values": [1.0, 2.0], "epsilon": 1.0, "domain": (0, 60), **change}
    account = sv.central.Accountant(1.0)
    with pytest.raises(error, match=words):
        sv.central.mean(**arguments, accountant=account)
    assert account.remaining == 1.0


def test_bad_data_are_described_by_count_and_first_index_only() -> None:
    x = np.full(100_000, 5.0)
    x[70_001], x[90_000] = 1234.5, -777.25
    with pytest.raises(
        DataError, match=r"2 of 100000 values are outside \[0\.0, 60\.0\], the first at index 70001"
    ) as caught:
        sv.central.mean(x, 1.0, (0, 60))
    assert "1234" not in str(caught.value)
    assert "777" not in str(caught.value)
    x[80_000] = np.nan
    with pytest.raises(DataError, match=r"1 of 100000 values are missing .*, the first at index 80000"):
        sv.central.mean(x, 1.0, (0, 60))
    x[60_000] = np.inf  # no number either
    with pytest.raises(
        DataError, match=r"2 of 100000 values are missing .*, the first at index 60000"
    ) as caught:
        sv.central.mean(x, 1.0, (0, 60), clip=True)
    assert (caught.value.code, caught.value.argument) == ("missing", "values")
    with pytest.raises(DataError, match="2 of 100000 values are outside") as caught:
        sv.central.mean(x, 1.0, (0, 60), missing="drop")
    assert (caught.value.code, caught.value.argument) == ("outside", "values")


def test_clip_and_missing_do_what_they_say() -> None:
    grid = Grid.of((0, 10), 10, clip=True, missing="drop")
    assert grid.total([-5.0, 3.0, np.nan, 99.0, np.inf, -np.inf]) == (3, 0 + 3 + 10)
    grid = Grid.of((0, 10), 10, outside="missing", missing="drop")
    assert grid.total([-5.0, 3.0, np.nan, 99.0, np.inf, -np.inf]) == (1, 3)
    grid = Grid.of((0, 10), 10, outside="missing", missing=4)
    assert grid.total([-5.0, 3.0, np.nan, 99.0, np.inf, -np.inf]) == (6, 3 + 5 * 4)
    assert Grid.of((0, 10), 10, missing=4).total([1.0, np.nan]) == (2, 5)
    assert Grid.of((0, 10), 10, missing="drop").total(pa.array([1, None, 3])) == (2, 4)
    assert Grid.of((0, 10), 10).total(pa.array([Decimal("1"), Decimal("3")])) == (2, 4)
    assert Grid.of((0, 10), 10, missing="drop").total(pd.Series([1, None], dtype="int64[pyarrow]")) == (1, 1)
    assert Grid.of((0, 10), 10, missing="drop").total(pl.Series([1, None, 3])) == (2, 4)
    assert Grid.of((0, 10), 10, missing="drop").total(pd.Series([1, None, 3], dtype="Int64")) == (2, 4)


def test_a_seed_repeats_a_release_and_its_absence_does_not() -> None:
    assert sv.central.mean(WAITS, **TIGHT) == sv.central.mean(WAITS, **TIGHT)
    secure = {sv.central.mean(WAITS, 1.0, (0, 60)).value for _ in range(5)}
    assert len(secure) == 5


def test_sum_uses_the_bound_farther_from_zero() -> None:
    x = np.linspace(-3, -1, 1001)
    found = sv.central.sum(x, 1.0, (-3, 0), rng=1)
    assert found.error == pytest.approx(3 * math.sqrt(sigma2(1.0)), rel=1e-6)
    assert abs(found.value - x.sum()) < 40
    assert found.low < found.value < found.high
    assert found.count is None


def test_sum_and_independent_refuse_bounds_too_far_from_zero_for_the_grid() -> None:
    far = (1e15, 1e15 + 1)
    for release in (sv.central.sum, lambda *a, **k: sv.central.mean(*a, mechanism="independent", **k)):
        with pytest.raises(ValueError, match="grid must be at most about"):
            release([1e15], 1.0, far)
        release([1e15], 1.0, far, grid=2)
    assert sv.central.mean([1e15], 1.0, far).low >= 1e15  # the others do not care


@pytest.mark.parametrize(("release", "truth"), [("sum", 150.0), ("count", 300.0)])
def test_sum_and_count_cover(release: str, truth: float) -> None:
    """Four thousand groups that hold alike, in one release."""
    groups, people = 4000, 300
    keys = np.repeat(np.arange(groups), people)
    arguments = {"by": keys, "groups": range(groups), "rng": 7}
    if release == "sum":
        found = sv.central.sum(np.full(keys.size, 0.5), 1.0, (-1, 1), **arguments)
    else:
        found = sv.central.count(keys, 1.0, **arguments)
    coverage = np.mean((found.low <= truth) & (truth <= found.high))
    assert coverage >= 0.95 - 4.8 * math.sqrt(0.95 * 0.05 / groups)
    assert coverage < 0.99  # a geometric number jumps over the nominal value, but not far


def test_count_counts_rows_of_anything() -> None:
    for rows in (["a"] * 500, np.zeros((500, 3)), pd.DataFrame({"x": range(500)}), {"x": [0] * 500}):
        found = sv.central.count(rows, 16.0, rng=1)
        assert found.value == round(found.value)
        assert abs(found.value - 500) <= 1
        assert found.method == "geometric"
    assert abs(sv.central.count(iter([[1, 2], [3]]), 16.0, rng=1).value - 3) <= 1
    with pytest.raises(TypeError, match="sequence or a table"):
        sv.central.count(5, 1.0)


def test_more_people_than_64_bits_of_positions() -> None:
    """Thirty thousand million people at the top of the range: the sum passes 2^64 and stays exact."""

    def crowd() -> Iterator[np.ndarray]:
        yield np.ones(10)

    grid = Grid.of((0, 1))
    people, total = grid.total(crowd())
    factor = 3 * 10**9
    totals = Totals(np.array([people * factor], dtype=object), np.array([total * factor], dtype=object))
    assert int(totals.positions[0]) == 10 * factor * STEPS > 2**64
    noise = noise_of("hourglass", 1.0, grid)
    draws = ExactDraws.using(1)
    sums, sizes = add_noise(totals.positions, totals.people * STEPS, noise, draws)
    assert abs(Fraction(int(sums[0]), int(sizes[0])) - 1) < Fraction(100, 10 * factor)


def test_wrapping_around_is_a_function_of_the_exact_release() -> None:
    """On int64 the noisy sum is the exact one modulo 2^64: no new information, so no loss of privacy."""
    grid = Grid.of((0, 1))
    noise = noise_of("hourglass", 1.0, grid)
    wide = np.array([2**63 - 5, -(2**63) + 5, 3], dtype=object)
    exact, _ = add_noise(wide, wide, noise, ExactDraws.using(3))
    small, _ = add_noise(wide.astype(np.int64), wide.astype(np.int64), noise, ExactDraws.using(3))
    assert [(int(z) - int(w)) % 2**64 for z, w in zip(exact, small, strict=True)] == [0, 0, 0]
