"""Files from strangers: validated before a byte of them is used."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.errors import Coded, DataError
from sottovoce.estimates.answer import counting

M = sv.duchi(1.0, (0, 10))
TOWNS = ["Rome", "Paris", "Berlin"]
TABLE = pa.table({"town": TOWNS, "wait": [1.0, 2.0, 3.0]})


def write_ipc(path: Path, table: Any, *, stream: bool) -> None:
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, table.schema) as writer:
        writer.write_table(table)


def offsets(words: list[str]) -> bytes:
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return struct.pack(f"<{len(ends)}i", *ends)


def with_first_end(path: Path, words: list[str], end: int) -> None:
    """The same file, but the first word ends somewhere else: Arrow's cheap checks see only the last one."""
    content, wanted = path.read_bytes(), offsets(words)
    assert content.count(wanted) == 1
    path.write_bytes(content.replace(wanted, wanted[:4] + struct.pack("<i", end) + wanted[8:]))


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as it was before: nothing is validated."""
    from sottovoce.bulk.tables import sources

    monkeypatch.setattr(sources, "_validated", lambda batch: batch)


@pytest.mark.attack("M9", "refused")
@pytest.mark.parametrize("stream", [False, True])
def test_offsets_outside_their_buffer_are_refused(tmp_path: Path, stream: bool) -> None:
    """In a kept column, in a column of group keys, and as a number that would be far outside."""
    path = tmp_path / "people.arrow"
    for end in (60, 2**31 - 1, -5):
        write_ipc(path, TABLE, stream=stream)
        assert bulk.report(path, {"wait": M}, keep="town").column("town").to_pylist() == TOWNS
        with_first_end(path, TOWNS, end)
        with pytest.raises(DataError, match=r"people\.arrow cannot be read"):
            bulk.report(path, {"wait": M}, keep="town")
        with pytest.raises(DataError, match=r"people\.arrow cannot be read"):
            bulk.tally(path, "wait", by="town", mechanism=M)
        assert bulk.report(path, {"wait": M}).num_rows == 3  # the other columns are not even read


@pytest.mark.attack("M9", "succeeds")
@pytest.mark.usefixtures("unchecked")
def test_without_validation_they_would_be_read(tmp_path: Path) -> None:
    """The attack on the former behaviour: a kept column shows bytes that lie outside its buffer."""
    path = tmp_path / "people.arrow"
    write_ipc(path, TABLE, stream=False)
    with_first_end(path, TOWNS, 60)  # the words have 15 bytes, their allocation 64
    kept = bulk.report(path, {"wait": M}, keep="town").column("town")
    assert len(kept[0].as_buffer()) == 60
    assert kept[0].as_buffer().to_pybytes().startswith(b"RomeParisBerlin")


def test_indices_outside_their_dictionary_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.arrow"
    codes = pa.array([0x11, 0x22, 0x23], pa.int32())
    words = pa.array([str(i) for i in range(64)])
    table = pa.table({"town": pa.DictionaryArray.from_arrays(codes, words), "wait": [1.0, 2.0, 3.0]})
    write_ipc(path, table, stream=False)
    assert bulk.report(path, {"wait": M}, keep="town").num_rows == 3
    wanted = struct.pack("<3i", 0x11, 0x22, 0x23)
    content = path.read_bytes()
    assert content.count(wanted) == 1
    path.write_bytes(content.replace(wanted, struct.pack("<3i", 0x11, 0x22, 1 << 20)))
    with pytest.raises(DataError, match=r"people\.arrow cannot be read"):
        bulk.report(path, {"wait": M}, keep="town")


def no_text(path: Path) -> None:
    """A Parquet file with a word that is not UTF-8: the file only says that it is."""
    pq.write_table(pa.table({"town": ["Rome", "Paris"], "wait": [1.0, 2.0]}), path, compression="none")
    content = path.read_bytes()
    assert b"Paris" in content
    path.write_bytes(content.replace(b"Paris", b"P\xff\xfeis"))


@pytest.mark.attack("M9", "succeeds")
@pytest.mark.usefixtures("unchecked")
def test_without_validation_what_is_no_text_would_be_kept(tmp_path: Path) -> None:
    no_text(tmp_path / "people.parquet")
    kept = bulk.report(tmp_path / "people.parquet", {"wait": M}, keep="town").column("town")
    assert kept[1].as_buffer().to_pybytes() == b"P\xff\xfeis"


@pytest.mark.attack("M9", "refused")
def test_text_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    no_text(path)
    with pytest.raises(DataError, match=r"people\.parquet cannot be read") as refusal:
        bulk.report(path, {"wait": M}, keep="town")
    assert "xff" not in str(refusal.value)
    table = pa.table({"town": pa.array([b"\xff\xfe"]), "wait": [1.0]})
    text = pa.StringArray.from_buffers(1, *table.column("town").chunk(0).buffers()[1:])
    with pytest.raises(DataError, match="the data cannot be read"):
        bulk.report(pa.table({"town": text, "wait": [1.0]}), {"wait": M}, keep="town")


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    """At every length: a map of the file would have ended the process."""
    path = tmp_path / "people.arrow"
    for stream in (False, True):
        write_ipc(path, TABLE, stream=stream)
        whole = path.read_bytes()
        for size in range(0, len(whole) - 16, 31):
            path.write_bytes(whole[:size])
            with pytest.raises(DataError, match=r"people\.arrow"):
                bulk.report(path, {"wait": M}, keep="town")


@pytest.mark.parametrize("kind", ["file", "stream", "parquet"])
def test_damaged_files_are_refused_or_read_whole(tmp_path: Path, kind: str) -> None:
    """Some bytes changed at random: a refusal in words or numbers that are cells, and the process lives."""
    rng = np.random.default_rng(5)
    towns = pa.array(rng.choice(TOWNS, 200))
    table = pa.table({"wait": rng.uniform(0, 10, 200), "town": towns, "code": towns.dictionary_encode()})
    reports = bulk.report(table, {"wait": M}, keep=["town", "code"])
    path = tmp_path / ("r.parquet" if kind == "parquet" else "r.arrow")
    if kind == "parquet":
        pq.write_table(reports, path)
    else:
        write_ipc(path, reports, stream=kind == "stream")
    whole = path.read_bytes()
    refused = 0
    for _ in range(200):
        content = np.frombuffer(whole, dtype=np.uint8).copy()
        content[rng.integers(0, content.size, 3)] = rng.integers(0, 256, 3)
        path.write_bytes(content.tobytes())
        try:
            tally = bulk.tally(path, "wait", by=["town", "code"])
        except Coded:
            refused += 1
        else:
            assert tally.n <= 200
    assert refused > 100


@pytest.mark.attack("M9")
@pytest.mark.parametrize("validates", [True, False])
def test_codes_outside_their_dictionary_are_not_counted(
    monkeypatch: pytest.MonkeyPatch, validates: bool
) -> None:
    """Without a look at them it is left to Arrow whether they are found: its own error, in its own words."""
    words = pa.array([0, 1], pa.uint8())
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, 4], pa.int8()), words, safe=False)
    if not validates:
        monkeypatch.setattr(counting, "_validate", lambda batch: None)
    with pytest.raises(DataError if validates else pa.lib.ArrowIndexError):
        sv.Tally.from_arrow(M, cells)
