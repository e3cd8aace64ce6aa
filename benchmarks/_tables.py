"""Markdown tables, and their places in pages, filled in by the scripts that measured them.

A page holds `<!-- table: NAME -->` and `<!-- end -->`; what is between them is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every column after the first is a number unless its head ends with a space."""
    rule = ["---" if i == 0 or name.endswith(" ") else "--:" for i, name in enumerate(head)]
    return "\n".join(f"| {' | '.join(row)} |" for row in ([name.strip() for name in head], rule, *rows))


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


def number(x: float) -> str:
    """Three figures, thousands with a comma.

    >>> number(0.01234), number(1.5), number(1234.5)
    ('0.0123', '1.50', '1,234')
    """
    if x >= 100:
        return f"{x:,.0f}"
    return f"{x:.2f}" if x >= 1 else f"{x:.3g}"


def error(x: float) -> str:
    """Four decimals, fewer for large errors."""
    return f"{x:.4f}" if x < 1 else f"{x:.3f}"
