"""sottovoce optimal: what it prints, writes and draws."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.cli import build_app, main


def run(*arguments: str) -> str:
    result = CliRunner().invoke(build_app(), ["optimal", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_certificate_is_printed_and_the_spec_written(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    text = run("--epsilon", "2", "--domain", "0", "24", "--output", str(spec))
    m = sv.from_json(spec.read_text())
    assert m == sv.optimal(2.0, (0, 24))
    lines = dict(line.split("  ", 1) for line in text.splitlines())
    assert float(lines["worst-case variance"]) == pytest.approx(m.worst_variance(), rel=1e-5)
    limit = float(lines["limit of all unbiased ε-LDP mechanisms"])
    assert limit == pytest.approx(0.21635 * 576, rel=1e-3)
    assert 1 < float(lines["ratio"]) < 1.002


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--question", "value", "--loss", "l1"],
        ["--question", "value", "--loss", "3"],
        ["--circle", "24", "--loss", "l1"],
    ],
)
def test_it_draws(tmp_path: Path, arguments: list[str]) -> None:
    picture = tmp_path / "out.png"
    run("--epsilon", "1", *arguments, "--plot", str(picture))
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_a_prior_from_a_file(tmp_path: Path) -> None:
    guess = tmp_path / "guess.txt"
    guess.write_text("7\n8\n8.5\n18\n")
    text = run(
        "--epsilon", "1", "--domain", "0", "24", "--prior", str(guess), "--plot", str(tmp_path / "a.svg")
    )
    assert text.startswith("expected variance")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--epsilon", "1", "--loss", "huber"], "loss must be 'l1', 'l2' or a number k >= 1"),
        (["--epsilon", "1", "--domain", "3", "3"], "domain must have low < high"),
        (
            ["--epsilon", "16", "--question", "value", "--tolerance", "0.01"],
            "at most 12 for this optimal design",
        ),
    ],
)
def test_mistakes_are_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["sottovoce", "optimal", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert sentence in capsys.readouterr().err


def test_drawing_needs_a_certificate() -> None:
    from sottovoce.documents.portrait import draw_design

    with pytest.raises(ValueError, match="only a mechanism with a certificate"):
        draw_design(sv.ogpm(1.0))
