"""The command line as a process: one sentence on standard error, exit code 2, options by their names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import sottovoce as sv
from sottovoce.cli import COMMANDS, build_app
from sottovoce.cli.shared_options import in_options
from sottovoce.errors import ArgumentError, DataError


def typed(*words: str, folder: Path) -> tuple[int, str, str]:
    line = [sys.executable, "-m", "sottovoce", *words]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("optimal --epsilon -1", "--epsilon: epsilon must be positive"),
        ("optimal --epsilon 1 --circle -1", "--circle: circumference must be positive"),
        ("optimal --epsilon 1 --output no/spec.json", "there is no folder no"),
        ("central empty.csv --question count --epsilon 1", "empty.csv cannot be read"),
        ("estimate twice.csv", "twice.csv has several columns of one name"),
        ("nothing", "there is no command 'nothing'"),
        ("serve --max-body 1", "--max-body: max_body must be between 1024 and 67108864"),
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
    words = "central data.csv --question count --epsilon 1 --budget 1 --budget-file no/spent.db"
    code, _, error = typed(*words.split(), folder=tmp_path)
    file = tmp_path / "no" / "spent.db"
    assert (code, error) == (
        2,
        f"sottovoce: cannot create the budget file {file}: No such file or directory\n",
    )


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            ArgumentError("epsilon must be positive", argument="epsilon"),
            "--epsilon: epsilon must be positive",
        ),
        (ArgumentError("circumference must be finite", argument="circumference"), "--circle: circumference"),
        (
            ArgumentError("log_level must be info", argument="log_level"),
            "log_level must",
        ),
        (DataError("2 of 3 values are missing", code="confidence"), "--confidence: 2 of 3"),
        (ValueError("epsilon must be positive"), "epsilon must be positive"),
        (OSError(13, "Permission denied", "file.csv"), "file.csv: Permission denied"),
    ],
)
def test_an_error_names_the_option_that_it_is_about(error: Exception, says: str) -> None:
    assert in_options(error, get_command(build_app("plan")), ["plan", "mean"]).startswith(says)


@pytest.mark.parametrize(
    ("command", "argument", "option"),
    [
        ("plan", "p", "--p"),
        ("estimate", "p", "--quantile"),
        ("estimate", "low", "--range"),
        ("perturb", "low", "--domain"),
        ("perturb", "box", "--place"),
        ("perturb", "domains", "--pair"),
        ("perturb", "column", "--column"),
        ("central", "groups", "--group"),
    ],
)
def test_an_option_may_have_another_name_than_the_argument(command: str, argument: str, option: str) -> None:
    error = ArgumentError("it must be something else", argument=argument)
    assert in_options(error, get_command(build_app(command)), [command]) == f"{option}: {error}"


def test_the_list_of_commands_is_what_they_say_of_themselves() -> None:
    commands = get_command(build_app()).commands  # type: ignore[attr-defined]
    assert {name: command.help.partition("\n")[0] for name, command in commands.items()} == COMMANDS
    code = "import sottovoce.cli as cli; cli.main()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert all(f"  {name:<11}{about}\n" in done.stdout for name, about in COMMANDS.items())


def loaded(*words: str) -> set[str]:
    """What is imported to run a command."""
    code = "import sys\nfrom sottovoce.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules)"
    line = [sys.executable, "-c", code, *words]
    return set(subprocess.run(line, capture_output=True, text=True, check=False).stdout.split())


def test_a_small_file_waits_for_nothing_that_large_ones_need(tmp_path: Path) -> None:
    """numba, pandas (which pyarrow would load), scipy's programs and splines: most of a second."""
    m = sv.design("mean", epsilon=2.0, domain=(0, 50))
    (tmp_path / "spec.json").write_text(m.to_json())
    lines = (f"{speed:.2f},{'ab'[i % 2]}" for i, speed in enumerate(np.linspace(0, 50, 6000)))
    (tmp_path / "wind.csv").write_text("\n".join(["wind,town", *lines]))
    spec, wind, reports = (str(tmp_path / name) for name in ("spec.json", "wind.csv", "r.parquet"))
    late = {"numba", "pandas", "scipy.optimize", "scipy.interpolate", "scipy.stats"}
    assert not late & loaded(
        "perturb", wind, "--column", "wind", "--keep", "town", "--spec", spec, "--output", reports
    )
    assert (tmp_path / "r.parquet").exists()
    every = loaded("estimate", reports)
    assert "scipy.special" in every
    assert not (late - {"scipy.optimize"}) & every  # which odd reports need
    assert not (late - {"pandas"}) & loaded("estimate", reports, "--by", "town")
    assert not late & loaded("central", wind, "--column", "wind", "--epsilon", "1", "--domain", "0", "50")


def test_a_command_loads_only_what_it_runs() -> None:
    assert not {"numpy", "typer", "rich"} & (loaded("--version") | loaded("--help"))
    parts = {f"sottovoce.cli.{name}" for name in COMMANDS}
    audit = loaded("audit", "--help")
    assert audit & parts == {"sottovoce.cli.audit"}
    assert not {"rich", "scipy", "cryptography"} & audit


def test_the_version(tmp_path: Path) -> None:
    assert typed("--version", folder=tmp_path) == (0, f"sottovoce {sv.__version__}\n", "")
