"""What is public, and where it is defined.

Names are taken from the package as it is imported, docstrings and parameters from its source (griffe, as the
site does), so a decorator or a lazy import hides nothing.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

import griffe

from sottovoce import _HOME, _PARTS
from tests.docs.sections import members

ROOT = Path(__file__).parents[2]

#: Modules whose names are public beside those of `sottovoce` itself.
MODULES = [
    *(f"sottovoce.{part}" for part in sorted(_PARTS)),
    *(
        f"sottovoce.{part}"
        for part in (
            "bulk.spark",
            "collector",
            "estimates.polar_density",
            "errors",
            "planning",
        )
    ),
    *("papers", "papers.pieces"),
]

#: Public, but not to be found by following what functions return.
FURTHER = ["sottovoce.designs.solver.certificate.Certificate"]
#: Made by one function for another, and of no use in between.
HANDED_ON = {"sottovoce.collector.store.store.Store"}
#: A law is described by its base class and by the function that makes it.
LAW = "sottovoce.laws.law.Law"


@cache
def package(name: str) -> Any:
    """A package as griffe reads it."""
    return griffe.load(name, search_paths=[str(ROOT / "src"), str(ROOT)], resolve_aliases=True)


def exported(name: str) -> list[str]:
    """The public names of a module: its `__all__`, else what it imports `as` itself or defines."""
    module = importlib.import_module(name)
    if hasattr(module, "__all__"):
        return list(module.__all__)
    found = []
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom):
            found += [alias.asname for alias in node.names if alias.asname == alias.name]
        elif isinstance(node, ast.ClassDef) or (
            isinstance(node, ast.FunctionDef) and name != "sottovoce.errors"
        ):
            found.append(node.name)
    return [own for own in found if not own.startswith("_") and inspect.getmodule(_get(module, own))]


def _get(module: Any, name: str) -> Any:
    return getattr(module, name, None)


def public() -> dict[str, str]:
    """{name as people write it: where it is defined}, without the version."""
    found = {f"sottovoce.{name}": source(f"sottovoce.{home}.{name}").path for name, home in _HOME.items()}
    for part in MODULES:
        module = importlib.import_module(part)
        for name in exported(part):
            thing = getattr(module, name)
            found[f"{part}.{name}"] = f"{thing.__module__}.{thing.__qualname__}"
    return found


def source(path: str) -> Any:
    """The definition at a dotted path."""
    name, _, rest = path.partition(".")
    found = package(name)[rest]
    while found.is_alias:
        found = found.final_target
    return found


def returned(thing: Any) -> set[str]:
    """Classes of ours that a function, or a method of a class, gives back."""
    functions = [thing] if thing.is_function else [member for _, member in members(thing)]
    found = set()
    for function in functions:
        given = function.returns if function.is_function else function.annotation
        for part in given.iterate() if isinstance(given, griffe.Expr) else ():
            if isinstance(part, griffe.ExprName) and part.canonical_path.startswith(
                ("sottovoce.", "papers.")
            ):
                try:
                    target = source(part.canonical_path)
                except KeyError:
                    continue
                if target.is_class:
                    found.add(target.path)
    return found


def everything() -> set[str]:
    """Where all that is public is defined: the names, and every class that one can get from them."""
    found: set[str] = set()
    new = {*public().values(), *FURTHER}
    while new:
        found |= new
        new = {path for home in new for path in returned(source(home))} - found
        new -= HANDED_ON
        new = {path for path in new if LAW not in {base.path for base in source(path).mro()}}
    return found
