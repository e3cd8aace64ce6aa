"""What a docstring has to say: Google-style sections, held against the signature and the body.

`Args:` names exactly the parameters, in their order; `Returns:` (or `Yields:`) is there if something is given
back; `Raises:` names what is raised in the function itself, by its class or one above it. The fields of a
class are in `Attributes:` or `Args:`, or each has its own text below it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from sottovoce import errors

#: Functions of these return annotations have nothing to say about it.
NOTHING = {"None", "NoReturn", "Never"}


def sections(thing: Any) -> dict[str, list[str]]:
    """The sections of a docstring and the names in each."""
    if thing.docstring is None:
        return {}
    parsed = thing.docstring.parse("google", warnings=False)
    named = [part for part in parsed if isinstance(part.value, list)]
    return {part.kind.value: [_name(item) for item in part.value] for part in named}


def _name(item: Any) -> str:
    """A parameter's, field's or exception's name."""
    return str(getattr(item, "name", None) or getattr(item, "annotation", "")).lstrip("*")


def parameters(thing: Any) -> list[str]:
    """What a caller may give."""
    names = [parameter.name for parameter in thing.parameters]
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def members(thing: Any) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines itself."""
    for name, member in thing.members.items():
        if name.startswith("_") or member.is_alias:
            continue
        if member.is_function or (member.is_attribute and "property" in member.labels):
            yield name, member


def raised(code: str) -> set[str]:
    """Errors of ours that a function's own body raises."""
    (function,) = ast.parse(code).body
    names = set()
    for node in _own(function):
        call = node.exc if isinstance(node, ast.Raise) else None
        name = getattr(getattr(call, "func", call), "id", "")
        if isinstance(getattr(errors, name, None), type):
            names.add(name)
    return names


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a function, without functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from _own(child)


def function_gaps(thing: Any, path: str) -> list[str]:
    """What the docstring of a function or method leaves out, or says too much."""
    said = sections(thing)
    gaps = []
    if said.get("parameters", []) != parameters(thing):
        gaps.append(f"{path}: Args must be {parameters(thing)}, got {said.get('parameters', [])}")
    if str(thing.returns or "None") not in NOTHING and not {"returns", "yields"} & set(said):
        gaps.append(f"{path}: Returns is missing")
    for name in sorted(raised(_source(thing))):
        above = {base.__name__ for base in getattr(errors, name).__mro__}
        if not above & set(said.get("raises", [])):
            gaps.append(f"{path}: Raises must name {name}")
    return gaps


def _source(thing: Any) -> str:
    lines = thing.source.splitlines()
    margin = re.match(r"\s*", lines[0])
    return "\n".join(line[len(margin[0]) if margin else 0 :] for line in lines)


def class_gaps(thing: Any, path: str) -> list[str]:
    """What the docstring of a class leaves out of its fields."""
    init = thing.members.get("__init__")
    said = sections(thing) | (sections(init) if init is not None and init.is_function else {})
    named = {*said.get("attributes", []), *said.get("parameters", [])}
    named |= {name for name, member in thing.members.items() if member.is_attribute and member.docstring}
    silent = [name for name in parameters(thing) if name not in named]
    gaps = [f"{path}: Attributes or Args must name {', '.join(silent)}"] if silent else []
    if "parameters" in said and said["parameters"] != parameters(thing):
        gaps.append(f"{path}: Args must be {parameters(thing)}, got {said['parameters']}")
    return gaps


def gaps(thing: Any, path: str) -> list[str]:
    """What is missing from the docstrings of a function, or of a class and its members."""
    if thing.docstring is None:
        return [f"{path} has no docstring"]
    if thing.is_function:
        return function_gaps(thing, path)
    found = [] if _is_plain(thing) else class_gaps(thing, path)
    for name, member in members(thing):
        if member.docstring is None:
            above = [base.members[name] for base in thing.mro() if name in base.members]
            found += [] if any(other.docstring for other in above) else [f"{path}.{name} has no docstring"]
        elif member.is_function:
            found += function_gaps(member, f"{path}.{name}")
    return found


def _is_plain(thing: Any) -> bool:
    """Exceptions take a message and enumerations nothing."""
    return bool(re.search(r"Error|Exception|Coded|Enum", " ".join(str(base) for base in thing.bases)))
