"""No text of a file is in any message: what is wrong with people's data is said without showing them."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.cli import main

M = sv.pm(1.0, (0, 10))
CHOICE = sv.choice(1.0, ["north", "south"])
CANARIES = ("Zebra", "271828", "Öhrchen", "\u041b\u0438\u0441")
NAMES = ["wait", "town", "note"]
ROWS = [["3", "Zebra", "Öhrchen"], ["4", "ZebraÖ", "-"], ["5", "Zebra", "-"]]


def line(fields: list[str], delimiter: str) -> str:
    return delimiter.join(fields) + "\r\n"


def faulty_texts(delimiter: str) -> Iterator[str]:
    """Files of which something is wrong, or strange: every field that is a person's holds a canary."""
    head, rows = line(NAMES, delimiter), [line(row, delimiter) for row in ROWS]
    good = head + "".join(rows)
    yield good
    yield "".join(rows)  # no names: the first line is a person
    yield good + line(["271828", "Zebra"], delimiter)
    yield good + line(["271828", "Zebra", "-", "Zebra"], delimiter)
    yield good + line(["27,1828", "Zebra", "-"], delimiter)
    yield head + line(["271.828", "Zebra", "-"], delimiter)
    yield head + line(["271,828", "Zebra", "-"], delimiter)
    for value in (
        "271828",
        '"271,828.5"',
        '"271.828,5"',
        "271 828",
        "Zebra",
        "Zebra 271828",
        "",
        "nan",
        "-inf",
    ):
        yield good + line([value, "Zebra", "-"], delimiter)
    if delimiter == ";":
        for value in ("271,828.5", "Zebra"):
            yield head + rows[0] * 60_000 + line([value, "Zebra", "-"], delimiter)  # beyond a block of Arrow
    yield good + line(['"271828', "Zebra", "-"], delimiter)
    yield good + line(["5", '"Zebra', "-"], delimiter) + "Zebra\r\n" * 5
    yield good + line(["5", 'Ze"bra"', "-"], delimiter)
    yield good + line(["5", '"Zebra"Zebra', "-"], delimiter)
    yield good + line(["5", "Zebra" * 400_000, "-"], delimiter)
    yield good + line(["5\0", "Zebra", "-"], delimiter)
    yield good.replace("town", "Zebra").replace("note", "Zebra")
    yield good.replace("wait", "WAIT")
    yield "sep=Z\r\n" + good
    yield "Zebra\r\n" + good


def faulty_bytes() -> Iterator[bytes]:
    for delimiter in (",", ";", "\t", "|"):
        for text in faulty_texts(delimiter):
            yield text.encode()
            if len(text) < 10_000:
                for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "cp1252"):
                    yield text.encode(encoding)
                whole = (text + "Öhrchen\u041b\u0438\u0441").encode()
                yield whole[:-1]
                yield whole.replace("Ö".encode(), b"\xff")
                yield text.encode("utf-16")[:-1]


def said(error: BaseException | None) -> str:
    """All that a log could show of an error, also of those that stood behind it."""
    parts = []
    while error is not None:
        parts += [str(error), repr(error), *traceback.format_exception_only(error)]
        error = error.__cause__ or error.__context__
    return "\n".join(parts)


def check(action: Callable[[], object]) -> bool:
    """Whether it is refused; nothing that is said has a canary."""
    error: Exception | None = None
    try:
        action()
    except Exception as raised:
        error = raised
    assert isinstance(error, ValueError | TypeError | OSError | None), said(error)
    assert not [canary for canary in CANARIES if canary in said(error)]
    return error is not None


def calls(data: Any) -> list[Callable[[], object]]:
    return [
        lambda: bulk.report(data, {"wait": M}),
        lambda: bulk.report(data, {"wait": M}, keep=["town"], words="missing", missing="drop"),
        lambda: bulk.report(data, {"town": CHOICE}),
        lambda: bulk.report(data, {"waiting": M}),
        lambda: bulk.tally(data, "wait", mechanism=M),
        lambda: bulk.tally(data),
        lambda: bulk.tally(data, "wait", by=["town"], mechanism=sv.duchi(1.0)),
        lambda: bulk.estimates(data, "wait", "town", sv.variance, mechanism=M),
        lambda: sv.trend(bulk.tally(data, "wait", by="town", mechanism=M), question="mean"),
    ]


COMMANDS = (
    "perturb {} --column wait --epsilon 1 --domain 0 10 --keep town --output out.parquet",
    "perturb {} --column town --epsilon 1 --options north,south --output out.parquet",
    "perturb {} --column wait --spec {} --output out.parquet",
    "estimate {} --column wait --spec spec.json --quick",
    "estimate {} --trend town --column wait --spec spec.json",
    "estimate {}",
    "central {} --column wait --domain 0 10 --epsilon 1",
    "central {} --column wait --domain 0 10 --epsilon 1 --by town --groups-from {}",
    "central {} --question count --epsilon 1",
    "optimal l2 --epsilon 1 --prior {}",
)


@pytest.mark.filterwarnings("ignore:.*is not UTF-8 text:UserWarning")
def test_no_function_shows_text_of_a_csv_file(tmp_path: Path) -> None:
    refused = tried = 0
    path = tmp_path / "people.csv"
    for content in list(faulty_bytes())[::4]:  # every kind of fault, not in every encoding
        path.write_bytes(content)
        for call in calls(path) if len(content) < 10_000 else calls(path)[:2]:
            refused, tried = refused + check(call), tried + 1
    assert 0.3 * tried < refused < tried  # most files are faulty, and some can be read


@pytest.mark.filterwarnings("ignore:.*is not UTF-8 text:UserWarning")
def test_no_command_shows_text_of_a_csv_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text(M.to_json())
    refused = 0
    for content in [one for one in faulty_bytes() if len(one) < 10_000][::13]:
        Path("people.csv").write_bytes(content)
        for command in COMMANDS:
            Path("out.parquet").unlink(missing_ok=True)
            monkeypatch.setattr(
                sys, "argv", ["sottovoce", *command.format("people.csv", "people.csv").split()]
            )
            with pytest.raises(SystemExit) as end:
                main()
            errors = capsys.readouterr().err
            assert "Traceback" not in errors
            assert not [canary for canary in CANARIES if canary in errors], errors
            refused += end.value.code == 2
    assert refused > 200


def test_no_function_shows_text_of_other_files(tmp_path: Path) -> None:
    """Parquet and Arrow files with bytes changed at random places, cut short, or of other types."""
    rng = np.random.default_rng(5)
    table = pa.table(dict(zip(NAMES, zip(*ROWS, strict=True), strict=True)))
    numbers = table.set_column(0, "wait", pa.array([3.0, 4.0, 271828.0]))
    refused = 0
    for one in (table, numbers):
        for ending in ("parquet", "arrow"):
            path = tmp_path / f"people.{ending}"
            if ending == "parquet":
                pq.write_table(one, path)
            else:
                with pa.ipc.new_file(path, one.schema) as writer:
                    writer.write_table(one)
            whole = path.read_bytes()
            for _ in range(25):
                content = bytearray(whole)
                for place in rng.integers(4, len(whole), rng.integers(0, 4)):
                    content[place] = rng.integers(256)
                path.write_bytes(content[: rng.integers(len(whole) // 2, 2 * len(whole))])
                refused += sum(check(call) for call in calls(path))
    assert refused > 300


def test_no_function_shows_text_of_tables_and_columns() -> None:
    mixed = pd.DataFrame({"wait": [3.0, "Zebra"], "town": ["Zebra", 271828]})
    late = duckdb.sql("select cast(x as int) as wait, x as town from (values ('3'), ('Zebra')) t(x)")
    texts = pl.DataFrame({"wait": ["3", "Zebra"], "town": ["Zebra", "Zebra"]})
    for data in (mixed, late, texts):
        for call in calls(data):
            assert check(call), data
    columns: list[Any] = [
        mixed["wait"],
        texts["wait"],
        texts,
        duckdb.sql("select cast(x as int) as wait from (values ('3'), ('Zebra')) t(x)"),
        pa.array(["3", "Zebra"]),
        pa.chunked_array([["3"], ["Zebra"]]),
        pl.Series([271828, None]),
        pl.Series([271828.5]),
        np.array(["Zebra"]),
        ["Zebra", 271828],
    ]
    for column in columns:
        assert check(lambda: sv.Tally(M, column))  # noqa: B023  called here
        assert check(lambda: M.report(column))  # noqa: B023
        assert check(lambda: sv.Tally.from_arrow(M, column, cell="wait"))  # noqa: B023
        assert check(lambda: sv.central.mean(column, (0, 10), epsilon=1.0))  # noqa: B023
