"""What a notebook shows of an object: its own words as a heading, and a few facts below."""

from __future__ import annotations

from collections.abc import Mapping


class Shown:
    """Something with a text for people; in a notebook the same text, laid out."""

    __slots__ = ()

    def _facts(self) -> Mapping[str, str]:
        """Names and values to show below the heading."""
        return {}

    def _remarks(self) -> tuple[str, ...]:
        """Sentences to show below the facts."""
        return tuple(str(self).splitlines()[1:])

    def _repr_html_(self) -> str:
        from html import escape  # a table of all entities, for notebooks only

        heading = escape(str(self).splitlines()[0])
        facts = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self._facts().items()
        )
        table = f"<table>{facts}</table>" if facts else ""
        remarks = "".join(f"<div>{escape(remark.strip())}</div>" for remark in self._remarks())
        return f"<div><div><b>{heading}</b></div>{table}{remarks}</div>"
