"""Nobody outside `reporters` asks for a reporter's class: what is to be known, it says (decision 070)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import sottovoce as sv
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.number import Number
from sottovoce.values.space import Space

ROOT = Path(sv.__file__).parent


def every_class(base: type) -> set[str]:
    return {base.__name__}.union(*(every_class(one) for one in base.__subclasses__()))


for _name in sv.__all__:  # so that all classes are there
    getattr(sv, _name)
REPORTERS = every_class(ReporterBase) | {"Reporter"}
SPACES = every_class(Space) | {"Positions"}
#: What only a reporter has: to ask whether it is there is to ask for a class.
MEMBERS = {
    name
    for kind in (Reporter, ReporterBase, Number, sv.Translates, sv.Polar, sv.Survey)
    for name in (*vars(kind), *inspect.get_annotations(kind))
    if not name.startswith("_")
} - {"name", "error", "domain", "shares"}  # words that others have, too

#: Where a space is matched because a value is read, named, drawn or designed for there.
READ_OR_DRAWN = {
    "bulk/tables/arrow_columns.py": "a column of values has a type by what they are",
    "cli/summary.py": "a range is asked of the numbers that it lies in",
    "collector/api/question_schemas.py": "a page asks for a number, an option or a place",
    "collector/campaigns/campaign.py": "what stands in for a missing value",
    "device/checked_answers.py": "what cannot be an answer is refused before anything is drawn",
    "surveys/design.py": "a disc is given where places are asked for",
    "surveys/item_worth.py": "which design suits a space, and what a report of it is worth",
    "surveys/survey.py": "an author writes what may be answered",
}


def wrong(code: ast.AST) -> Iterator[str]:
    """What asks for a class: of reporters, or of spaces."""
    for node in ast.walk(code):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                yield from names(kinds)
            case ast.MatchClass(cls=cls):
                yield from names(cls)
            case ast.Call(
                func=ast.Name(id="hasattr" | "getattr"), args=[_, ast.Constant(value=str(name)), *_]
            ):
                if name in MEMBERS:
                    yield f"member {name}"
            case ast.Compare(left=ast.Call(func=ast.Name(id="type"))):
                yield from (one for each in node.comparators for one in names(each))
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id="reporter" | "law" | "mechanism"), attr="name")
            ):
                yield "a compared name"


def names(code: ast.AST) -> Iterator[str]:
    for node in ast.walk(code):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name in REPORTERS | SPACES:
            yield name


FOUND = {
    str(path.relative_to(ROOT)): sorted({*wrong(ast.parse(path.read_text()))})
    for path in sorted(ROOT.rglob("*.py"))
    if path.relative_to(ROOT).parts[0] not in ("reporters", "values")
}


def test_nobody_asks_for_a_reporters_class() -> None:
    asking = {path: [one for one in found if one not in SPACES] for path, found in FOUND.items()}
    assert {path: found for path, found in asking.items() if found} == {}


def test_spaces_are_matched_where_values_are_read_or_drawn_only() -> None:
    matching = {path for path, found in FOUND.items() if SPACES & {*found}}
    assert matching == READ_OR_DRAWN.keys()


def test_the_check_can_fail() -> None:
    for code in (
        "isinstance(m, sv.Mechanism | Translates)", "hasattr(m, 'probabilities')",
        "getattr(m, 'made_for', None)", "type(m) is Survey", "reporter.name == 'ogpm'",
        "match m:\n    case Rows():\n        pass",
    ):  # fmt: skip
        assert [*wrong(ast.parse(code))], code
    assert [*wrong(ast.parse("isinstance(space, Options)"))] == ["Options"]
    assert not [*wrong(ast.parse("isinstance(e, Estimate)\nhasattr(e, 'value')\ne.name == 'x'"))]


def test_every_base_says_who_builds_on_it() -> None:
    """One sentence in a base class names those that it is the base of."""
    from sottovoce.reporters.base import Specified
    from sottovoce.reporters.law.number_law import NumberLaw
    from sottovoce.reporters.mechanism import Windowed

    for base in (Specified, ReporterBase, NumberLaw, Number, Windowed):
        built = [one.__name__ for one in base.__subclasses__() if one.__module__.startswith("sottovoce")]
        said = inspect.getdoc(base) or ""
        assert built
        assert any(f"`{name}`" in said for name in built), (base, built)
