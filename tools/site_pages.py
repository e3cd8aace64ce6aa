"""What the site takes from the code itself: every command and option, every setting, every public name.

A page asks for it by a comment, `<!-- commands -->`, `<!-- settings -->` or `<!-- names -->`; mkdocs calls
`on_page_markdown` (mkdocs.yml, hooks). Nothing that this writes is committed, so nothing of it can be stale.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any

#: What an option takes that does not say; others are choices.
TAKES = {"float": "NUMBER", "int": "N", "int range": "N", "str": "TEXT"}
TAKES |= dict.fromkeys(("path", "file", "directory"), "PATH")
#: Code and tags, which stay as they are, or a raised part: {…}, or letters and digits.
POWER = re.compile(
    r"(<pre.*?</pre>|<code.*?</code>|<[^>]*>)|(?<=[\w)|])\^(?:\{([^}]*)\}|([−-]?\w+))", re.DOTALL
)
MARK = re.compile(r"^<!-- (commands|settings|names) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, **more: Any) -> str:
    """Put what a page asks for in the place where it asks."""
    makers = {"commands": commands, "settings": settings, "names": names}
    return MARK.sub(lambda found: makers[found[1]](), markdown)


def on_page_content(html: str, **more: Any) -> str:
    """Powers as a reader expects them: pages are written as plain text, e^ε and 2^53."""
    return POWER.sub(lambda found: found[0] if found[1] else f"<sup>{found[2] or found[3]}</sup>", html)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


# -- the command line ---------------------------------------------------------------------------------------


def every_command() -> Iterator[tuple[str, Any]]:
    """(full name, command) of everything that can be called, in the order of --help."""
    from typer.main import get_command

    from sottovoce.cli import build_app

    for name, command in get_command(build_app()).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        if inner is None:
            yield f"sottovoce {name}", command
        else:
            yield from ((f"sottovoce {name} {own}", part) for own, part in inner.items())


def options_of(command: Any) -> list[Any]:
    """Its arguments and options, without those that every command has."""
    return [param for param in command.params if param.name != "help"]


def commands() -> str:
    """A section for each command."""
    parts = []
    for name, command in every_command():
        rows = [
            (f"`{_spelled(param)}`", _default(param), (getattr(param, "help", None) or "").strip())
            for param in options_of(command)
        ]
        help_text = inspect.cleandoc(command.help or "")
        parts.append(f"## {name}\n\n{help_text}\n\n{table(('option', 'default', ''), rows)}\n")
    return "\n".join(parts)


def _spelled(param: Any) -> str:
    """How an argument or option is written, with what it takes."""
    if param.param_type_name == "argument":
        many = "…" if param.nargs == -1 else ""
        return (param.metavar or param.name).upper() + many
    flag = "/".join([*param.opts, *param.secondary_opts])
    if getattr(param, "is_flag", False):
        return flag
    taken = param.metavar or TAKES.get(param.type.name) or "|".join(param.type.choices)
    return f"{flag} {taken}" + (" …" if param.multiple else "")


def _default(param: Any) -> str:
    if param.required:
        return "*required*"
    value = param.default() if callable(param.default) else param.default
    if value is None or value is False or value == () or value == []:
        return ""
    return f"`{getattr(value, 'value', value)}`"


# -- settings and names -------------------------------------------------------------------------------------


def described_settings() -> list[tuple[str, object, str]]:
    """(name, default, description) of every setting of the service; the text below a field describes it."""
    import griffe

    from sottovoce.collector import settings as module

    found = griffe.visit("settings", filepath=None, code=inspect.getsource(module))["Settings"]
    return [
        (
            field.name,
            field.default,
            "" if found[field.name].docstring is None else found[field.name].docstring.value,
        )
        for field in dataclasses.fields(module.Settings)
    ]


def settings() -> str:
    """The service's settings."""
    rows = [
        (f"`{name}`", f"`{default!r}`", " ".join(text.split()))
        for name, default, text in described_settings()
    ]
    return table(("setting", "default", ""), rows)


def names() -> str:
    """The names of `import sottovoce as sv`, with what each is for."""
    import sottovoce as sv

    rows = []
    for name in sv.__all__:
        if name != "__version__":
            first = (inspect.getdoc(getattr(sv, name)) or "").partition("\n")[0]
            rows.append((f"[`sv.{name}`][sottovoce.{name}]", first))
    return table(("name", ""), rows)
