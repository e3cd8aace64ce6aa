"""Streams, CSV, groups and estimates on one machine: what goes in, in which types, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.bulk import arrow, output
from sottovoce.errors import DataError

M = sv.pm(1.0, (0, 10), cells=1024)


def people(n: int = 600) -> Any:
    rng = np.random.default_rng(4)
    return pa.table({"wait": rng.uniform(0, 10, n), "town": [f"t{i % 3}" for i in range(n)]})


# -- streams ------------------------------------------------------------------------------------------------


def test_a_stream_is_read_batch_by_batch(tmp_path: Path) -> None:
    """At no time more than a few batches are alive: the producer counts what was freed."""
    alive: list[int] = []
    made = 0

    def produce() -> Iterator[Any]:
        nonlocal made
        for _ in range(40):
            made += 1
            alive.append(pa.total_allocated_bytes())
            yield pa.record_batch({"wait": np.full(1 << 16, 5.0)})

    before = pa.total_allocated_bytes()
    stream = pa.RecordBatchReader.from_batches(pa.schema([("wait", pa.float64())]), produce())
    written = bulk.report(stream, {"wait": M}, tmp_path / "r.parquet")
    assert (written.rows, made) == (40 << 16, 40)
    assert max(alive) - before < 16 * 8 * (1 << 16)
    assert bulk.tally(tmp_path / "r.parquet", "wait").n == 40 << 16


def test_a_refused_stream_says_where_without_reading_twice() -> None:
    values = np.full(1000, 5.0)
    values[[350, 920]] = 77.25
    batches = [pa.record_batch({"wait": values[i : i + 100]}) for i in range(0, 1000, 100)]
    stream = pa.RecordBatchReader.from_batches(batches[0].schema, iter(batches))
    with pytest.raises(DataError, match="2 of 1000 do not, the first in row 350") as refusal:
        bulk.report(stream, {"wait": M})
    assert "77" not in str(refusal.value)


@pytest.mark.parametrize(
    ("frame", "by"),
    [
        (people().to_pandas().astype({"town": "category"}), "town"),
        (pl.from_arrow(people()).with_columns(pl.col("town").cast(pl.Categorical)), "town"),  # type: ignore[union-attr]
        (pl.from_arrow(people()), "town"),
        (people().set_column(1, "town", people().column("town").dictionary_encode()), "town"),
    ],
    ids=["pandas", "polars", "polars text", "pyarrow"],
)
def test_text_and_categories_are_groups(frame: Any, by: str, tmp_path: Path) -> None:
    reports = bulk.report(frame, {"wait": M}, keep=[by])
    grouped = bulk.tally(reports, "wait", by=by)
    assert {key: t.n for key, t in grouped.items()} == {("t0",): 200, ("t1",): 200, ("t2",): 200}
    plain = reports.set_column(0, by, reports.column(by).cast(pa.string()))
    assert grouped == bulk.tally(plain, "wait", by=by)
    for suffix in (".parquet", ".arrow", ".csv"):
        bulk.report(frame, {"wait": M}, tmp_path / f"r{suffix}", keep=[by])
        written = bulk.tally(tmp_path / f"r{suffix}", "wait", by=by)
        assert {key: t.n for key, t in written.items()} == {key: t.n for key, t in grouped.items()}


@pytest.mark.parametrize(
    "keys",
    [
        [1, None, 2],
        [1.5, float("nan"), None],
        [True, False, None],
        [pd.Timestamp("2026-01-01"), pd.Timestamp("2026-01-02"), None],
    ],
)
def test_groups_of_any_type(keys: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow, "ROWS", 50)
    table = pa.table({"wait": np.full(300, 5.0), "key": pa.array(keys * 100, from_pandas=False)})
    grouped = bulk.tally(bulk.report(table, {"wait": M}, keep=["key"]), "wait", by="key")
    assert [t.n for t in grouped.values()] == [100] * 3


def test_groups_that_change_their_type_are_refused(tmp_path: Path) -> None:
    for name, keys in (("a", [1, 2]), ("b", ["x", "y"])):
        bulk.report(
            pa.table({"wait": [1.0, 2.0], "key": keys}),
            {"wait": M},
            tmp_path / f"{name}.parquet",
            keep=["key"],
        )
    with pytest.raises(DataError, match="must have one type throughout: key string after key int64"):
        bulk.tally(tmp_path, "wait", by="key")


# -- CSV ----------------------------------------------------------------------------------------------------


def test_csv_is_numeric_from_the_first_row_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers for a megabyte, then a fraction: inferred types would refuse the file and quote it."""
    path = tmp_path / "late.csv"
    path.write_text("wait\n" + "5\n" * 600_000 + "7.25\n")
    assert bulk.report(path, {"wait": M}).num_rows == 600_001
    path.write_text("wait\n" + "5\n" * 600_000 + "seven\n6\n\nnone of yours\n")
    with pytest.raises(DataError, match=r"2 of \d+ values are not, the first in row 600000") as refusal:
        bulk.report(path, {"wait": M})
    assert "seven" not in str(refusal.value)
    assert "yours" not in str(refusal.value)


def test_a_kept_csv_column_that_changes_is_refused_without_quoting(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("wait,house\n" + "5,1\n" * 600_000 + "5,Baker Street\n")
    with pytest.raises(DataError, match=r"late\.csv cannot be read: .*a value of another type") as refusal:
        bulk.report(path, {"wait": M}, keep=["house"])
    assert "Baker" not in str(refusal.value)
    path.write_text("wait,house\n5,1\n5,1,Baker Street\n")
    with pytest.raises(DataError, match="Expected 2 columns, got 3") as refusal:
        bulk.report(path, {"wait": M}, keep=["house"])
    assert "Baker" not in str(refusal.value)


@pytest.mark.parametrize("suffix", [".csv", ".arrow", ".feather", ".parquet"])
def test_every_output_carries_its_mechanisms(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"r{suffix}"
    other = sv.duchi(2.0, (0, 10))
    table = people().append_column("more", people().column("wait"))
    assert bulk.report(table, {"wait": M, "more": other}, target, keep=["town"]).rows == 600
    assert bulk.tally(target, "wait").mechanism == M
    assert bulk.tally(target, "more", by="town").mechanism == other
    with pytest.raises(DataError, match="another mechanism"):
        bulk.tally(target, "wait", mechanism=other)


# -- written once -------------------------------------------------------------------------------------------


def test_a_finished_file_is_left_alone_or_refused(tmp_path: Path) -> None:
    source, target = tmp_path / "p.parquet", tmp_path / "r.parquet"
    pq.write_table(people(), source)
    assert bulk.report(source, {"wait": M}, target).made == 1
    before = target.read_bytes()
    again = bulk.report(source, {"wait": M}, target)
    assert (again.made, again.found, again.rows) == (0, 1, 600)
    for other in ({"clip": True}, {"missing": 5.0}, {"keep": ["town"]}):
        with pytest.raises(DataError, match="under other rules: move it away first"):
            bulk.report(source, {"wait": M}, target, **other)
    with pytest.raises(FileExistsError, match="written once, choose another name"):
        bulk.report(people(), {"wait": M}, target)
    assert target.read_bytes() == before
    (tmp_path / "note.parquet").write_text("not reports")
    with pytest.raises(FileExistsError, match="no file of reports"):
        bulk.report(source, {"wait": M}, tmp_path / "note.parquet")


def test_two_runs_at_once_publish_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one finishes while this one writes: its reports stand, and nothing is left behind."""
    target = tmp_path / "r.parquet"
    real = output._sync

    def other_was_faster(path: Path) -> None:
        if not target.exists():
            target.write_bytes(b"the other run's reports")
        real(path)

    monkeypatch.setattr(output, "_sync", other_was_faster)
    with pytest.raises(FileExistsError, match="written by another run: its reports stand"):
        bulk.report(people(), {"wait": M}, target)
    assert target.read_bytes() == b"the other run's reports"
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_what_a_killed_run_left_is_removed_but_not_what_a_living_one_writes(tmp_path: Path) -> None:
    target = tmp_path / "r.parquet"
    dead = tmp_path / ".r.parquet.0123.partial"
    dead.write_bytes(b"half")
    with output.atomic_file(target) as mine:
        mine.write_bytes(b"whole")
        assert not dead.exists()
        output._sweep(target)
        assert mine.exists()
    assert target.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    """A file-size limit of the process stands in for a full disk: the write itself fails."""
    code = (
        "import resource, signal, sys, numpy as np, pyarrow as pa, sottovoce as sv\n"
        "from sottovoce import bulk\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "table = pa.table({'wait': np.full(1 << 20, 5.0)})\n"
        "try:\n    bulk.report(table, {'wait': sv.pm(1.0, (0, 10))}, sys.argv[1])\n"
        "except OSError as error:\n    print('refused:', error)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "r.parquet"], capture_output=True, text=True, check=True
    ).stdout
    assert "refused:" in said
    assert "File too large" in said
    assert list(tmp_path.iterdir()) == []


# -- estimates per group ------------------------------------------------------------------------------------


def test_estimates_per_group_with_several_answers() -> None:
    reports = bulk.report(people(), {"wait": M}, keep=["town"])
    grouped = bulk.tally(reports, "wait", by="town")
    done: list[int] = []
    both = bulk.estimates(grouped, "wait", "town", two_answers, progress=done.append)
    assert both.column_names == ["town", "what", "n", "value", "low", "high"]
    assert both.column("town").to_pylist() == ["t0", "t0", "t1", "t1", "t2", "t2"]
    assert both.column("what").to_pylist() == ["mean", "variance"] * 3
    assert sum(done) == 3
    assert both.column("value")[0].as_py() == sv.mean(grouped["t0"]).value
    wide = bulk.estimates(grouped, "wait", "town", partial(sv.mean, confidence=0.5))
    assert wide.column("high")[0].as_py() < both.column("high")[0].as_py()


def two_answers(tally: sv.Tally) -> list[sv.Estimate]:
    return [sv.mean(tally), sv.variance(tally)]


def test_estimates_refuse_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from sottovoce.bulk import estimating

    grouped = bulk.tally(bulk.report(people(), {"wait": M}, keep=["town"]), "wait", by="town")

    def never(tally: sv.Tally) -> sv.Estimate:
        raise ValueError("too few for this")

    with pytest.raises(DataError, match=r"no estimate for the group town='t0' \(n=200\): too few for this"):
        bulk.estimates(grouped, "wait", "town", never)
    with pytest.raises(DataError, match=r"the tally is by \['town'\], not by 'country'"):
        bulk.estimates(grouped, "wait", "country", sv.mean)
    with pytest.raises(ValueError, match="processes must be at least 1"):
        bulk.estimates(grouped, "wait", "town", sv.mean, processes=0)
    monkeypatch.setattr(estimating, "_CHUNK", 1)
    assert bulk.estimates(grouped, "wait", "town", lambda tally: sv.mean(tally), processes=None).num_rows == 3
    monkeypatch.setattr(estimating, "_WORTH", 0.0)
    same = bulk.estimates(grouped, "wait", "town", sv.mean, processes=None)
    assert same == bulk.estimates(grouped, "wait", "town", sv.mean)
    with pytest.raises(TypeError, match="estimate must be importable for processes=2"):
        bulk.estimates(grouped, "wait", "town", lambda tally: sv.mean(tally), processes=2)
