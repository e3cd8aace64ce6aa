"""Streams, CSV, groups and estimates on one machine: what goes in, in which types, and what is refused."""

from __future__ import annotations

import importlib
import os
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
from sottovoce.bulk.tables import sources
from sottovoce.errors import DataError
from sottovoce.storage import atomic_file

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
    with pytest.raises(DataError, match=r"2 of 1000 are outside .* the first in row 351") as refusal:
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
    monkeypatch.setattr(sources, "ROWS", 50)
    table = pa.table({"wait": np.full(300, 5.0), "key": pa.array(keys * 100, from_pandas=False)})
    grouped = bulk.tally(bulk.report(table, {"wait": M}, keep=["key"]), "wait", by="key")
    assert [t.n for t in grouped.values()] == [100] * 3


@pytest.mark.parametrize("more", [[], ["also"]])
@pytest.mark.parametrize(
    "keys", [pa.DictionaryArray.from_arrays([0, 1, 2, 0], ["a", "b", "a"]), pa.array([0.0, 1.0, -0.0, 0.0])]
)
def test_keys_that_are_equal_are_one_group(keys: pa.Array, more: list[str]) -> None:
    """Whether or not Arrow tells them apart: a dictionary may hold a value twice."""
    table = pa.table({"cell": [0, 1, 0, 1], "key": keys, "also": [7] * 4})
    grouped = bulk.tally(table, "cell", by=["key", *more], mechanism=sv.duchi(1.0))
    assert [tally.n for tally in grouped.values()] == [3, 1]


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
    with pytest.raises(DataError, match=r"2 of \d+ values are not, the first in line 600002") as refusal:
        bulk.report(path, {"wait": M})
    assert "seven" not in str(refusal.value)
    assert "yours" not in str(refusal.value)


def test_other_csv_columns_are_text_as_it_stands(tmp_path: Path) -> None:
    """Inferred, 007 and 7 would be one house, and a name in the last row would stop the run."""
    path = tmp_path / "late.csv"
    path.write_text("wait,house,note\n" + "5,007,1\n5,7,1\n" * 300_000 + "5,Baker Street,one\n")
    reports = bulk.report(path, {"wait": M}, tmp_path / "r.csv", keep=["house"])
    assert reports.rows == 600_001
    by_house = bulk.tally(tmp_path / "r.csv", "wait", by="house")
    assert {key: t.n for key, t in by_house.items()} == {
        ("007",): 300_000,
        ("7",): 300_000,
        ("Baker Street",): 1,
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"wait,house\n5,1\n5,1,Baker Street\n",
            "t.csv cannot be read: line 3 has 3 fields, the first line has 2; delimiter=",
        ),
        (b"wait,wait\n5,1\n", "t.csv has several columns of one name"),
        (b'wait,house\n"1,234",1\n', "must be numeric: 1 of 1 values are not, the first in line 2"),
        (b"", "t.csv cannot be read: it is empty"),
    ],
)
def test_odd_csv_files_are_refused_without_quoting(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=message) as refusal:
        bulk.report(tmp_path / "t.csv", {"wait": M})
    assert not any(word in str(refusal.value) for word in ("Baker", "234"))


def test_odd_csv_files_that_are_fine(tmp_path: Path) -> None:
    for content in ("\ufeffwait,x\r\n5,a\r\n6,b\r\n", 'wait,x\n"5","a ""b"", c"\n 6 ,"line\nbreak"\n\n'):
        (tmp_path / "t.csv").write_text(content, newline="")
        assert bulk.report(tmp_path / "t.csv", {"wait": M}, keep=["x"]).num_rows == 2


def test_specs_beside_a_csv_are_never_those_of_other_reports(tmp_path: Path) -> None:
    """Two runs write one name at a time: the one that loses leaves the winner's reports and label alone."""
    target, other = tmp_path / "r.csv", sv.duchi(2.0, (0, 10))

    def produce() -> Iterator[Any]:
        yield people().to_batches()[0]
        bulk.report(people(), {"wait": M}, target)

    stream = pa.RecordBatchReader.from_batches(people().schema, produce())
    with pytest.raises(FileExistsError, match="not the spec of these reports"):
        bulk.report(stream, {"wait": other}, target)
    assert bulk.tally(target, "wait").reporter == M
    mine = tmp_path / "s.spec.json"
    mine.write_text(other.to_json())
    with pytest.raises(FileExistsError, match=r"s\.spec\.json exists and is not the spec"):
        bulk.report(people(), {"wait": M}, tmp_path / "s.csv")
    assert mine.read_text() == other.to_json()
    assert bulk.report(people(), {"wait": other}, tmp_path / "s.csv").rows == 600
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_a_full_disk_names_the_file_and_leaves_none(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"r{suffix}"
    code = f"""
import resource
import numpy as np, pyarrow as pa, sottovoce as sv
from sottovoce import bulk
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
try:
    bulk.report(pa.table({{"wait": np.full(200_000, 5.0)}}), {{"wait": sv.pm(1.0, (0, 10))}}, {str(target)!r})
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == f"[Errno 27] File too large: '{target}'\n"
    assert list(tmp_path.iterdir()) == []


# -- groups -------------------------------------------------------------------------------------------------


def test_many_key_columns_of_many_values() -> None:
    """Five columns of 10^5 values each are 10^25 combinations: more than 64 bits can number."""
    rng, n = np.random.default_rng(0), 100_000
    keys = {f"k{i}": rng.permutation(n) for i in range(5)}
    table = pa.table({**keys, "cell": np.arange(n) % 2, "count": np.full(n, 3)})
    grouped = bulk.GroupedTally.from_table(sv.duchi(1.0, (0, 1)), list(keys), table)
    assert len(grouped) == n
    for row in (0, 17, n - 1):
        found = grouped[tuple(int(values[row]) for values in keys.values())]
        assert found.counts.tolist() == [3 * (row % 2 == 0), 3 * (row % 2)]


@pytest.mark.parametrize("counts", [[1.5], [-1], [None], ["many"], [2**63]])
def test_counts_from_elsewhere_are_judged(counts: list[Any]) -> None:
    kind = pa.uint64() if counts == [2**63] else None
    table = pa.table({"town": ["a"], "cell": [0], "count": pa.array(counts, kind)})
    with pytest.raises(DataError, match="the counts must"):
        bulk.GroupedTally.from_table(M, ["town"], table)


def test_keys_must_not_be_named_like_the_result() -> None:
    table = bulk.report(
        people().append_column("count", pa.array([1] * 600)), {"wait": M}, keep=["count", "town"]
    )
    with pytest.raises(ValueError, match=r"not cell or count as the result does, got by='count'"):
        bulk.tally(table, "wait", by="count")
    with pytest.raises(ValueError, match=r"got by='town'"):
        bulk.tally(table, "wait", by=["town", "town"])
    with pytest.raises(ValueError, match=r"got by='n'"):
        bulk.estimates(table.rename_columns(["n", "town", "wait"]), "wait", "n", sv.mean)


def test_a_column_without_a_value_is_missing_and_not_of_a_wrong_type(tmp_path: Path) -> None:
    table = pa.table({"wait": pa.nulls(3)})
    with pytest.raises(DataError, match="3 of 3 are missing"):
        bulk.report(table, {"wait": M})
    assert bulk.report(table, {"wait": M}, missing=5.0).num_rows == 3


def test_what_is_not_a_table_or_a_rule_is_refused_in_words() -> None:
    table = people()
    assert bulk.report(table, {"wait": M}, keep="town").schema.names == ["town", "wait"]
    for column in (table.to_pandas()["wait"], pl.from_arrow(table)["wait"], table["wait"], np.ones(3)):
        with pytest.raises(TypeError, match="data must be a path, a dataframe or Arrow data"):
            bulk.report(column, {"wait": M})
    with pytest.raises(TypeError, match="clip must be True or False"):
        bulk.report(table, {"wait": M}, clip="yes")  # type: ignore[arg-type]
    nested = bulk.report(table, {"wait": M}).append_column("tags", pa.array([[1]] * 600))
    with pytest.raises(TypeError, match=r"columns of by must hold plain values, got list<"):
        bulk.tally(nested, "wait", by="tags")
    halves = bulk.report(table, {"wait": M}).append_column("half", pa.array([1.0] * 600, pa.float16()))
    with pytest.raises(TypeError, match="columns of by must hold plain values, got halffloat"):
        bulk.tally(halves, "wait", by="half")
    with pytest.raises(TypeError, match="estimate must return an Estimate or several, got int"):
        bulk.estimates(bulk.report(table, {"wait": M}, keep="town"), "wait", "town", lambda t: t.n)


def test_a_folder_of_folders_says_so(tmp_path: Path) -> None:
    pq.write_to_dataset(people(), tmp_path, partition_cols=["town"])
    with pytest.raises(DataError, match="folders inside it are not read"):
        bulk.report(tmp_path, {"wait": M})


@pytest.mark.parametrize("suffix", [".csv", ".arrow", ".feather", ".parquet"])
def test_every_output_carries_its_mechanisms(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"r{suffix}"
    other = sv.duchi(2.0, (0, 10))
    table = people().append_column("more", people().column("wait"))
    assert bulk.report(table, {"wait": M, "more": other}, target, keep=["town"]).rows == 600
    assert bulk.tally(target, "wait").reporter == M
    assert bulk.tally(target, "more", by="town").reporter == other
    with pytest.raises(ValueError, match="column must name one of"):
        bulk.tally(target)
    assert bulk.tally(bulk.report(table, {"wait": M}, keep="town")).n == 600
    with pytest.raises(DataError, match="another mechanism"):
        bulk.tally(target, "wait", mechanism=other)


# -- written once -------------------------------------------------------------------------------------------


def test_a_finished_file_is_left_alone_or_refused(tmp_path: Path) -> None:
    source, target = tmp_path / "p.parquet", tmp_path / "r.parquet"
    pq.write_table(people(), source)
    assert bulk.report(source, {"wait": M}, target).new == 1
    before = target.read_bytes()
    again = bulk.report(source, {"wait": M}, target)
    assert (again.new, again.earlier, again.rows) == (0, 1, 600)
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
    real = atomic_file.sync

    def other_was_faster(path: Path) -> None:
        if not target.exists():
            target.write_bytes(b"the other run's reports")
        real(path)

    monkeypatch.setattr(atomic_file, "sync", other_was_faster)
    with pytest.raises(FileExistsError, match="written by another run: its reports stand"):
        bulk.report(people(), {"wait": M}, target)
    assert target.read_bytes() == b"the other run's reports"
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


def test_what_a_killed_run_left_is_removed_but_not_what_a_living_one_writes(tmp_path: Path) -> None:
    target = tmp_path / "r.parquet"
    dead = tmp_path / ".r.parquet.0123.partial"
    dead.write_bytes(b"half")
    with atomic_file.atomic_file(target) as mine:
        mine.write_bytes(b"whole")
        assert not dead.exists()
        atomic_file._sweep(target)
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
    from sottovoce.bulk import group_estimates, processes

    grouped = bulk.tally(bulk.report(people(), {"wait": M}, keep=["town"]), "wait", by="town")

    def never(tally: sv.Tally) -> sv.Estimate:
        raise ValueError("too few for this")

    with pytest.raises(DataError, match=r"no estimate for group 1 of 3 .* \(n=200\): too few for this"):
        bulk.estimates(grouped, "wait", "town", never)
    with pytest.raises(ValueError, match=r"by must be that of the tally, \['town'\], got by='country'"):
        bulk.estimates(grouped, "wait", "country", sv.mean)
    with pytest.raises(ValueError, match="processes must be at least 1"):
        bulk.estimates(grouped, "wait", "town", sv.mean, processes=0)
    monkeypatch.setattr(group_estimates, "_CHUNK", 1)
    assert bulk.estimates(grouped, "wait", "town", lambda tally: sv.mean(tally), processes=None).num_rows == 3
    monkeypatch.setattr(processes, "_WORTH", 0.0)
    same = bulk.estimates(grouped, "wait", "town", sv.mean, processes=None)
    assert same == bulk.estimates(grouped, "wait", "town", sv.mean)
    with pytest.raises(TypeError, match="estimate must be importable for processes=2"):
        bulk.estimates(grouped, "wait", "town", lambda tally: sv.mean(tally), processes=2)


PROBE = """
import os
from types import SimpleNamespace

def threads(tally):
    number = float(os.environ.get("OPENBLAS_NUM_THREADS", "0"))
    return SimpleNamespace(what="threads", value=number, low=number, high=number)
"""


@pytest.mark.parametrize("chosen", [None, "3"])
def test_processes_leave_linear_algebra_to_one_thread(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chosen: str | None
) -> None:
    """Unless the user has chosen a number; and this process is left as it was."""
    from sottovoce.bulk import group_estimates, processes

    (tmp_path / "probe_of_threads.py").write_text(PROBE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(group_estimates, "_CHUNK", 1)
    for name in processes._THREADS:
        monkeypatch.delenv(name, raising=False)
    if chosen is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen)
    threads = importlib.import_module("probe_of_threads").threads
    grouped = bulk.tally(bulk.report(people(), {"wait": M}, keep=["town"]), "wait", by="town")
    found = bulk.estimates(grouped, "wait", "town", threads, processes=2)
    assert found.column("value").to_pylist() == [float(chosen or 1)] * 3
    assert os.environ.get("OPENBLAS_NUM_THREADS") == chosen
    assert "OMP_NUM_THREADS" not in os.environ
