"""What a docstring needs to become a page: its examples as code, and a base class's where it has none.

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


def inherit(thing: Any) -> None:
    """Give methods without a docstring that of the class above."""
    for name, member in thing.members.items():
        if member.is_alias:
            continue
        if member.is_module or member.is_class:
            inherit(member)
        elif thing.is_class and member.docstring is None:
            above = (base.members[name].docstring for base in thing.mro() if name in base.members)
            member.docstring = next((text for text in above if text is not None), None)


class Doctests(griffe.Extension):
    """Fences the examples of every docstring that is loaded."""

    def on_package(self, *, pkg: Any, **more: Any) -> None:
        inherit(pkg)

    def on_instance(self, *, obj: Any, **more: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
