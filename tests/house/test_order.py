"""A part imports only from parts above it, and no two files wait for each other (docs/decisions/001)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.order import ONLY, ORDER

import sottovoce as sv

ROOT = Path(sv.__file__).parent


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


FILES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}
FRONT = {"sottovoce", "sottovoce.__main__"}  # the front door knows every part


def imports_of(code: ast.AST) -> Iterator[str]:
    """The files that code imports, inside functions too; `sv.mean` is where the front door says it is."""
    for node in ast.iter_child_nodes(code):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.ImportFrom(module=str(module), level=0, names=names):
                for alias in names:
                    inside = f"{module}.{alias.name}"
                    yield inside if inside in FILES else home(alias.name) if module == "sottovoce" else module
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.Attribute(value=ast.Name(id="sv"), attr=attr):
                yield home(attr)
        yield from imports_of(node)


def home(name: str) -> str:
    return f"sottovoce.{sv._HOME.get(name, name)}"


GRAPH = {
    name: {found for found in imports_of(ast.parse(path.read_text())) if found in FILES} - FRONT - {name}
    for name, path in FILES.items()
    if name not in FRONT
}


def upward(graph: dict[str, set[str]]) -> list[str]:
    """Imports of parts below, or of parts that are not for this one."""
    wrong = []
    for name, found in graph.items():
        own = name.split(".")[1]
        above = ONLY.get(own, ORDER[: ORDER.index(own) + 1])
        wrong += [f"{name} imports {one}" for one in sorted(found) if one.split(".")[1] not in above]
    return wrong


def circle(graph: dict[str, set[str]]) -> set[str]:
    """Files that lead back to themselves: what is left when those that import nothing left are taken away."""
    left = {name: set(found) for name, found in graph.items()}
    while free := {name for name, found in left.items() if not found & left.keys()}:
        left = {name: found for name, found in left.items() if name not in free}
    return set(left)


def test_every_part_has_a_place() -> None:
    assert {name.split(".")[1] for name in GRAPH} <= {*ORDER}


def test_imports_go_upward_only() -> None:
    assert upward(GRAPH) == []


def test_no_two_files_wait_for_each_other() -> None:
    assert circle(GRAPH) == set()


def test_nothing_in_the_wheel_imports_what_is_outside() -> None:
    outside = re.compile(r"^\s*(?:from|import) (?:papers|benchmarks|tests|tools)\b", re.MULTILINE)
    assert outside.search("def f():\n    from papers.pieces import solve_pieces\n")
    assert not [path for path in FILES.values() if outside.search(path.read_text())]


def test_the_check_can_fail() -> None:
    code = (
        "def f():\n    from sottovoce.cli import main\n    import sottovoce.estimates.tally\n    sv.plan(1)\n"
    )
    lazy = {"sottovoce.cli", "sottovoce.estimates.tally", home("plan")}
    assert set(imports_of(ast.parse(code))) == lazy
    low = "sottovoce._version"
    assert len(upward({low: lazy})) == 3
    assert len(upward({"sottovoce.device.client": {"sottovoce.designs.optimal"}})) == 1
    both = {"sottovoce.estimates.tally": {low}, low: {"sottovoce.estimates.tally"}}
    assert circle(both) == set(both)
    assert circle({"sottovoce.estimates.tally": {low}, low: set()}) == set()
    assert list(imports_of(ast.parse("if TYPE_CHECKING:\n    import sottovoce.cli\n"))) == []
