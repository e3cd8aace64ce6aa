"""python -m papers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from papers.__main__ import main, parser

from papers import Run, reproduce

ROOT = Path(__file__).parents[2]


def test_reproduce_one_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "papers"
    main(["--quick", "--only", "example-6-1", "--output", str(out)])
    said = capsys.readouterr().out
    assert "3  reproduced" in said
    assert "synthetic stand-in" in said
    assert (out / "report.html").exists()


def test_it_runs_in_a_clone_and_writes_beside_the_sources_nothing_by_default() -> None:
    line = [sys.executable, "-m", "papers", "--list"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ogpm-figure-8" in done.stdout
    assert "hourglass-figure-5" in done.stdout
    assert parser().get_default("output") == Path("out/papers")  # papers/ is the package


def test_help_says_what_every_option_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    for option in ("--quick", "--output", "--motionsense", "--only", "--seed", "--force", "--list"):
        assert re.search(rf"^  {option} .*\n?.*[a-z.)]$", said, re.MULTILINE), option
    assert "python -m papers --only ogpm-figure-9" in said


def test_a_folder_without_the_data_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing: \['sub_1.csv'"):
        reproduce(tmp_path / "out", Run(quick=True, motionsense=tmp_path), only=["figure-4"])
    for name in ("sub_1.csv", "sub_2.csv", "sub_3.csv"):
        (tmp_path / name).write_text("userAcceleration.x,attitude.roll\n")
    with pytest.raises(ValueError, match=r"sub_1\.csv must have rows"):
        reproduce(tmp_path / "out", Run(quick=True, motionsense=tmp_path), only=["figure-4"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--motionsense", "/nowhere/at/all"], "--motionsense must be a folder with sub_1.csv"),
        (["--only", "figure-99"], "only must name an entry, got only=['figure-99']"),
        (["--seed", "-1"], "--seed must be at least 0, got --seed -1"),
        (["--quik"], "unrecognized arguments: --quik"),
    ],
)
def test_a_mistake_is_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*words, "--output", str(tmp_path / "out")])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
