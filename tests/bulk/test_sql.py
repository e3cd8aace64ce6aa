"""Sufficient statistics are one GROUP BY anywhere: DuckDB and PostgreSQL give what `bulk.tally` gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.reporters.composites.survey import Survey
from tests.collector.cluster import Cluster

M = sv.ogpm(1.0, (0, 10), cells=512)
QUERY = "SELECT wait AS cell, COUNT(*) AS count FROM reports GROUP BY wait"
BY_GROUP = "SELECT country, wait AS cell, COUNT(*) AS count FROM reports GROUP BY country, wait"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(9)
    table = pa.table(
        {"wait": rng.uniform(0, 10, 4000), "country": np.array(["it", "fr"])[rng.integers(0, 2, 4000)]}
    )
    path = tmp_path_factory.mktemp("sql") / "reports.parquet"
    bulk.report(table, {"wait": M}, path, keep=["country"])
    return path


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    cluster = Cluster()
    yield cluster.database()
    cluster.remove()


def test_duckdb(reports: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW reports AS SELECT * FROM read_parquet('{reports}')")
        pairs = connection.execute(QUERY).fetchall()
        table = connection.sql(BY_GROUP).to_arrow_table()
    assert sv.Tally.from_pairs(M, pairs) == bulk.tally(reports, "wait")
    assert bulk.GroupedTally.from_table(M, ["country"], table) == bulk.tally(reports, "wait", by="country")


def test_the_lists_of_a_survey_are_unfolded(tmp_path: Path) -> None:
    rng = np.random.default_rng(10)
    survey = Survey(2.0, {"wait": M, "late": M, "walk": sv.duchi(1.0, (0, 10))}, 2)
    table = pa.table({name: rng.uniform(0, 10, 1000) for name in survey.items})
    path = tmp_path / "reports.parquet"
    bulk.report(table, {"answers": survey}, path)
    unfolded = f"SELECT UNNEST(answers) AS cell FROM read_parquet('{path}')"
    with duckdb.connect() as connection:
        pairs = connection.execute(f"SELECT cell, COUNT(*) FROM ({unfolded}) GROUP BY cell").fetchall()
    assert sv.Tally.from_pairs(survey, pairs) == bulk.tally(path)


def test_postgresql(reports: Path, database: str) -> None:
    rows = pa.parquet.read_table(reports).to_pylist()
    with psycopg.connect(database.replace("postgresql+psycopg://", "postgresql://")) as connection:
        connection.execute("CREATE TEMP TABLE reports (country text, wait integer)")
        with connection.cursor() as cursor:
            with cursor.copy("COPY reports FROM STDIN") as copy:
                for row in rows:
                    copy.write_row((row["country"], row["wait"]))
            pairs = cursor.execute(QUERY).fetchall()
            grouped = cursor.execute(BY_GROUP).fetchall()
    assert sv.Tally.from_pairs(M, pairs) == bulk.tally(reports, "wait")
    table = pa.table(dict(zip(("country", "cell", "count"), zip(*grouped, strict=True), strict=True)))
    assert bulk.GroupedTally.from_table(M, ["country"], table) == bulk.tally(reports, "wait", by="country")
