"""Every Python block of the README and the docs runs, page by page, in one namespace per page.

What stands directly below a block is what it prints.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_readme import agrees

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")) if "```python" in path.read_text()
)
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
OUTPUT = re.compile(r"\n(?:```text\n((?:(?!```).*\n)*)```|((?: {4}.*\n)+))")


def shown(text: str, end: int) -> list[str]:
    """The lines that a page shows directly below the block that ends there, if they are no commands."""
    output = OUTPUT.match(text, end)
    lines = (output[1] or output[2]).splitlines() if output else []
    return [] if any(line.split()[:1] == ["sottovoce"] for line in lines) else lines


def same(line: str, printed: str) -> bool:
    """Whether two lines have the same words, and numbers that differ by one in the last digit at most."""
    pairs = list(zip(NUMBER.findall(line), NUMBER.findall(printed), strict=False))
    words = [NUMBER.sub("0", text).split() for text in (line, printed)]
    return words[0] == words[1] and all(agrees(float(two.replace(",", "")), one) for one, two in pairs)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = page.read_text()
    names: dict[str, object] = {"__name__": "docs"}
    for block in BLOCK.finditer(text):
        first_line = text[: block.start(1)].count("\n")
        exec(compile("\n" * first_line + block.group(1), str(page), "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        for line in shown(text, block.end()):
            assert not line.strip() or any(same(line, one) for one in printed), f"{line!r}, but {printed}"


def test_the_readme_has_code() -> None:
    assert ROOT / "README.md" in PAGES


def test_outputs_are_found() -> None:
    text = "```python\nprint(1, 2)\n```\n\n    1   2\n\n```python\n3\n```\n\n    sottovoce audit x\n"
    first, second = BLOCK.finditer(text)
    assert (shown(text, first.end()), shown(text, second.end())) == (["    1   2"], [])
    assert (
        sum(len(shown(page.read_text(), b.end())) for page in PAGES for b in BLOCK.finditer(page.read_text()))
        > 25
    )
