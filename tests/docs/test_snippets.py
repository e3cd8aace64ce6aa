"""Every Python block of the README and the docs runs, page by page, in one namespace per page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")) if "```python" in path.read_text()
)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = page.read_text()
    names: dict[str, object] = {"__name__": "docs"}
    for block in BLOCK.finditer(text):
        first_line = text[: block.start(1)].count("\n")
        exec(compile("\n" * first_line + block.group(1), str(page), "exec"), names)


def test_the_readme_has_code() -> None:
    assert ROOT / "README.md" in PAGES
