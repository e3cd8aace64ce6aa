"""What is not installed: one sentence of one shape, before any work is done."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.cli import main
from sottovoce.errors import EXTRAS, MissingExtra, require_extra

ROOT = Path(__file__).parents[2]
SHAPE = (
    r"sottovoce: (?P<feature>[^:\n]+) needs the extra '(?P<extra>\w+)': "
    r"pip install '\.\[(?P=extra)\]' in a clone, "
    r"or pip install 'sottovoce-[\d.]+\w*-py3-none-any\.whl\[(?P=extra)\]' with a wheel file\n"
)


def without(modules: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process that cannot import some modules."""
    gone = f"import sys; sys.modules |= dict.fromkeys({modules.split()!r})"
    line = [sys.executable, "-c", f"{gone}\nfrom sottovoce.cli import main; main()", *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=folder)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("x\n0.5\n")
    (tmp_path / "spec.json").write_text(sv.duchi(1.0).to_json())
    return tmp_path / "spec.json"


def test_bare_it_answers_version_help_and_audit(spec: Path) -> None:
    bare = "typer rich click pyarrow matplotlib pandas numba"
    assert without(bare, "--version", folder=spec.parent).stdout == f"sottovoce {sv.__version__}\n"
    assert "Commands:" in without(bare, "--help", folder=spec.parent).stdout
    whole, lean = (without(gone, "audit", "spec.json", folder=spec.parent) for gone in ("", bare))
    assert (lean.returncode, lean.stdout, lean.stderr) == (0, whole.stdout, "")
    broken = without(bare, "audit", "spec.json", "--limit", "0.5", folder=spec.parent)
    assert (broken.returncode, "above the limit" in broken.stdout) == (1, True)


@pytest.mark.parametrize(
    ("gone", "extra", "words"),
    [
        ("typer", "analysis", "estimate reports.csv"),
        ("pyarrow", "files", "perturb people.csv --column x --spec spec.json --output out.csv"),
        ("pyarrow", "files", "estimate people.csv --spec spec.json --column x"),
        ("pyarrow", "files", "central people.csv --epsilon 1 --domain 0 1"),
        ("matplotlib", "analysis", "estimate none.csv --output picture.png"),
        ("matplotlib", "analysis", "plan mean --epsilon 1 --people 9 --domain 0 1 --output picture.png"),
        ("matplotlib", "analysis", "optimal --epsilon 1 --plot picture.png"),
        ("matplotlib", "analysis", "demo"),
        ("uvicorn", "server", "serve"),
        ("uvicorn", "server", "demo"),
        ("sqlalchemy", "server", "campaign list"),
        ("pyarrow", "files", "campaign export hours --output counts.csv"),
    ],
)
def test_a_missing_extra_is_one_sentence_before_any_work(
    gone: str, extra: str, words: str, spec: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    before = sorted(spec.parent.iterdir())
    monkeypatch.chdir(spec.parent)
    monkeypatch.setitem(sys.modules, gone, None)
    monkeypatch.setattr(sys, "argv", ["sottovoce", *words.split()])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr()
    sentence = re.fullmatch(SHAPE, said.err)
    assert sentence is not None, said.err
    assert (end.value.code, said.out, sentence["extra"]) == (2, "", extra)
    assert sorted(spec.parent.iterdir()) == before


def test_extras_are_those_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (ROOT / "docs/howto/install.md").read_text()
    pictures_and_commands, frames = {"matplotlib", "rich", "typer"}, {"pandas", "sottovoce"}
    more = {"analysis": pictures_and_commands, "files": frames, "server": {"uvloop"}}
    for extra, modules in EXTRAS.items():
        names = {re.match(r"[\w-]+", one)[0].replace("-", "_") for one in declared[extra]}  # type: ignore[index]
        brought = set() if extra == "analysis" else set(EXTRAS["analysis"])  # the server brings it along
        assert set(modules) == names - more.get(extra, set()) - brought
    assert declared.pop("all") == [f"sottovoce[{','.join(sorted(declared))}]"]
    for extra in (*declared, "all"):
        assert f"| `{extra}` |" in page
    assert f"sottovoce-{sv.__version__}-py3" in page


def test_in_python_the_sentence_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    m = sv.sw(1.0, cells=64)
    shares = sv.distribution(sv.Tally(m, m.report([0.5] * 99, rng=1)), bins=4, band=False)
    with pytest.raises(MissingExtra, match="a data frame needs the extra 'files': pip install") as missing:
        shares.to_frame()
    assert (missing.value.code, missing.value.argument) == ("missing_extra", "files")
    require_extra("analysis", "a picture", "matplotlib")
