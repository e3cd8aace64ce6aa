"""One word for one idea: what the glossary rules out is nowhere public, what it says of formats is there."""

from __future__ import annotations

import re
from pathlib import Path

from tools.site_pages import every_command, options_of

from sottovoce.collector import Settings, create_app, open_store
from tests.docs.sections import parameters
from tests.docs.surface import ROOT, everything, public, source

LINES = (ROOT / "docs/reference/glossary.md").read_text().splitlines()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES if line.startswith("| ")][1:]


def python_names() -> set[str]:
    """Functions and classes, their parameters, fields and properties, each as a dotted path."""
    found = set(public())
    for path in everything():
        thing = source(path)
        inside = [one for name, one in thing.members.items() if thing.is_class and not name.startswith("_")]
        for callable_ in (thing, *(one for one in inside if one.is_function)):
            found |= {f"{path}.{name}" for name in parameters(callable_)}
        found |= {f"{path}.{one.name}" for one in inside if one.is_attribute}
    return found


def other_names() -> set[str]:
    """Options of commands, what index.d.ts declares, public methods of Java; each after where it is."""
    options = {word for _, command in every_command() for one in options_of(command) for word in one.opts}
    types = re.sub(r"/\*.*?\*/", "", (ROOT / "clients/js/lib/index.d.ts").read_text(), flags=re.DOTALL)
    java = "\n".join(path.read_text() for path in (ROOT / "clients/java/src/sottovoce").glob("*.java"))
    found = {
        "command line": options,
        "index.d.ts": re.findall(r"(\w+)\??[:(<]", types),
        "java": re.findall(r"public [^=;(]*\b(\w+)\(", java),
    }
    return {f"{place}.{name}" for place, names in found.items() for name in names}


def test_a_word_that_is_ruled_out_is_nowhere_public() -> None:
    public_names, used = python_names() | other_names(), {}
    for _, _, words, _ in ROWS:
        for word, spared in re.findall(r"`([\w-]+)`(?: \(but of (.*?)\))?", words):
            homes = tuple(re.findall(r"`(.*?)`", spared))
            named = {one for one in public_names if one.endswith(f".{word}") and not one.startswith(homes)}
            used |= {word: named} if named else {}
    assert not used, used


def test_a_word_of_a_format_is_in_it(tmp_path: Path) -> None:
    api = create_app(open_store(tmp_path / "store.db"), Settings(), secret=bytes(32)).openapi()
    calls = [call for path in api["paths"].values() for call in path.values()]
    specs = (ROOT / "tests/vectors/specs.json").read_text()
    survey = (ROOT / "src/sottovoce/demo/survey.toml").read_text()
    formats = {
        "spec": set(re.findall(r'\\"(\w+)\\":', specs)),
        "survey file": set(re.findall(r"^\[?(\w+)", survey, re.MULTILINE)),
        "request": {one["name"] for call in calls for one in call.get("parameters", ())}.union(
            *(shape.get("properties", ()) for shape in api["components"]["schemas"].values())
        ),
    }
    for word, _, _, wire in ROWS:
        for part in filter(None, wire.split(";")):
            name, _, fields = part.partition(":")
            missing = set(re.findall(r"`(\w+)`", fields)) - formats[name.strip()]
            assert not missing, f"{word}: {part}"
