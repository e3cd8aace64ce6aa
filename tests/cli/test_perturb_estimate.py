"""sottovoce perturb and sottovoce estimate: files in, answers out, mistakes in one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli import main

HOURS = np.random.default_rng(1).beta(2, 5, 3000) * 24


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i},{x}\n" for i, x in enumerate(HOURS.tolist()))
    Path("people.csv").write_text("id,hours\n" + rows)
    Path("absent.csv").write_text("id,hours\n" + "".join(f"{i},\n" for i in range(5)))
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("id,hours\n")

    def call(line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sottovoce", *line.split()])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return call


PERTURB = "perturb people.csv --column hours --epsilon 2 --domain 0 24 --output"


def test_a_column_goes_round(run) -> None:  # type: ignore[no-untyped-def]
    code, said, _ = run(f"{PERTURB} reports.parquet")
    assert code == 0
    assert "3000 reports" in said
    code, said, _ = run(
        "estimate reports.parquet --column hours --json --range 6 12 --quantile 0.5 --output d.png"
    )
    assert code == 0
    content = json.loads(said)
    assert content["n"] == 3000
    assert not content["honesty"]["alarm"]
    by = {e["what"]: e for e in content["estimates"]}
    assert set(by) == {"mean", "variance", "0.5-quantile", "probability of 6 to 12"}
    assert by["mean"]["low"] < HOURS.mean() < by["mean"]["high"]
    assert Path("d.png").read_bytes()[:4] == b"\x89PNG"


def test_csv_carries_its_spec_beside_it(run) -> None:  # type: ignore[no-untyped-def]
    assert run(f"{PERTURB} reports.csv --mechanism pm")[0] == 0
    assert sv.from_json(Path("reports.spec.json").read_text()) == sv.pm(2.0, (0, 24))
    code, said, _ = run("estimate reports.csv --column hours --quick --interval finite")
    assert code == 0
    assert "mean:" in said
    assert "consistent with the mechanism" in said


def test_a_tally_and_a_circle(run) -> None:  # type: ignore[no-untyped-def]
    m = sv.ogpm(2.0, sv.Circle(24))
    Path("t.json").write_text(sv.Tally(m, m.report(HOURS, rng=1)).to_json())
    code, said, _ = run("estimate t.json")
    assert code == 0
    assert "circular mean:" in said
    assert "concentration:" in said


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("perturb absent.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "hours"),
        ("perturb empty.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "empty.csv"),
        ("perturb header.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "no rows"),
        ("perturb none.csv --column hours --epsilon 1 --domain 0 24 --output x.parquet", "no file"),
        ("perturb people.csv --column age --epsilon 1 --domain 0 24 --output x.parquet", "no column 'age'"),
        ("perturb people.csv --column hours --epsilon 1 --domain 0 9 --output x.parquet", "must lie in"),
        ("perturb people.csv --column hours --domain 0 24 --output x.parquet", "--epsilon"),
        (f"{PERTURB} x.parquet --mechanism best", "mechanism must be one of"),
        (f"{PERTURB} x.parquet --missing none", "missing must be a number"),
        ("estimate people.csv --column hours", "does not say which mechanism"),
        ("estimate people.csv", "--column"),
        ("estimate none.json", "no file"),
        ("estimate empty.csv --column hours", "empty.csv"),
    ],
)
def test_mistakes_are_one_sentence(run, line: str, says: str) -> None:  # type: ignore[no-untyped-def]
    code, said, error = run(line)
    assert code == 2
    assert not said
    assert says in error
    assert "Traceback" not in error
    assert not Path("x.parquet").exists()
