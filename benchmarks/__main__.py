"""`make bench`: measurements as ratios within one run, never tests.

    python -m benchmarks              what there is, and how long each takes
    python -m benchmarks NAME …       these (make bench ARGS="NAME …")
    python -m benchmarks all          everything: some hours

A module of this package with a `main()` is a benchmark: the first line of its docstring says what it shows,
and TAKES how long its default run takes on two cores. The page that compares with other packages is
`python -m benchmarks.page` (`make peers`).
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from pathlib import Path
from typing import NamedTuple

import benchmarks


class Benchmark(NamedTuple):
    """What a module says about itself."""

    shows: str
    takes: str


def available() -> dict[str, Benchmark]:
    """Every benchmark by name, read without importing it: some need packages that are slow to load."""
    found = {}
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.ispkg or module.name.startswith("_"):
            continue
        tree = ast.parse((Path(benchmarks.__path__[0]) / f"{module.name}.py").read_text("utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            shows = (ast.get_docstring(tree) or "").split("\n")[0]
            found[module.name] = Benchmark(shows, _takes(tree))
    return found


def _takes(tree: ast.Module) -> str:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TAKES":
            return str(ast.literal_eval(node.value))
    return ""


def main(wanted: list[str]) -> None:
    found = available()
    unknown = sorted(set(wanted) - set(found) - {"all"})
    if unknown:
        raise SystemExit(f"no benchmark named {unknown[0]!r}; there are: {', '.join(found)}")
    if not wanted:
        print((__doc__ or "").strip(), end="\n\n")
        for name, benchmark in found.items():
            print(f"  {name:<18} {benchmark.takes:>7}  {benchmark.shows}")
        return
    from benchmarks._machine import describe_machine

    print(describe_machine())
    for name in found if "all" in wanted else wanted:
        print(f"\n== {name} (about {found[name].takes}): {found[name].shows}", flush=True)
        # Some read options of their own when run as scripts: here they have none.
        sys.argv = [f"benchmarks.{name}"]
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
