"""A survey as an administrator writes it down: questions in words, and everything else follows.

    name = "town"
    title = "Our town"
    epsilon = 2.0

    [questions.age]
    text = "How old are you?"
    unit = "years"
    range = [0, 120]

    [questions.transport]
    text = "How do you get to work?"
    options = ["car", "bike", "train"]
    weight = 2

A question has one of `range = [low, high]` (with `log = true` for factors), `clock = true`, `circle = 360`,
`options = […]` or `radius = 10`. `relations = [["age", "commute"]]`, before the questions, asks how two
numbers vary together. The other keys are those of a campaign.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.collector.refusals import Refusal
from sottovoce.errors import ArgumentError, real_number
from sottovoce.surveys.survey import ItemLike

_KINDS = ("range", "clock", "circle", "options", "radius")
_WORDS = ("text", "unit")
_KEYS = {*_KINDS, *_WORDS, "log", "weight"}


def read_survey(path: Path) -> dict[str, Any]:
    """The fields of a new campaign from a TOML file.

    Args:
        path: The file.

    Returns:
        What `NewCampaign.of` takes.

    Raises:
        Refusal: If the file cannot be read, or a question is none.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Refusal("invalid", f"{path}: {error}") from None
    except RecursionError:
        raise Refusal("invalid", f"{path}: nested too deeply") from None
    return declared(content)


def declared(content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a new campaign: `questions` and `epsilon` become its spec and its texts.

    Args:
        content: Fields of a campaign, with questions and ε in place of a spec.

    Returns:
        What `NewCampaign.of` takes.

    Raises:
        Refusal: If there is no question or ε, or a question is none.
    """
    rest = dict(content)
    questions, epsilon, relations = (rest.pop(key, None) for key in ("questions", "epsilon", "relations"))
    survey = designed(epsilon, questions, relations)
    texts = {
        name: {word: one[word] for word in _WORDS if word in one}
        for name, one in questions.items()
        if any(word in one for word in _WORDS)
    }
    return {**rest, "spec": survey.to_json(), "texts": texts}


def designed(epsilon: object, questions: Any, relations: Any = None) -> sv.Survey:
    """The survey that asks some questions.

    Args:
        epsilon: What one person's whole report may cost.
        questions: Tables by name, as in a file.
        relations: Lists of two names each, of numbers whose relation is wanted.

    Returns:
        The reporter.

    Raises:
        Refusal: If there is no question or ε, or a question is none.
    """
    if not isinstance(questions, Mapping) or not questions:
        raise Refusal("invalid", "questions must be given, each under its name", "questions")
    try:
        return sv.survey(
            real_number(epsilon, "epsilon"),
            {name: _question(name, one) for name, one in questions.items()},
            weights={name: real_number(one.get("weight", 1.0), "weight") for name, one in questions.items()},
            relations=_pairs(relations or []),
        )
    except (ArgumentError, TypeError) as error:
        argument = getattr(error, "argument", None)
        raise Refusal("invalid", str(error), "questions" if argument == "items" else argument) from None


def _pairs(relations: Any) -> list[tuple[str, str]]:
    """Names two by two."""
    if not isinstance(relations, list) or any(
        not isinstance(one, list) or len(one) != 2 for one in relations
    ):
        raise ArgumentError("relations must be lists of two names each", argument="relations")
    return [(str(x), str(y)) for x, y in relations]


def _question(name: str, one: Any) -> ItemLike:
    """Where the answers to one question lie."""
    where = f"questions.{name}"
    if not isinstance(one, Mapping):
        raise ArgumentError(f"{where} must be a table", argument=where)
    if unknown := sorted(set(one) - _KEYS):
        raise ArgumentError(f"{where} has an unknown key {unknown[0]!r}", argument=where)
    kinds = [kind for kind in _KINDS if kind in one]
    if len(kinds) != 1:
        raise ArgumentError(f"{where} needs one of {', '.join(_KINDS)}, got {len(kinds)}", argument=where)
    [kind] = kinds
    value = one[kind]
    if kind == "options":
        return sv.Options(value)
    if kind == "range":
        if not isinstance(value, list) or len(value) != 2:
            raise ArgumentError(f"{where}.range must be [low, high]", argument=where)
        low, high = value
        return sv.Interval(low, high, scale="log" if one.get("log") else "linear")
    if kind == "radius":
        return sv.Disc(value)
    return sv.Circle(24) if kind == "clock" else sv.Circle(value)
