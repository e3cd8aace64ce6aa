"""Tables in pages, written by the scripts that measured them.

A page holds `<!-- table: NAME -->` and `<!-- end -->`; what is between them is replaced.
"""

from __future__ import annotations

import re
from pathlib import Path


def replace_table(page: Path, name: str, table: str) -> None:
    """Put a table into a page."""
    text = page.read_text()
    marked = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"{page.name} has no table named {name!r}")
    page.write_text(marked.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text))


def table_in(page: Path, name: str) -> str:
    """What a page holds under that name."""
    found = re.search(rf"<!-- table: {re.escape(name)} -->\n(.*?)<!-- end -->", page.read_text(), re.DOTALL)
    if not found:
        raise ValueError(f"{page.name} has no table named {name!r}")
    return found[1].strip()
