"""CSV files as spreadsheets write them: read where they say how, refused with what settles it where not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.bulk.randomiser import Randomiser
from sottovoce.bulk.tables import csv_dialect
from sottovoce.errors import ArgumentError, DataError
from sottovoce.values.missing_and_outside import Policy

M = sv.pm(1.0, (0, 100_000))
TOWNS = sv.choice(1.0, ["Köln", "Bonn"])
PEOPLE = [(45000.5, "Köln"), (38000.25, "Bonn"), (1234.567, "Köln"), (None, "Bonn"), (17.0, "Köln")]
WINDOWS = "is not UTF-8 text. it is read as cp1252"


def written(delimiter: str, decimal: str, encoding: str, first: str = "", end: str = "\r\n") -> bytes:
    """The people as Excel and LibreOffice write them: quotes where needed, lines that end in CRLF."""
    lines = [first, delimiter.join(["id", "Gehalt", "Stadt", '"Anmerkung, frei"'])]
    for i, (pay, town) in enumerate(PEOPLE):
        number = "" if pay is None else f"{pay:.3f}".replace(".", decimal)
        number = f'"{number}"' if delimiter in number else number
        lines.append(delimiter.join([str(i), number, town, '"Zeile ""1""\nZeile 2"']))
    return "".join(line + end for line in lines if line).encode(encoding)


DIALECTS: dict[str, tuple[bytes, dict[str, Any]]] = {
    "plain": (written(",", ".", "utf-8", end="\n"), {}),
    "crlf and mark": (written(",", ".", "utf-8-sig"), {}),
    "german": (written(";", ",", "utf-8"), {}),
    "german excel": (written(";", ",", "cp1252"), {}),
    "german excel, utf-8": (written(";", ",", "utf-8-sig"), {}),
    "unicode text of excel": (written("\t", ",", "utf-16"), {}),
    "utf-16, other order": (b"\xfe\xff" + written("\t", ",", "utf-16-be"), {}),
    "swiss": (written(";", ".", "utf-8"), {}),
    "sep=": (written(";", ",", "cp1252", "sep=;"), {}),
    "sep= of another mark": (written("|", ",", "utf-8-sig", '"sep=|"'), {}),
    "old apple": (written(";", ",", "utf-8", end="\r"), {}),
    "all said": (written("|", ",", "utf-16-le"), {"delimiter": "|", "decimal": ",", "encoding": "utf-16-le"}),
    "quoted decimal commas": (written(",", ",", "utf-8"), {"decimal": ","}),
    "tab said": (written("\t", ".", "cp1252"), {"delimiter": "tab", "encoding": "Windows-1252"}),
}


@pytest.mark.filterwarnings(f"ignore:.*{WINDOWS}:UserWarning")
@pytest.mark.parametrize("name", DIALECTS)
def test_the_same_people_give_the_same_reports_in_every_dialect(name: str, tmp_path: Path) -> None:
    """Drawn by the same key: cell by cell, with the same kept columns."""
    content, said = DIALECTS[name]
    tables = []
    for folder, (bytes_, options) in (("plain", DIALECTS["plain"]), ("other", (content, said))):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "people.csv"
        path.write_bytes(bytes_)
        for column, mechanism in (("Gehalt", M), ("Stadt", TOWNS)):
            keyed = Randomiser(
                {column: mechanism}, ("id",), Policy("uniform"), row_id="id", secret=b"k" * 32, csv=options
            )
            source = keyed.open(path)
            schema = keyed.schema(source)
            tables.append([keyed.reports(batch, schema).to_pydict() for batch in source.batches()])
        reports = bulk.report(path, {"Gehalt": M}, keep=["Stadt"], missing="drop", **options)
        assert reports.column("Stadt").to_pylist() == [town for pay, town in PEOPLE if pay is not None]
        groups = bulk.tally(path, "id", by="Stadt", mechanism=M, **options)
        assert {key[0]: tally.n for key, tally in groups.items()} == {"Köln": 3, "Bonn": 2}
        estimates = bulk.estimates(path, "id", "Stadt", sv.mean, mechanism=M, **options)
        assert estimates.column("Stadt").to_pylist() == ["Bonn", "Köln"]
    assert tables[:2] == tables[2:]


def report(tmp_path: Path, content: str | bytes, **options: Any) -> Any:
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return bulk.report(path, {"x": M}, missing="drop", **options)


@pytest.mark.parametrize(
    ("text", "option", "says"),
    [
        ("x;y\n1.234;a\n2.500;b\n", "decimal", "must say what '.' means, first in line 2: decimal='.'"),
        ("x;y\n5;a\n1,234;b\n", "decimal", "must say what ',' means, first in line 3: decimal=','"),
        ("x;y\n1,5;a\n1.5;b\n", "decimal", "1 of 2 values are not, the first in line 2; write the numbers"),
        (
            'x,y\n3,a\n"1,234.50",b\n',
            "decimal",
            "1 of 2 values are not, the first in line 3; write the numbers",
        ),
        ("x;y\n1.234,50;a\n", "decimal", "1 of 1 values .* line 2; write the numbers without separators"),
        ("x;y\n1 234;a\n", "decimal", "without separators of thousands"),
        ("x;y\n1’234.5;a\n", "decimal", "without separators of thousands"),
        ('x,y\n"1,5",a\n', "decimal", "line 2; write the numbers .*, or say decimal=',' if that is it"),
        ("x\n1,5\n2,5\n", "delimiter", "line 2 has 2 fields, the first line has 1; delimiter="),
        ("x;y, z\n1;a\n", "delimiter", "the first line of t.csv has ',' and ';': delimiter="),
        ("x;y\n1;a\n2;b;c\n", "delimiter", "line 3 has 3 fields, the first line has 2; delimiter="),
        ("x;y\n1;Müller\n2;".encode() + b"\xff\n", "encoding", "line 3 of t.csv is not UTF-8 text: say what"),
        (
            "x;y\n1;a\n".encode("utf-16-le"),
            "encoding",
            "not UTF-8 text: say what it is, such as encoding='utf-16-le'",
        ),
        ("x;y\n1;a\n".encode("utf-16")[:-1], "encoding", "line 2 of t.csv is not utf-16 text"),
        (b"x;y\n1;\x81\n", "encoding", "line 2 of t.csv is not UTF-8 text"),
    ],
)
def test_what_a_file_leaves_open_is_refused(
    text: str | bytes, option: str, says: str, tmp_path: Path
) -> None:
    for words in ("refuse", "missing"):  # a number that is written strangely is no word
        with pytest.raises(DataError, match=says) as refusal:
            report(tmp_path, text, words=words)
        assert refusal.value.argument == option


def test_the_option_that_is_named_settles_it(tmp_path: Path) -> None:
    for text, options in (
        ("x;y\n1.234;a\n2.500;b\n", {"decimal": "."}),
        ("x;y\n5;a\n1,234;b\n", {"decimal": ","}),
        ("x\n1,5\n2,5\n", {"delimiter": ";"}),
        ("x;y, z\n1;a\n2;b\n", {"delimiter": ";"}),
        ("x;y\n1;a\n2;b\n".encode("utf-16-le"), {"encoding": "utf-16-le"}),
        ("x;y\n1;\u0416\n2;\u0416\n".encode("cp1251"), {"encoding": "cp1251"}),
    ):
        assert report(tmp_path, text, **options).num_rows == 2
    # What one other number of the column shows need not be said, and a comma between columns says it too.
    for text in ("x;y\n1.234;a\n0.5;b\n", "x;y\n1,234;a\n2,5;b\n", "x,y\n1.234,a\n2.500,b\n"):
        assert report(tmp_path, text).num_rows == 2
    with pytest.raises(DataError, match=r"t\.csv is not ascii text in line 3"):
        report(tmp_path, "x;y\n1;a\n2;ü\n", encoding="ascii")
    for wrong in ({"delimiter": ";;"}, {"delimiter": "1"}, {"decimal": "x"}, {"encoding": "latin-99"}):
        with pytest.raises(ArgumentError) as refusal:
            report(tmp_path, "x\n1\n", **wrong)
        assert refusal.value.argument == next(iter(wrong))
    with pytest.raises(ArgumentError, match="decimal is about CSV files"):
        bulk.tally(bulk.report(tmp_path / "t.csv", {"x": M}), "x", decimal=",")


def test_what_is_not_about_the_data_is_refused() -> None:
    """Words in a column of numbers are in CSV files only; what is counted needs no more to be said."""
    people = pa.table({"x": [1.0, 2.0], "town": ["a", "b"]})
    with pytest.raises(ArgumentError, match="words is about CSV files") as refusal:
        bulk.report(people, {"x": M}, words="missing")
    assert refusal.value.argument == "words"
    grouped = bulk.tally(bulk.report(people, {"x": M}, keep="town"), "x", by="town")
    for more in ({"mechanism": M}, {"delimiter": ";"}):
        with pytest.raises(ArgumentError, match="does not belong to a GroupedTally") as refusal:
            bulk.estimates(grouped, "x", "town", sv.mean, **more)
        assert refusal.value.argument == next(iter(more))


def test_words_beside_decimal_commas_can_be_missing(tmp_path: Path) -> None:
    text = "x;y\n1,5;a\nkeine Angabe;b\n;c\nNA;d\n 2,5 ;e\n"
    with pytest.raises(DataError, match=r"1 of 5 values are not, the first in line 3; words='missing'"):
        report(tmp_path, text)
    assert report(tmp_path, text, words="missing").num_rows == 2


def test_nothing_is_drawn_before_a_whole_column_was_seen(tmp_path: Path) -> None:
    """The last of a million lines is of another kind: nobody before it was randomised."""
    done: list[int] = []
    with pytest.raises(DataError, match="the first in line 2"):
        report(tmp_path, "x;y\n" + "1,5;a\n" * 10**6 + "1.5;a\n", progress=done.append)
    assert not done
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv"]


def test_a_guessed_encoding_is_said_and_only_then(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=f"t.csv {WINDOWS}.*; encoding= says"):
        report(tmp_path, "x;y\n1;Köln\n".encode("cp1252"))
    report(tmp_path, "x;y\n1;Köln\n".encode("cp1252"), encoding="cp1252")  # a warning would be an error here
    command = [
        "perturb",
        "t.csv",
        "--column",
        "x",
        "--epsilon",
        "1",
        "--domain",
        "0",
        "9",
        "--output",
        "r.parquet",
    ]
    code = "from sottovoce.cli import main; main()"
    line = [sys.executable, "-c", code, *command]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "sottovoce: t.csv is not UTF-8 text: it is read as cp1252" in done.stderr
    (tmp_path / "r.parquet").unlink()
    done = subprocess.run(
        [*line, "--encoding", "cp1252", "--delimiter", ";", "--decimal", ","],
        capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert not done.stderr


def test_a_column_that_is_not_there_is_told_without_the_first_line(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="no column 'x'; its first line has other names, read with ';' between 2"
    ):
        report(tmp_path, "Anna;45000\nBert;38000\n")
    with pytest.raises(DataError, match="has one that differs in case or blanks, ' X'"):
        report(tmp_path, "y, X\nBert,38000\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_memory_does_not_grow_with_a_file(encoding: str, tmp_path: Path) -> None:
    """What Arrow holds at most while 40 and 160 thousand long rows are read, in a process of its own."""
    code = (
        "import functools, sys, pyarrow as pa, pyarrow.csv\n"
        "from sottovoce.bulk.tables.sources import Source\n"
        "pa.csv.ReadOptions = functools.partial(pa.csv.ReadOptions, block_size=1 << 16)\n"  # it reads ahead
        "source = Source(sys.argv[1], ['x', 'y'], {'x': pa.float64()}, encoding=sys.argv[2])\n"
        "rows = sum(batch.num_rows for batch in source.batches())\n"
        "print(rows, pa.default_memory_pool().max_memory())"
    )
    peaks = []
    for rows in (40_000, 160_000):
        path = tmp_path / f"{rows}.csv"
        path.write_bytes(("x;y\n" + ("1,5;" + "ö" * 120 + "\n") * rows).encode(encoding))
        line = [sys.executable, "-c", code, path, encoding]
        told = subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()
        assert int(told[0]) == rows
        peaks.append(int(told[1]))
    assert peaks[1] < 1.5 * peaks[0] < 160_000 * 120  # the file is four times as long


def test_letters_across_blocks_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is looked at in blocks, which may end within a letter."""
    monkeypatch.setattr(csv_dialect, "_BLOCK", 7)
    for encoding in ("utf-8", "utf-16", "utf-8-sig"):
        assert report(tmp_path, ("x;y\n" + "1;öäü漢\n" * 50).encode(encoding)).num_rows == 50
