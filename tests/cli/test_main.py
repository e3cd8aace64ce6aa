"""The command line as a process: one sentence on standard error, exit code 2, options by their names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.cli.options import in_options


def typed(*words: str, folder: Path) -> tuple[int, str, str]:
    line = [sys.executable, "-m", "sottovoce", *words]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("optimal --epsilon -1", "--epsilon must be positive, got -1.0"),
        ("optimal --epsilon 1 --circle -1", "--circle must be positive, got -1.0"),
        ("optimal --epsilon 1 --output no/spec.json", "there is no folder no"),
        ("central empty.csv --statistic count --epsilon 1", "empty.csv cannot be read"),
        ("estimate twice.csv", "twice.csv has several columns 'x'"),
        ("serve --max-body 1", "--max-body must be between 1024 and 67108864, got 1"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, words: str, sentence: str) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "twice.csv").write_text("x,x\n1,2\n")
    code, said, error = typed(*words.split(), folder=tmp_path)
    assert (code, said) == (2, "")
    assert error.startswith(f"sottovoce: {sentence}")
    assert error.count("\n") == 1


def test_the_systems_words_name_the_file(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x\n1\n")
    words = "central data.csv --statistic count --epsilon 1 --budget 1 --budget-file no/spent.jsonl"
    code, _, error = typed(*words.split(), folder=tmp_path)
    assert (code, error) == (2, "sottovoce: no/spent.jsonl: No such file or directory\n")


def test_options_instead_of_arguments() -> None:
    assert in_options("log_level must be one of a, b, got log_level='x'") == (
        "--log-level must be one of a, b, got 'x'"
    )
    assert in_options("values must lie in [0.0, 1.0] (or pass clip=True): 1 of 3 do not") == (
        "values must lie in [0.0, 1.0] (or pass --clip): 1 of 3 do not"
    )
    assert in_options("reports must be stored") == "reports must be stored"


def test_the_version(tmp_path: Path) -> None:
    assert typed("--version", folder=tmp_path) == (0, f"sottovoce {sv.__version__}\n", "")
