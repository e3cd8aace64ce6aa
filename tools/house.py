"""Print the house: the parts in the order of imports, their folders, and what each says first of itself.

python -m tools.house            as CONTRIBUTING.md shows it
python -m tools.house --write    into CONTRIBUTING.md
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.house.order import ORDER

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
SOURCE = ROOT / "src/sottovoce"
BEGIN, END = "<!-- house: python -m tools.house --write -->\n", "<!-- end -->\n"


def about(path: Path) -> str:
    """The first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]


def lines(place: Path, depth: int = 1) -> Iterator[str]:
    """A file, or a folder and the folders in it that say what they are."""
    name, module = ("/", place / "__init__.py") if place.is_dir() else ("", place.with_suffix(".py"))
    if not module.exists() or not about(module):
        return
    yield f"{'  ' * depth + place.stem + name:<26}{about(module)}"
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        yield from lines(folder, depth + 1) if folder.is_dir() else ()


def house() -> str:
    """The picture, as a block of Markdown."""
    parts = [line for part in ORDER if not part.startswith("_") for line in lines(SOURCE / part)]
    return "\n".join(["```text", "src/sottovoce/", *parts, "```", ""])


def furnished(text: str) -> str:
    """The page with today's picture in it."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{house()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(furnished(PAGE.read_text()))
    else:
        print(house())
