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
    margin: str | None = None  # of the run that we are in
    for line in text.splitlines():
        if margin is None and line.lstrip().startswith(">>> "):
            margin = line[: len(line) - len(line.lstrip())]
            out += [] if not out or not out[-1].strip() or margin else [""]
            out.append(f"{margin}```pycon")
        elif margin is not None and not line.strip():
            out.append(f"{margin}```")
            margin = None
        out.append(line if margin is None else FLAG.sub("", line))
    if margin is not None:
        out.append(f"{margin}```")
    return "\n".join(out)


class Doctests(griffe.Extension):
    """Fences the examples of every docstring that is loaded."""

    def on_instance(self, *, obj: Any, **more: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
