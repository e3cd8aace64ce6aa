"""Files and dataframes to reports and tallies: what comes out, what is refused, and what a crash leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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
from sottovoce.bulk.tables.arrow_columns import to_arrow
from sottovoce.errors import DataError
from sottovoce.values.checked_arrays import from_arrow

M = sv.pm(1.0, (0, 10))
N = 5000


@pytest.fixture
def table() -> Any:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "wait": rng.uniform(0, 10, N),
            "age": rng.integers(18, 90, N),
            "country": np.array(["it", "fr", "de"])[rng.integers(0, 3, N)],
            "day": rng.integers(1, 4, N),
        }
    )


def write(table: Any, path: Path) -> Path:
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        pq.write_table(table, path)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".arrow"])
def test_every_format_gives_labelled_reports(table: Any, tmp_path: Path, suffix: str) -> None:
    source = write(table, tmp_path / f"people{suffix}")
    done: list[int] = []
    written = bulk.report(
        source, {"wait": M, "age": sv.duchi(2.0, (0, 120))}, tmp_path / "out.parquet", keep=["country"],
        progress=done.append,
    )  # fmt: skip
    assert written.rows == N == sum(done)
    reports = pq.read_table(tmp_path / "out.parquet")
    assert reports.column_names == ["country", "wait", "age"]
    assert reports.schema.field("wait").type == pa.uint16()
    assert reports.schema.field("age").type == pa.uint8()
    assert reports.column("country").to_pylist() == table.column("country").to_pylist()
    t = bulk.tally(tmp_path / "out.parquet", "wait")
    assert t == sv.Tally(M, reports.column("wait").to_numpy())
    assert t.digest == M.digest
    # the noise is that of the mechanism: five standard errors
    mean = M.decode(reports.column("wait").to_numpy()).mean()
    assert abs(mean - table.column("wait").to_numpy().mean()) < 5 * np.sqrt(M.worst_variance() / N)
    assert set(bulk.tally(tmp_path / "out.parquet", "age").counts.nonzero()[0]) == {0, 1}


@pytest.mark.parametrize(
    "convert", [lambda t: t, pl.from_arrow, lambda t: t.to_pandas(), lambda t: t.to_reader()]
)
def test_dataframes_and_streams(table: Any, convert: Any) -> None:
    reports = bulk.report(convert(table), {"wait": M}, keep=["day"])
    assert reports.num_rows == N
    assert bulk.tally(reports, "wait").n == N
    assert bulk.tally(pl.from_arrow(reports.cast(reports.schema)), "wait", mechanism=M).n == N


def test_groups_are_the_tallies_of_their_rows(table: Any) -> None:
    reports = bulk.report(table, {"wait": M}, keep=["country", "day"])
    grouped = bulk.tally(reports, "wait", by=["country", "day"])
    frame = reports.to_pandas()
    assert sorted(grouped) == sorted(set(zip(frame.country, frame.day, strict=True)))
    for (country, day), t in grouped.items():
        mine = frame[(frame.country == country) & (frame.day == day)]
        assert t == sv.Tally(M, mine.wait.to_numpy())
    assert grouped.total() == bulk.tally(reports, "wait") == sum(grouped.values())
    assert grouped["it", 1].n == len(frame[(frame.country == "it") & (frame.day == 1)])
    one = bulk.tally(reports, "wait", by="country")
    assert one["fr"].n == (frame.country == "fr").sum()


def test_any_split_and_order_gives_the_same_groups(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense and sparse counting, one pass or many merged parts: bit for bit."""
    from sottovoce.bulk import group_counter

    reports = bulk.report(table, {"wait": M}, keep=["country", "day"])
    whole = bulk.tally(reports, "wait", by=["country", "day"])
    parts = [reports.slice(first, 777) for first in range(0, N, 777)]
    merged = [bulk.tally(part, "wait", by=["country", "day"]) for part in reversed(parts)]
    total = merged[0]
    for part in merged[1:]:
        total = total + part
    assert total == whole
    monkeypatch.setattr(group_counter, "_DENSE", 0)
    monkeypatch.setattr(group_counter, "_SPARSE", 500)
    monkeypatch.setattr(sources, "ROWS", 300)
    assert bulk.tally(reports, "wait", by=["country", "day"]) == whole


def test_null_groups_are_groups(table: Any) -> None:
    keys = pa.array([None if i % 5 == 0 else "x" for i in range(N)])
    reports = bulk.report(table.append_column("k", keys), {"wait": M}, keep=["k"])
    assert {key: t.n for key, t in bulk.tally(reports, "wait", by="k").items()} == {
        (None,): 1000,
        ("x",): 4000,
    }


def test_two_processes_and_one_machine_agree(table: Any, tmp_path: Path) -> None:
    bulk.report(write(table, tmp_path / "p.parquet"), {"wait": M}, tmp_path / "r.parquet")
    halves = pq.read_table(tmp_path / "r.parquet")
    for i in range(2):
        pq.write_table(halves.slice(i * 2500, 2500), tmp_path / f"half{i}.parquet")
    code = "import sys; from sottovoce import bulk; print(bulk.tally(sys.argv[1], 'wait').to_json())"
    texts = [
        subprocess.run(
            [sys.executable, "-c", code, tmp_path / f"half{i}.parquet"], capture_output=True, check=True
        )
        for i in range(2)
    ]
    assert sum(sv.Tally.from_json(text.stdout) for text in texts) == bulk.tally(
        tmp_path / "r.parquet", "wait"
    )


# -- absent and outlying values -----------------------------------------------------------------------------


def column(*values: float | None) -> Any:
    return pa.table({"wait": pa.array(values, pa.float64())})


def test_absent_values_follow_the_declared_rule() -> None:
    data = column(1.0, None, float("nan"), float("inf"), 4.0)
    with pytest.raises(DataError, match=r"3 of 5 are missing \(null, NaN or infinite\), the first in row 2"):
        bulk.report(data, {"wait": M})
    assert bulk.report(data, {"wait": M}, missing=5.0).column("wait").null_count == 0
    kept = bulk.report(data, {"wait": M}, missing="keep")
    assert kept.column("wait").is_null().to_pylist() == [False, True, True, True, False]
    assert bulk.tally(kept, "wait").n == 2
    with pytest.raises(ValueError, match="missing must lie in the domain"):
        bulk.report(data, {"wait": M}, missing=11.0)
    with pytest.raises(ValueError, match="missing must be one of 'refuse', 'uniform', 'drop', 'keep'"):
        bulk.report(data, {"wait": M}, missing="leave")  # type: ignore[arg-type]


def test_dropped_rows_are_left_out_with_all_their_columns() -> None:
    data = pa.table({"wait": [1.0, None, 3.0, 44.0], "age": [30.0, 40.0, None, 50.0], "id": [0, 1, 2, 3]})
    two = {"wait": M, "age": sv.duchi(2.0, (0, 120))}
    assert bulk.report(data, two, keep="id", missing="drop", clip=True).column("id").to_pylist() == [0, 3]
    reports = bulk.report(data, two, keep="id", missing="drop", outside="missing")
    assert reports.column("id").to_pylist() == [0]
    assert bulk.report(data, two, keep="id", missing="keep", outside="missing").to_pydict()["wait"][3] is None
    with pytest.raises(DataError, match=r"1 of 4 are outside \[0\.0, 10\.0\], the first in row 4") as refusal:
        bulk.report(data, two, missing="drop")
    assert refusal.value.code == "outside"
    with pytest.raises(
        DataError, match=r"1 of 4 are missing .* row 2, 1 of 4 are outside .* row 4; missing="
    ) as refusal:
        bulk.report(data, two, outside="missing")
    assert refusal.value.code == "missing"
    with pytest.raises(ValueError, match="clip=True means outside='clip'"):
        bulk.report(data, two, outside="missing", clip=True)


def test_uniform_stand_ins_spread_over_the_domain() -> None:
    """The mean of the reports of absent people is the middle: five standard errors; at 0 it would be 0."""
    n = 40_000
    data = pa.table({"wait": pa.array([None] * n, pa.float64())})
    for missing, expected in (("uniform", 5.0), (0.0, 0.0)):
        cells = bulk.report(data, {"wait": M}, missing=missing).column("wait").to_numpy()  # type: ignore[arg-type]
        off = 5 * np.sqrt((M.worst_variance() + 100 / 12) / n)
        assert abs(M.decode(cells).mean() - expected) < off < 2.5


def test_outlying_values_are_counted_by_row_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "ROWS", 100)
    values = np.full(1000, 5.0)
    values[[350, 920]] = 77.25
    with pytest.raises(DataError) as refusal:
        bulk.report(pa.table({"wait": values}), {"wait": M})
    assert "2 of 1000 are outside [0.0, 10.0]" in str(refusal.value)
    assert "the first in row 351" in str(refusal.value)
    assert "77" not in str(refusal.value)
    assert bulk.report(pa.table({"wait": values}), {"wait": M}, clip=True).num_rows == 1000


def test_an_absent_value_is_randomised_like_any_other() -> None:
    """missing=5 and a value of 5 have the same law: compared at 5 standard errors of a share."""
    n = 40_000
    data = pa.table({"wait": pa.array([None] * n, pa.float64())})
    cells = bulk.report(data, {"wait": M}, missing=5.0).column("wait").to_numpy()
    upper = (M.decode(cells) > 5).mean()
    assert abs(upper - 0.5) < 5 * 0.5 / np.sqrt(n)


# -- bad input ----------------------------------------------------------------------------------------------


def test_refusals(table: Any, tmp_path: Path) -> None:
    path = write(table, tmp_path / "people.parquet")
    with pytest.raises(DataError, match=r"people.parquet has no column 'wate'; columns are"):
        bulk.report(path, {"wate": M})
    with pytest.raises(TypeError, match="column 'country' must be numeric, got string"):
        bulk.report(path, {"country": M})
    with pytest.raises(ValueError, match="'wait' is randomised, so it cannot be kept"):
        bulk.report(path, {"wait": M}, keep=["wait"])
    with pytest.raises(TypeError, match="mechanisms must map"):
        bulk.report(path, {})
    with pytest.raises(TypeError, match="must be a mechanism or a survey, got str"):
        bulk.report(path, {"wait": "pm"})  # type: ignore[dict-item]
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nowhere\.parquet"):
        bulk.report(tmp_path / "nowhere.parquet", {"wait": M})
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        bulk.report(path, {"wait": M}, tmp_path / "none" / "out.parquet")
    with pytest.raises(DataError, match=r"people\.txt must end in one of"):
        bulk.report(tmp_path / "people.txt", {"wait": M})
    with pytest.raises(TypeError, match=r"data must be a path, a dataframe or Arrow data .*, got int"):
        bulk.report(7, {"wait": M})
    with pytest.raises(DataError, match="does not say which mechanism made it: pass mechanism="):
        bulk.tally(path, "day")
    with pytest.raises(ValueError, match="by must not name the column of reports"):
        bulk.tally(path, "day", by="day")


def test_truncated_and_empty_files(table: Any, tmp_path: Path) -> None:
    whole = write(table, tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "void.parquet").write_bytes(b"")
    for name in ("cut", "void"):
        with pytest.raises(DataError, match=rf"{name}\.parquet cannot be read"):
            bulk.report(tmp_path / f"{name}.parquet", {"wait": M}, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
    empty = write(table.slice(0, 0), tmp_path / "empty.parquet")
    assert bulk.report(empty, {"wait": M}, tmp_path / "none.parquet").rows == 0
    assert bulk.tally(tmp_path / "none.parquet", "wait").n == 0
    assert len(bulk.tally(bulk.report(empty, {"wait": M}, keep=["day"]), "wait", by="day")) == 0


def test_mixed_digests_and_forged_labels_are_refused(table: Any, tmp_path: Path) -> None:
    for name, mechanism in (("a", M), ("b", sv.pm(2.0, (0, 10)))):
        bulk.report(table, {"wait": mechanism}, tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match="holds reports of another mechanism"):
        bulk.tally(tmp_path, "wait")
    with pytest.raises(DataError, match="holds reports of another mechanism"):
        bulk.tally(tmp_path / "a.parquet", "wait", mechanism=sv.ogpm(1.0, (0, 10)))
    reports = pq.read_table(tmp_path / "a.parquet")
    field = reports.schema.field("wait")
    forged = field.with_metadata({**field.metadata, b"sottovoce:digest": b"0" * 64})
    with pytest.raises(DataError, match="the digest in its metadata is not that of its spec"):
        bulk.tally(reports.cast(pa.schema([forged])), "wait")


def test_cells_that_the_mechanism_does_not_have() -> None:
    with pytest.raises(DataError, match=r"holds 1 cells outside 0\.\.1"):
        bulk.tally(pa.table({"c": [0, 1, 2]}), "c", mechanism=sv.duchi(1.0))
    with pytest.raises(TypeError, match="must hold integer cells, got double"):
        bulk.tally(pa.table({"c": [0.0]}), "c", mechanism=sv.duchi(1.0))


# -- folders, resuming, crashes -----------------------------------------------------------------------------


def test_a_folder_is_resumed_without_randomising_anybody_twice(table: Any, tmp_path: Path) -> None:
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for i in range(3):
        write(table.slice(i * 1000, 1000), source / f"part{i}.parquet")
    first = bulk.report(source, {"wait": M}, output)
    assert (first.new, first.earlier, first.rows) == (3, 0, 3000)
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    (output / "part1.parquet").unlink()
    second = bulk.report(source, {"wait": M}, output)
    assert (second.new, second.earlier, second.rows) == (1, 2, 3000)
    after = {path.name: path.read_bytes() for path in output.iterdir()}
    assert after["part0.parquet"] == before["part0.parquet"]
    assert after["part2.parquet"] == before["part2.parquet"]
    assert bulk.tally(output, "wait").n == 3000
    with pytest.raises(DataError, match="made from other data, by another mechanism or under other rules"):
        bulk.report(source, {"wait": sv.pm(2.0, (0, 10))}, output)
    write(table.slice(0, 999), source / "part0.parquet")
    with pytest.raises(DataError, match="made from other data"):
        bulk.report(source, {"wait": M}, output)


def test_a_killed_run_leaves_no_half_file_and_is_resumed(table: Any, tmp_path: Path) -> None:
    """kill −9 at ten moments of a run over many files; then the run is finished."""
    source, output = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    big = pa.concat_tables([table] * 20)
    for i in range(8):
        write(big, source / f"part{i}.parquet")
    code = (
        "import sys, sottovoce as sv; from sottovoce import bulk; print('ready', flush=True);"
        "bulk.report(sys.argv[1], {'wait': sv.pm(1.0, (0, 10))}, sys.argv[2])"
    )
    kept: dict[str, bytes] = {}
    for delay in np.linspace(0.0, 0.5, 6):
        run = subprocess.Popen([sys.executable, "-c", code, source, output], stdout=subprocess.PIPE)
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(delay)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        run.stdout.close()
        for path in output.glob("*.parquet") if output.exists() else []:
            content = path.read_bytes()
            assert pq.read_metadata(path).num_rows == big.num_rows
            assert kept.setdefault(path.name, content) == content
    assert bulk.report(source, {"wait": M}, output).rows == 8 * big.num_rows
    for name, content in kept.items():
        assert (output / name).read_bytes() == content


def test_no_space_leaves_nothing(table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    with pytest.raises(OSError, match="No space left"):
        bulk.report(table, {"wait": M}, tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_reports_are_fresh_every_time(table: Any) -> None:
    first, second = (bulk.report(table, {"wait": M}).column("wait").to_numpy() for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_mixture_is_a_mechanism_like_any_other(table: Any, tmp_path: Path) -> None:
    m = sv.two_scale(1.0, (0, 10))
    bulk.report(table, {"wait": m}, tmp_path / "r.parquet")
    assert bulk.tally(tmp_path / "r.parquet", "wait").digest == m.digest


def test_pandas_index_and_integers() -> None:
    frame = pd.DataFrame({"wait": [1, 2, 3]}, index=[7, 8, 9])
    assert bulk.report(frame, {"wait": M}).column_names == ["wait"]


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i4", "i8", "f4", "f8"])
def test_numbers_pass_to_arrow_and_back_without_pandas(dtype: str) -> None:
    numbers = np.array([0, 1, 3, 100, 7, 9, 11, 2, 5], dtype=dtype)
    array = to_arrow(numbers)
    array.validate(full=True)
    assert array.equals(pa.array(numbers))
    back = from_arrow(array)
    assert back.dtype == dtype
    assert np.array_equal(back, numbers)
    assert not back.flags.writeable
    assert np.array_equal(from_arrow(array.slice(2, 3)), numbers[2:5])
    assert np.array_equal(from_arrow(pa.chunked_array([array, array])), [*numbers, *numbers])
    mask = numbers > 8
    masked = to_arrow(numbers, mask)
    masked.validate(full=True)
    assert masked.equals(pa.array(numbers, mask=mask))
    assert np.array_equal(from_arrow(masked), np.where(mask, np.nan, numbers), equal_nan=True)
    truths = to_arrow(mask)
    truths.validate(full=True)
    assert truths.equals(pa.array(mask))
    assert from_arrow(truths).tolist() == mask.tolist()
    assert to_arrow(numbers[:0]).equals(pa.array(numbers[:0]))
