"""A column of polars, pandas, pyarrow or DuckDB goes in where an array does; its nulls follow the rules."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal as D
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.errors import DataError

M = sv.pm(1.0, (0, 10))
CHOICE = sv.choice(1.0, ["a", "b", "c"])


def of_duckdb(values: list[Any]) -> Any:
    table = pa.table({"x": pa.array(values)})
    return duckdb.connect().from_arrow(table)


MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "pandas": pd.Series,
    "pandas with NA": lambda values: pd.Series(values).convert_dtypes(),
    "pandas on arrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.Series,
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda values: pa.chunked_array([values[:2], values[2:]]),
    "duckdb": of_duckdb,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_columns_are_arrays(make: Callable[[list[Any]], Any]) -> None:
    numbers, cells, texts = [1.5, 2.5, 9.0, 0.0], [1, 5, 2, 1], ["a", "c", "b", "a"]
    assert np.array_equal(M.report(make(numbers), rng=1), M.report(numbers, rng=1))
    assert np.array_equal(CHOICE.report(make(texts), rng=1), CHOICE.report(texts, rng=1))
    tally = sv.Tally(M, make(cells))
    assert tally == sv.Tally(M, cells)
    assert sv.Tally.from_counts(CHOICE, make([3, 2, 1])) == sv.Tally.from_counts(CHOICE, [3, 2, 1])
    assert np.array_equal(M.decode(make(cells)), M.decode(cells))
    probabilities = [sv.distribution(one, 4).probabilities for one in (tally, sv.Tally(M, cells))]
    assert np.array_equal(*probabilities)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nulls_follow_the_rules(make: Callable[[list[Any]], Any]) -> None:
    with pytest.raises(DataError, match=r"^cells must not be null: 1 of 4 are$"):
        sv.Tally(M, make([1, None, 271828, 4]))
    for mechanism, values in ((M, [1.5, None, 2.5, 4.0]), (CHOICE, ["a", None, "b", "c"])):
        with pytest.raises(DataError, match=r"1 of 4 values are missing .*, the first at index 1"):
            mechanism.report(make(values))
        drawn = [mechanism.report(one, missing="uniform", rng=1) for one in (make(values), values)]
        assert np.array_equal(*drawn)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([D("1.5"), None, D("2.5")]),
        pa.chunked_array([[D("1.5")], [None, D("2.5")]]),
        pl.Series([D("1.5"), None, D("2.5")]),
        pd.Series([D("1.5"), None, D("2.5")], dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
    ],
    ids=["pyarrow array", "pyarrow chunks", "polars", "pandas on arrow"],
)
def test_decimals_of_a_database_are_numbers(column: Any) -> None:
    values = [1.5, None, 2.5]
    drawn = [M.report(one, missing="uniform", rng=1) for one in (column, values)]
    assert np.array_equal(*drawn)


def test_a_table_of_several_columns_is_none() -> None:
    with pytest.raises(TypeError, match="cells must be one column, got a table"):
        sv.Tally(M, duckdb.sql("select 1 as x, 2 as y"))
    assert sv.Tally(M, duckdb.sql("select 1 as x union all select 2")).n == 2
    assert M.report(duckdb.sql("select 1.5 as x"), rng=1) == M.report([1.5], rng=1)  # a decimal
