"""sottovoce reproduce."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from sottovoce.cli import build_app


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


def test_a_folder_that_is_not_there() -> None:
    result = CliRunner().invoke(build_app(), ["reproduce", "--motionsense", "/nowhere/at/all"])
    assert result.exit_code == 2
