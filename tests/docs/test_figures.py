"""Every figure in the docs is shown by a page and made by a committed script, which still makes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examples.__main__ import ORDER
from tools.figures import FOLDER, ROOT, content, differences, draw, notes, save, scripts

from papers import entries

SHOWN = re.compile(r'!\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"')
KINDS = {".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp"}
MOST = 200_000  # bytes


def figures(root: Path) -> set[Path]:
    found = (path for part in ("docs", "examples") for path in (root / part).rglob("*"))
    return {path for path in found if path.suffix in KINDS}


def shown(root: Path) -> set[Path]:
    """Every picture of this repository that a page shows."""
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    links = [(page, link[0] or link[1]) for page in pages for link in SHOWN.findall(page.read_text())]
    return {(page.parent / link.partition("#")[0]).resolve() for page, link in links if "://" not in link}


def declared(script: Path) -> set[str]:
    """The file names that a script of docs/figures mentions in quotes."""
    return set(re.findall(r'"([\w-]+\.(?:png|svg))"', script.read_text()))


def makers() -> dict[Path, str]:
    """Every figure that something committed makes, and what."""
    made = {FOLDER / file: script.name for script in scripts().values() for file in declared(script)}
    made |= {FOLDER / "examples" / f"{name}.png": f"examples/{name}.py" for name in ORDER}
    made |= {ROOT / "docs/benchmarks" / name: "make peers" for name in ("bins.png", "speed.png")}
    made[ROOT / "docs/benchmarks/limits.png"] = "python -m benchmarks limits"
    return made | {ROOT / "docs/papers" / f"{e.key}.png": "python -m papers" for e in entries()}


def test_every_figure_is_shown_and_every_shown_figure_exists() -> None:
    there, on_pages = figures(ROOT), shown(ROOT)
    assert not there - on_pages, "no page shows these"
    assert not {path for path in on_pages if not path.exists()}


def test_every_figure_has_a_maker() -> None:
    orphans = figures(ROOT) - set(makers())
    assert not orphans, "give docs/figures a script whose draw() returns these by file name"


def test_an_orphan_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text('![a](docs/a.png) <img src="docs/b.svg">')
    for name in ("a.png", "b.svg", "orphan.png"):
        (tmp_path / "docs" / name).touch()
    assert figures(tmp_path) - shown(tmp_path) == {tmp_path / "docs" / "orphan.png"}


@pytest.mark.parametrize("name", scripts())
def test_script_still_makes_its_figures(name: str) -> None:
    import matplotlib.pyplot as plt

    made = draw(scripts()[name])
    again = f"run `python -m tools.figures {name}` and look at the pictures"
    assert set(made) == declared(scripts()[name])
    for file, figure in made.items():
        kept = notes(FOLDER / file).get("drawn", [])
        assert not differences(kept, content(figure)), f"{file}: {again}"
    plt.close("all")


def test_figures_are_small_and_readable_on_any_background() -> None:
    from PIL import Image

    for path in figures(ROOT):
        assert path.stat().st_size <= MOST, path.name
        if path.suffix == ".png":
            with Image.open(path) as picture:
                assert picture.convert("RGBA").getpixel((0, 0))[3] == 255, f"{path.name} is transparent"
        elif not path.stem.endswith("-dark"):
            first = path.read_text().split('<g id="patch_1">')[1].split("/>")[0]
            assert "fill: #ffffff" in first, f"{path.name} has no background"


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_figure_carries_what_it_draws(tmp_path: Path, suffix: str) -> None:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots()
    (line,) = ax.plot([0, 1, 2], [0.1234567, 5, 3])
    ax.bar([0, 1], [1, 2])
    ax.fill_between([0, 1], [0, 0], [1, 2])
    ax.pcolormesh([[1.0, 2.0], [3.0, 4.0]])
    save(figure, tmp_path / f"a{suffix}", printed="a < b & c")
    kept = notes(tmp_path / f"a{suffix}")
    assert kept["printed"] == "a < b & c"
    assert kept["drawn"][0] == [0, 0.1235, 1, 5, 2, 3]
    assert not differences(kept["drawn"], content(figure))
    line.set_ydata([0.1234567, 5.06, 3])  # one point moves by more than a hundredth of the range
    assert differences(kept["drawn"], content(figure))
    line.remove()
    assert differences(kept["drawn"], content(figure))
    plt.close(figure)
