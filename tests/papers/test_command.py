"""sottovoce reproduce."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sottovoce.cli import build_app
from sottovoce.papers import Run, reproduce


def test_reproduce_one_entry(tmp_path: Path) -> None:
    out = tmp_path / "papers"
    args = ["reproduce", "--quick", "--only", "example-6-1", "--output", str(out)]
    result = CliRunner().invoke(build_app(), args)
    assert result.exit_code == 0, result.output
    assert "3  reproduced" in result.output
    assert "synthetic stand-in" in result.output
    assert (out / "report.html").exists()


def test_list_names_every_entry() -> None:
    result = CliRunner().invoke(build_app(), ["reproduce", "--list"])
    assert result.exit_code == 0
    assert "ogpm-figure-8" in result.output
    assert "hourglass-figure-5" in result.output


def test_a_folder_without_the_data_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing: \['sub_1.csv'"):
        reproduce(tmp_path / "out", Run(quick=True, motionsense=tmp_path), only=["figure-4"])
    for name in ("sub_1.csv", "sub_2.csv", "sub_3.csv"):
        (tmp_path / name).write_text("userAcceleration.x,attitude.roll\n")
    with pytest.raises(ValueError, match=r"sub_1\.csv must have rows"):
        reproduce(tmp_path / "out", Run(quick=True, motionsense=tmp_path), only=["figure-4"])
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_there() -> None:
    result = CliRunner().invoke(build_app(), ["reproduce", "--motionsense", "/nowhere/at/all"])
    assert result.exit_code == 2
