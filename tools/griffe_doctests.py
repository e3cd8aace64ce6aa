"""What a docstring needs to become a page: its examples as code.

Loaded by mkdocs (mkdocs.yml, mkdocstrings). Docstrings are prose for who reads the source; Markdown would
take the `>>>` of an example for a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

FLAG = re.compile(r"\s*# doctest:.*$")


def fenced(text: str) -> str:
    """The text with every run of doctest lines in a fence, without directives to doctest."""
    out: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.startswith(">>> "):
            inside = True
            out += [] if not out or not out[-1].strip() else [""]
            out.append("```pycon")
        elif inside and not line.strip():
            inside = False
            out.append("```")
        out.append(FLAG.sub("", line) if inside else line)
    if inside:
        out.append("```")
    return "\n".join(out)


class Doctests(griffe.Extension):
    """Fences the examples of every docstring that is loaded."""

    def on_instance(self, *, obj: Any, **more: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
