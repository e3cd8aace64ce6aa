"""Data as it comes: where what is wrong stands, what was filled in, words in a column of numbers, counts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import sottovoce as sv
from sottovoce import bulk
from sottovoce.bulk.tables.csv_file import CsvFile
from sottovoce.bulk.tables.labels import counts_text, specs_path
from sottovoce.errors import DataError

M = sv.duchi(2.0, (0, 10))
MESSY = 'town,wait\n"New\nYork",3\n\nBonn,n/a\nKiel,unknown\nRom,12\nOslo,7\n'


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    (tmp_path / "messy.csv").write_text(MESSY)
    return tmp_path / "messy.csv"


def test_lines_are_those_of_an_editor(messy: Path) -> None:
    lines = MESSY.split("\n")
    for row, begins in enumerate(('"New', "Bonn", "Kiel", "Rom", "Oslo")):
        assert lines[int(CsvFile(messy, {}).place(row).removeprefix("line ")) - 1].startswith(begins)


def test_refusals_say_where_and_what_helps_and_that_it_does(messy: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"1 of 5 values are not, the first in line 6; words='missing'"):
        bulk.report(messy, {"wait": M})
    with pytest.raises(DataError, match=r"2 of 5 are missing .*, the first in line 5.*; missing='uniform'"):
        bulk.report(messy, {"wait": M}, words="missing")
    with pytest.raises(DataError, match=r"1 of 5 are outside .*, the first in line 7; outside='clip'"):
        bulk.report(messy, {"wait": M}, words="missing", missing="uniform")
    done = bulk.report(
        messy, {"wait": M}, tmp_path / "x.parquet", words="missing", missing=5.0, outside="clip"
    )
    assert done.rows == 5
    assert done.replaced == {("wait", "missing"): 2, ("wait", "outside"): 1}
    quoted = tmp_path / "quoted.csv"
    quoted.write_text('wait\n1\n"2\n"\n')  # a number and a line break: Arrow reads no number there
    with pytest.raises(DataError, match="1 of 2 values are not, the first in line 3"):
        bulk.report(quoted, {"wait": M})
    table = pa.table({"wait": [1.0, None, 3.0]})
    with pytest.raises(DataError, match="the first in row 2"):
        bulk.report(table, {"wait": M})
    with pytest.raises(ValueError, match="words must be one of 'refuse', 'missing', got words='drop'"):
        bulk.report(table, {"wait": M}, words="drop")  # type: ignore[call-overload]


def test_a_file_of_counts_is_counted_by_its_counts(tmp_path: Path) -> None:
    rows = {"day": ["a", "a", "b"], "cell": [0, 1, 1], "count": [5, 2, 3]}
    text = "day,cell,count\n" + "".join(f"{d},{c},{n}\n" for d, c, n in zip(*rows.values(), strict=True))
    csv, parquet = tmp_path / "counts.csv", tmp_path / "days.parquet"
    csv.write_text(text)
    pa.parquet.write_table(pa.table(rows), parquet)
    for path in (csv, parquet):
        specs_path(path).write_text(counts_text(M, "cell", "count"))
        assert bulk.tally(path).counts.tolist() == [5, 5]
        by_day = bulk.tally(path, by="day")
        assert {key[0]: tally.counts.tolist() for key, tally in by_day.items()} == {"a": [5, 2], "b": [0, 3]}
    csv.write_text(text + "b,0,-1\n")
    with pytest.raises(DataError, match="must not be missing or negative"):
        bulk.tally(csv)
    # Four times 2^62 is 2^64, which 64 bits take for nothing.
    for count, rule in ((2**62, r"between 0 and 2\^53"), (2**53, r"add up to at most 2\^53")):
        csv.write_text(text + f"b,0,{count}\n" * 4)
        with pytest.raises(DataError, match=rule):
            bulk.tally(csv)


def test_counts_of_a_survey_come_back(tmp_path: Path) -> None:
    survey = sv.survey(2.0, [(0, 1)] * 3, "sample", k=2)
    tally = sv.Tally(survey, survey.report([[0.1, 0.5, 0.9]] * 50, rng=1))
    path = tmp_path / "survey.csv"
    path.write_text("cell,count\n" + "".join(f"{i},{n}\n" for i, n in enumerate(tally.counts.tolist()) if n))
    specs_path(path).write_text(counts_text(survey, "cell", "count"))
    assert bulk.tally(path) == tally
