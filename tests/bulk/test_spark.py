"""The bulk verbs on a real Spark session: the same integers, one report per person, clear refusals."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.bulk import spark
from sottovoce.errors import DataError, MissingExtra
from sottovoce.reporters.composites.survey import Survey
from tests.bulk.daemon import PRELOADED

ROOT = Path(__file__).parents[2]
M = sv.pm(1.0, (0, 10))
N = 3000


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    # Workers use the plain loops: compiling in every one of them would take longer than the tests.
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SOTTOVOCE_PLAIN", "1")
        patched.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        settings = {
            **PRELOADED,
            "spark.sql.shuffle.partitions": "2",
            "spark.log.level": "OFF",
            "spark.ui.enabled": "false",
        }
        made = spark.session(2, retries=3, **settings)
        yield made
        made.stop()


@pytest.fixture(scope="module")
def people(session: Any) -> Any:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "id": np.arange(N) + 7,
            "name": [f"person {i}" for i in range(N)],
            "wait": rng.uniform(0, 10, N),
            "country": np.where(np.arange(N) < 10, "li", np.array(["it", "fr"])[rng.integers(0, 2, N)]),
        }
    )
    return session.createDataFrame(frame).cache()


def cells(df: Any, key: str = "id") -> list[tuple[Any, int]]:
    return sorted((row[key], row["wait"]) for row in df.collect())


def test_keyed_reports_do_not_depend_on_how_spark_computes(people: Any) -> None:
    """Two actions and two partitionings of one plan give every person the same report."""
    reports = spark.report(people.repartition(3), "wait", M, row_id="id", keep=["id"])
    first = cells(reports)
    assert cells(reports) == first
    assert cells(reports.repartition(5).where("id > 0")) == first
    assert len(first) == N
    other = cells(spark.report(people, "wait", M, row_id="id", keep=["id"]))
    assert sum(a != b for a, b in zip(first, other, strict=True)) > N / 2  # a new call has a new secret
    mean = M.decode([cell for _, cell in first]).mean()
    assert abs(mean - 5) < 6 * np.sqrt((M.worst_variance() + 100 / 12) / N)


def test_a_killed_worker_is_retried_with_the_same_reports(people: Any, tmp_path: Path) -> None:
    """kill −9 of a Python worker after its reports were computed; the cluster has a file of its own."""
    from pyspark import TaskContext

    attempts = str(tmp_path)

    def die_once(batches: Any) -> Any:
        import os
        import pathlib
        import signal

        yield from batches
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 0:
            pathlib.Path(attempts, str(context.attemptNumber())).touch()
            if context.attemptNumber() == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    reports = spark.report(people, "wait", M, row_id="id", keep=["id"])
    before = cells(reports)
    assert cells(reports.mapInArrow(die_once, reports.schema)) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]


def test_written_reports_are_read_anywhere(people: Any, tmp_path: Path) -> None:
    target = str(tmp_path / "reports")
    reports = spark.report(people, "wait", M, output=target, keep=["country"])
    assert reports.columns == ["country", "wait"]
    assert str(reports.schema["wait"].dataType) == "IntegerType()"
    t = spark.tally(reports, "wait")
    assert t.n == N
    assert t == spark.tally(reports.repartition(4), "wait") == bulk.tally(target, "wait")
    grouped = spark.tally(reports, "wait", by="country")
    assert grouped == bulk.tally(target, "wait", by="country")
    assert {key: part.n for key, part in grouped.items()}["li",] == 10
    with pytest.raises(FileExistsError, match="written once"):
        spark.report(people, "wait", M, output=target)


def test_one_machine_reports_are_tallied_on_spark(people: Any, session: Any, tmp_path: Path) -> None:
    table = bulk.report(people.toPandas(), {"wait": M}, keep=["country"])
    bulk.report(people.toPandas(), {"wait": M}, tmp_path / "r.parquet", keep=["country"])
    from_spark = session.read.parquet(str(tmp_path / "r.parquet"))
    assert spark.tally(from_spark, "wait", mechanism=M) == bulk.tally(tmp_path / "r.parquet", "wait")
    counted = session.createDataFrame(table.to_pandas().astype({"wait": "int64"}))
    assert spark.tally(counted, "wait", by=["country"], mechanism=M) == bulk.tally(
        table, "wait", by=["country"]
    )


def test_spark_sql_is_enough(people: Any, session: Any) -> None:
    reports = spark.report(people, "wait", M, row_id="id", keep=["country"])
    reports.createOrReplaceTempView("reports")
    rows = session.sql("SELECT wait AS cell, COUNT(*) AS count FROM reports GROUP BY wait").collect()
    assert sv.Tally.from_pairs(M, [(row["cell"], row["count"]) for row in rows]) == spark.tally(
        reports, "wait"
    )
    query = "SELECT country, wait AS cell, COUNT(*) AS count FROM reports GROUP BY country, wait"
    grouped = bulk.GroupedTally.from_table(M, ["country"], session.sql(query).toArrow())
    assert grouped == spark.tally(reports, "wait", by="country")


def test_mixed_digests_are_refused(people: Any, session: Any, tmp_path: Path) -> None:
    """Spark keeps the first label of a union and of several folders; the tally looks behind it."""
    other = sv.pm(2.0, (0, 10))
    for name, mechanism in (("a", M), ("b", other)):
        bulk.report(people.toPandas(), {"wait": mechanism}, tmp_path / f"{name}.parquet")
    one = session.read.parquet(str(tmp_path / "a.parquet"))
    assert spark.tally(one, "wait") == bulk.tally(tmp_path / "a.parquet", "wait")  # needs no mechanism=
    with pytest.raises(DataError, match="another mechanism"):
        spark.tally(session.read.parquet(str(tmp_path)), "wait")
    with pytest.raises(DataError, match="another mechanism"):
        spark.tally(one, "wait", mechanism=other)
    first, second = (spark.report(people, "wait", m, row_id="id") for m in (M, other))
    assert spark.tally(first.union(first), "wait").n == 2 * N
    with pytest.raises(DataError, match="another mechanism"):
        spark.tally(first.union(second), "wait")
    with pytest.raises(DataError, match="another mechanism"):
        spark.tally(first.union(second.repartition(2)).where("wait > 3"), "wait")
    folders = [str(tmp_path / f"spark-{i}") for i in range(2)]
    for folder, mechanism in zip(folders, (M, other), strict=True):
        spark.report(people, "wait", mechanism, output=folder)
    with pytest.raises(DataError, match="another mechanism"):
        spark.tally(session.read.parquet(*folders), "wait")


def test_tasks_draw_independently(session: Any, tmp_path: Path) -> None:
    """Workers are forked from one process: a stream that went on in both would repeat itself."""
    same = session.range(0, 2000, numPartitions=4).selectExpr("id", "5.0D AS wait")
    reports = spark.report(same, "wait", M, output=str(tmp_path / "r"), keep=["id"])
    found = np.array([cell for _, cell in cells(reports)]).reshape(4, 500)
    for i in range(4):
        for j in range(i):
            shared = (found[i] == found[j]).sum()
            assert shared < 25  # by chance each pair agrees with probability below 1/100


def test_reports_have_the_narrowest_type(people: Any) -> None:
    kinds = {sv.duchi(1.0, (0, 10)): "ByteType()", sv.pm(1.0, (0, 10), cells=1024): "ShortType()"}
    for mechanism, kind in kinds.items():
        made = spark.report(people, "wait", mechanism, row_id="id")
        assert str(made.schema["wait"].dataType) == kind


def test_draws_differ_between_values_columns_and_mechanisms() -> None:
    """The keyed function: nothing is shared between inputs that differ in any part."""
    from sottovoce.bulk.keyed_draws import KeyedDraws

    rows, secret = np.arange(4000), bytes(range(32))
    x = np.full(4000, 5.0)

    def words(column: str, mechanism: Any, values: Any, rows: Any = rows, secret: bytes = secret) -> Any:
        return KeyedDraws(mechanism, secret, column, pa.array(rows))._words(b"\0", values)

    base = words("wait", M, x)
    assert np.array_equal(base, words("wait", M, x))
    assert len(np.unique(base)) == 8000
    for other in (
        words("age", M, x),
        words("wait", sv.pm(2.0, (0, 10)), x),
        words("wait", M, np.nextafter(x, 6)),
        words("wait", M, x, rows + 4000),
        words("wait", M, x, secret=bytes(32)),
        words("wait", M, x, np.array([f"r{i}" for i in rows], dtype=object)),
    ):
        assert not np.isin(other, base).any()
    ones = np.array([np.count_nonzero(base[:, 0] >> np.uint64(b) & np.uint64(1)) for b in range(64)])
    assert (np.abs(ones - 2000) < 6.1 * np.sqrt(4000) / 2).all()


def test_text_ids_and_mixtures(people: Any) -> None:
    m = sv.two_scale(1.0, (0, 10))
    reports = spark.report(people, "wait", m, row_id="name", keep=["name"])
    assert cells(reports, "name") == cells(reports.repartition(3), "name")
    assert spark.tally(reports, "wait").n == N


def test_surveys(people: Any, session: Any, tmp_path: Path) -> None:
    """A column per question in, a list of cells out; the same counts as on one machine."""
    survey = Survey(2.0, {"wait": M, "late": sv.pm(1.0, (0, 20)), "start": sv.duchi(1.0, (0, 10))}, 2)
    asked = people.selectExpr("id", "country", "wait", "wait * 2 AS late", "wait AS start")
    reports = spark.report(asked, "answers", survey, output=str(tmp_path / "r"), keep=["country"])
    assert reports.schema["answers"].dataType.simpleString() == "array<int>"
    t = spark.tally(reports, "answers")
    assert (t.n, t == bulk.tally(tmp_path / "r")) == (N, True)
    assert sum(t[name].n for name in survey.items) == 2 * N
    grouped = spark.tally(reports, "answers", by="country")
    assert grouped == bulk.tally(tmp_path / "r", by="country")
    assert grouped.n == N
    with pytest.raises(ValueError, match="row_id= draws reports of one number"):
        spark.report(asked, "answers", survey, row_id="id")
    narrow = Survey(2.0, {"wait": M, "late": M}, 2)
    with pytest.raises(DataError, match=r"column 'late' in partition \d: \d+ of \d+ are outside"):
        spark.report(asked, "answers", narrow, output=str(tmp_path / "s"))


def test_choices_places_and_pairs(people: Any, tmp_path: Path) -> None:
    """Texts, lists of two and two columns in; keyed or written once; the same counts as on one machine."""
    way = sv.choice(4.0, ["it", "fr", "li"])
    home = sv.place(4.0, box=((0, 10), (0, 20)), points=16)
    both = sv.pair(4.0, {"wait": (0, 10), "late": (0, 20)})
    asked = people.selectExpr(
        "id", "nullif(country, 'li') AS way", "array(wait, 20 - 2 * wait) AS home", "wait", "2 * wait AS late"
    )
    for column, m in (("way", way), ("home", home)):
        reports = spark.report(asked, column, m, row_id="id", keep=["id"], missing="uniform")
        first = sorted(map(tuple, reports.collect()))
        assert sorted(map(tuple, reports.repartition(5).collect())) == first  # stand-ins too
        assert sv.Tally(m, [cell for _, cell in first]).n == N
        assert reports.schema[column].metadata  # says which mechanism
    t = spark.tally(spark.report(asked, "both", both, output=str(tmp_path / "both")), "both")
    assert (t, t.n) == (bulk.tally(tmp_path / "both"), N)
    assert sv.correlation(t, confidence=1 - 1e-6).high == 1.0
    with pytest.raises(TypeError, match="column 'way' must be lists of 2 numbers, got string"):
        spark.report(asked, "way", home, row_id="id")
    with pytest.raises(
        DataError, match=r"column 'way' in partition \d: \d+ of \d+ are outside the 2 options"
    ):
        spark.report(asked, "way", sv.choice(1.0, ["it", "no"]), output=str(tmp_path / "few"), missing="drop")


def test_the_secret_is_not_in_the_plan(people: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = bytes(range(200, 232))
    monkeypatch.setattr(spark, "new_secret", lambda: secret)
    reports = spark.report(people, "wait", M, row_id="id")
    plan = reports._jdf.queryExecution().toString()
    assert "wait" in plan
    for form in (secret.hex(), str(list(secret)), repr(secret)[2:-1]):
        assert form not in plan


def test_central_mean_is_that_of_one_machine(people: Any) -> None:
    frame = people.toPandas()
    ours = spark.central_mean(people.repartition(4), "wait", (0, 10), 1.0, rng=5)
    theirs = sv.central.mean(frame.wait.to_numpy(), 1.0, (0, 10), rng=5)
    assert ours.value == theirs.value
    keys = ["it", "fr", "nobody"]
    grouped = spark.central_mean(people, "wait", (0, 10), 1.0, by="country", groups=keys, rng=6)
    alone = sv.central.mean(frame, 1.0, (0, 10), column="wait", by="country", groups=keys, rng=6)
    for key in keys:
        assert grouped[key].value == alone[key].value
    with pytest.raises(KeyError):
        grouped["li"]  # a key that only the data has is never released


def test_estimates_per_group_are_those_of_one_machine(session: Any, tmp_path: Path) -> None:
    """Three hundred groups, one with half of all people, in parallel here and there: the same rows."""
    m = sv.pm(1.0, (0, 10), cells=256)
    rng = np.random.default_rng(8)
    town = np.where(rng.random(N) < 0.5, 0, rng.integers(0, 300, N))
    table = pa.table({"wait": rng.uniform(0, 10, N), "town": town, "day": town % 2})
    bulk.report(table, {"wait": m}, tmp_path / "r.parquet", keep=["town", "day"])
    here = bulk.estimates(tmp_path / "r.parquet", "wait", ["town", "day"], sv.mean, processes=2)
    assert here == bulk.estimates(tmp_path / "r.parquet", "wait", ["town", "day"], sv.mean)
    reports = session.read.parquet(str(tmp_path / "r.parquet")).repartition(5)
    there = spark.estimates(reports, "wait", ["town", "day"], sv.mean, mechanism=m)
    tasks = there.selectExpr("*", "spark_partition_id() AS task").collect()
    assert len({row["task"] for row in tasks}) > 4  # in parallel, small as the counts are
    rows = sorted(tuple(row)[:-1] for row in tasks)
    assert rows == [tuple(row.values()) for row in here.to_pylist()]
    grouped = bulk.tally(tmp_path / "r.parquet", "wait", by=["town", "day"])
    counted = spark.tally(reports, "wait", by=["town", "day"], mechanism=m)
    assert counted == grouped
    assert sv.compare(counted).rows == sv.compare(grouped).rows
    for row in here.to_pylist()[::37]:
        expected = sv.mean(grouped[row["town"], row["day"]])
        assert (row["n"], row["value"], row["low"], row["high"]) == (
            expected.n, expected.value, expected.low, expected.high
        )  # fmt: skip


def test_refusals(people: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"either output= .* or row_id="):
        spark.report(people, "wait", M)
    with pytest.raises(DataError, match="the data has no column 'wate'"):
        spark.report(people, "wate", M, row_id="id")
    with pytest.raises(ValueError, match="row_id must be another column"):
        spark.report(people, "wait", M, row_id="wait")
    with pytest.raises(ValueError, match="cannot be kept"):
        spark.report(people, "wait", M, row_id="id", keep=["wait"])
    with pytest.raises(TypeError, match="row_id must be a column of integers or text, got double"):
        spark.report(people.withColumn("half", people.id / 2), "wait", M, row_id="half")
    narrow = sv.pm(1.0, (0, 5))
    with pytest.raises(
        DataError,
        match=r"in partition \d: \d+ of 1500 are outside \[0\.0, 5\.0\], the first in row \d+",
    ) as refusal:
        spark.report(people, "wait", narrow, output=str(tmp_path / "r"))
    assert "Traceback" not in str(refusal.value)
    assert refusal.value.code == "outside"
    with pytest.raises(TypeError, match="column 'country' must be numeric"):
        spark.report(people, "country", M, output=str(tmp_path / "s"))
    with pytest.raises(DataError, match="pass mechanism="):
        spark.tally(people, "id")
    assert spark.report(people, "wait", narrow, row_id="id", clip=True).count() == N


def test_missing_values_and_empty_partitions(people: Any, session: Any) -> None:
    from pyspark.sql import functions

    gaps = people.withColumn(
        "wait", functions.when(functions.col("id") % 3 == 0, None).otherwise(people.wait)
    )
    kept = spark.report(gaps, "wait", M, row_id="id", missing="keep")
    assert spark.tally(kept, "wait").n == N - people.where("id % 3 = 0").count()
    assert spark.tally(spark.report(gaps, "wait", M, row_id="id", missing=5.0), "wait").n == N
    uniform = spark.report(gaps, "wait", M, row_id="id", keep=["id"], missing="uniform")
    assert cells(uniform) == cells(uniform.repartition(5))  # stand-ins are a function of the row too
    dropped = spark.report(gaps, "wait", M, row_id="id", keep=["id"], missing="drop")
    assert [row for row, _ in cells(dropped)] == [row for row, _ in cells(uniform) if row % 3]
    alone = spark.report(people.where("id = 7").repartition(6), "wait", M, row_id="id")
    assert spark.tally(alone, "wait").n == 1  # five partitions of six are empty
    empty = spark.report(people.where("id < 0"), "wait", M, row_id="id")
    assert spark.tally(empty, "wait").n == 0


def test_any_name_and_number_of_a_column(session: Any) -> None:
    """Names with spaces; decimals, NaN, nested columns that are kept; what has to be renamed says so."""
    rows = "VALUES (1, 2.50, array(1), 'a'), (2, 7.25, array(2, 3), 'b'), (3, NULL, NULL, 'b')"
    frame = session.sql(f"SELECT * FROM {rows} AS t(id, w, tags, town)")
    frame = frame.toDF("id", "the wait", "the tags", "home town")
    assert frame.schema["the wait"].dataType.simpleString() == "decimal(3,2)"
    reports = spark.report(frame, "the wait", M, row_id="id", keep=["the tags", "home town"], missing="keep")
    assert sorted(map(len, (row["the tags"] or [] for row in reports.collect()))) == [0, 1, 2]
    grouped = spark.tally(reports, "the wait", by="home town")
    assert {key: t.n for key, t in grouped.items()} == {("a",): 1, ("b",): 1}
    assert spark.estimates(reports, "the wait", "home town", sv.mean).count() == 2
    release = spark.central_mean(
        frame, "the wait", (0, 10), 16.0, by="home town", groups=["a", "b"], missing="drop", rng=1
    )
    assert release.keys == ("a", "b")
    dotted = frame.withColumnRenamed("the wait", "the.wait")
    with pytest.raises(DataError, match=r"column 'the\.wait' must be renamed: Spark takes a dot"):
        spark.report(dotted, "the.wait", M, row_id="id")
    for text in ("id", "tags"):
        kind = frame.toDF("number", "id", "tags", "town")
        with pytest.raises(TypeError, match=f"column {text!r} must be numeric"):
            spark.report(kind.selectExpr("number", "string(id) AS id", "tags"), text, M, row_id="number")
    missing = session.sql("SELECT id, double('NaN') AS wait FROM range(4)")
    assert spark.tally(spark.report(missing, "wait", M, row_id="id", missing=5.0), "wait").n == 4


@pytest.mark.parametrize("part", ["pyspark", "pandas"])
def test_missing_parts_are_named(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    import builtins

    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == part:
            raise ModuleNotFoundError(f"No module named {part!r}", name=part)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=rf"no {part}.*pip install '\.\[spark\]'"):
        spark.session()


def test_without_arrow_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "try:\n    import sottovoce.bulk.spark\nexcept ImportError as e:\n    print(type(e).__name__, e)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("MissingExtra bulk work needs the extra 'files': pip install '.[files]' in a")


def test_without_java_or_with_one_that_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second in a process of its own: this one has a JVM already."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(OSError, match="Spark needs Java 17 or newer"):
        spark.session()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'UnsupportedClassVersionError' >&2\nexit 1\n")
    java.chmod(0o755)
    code = "from sottovoce.bulk import spark\ntry:\n    spark.session()\nexcept OSError as e:\n    print(e)"
    environment = {**os.environ, "JAVA_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert "Spark needs Java 17 or newer" in said
    assert "did not start" in said
