"""What terminals and notebooks show of an object: a heading in its own words, and a few facts below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_LONGEST = 72  # characters of a fact


class Shown:
    """Something with a text for people; in a notebook the same text, laid out."""

    __slots__ = ()

    def _fields(self) -> Mapping[str, str]:
        """The fields of a dataclass that are numbers, texts or shown themselves."""
        fields = getattr(self, "__dataclass_fields__", {})
        values = {name: getattr(self, name) for name, field in fields.items() if field.repr}
        return {name: _short(value) for name, value in values.items() if isinstance(value, _PLAIN)}

    def _facts(self) -> Mapping[str, str]:
        """Names and values to show below the heading: the fields, where the heading does not hold them."""
        return {} if type(self).__str__ is object.__str__ else self._fields()

    def _table(self) -> Sequence[Sequence[str]]:
        """Rows to show where there are no facts, their heads first."""
        return ()

    def _remarks(self) -> tuple[str, ...]:
        """Sentences to show below."""
        return tuple(str(self).splitlines()[1:])

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value}" for name, value in self._fields().items())
        return f"<{type(self).__name__} {_short(fields or str(self).splitlines()[0], 2 * _LONGEST)}>"

    def _repr_html_(self) -> str:
        from html import escape  # a table of all entities, for notebooks only

        def row(*cells: tuple[str, str]) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag[:2]}>' for tag, text in cells)}</tr>"

        heading = escape(str(self).splitlines()[0])
        head = "th style='text-align:left'"
        facts = "".join(row((head, name), ("td", fact)) for name, fact in self._facts().items())
        rows = "".join(row(*((tag, text) for text in cells)) for tag, cells in _tagged(self._table()))
        remarks = "".join(f"<div>{escape(remark.strip())}</div>" for remark in self._remarks())
        table = f"<table>{facts or rows}</table>" if facts or rows else ""
        return f"<div><div><b>{heading}</b></div>{table}{remarks}</div>"


_PLAIN = (str, int, float, tuple, Shown)


def _tagged(table: Sequence[Sequence[str]]) -> Sequence[tuple[str, Sequence[str]]]:
    return [("td" if i else "th", cells) for i, cells in enumerate(table)]


def _short(value: object, most: int = _LONGEST) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
