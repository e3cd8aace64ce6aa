"""True and False as values: 1 and 0 for numbers, and for options where both are; nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.errors import DataError

NUMBER = sv.pm(1.0, (0, 10))
OPTIONS = sv.choice(1.0, [0, 1])
BACKWARDS = sv.choice(1.0, [1, 0])
TRUTHS, NULLS = [True, False, True, True], [True, None, False, True]
COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "numpy": np.array,
    "pandas": pd.Series,
    "pandas with NA": lambda values: pd.Series(values, dtype="boolean"),
    "pandas on arrow": lambda values: pd.Series(values, dtype="bool[pyarrow]"),
    "polars": pl.Series,
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "duckdb": lambda values: duckdb.connect().from_arrow(pa.table({"x": pa.array(values)})),
}
TABLES: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": lambda values: pd.DataFrame({"x": pd.Series(values, dtype="boolean")}),
    "polars": lambda values: pl.DataFrame({"x": values}),
    "pyarrow": lambda values: pa.table({"x": values}),
}


@pytest.mark.parametrize("m", [NUMBER, OPTIONS, BACKWARDS], ids=["number", "options", "backwards"])
@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_columns(make: Callable[[list[Any]], Any], m: sv.Reporter) -> None:
    assert np.array_equal(m.report(make(TRUTHS), rng=1), m.report([1, 0, 1, 1], rng=1))
    drawn = [m.report(values, missing="uniform", rng=1) for values in (make(NULLS), [1, None, 0, 1])]
    assert np.array_equal(*drawn)
    with pytest.raises(DataError, match=r"1 of 4 values are missing .*, the first at index 1"):
        m.report(make(NULLS))


@pytest.mark.parametrize("m", [NUMBER, OPTIONS], ids=["number", "options"])
@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_tables(make: Callable[[list[Any]], Any], m: sv.Reporter) -> None:
    drawn = [bulk.report(make(values), {"x": m}, missing="keep") for values in (NULLS, [1, None, 0, 1])]
    assert [table.column("x").null_count for table in map(pa.table, drawn)] == [1, 1]
    with pytest.raises(TypeError, match="column 'x' must be texts or whole numbers, got bool"):
        bulk.report(make(TRUTHS), {"x": sv.choice(1.0, ["no", "yes"])})
    with pytest.raises(TypeError, match="got bool"):
        bulk.report(make(TRUTHS), {"x": sv.place(1.0, radius=1.0)})


def test_one_value_and_several_items() -> None:
    for truth in (True, np.True_, np.array(True)):
        assert NUMBER.report(truth, rng=1) == NUMBER.report(1, rng=1)
        assert OPTIONS.report(truth, rng=1) == OPTIONS.report(1, rng=1)
    assert NUMBER.report([True, 0.5, None], missing=2.0).shape == (3,)
    several, whole = sv.any_of(1.0, ["news", "games"]), [[1, 0], [0, 0]]
    frame = pd.DataFrame({"news": [True, False], "games": [False, False]})
    for values in (frame, frame.to_dict("list"), np.array(whole, dtype=bool), pl.from_pandas(frame)):
        assert np.array_equal(several.report(values, rng=1), several.report(whole, rng=1))
    assert sv.central.mean([True, False] * 50, 1.0, (0, 1), rng=1).value == pytest.approx(0.5, abs=0.1)


def test_what_they_are_not() -> None:
    for options in (["no", "yes"], ["0", "1"], [1, 2, 3]):
        m = sv.choice(1.0, options)
        for values in ([True, False], np.array([True]), pd.Series([True, None], dtype="boolean")[:1]):
            with pytest.raises(TypeError, match="values must be options, got bool"):
                m.report(values)
    with pytest.raises(DataError, match="1 of 2 values are outside"):
        sv.pm(1.0, (1, 5)).report([True, False])
    for cells in ([True], np.array([True]), pa.array([True])):
        with pytest.raises(TypeError, match="cells must be integers"):
            sv.Tally(NUMBER, cells)
    with pytest.raises(TypeError, match="epsilon must be a real number, got epsilon=True"):
        sv.pm(True)
    with pytest.raises(TypeError, match="p must be a real number"):
        sv.quantile(sv.Tally(NUMBER, [1]), True)
