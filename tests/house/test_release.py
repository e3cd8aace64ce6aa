"""What is released: the wheel's files, one version everywhere, the README's lines from the wheel alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tools.jar import pack

import sottovoce

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(target), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.glob("*.whl"))


def test_the_wheel_holds_what_runs_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src" / "sottovoce"
    # os.walk follows the link to the JavaScript client, which the wheel holds as files.
    source = {
        (Path(folder) / file).relative_to(package.parent).as_posix()
        for folder, _, files in os.walk(package, followlinks=True)
        if "__pycache__" not in folder
        for file in files
    }
    source |= {f"sottovoce/vectors/{name}.json" for name in ("sampling", "specs")}  # what the checker asks
    assert {name for name in names if ".dist-info/" not in name} == source
    for needed in (
        "py.typed",
        "collector/pages/static/survey.html",
        "collector/pages/static/sottovoce/mechanism.js",
        "collector/store/migrations/versions/0001_first.py",
        "demo/departures.csv",
    ):
        assert f"sottovoce/{needed}" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert not [name for name in names if "test" in name.lower().split("/")[-1]]


def test_the_version_has_one_source(wheel: Path) -> None:
    assert wheel.name.split("-")[1] == sottovoce.__version__
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == sottovoce.__version__
    assert f"\n## {sottovoce.__version__} (" in (ROOT / "CHANGELOG.md").read_text()


def test_what_is_packed_carries_no_trace_of_its_building(wheel: Path, tmp_path: Path) -> None:
    """`make dist` builds everything twice and compares; here, that entries have an order and one date."""
    entries = zipfile.ZipFile(wheel).infolist()
    assert {entry.date_time for entry in entries} == {(2020, 2, 2, 0, 0, 0)}
    for number, names in enumerate((("a", "b"), ("b", "a"))):
        (tmp_path / str(number)).mkdir()
        for name in names:
            (tmp_path / str(number) / f"{name}.class").write_bytes(b"x" * 999)
        os.utime(tmp_path / str(number) / "a.class", (number, number))
        pack(tmp_path / str(number), tmp_path / f"{number}.jar")
    with zipfile.ZipFile(tmp_path / "0.jar") as jar:
        assert jar.namelist() == ["META-INF/MANIFEST.MF", "a.class", "b.class"]
        assert sottovoce.__version__ in jar.read("META-INF/MANIFEST.MF").decode()
    assert (tmp_path / "0.jar").read_bytes() == (tmp_path / "1.jar").read_bytes()


def test_the_wheel_alone_runs_the_readme(wheel: Path, tmp_path: Path) -> None:
    """Imported straight from the unpacked wheel, in an empty folder, without any extra but `analysis`."""
    place = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(place)
    lines = subprocess.run([sys.executable, ROOT / "tools" / "readme.py"], capture_output=True, text=True)
    assert "import sottovoce as sv" in lines.stdout
    refuse = "import sys; sys.modules.update(numba=None, typer=None, matplotlib=None, pyarrow=None)\n"
    where = f"import sottovoce; assert sottovoce.__file__.startswith({str(place)!r})\n"
    alone = {"PYTHONPATH": str(place), "SOTTOVOCE_PLAIN": "1", "SOTTOVOCE_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", refuse + where + lines.stdout],
        cwd=tmp_path,
        env={**os.environ, **alone},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip().split("\n")) >= lines.stdout.count("\nprint(") >= 2
