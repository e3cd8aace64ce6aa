"""Imports follow the layer order: a module imports only from layers above it (docs/decisions/001)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import sottovoce

ROOT = Path(sottovoce.__file__).parent

#: From the bottom of the stack to its top; a line imports only from the lines before it and from itself.
LAYERS = [
    "_version core",
    "designs laws",
    "estimates",
    "compose",
    "planning auditing central",
    "device bulk",
    "collector",
    "demo",
    "cli",
]
LEVEL = {name: level for level, line in enumerate(LAYERS) for name in line.split()}


def imports_of(path: Path) -> set[str]:
    """First parts of the sottovoce modules that a file imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = (
                [node.module] if node.module != "sottovoce" else [f"sottovoce.{a.name}" for a in node.names]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("sottovoce.")}
    return found


def test_imports_follow_the_layers() -> None:
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue
        assert own in LEVEL, f"{own} has no layer: add it to LAYERS"
        for name in imports_of(path):
            if name in LEVEL and LEVEL[name] > LEVEL[own]:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_nothing_in_the_wheel_imports_what_is_outside() -> None:
    outside = re.compile(r"^\s*(?:from|import) (?:papers|benchmarks|tests|tools)\b", re.MULTILINE)
    assert outside.search("def f():\n    from papers.pieces import solve_pieces\n")
    assert not [path for path in ROOT.rglob("*.py") if outside.search(path.read_text())]


def test_the_check_can_fail(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text("def f():\n    from sottovoce.cli import main\n    import sottovoce.estimates.tally\n")
    assert imports_of(sample) == {"cli", "estimates"}
