"""N11: names that are formulas; and files with tokens, which nobody else may read."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.conftest import Run

import sottovoce as sv
from sottovoce.bulk.tables.labels import label
from sottovoce.cli import write_private, write_table

GROUPS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "x;=1+1", 'a "b", c', "north"]
NAMED = ["'" + name if name[0] in "=+-@\t\r" else name for name in GROUPS]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Run) -> Run:
    """Reports of groups, and the values of people of such groups."""
    monkeypatch.chdir(tmp_path)
    m = sv.optimal(4.0, (0, 24))
    hours = np.random.default_rng(2).beta(2, 5, 1800) * 24
    table = pa.table({"team": np.repeat(GROUPS, 200), "hours": m.report(hours, rng=1)})
    field = table.schema.field("hours").with_metadata(label(m))
    parquet.write_table(table.cast(table.schema.set(1, field)), "reports.parquet")
    parquet.write_table(pa.table({"team": np.repeat(GROUPS, 200), "hours": hours}), "people.parquet")
    Path("teams").write_text("=1+1\n-1\n")
    return typed


LINES = {
    "groups": "estimate reports.parquet --by team",
    "comparison": "estimate reports.parquet --by team --compare",
    "central": "central people.parquet --column hours --domain 0 24 --epsilon 1 --by team "
    "--groups-from teams",
}


def texts(name: str) -> list[str]:
    with open(name, newline="", encoding="utf-8") as file:
        return [cell for row in csv.reader(file) for cell in row if not _is_number(cell)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.attack("N11", "refused")
@pytest.mark.parametrize("line", LINES.values(), ids=list(LINES))
def test_no_text_of_a_table_is_a_formula(run: Run, line: str) -> None:
    """Numbers stay numbers, and one that is negative keeps its sign."""
    code, _, error = run(f"{line} --output table.csv")
    assert code == 0, error
    cells = texts("table.csv")
    assert "'=1+1" in cells
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)


@pytest.mark.attack("N11", "succeeds")
def test_a_plain_writer_writes_formulas() -> None:
    """As it was."""
    out = io.StringIO()
    csv.writer(out).writerows([[name] for name in GROUPS])
    assert out.getvalue().startswith("=1+1\r\n")


def test_what_a_table_holds(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write_table(
        path, {"=name": GROUPS, "value": np.arange(-1, 8) / 2, "n": [None, float("nan"), *range(-1, 6)]}
    )
    text = path.read_bytes().decode()
    assert text.splitlines()[0] == '"\'=name","value","n"'
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [row[0] for row in rows[1:]] == NAMED
    assert [float(row[1]) for row in rows[1:]] == (np.arange(-1, 8) / 2).tolist()
    assert [row[2] for row in rows[1:5]] == ["", "", "-1", "0"]
    assert '"x;=1+1",' in text  # quoted: where cells are divided by semicolons it is one


def test_reports_keep_their_groups(run: Run) -> None:
    """What is read back is written as it is: a group keeps its name."""
    line = "perturb people.parquet --column hours --keep team --epsilon 2 --domain 0 24 --output reports.csv"
    code, _, error = run(line)
    assert code == 0, error
    code, said, error = run("estimate reports.csv --column hours --by team")
    assert code == 0, error
    assert "\n=1+1\t" in said
    assert "'=1+1" not in said


@pytest.mark.parametrize("before", [None, 0o644, 0o666])
def test_what_is_private_is_its_owners(tmp_path: Path, before: int | None) -> None:
    """Whatever the umask, and also where there was a file that others could read."""
    path = tmp_path / "links.csv"
    if before is not None:
        path.write_text("old and longer than what comes")
        path.chmod(before)
    umask = os.umask(0)
    try:
        write_private(path, "link\r\n")
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes() == b"link\r\n"


def test_invitations_are_private(run: Run) -> None:
    assert run("campaign create town --epsilon 1 --domain 0 24 --collection enrolment --store s.db")[0] == 0
    for name in ("links.csv", "sheet.html"):
        Path(name).touch(mode=0o644)
        line = f"campaign invite town --count 2 --url https://survey.example --store s.db --output {name}"
        assert run(line)[0] == 0
        assert Path(name).stat().st_mode & 0o777 == 0o600
