"""`python -m benchmarks` lists every benchmark with what it shows and how long it takes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from benchmarks.__main__ import available


def test_every_benchmark_says_what_it_shows_and_how_long_it_takes() -> None:
    found = available()
    assert {"sampling", "reconstruction", "collector_load"} <= set(found)
    for name, benchmark in found.items():
        assert benchmark.shows, f"benchmarks/{name}.py needs a docstring"
        assert re.fullmatch(r"\d+ (s|min|h)", benchmark.takes), f'benchmarks/{name}.py needs TAKES = "5 min"'


def test_every_benchmark_runs_without_arguments() -> None:
    for name in available():
        tree = ast.parse((Path(__file__).parents[2] / "benchmarks" / f"{name}.py").read_text())
        [main] = [
            node.args for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main"
        ]
        assert len(main.args) == len(main.defaults), f"main() of benchmarks/{name}.py needs an argument"
